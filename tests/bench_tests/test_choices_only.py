"""A candidate that states choices alone: measured as any other, and never acted on."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

LEAD = "Act on nothing: the candidate states no probabilities, on which a threshold could stand."

CHOICES = """
    answers = {}
    for key, question in request.questions.items():
        answers[key] = QuestionAnswer(None, sorted(question.options)[0])
    return Answer(answers)
"""


@pytest.fixture
def silent(own: Any) -> Path:
    """A candidate that always chooses the first option by id."""
    return declared(own(CHOICES, name="silent.py"))


def declared(path: Path) -> Path:
    """``path`` with an identity that declares no probability readout, also in its warm-ups."""
    text = path.read_text("utf-8")
    text = text.replace('Identity(model="own-1",', 'Identity(model="own-1", probability_readout=False,')
    text = text.replace("return QuestionAnswer(dict.fromkeys(question.options, 1 / len(question.options)))",
                        "return QuestionAnswer(None, next(iter(question.options)))")  # fmt: skip
    path.write_text(text, "utf-8")
    return path


def test_choices_are_measured_and_the_report_says_what_is_not(
    bench: Any, suite: Path, silent: Path, mode: list[str]
) -> None:
    run = bench(suite, "--candidate", silent, "--report-format", "csv", *mode)
    assert run.code == 0
    run.result.assert_outcomes(passed=12)
    assert "12 missed" in run.output
    assert f"silent: {LEAD}" in run.output
    report = run.report("silent")
    overall = report["metrics"]["holdout"]["overall"]
    assert (overall["valid"], overall["failed"], overall["accuracy"]) == (4, 0, 0.5)
    for name in ("ties", "brier_score", "log_loss", "ece_10", "zeros_on_reference", "coverage", "selective_risk"):
        assert overall[name] is None, name
    assert {record["decisions"][0]["choice"] for record in report["records"]} == {"left"}
    assert all(record["decisions"][0]["probabilities"] is None for record in report["records"])
    assert (report["evidence"]["calibration"], report["evidence"]["selective"]) == ({}, {})
    assert run.json("silent", "gate.json")["status"] == "no-probabilities"
    assert LEAD in (run.folder / "silent" / "summary.md").read_text("utf-8")
    assert LEAD in (run.folder / "silent" / "report.html").read_text("utf-8")
    with (run.folder / "silent" / "decisions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["choice"], row["top_probability"], row["accepted"]) for row in rows} == {("left", "", "")}


def test_a_required_gate_fails_for_good(bench: Any, suite: Path, silent: Path, mode: list[str]) -> None:
    run = bench(suite, "--candidate", silent, "--require-gate", "--gate-method", "auto", *mode)
    # The run is complete, and no further one would issue a gate: it failed, and is not left open.
    assert run.code == 10
    assert "the candidate states no probabilities, on which a threshold could stand" in run.output
    assert run.report("silent")["gate_check"]["passed"] is False


def test_a_scope_without_calibration_is_not_blamed(bench: Any, suite: Path, silent: Path) -> None:
    run = bench(suite, "--candidate", silent, "--split", "holdout")
    assert run.json("silent", "gate.json")["status"] == "no-probabilities"
    assert "leaves calibration out" not in run.output


def test_unsafe_and_cost_gates_are_null_too(bench: Any, suite: Path, silent: Path, tmp_path: Path) -> None:
    costs = tmp_path / "costs.toml"
    costs.write_text("wrong = 10\nunsafe = 100\nfallback = 1\n", "utf-8")
    run = bench(suite, "--candidate", silent, "--gate-method", "auto", "--max-unsafe", "0.05", "--costs", costs)
    gates = run.report("silent")["gates"]
    assert {gates[name]["status"] for name in ("empirical", "certified", "unsafe", "joint")} == {"no-probabilities"}
    assert (gates["cost"], gates["transfer"]) == (None, None)


def test_a_miss_shows_the_choice_without_bars(bench: Any, suite: Path, silent: Path) -> None:
    run = bench(suite, "--candidate", silent, "-k", "way-011-original", "--on-miss=fail")
    assert run.code == 1
    assert "Answer way: MISSED. Expected right, chose left." in run.output
    lines = [line.strip() for line in run.output.splitlines()]
    shown = [line.split() for line in lines if line.startswith(("left ", "right ")) and "side" not in line]
    assert ["left", "chosen"] in shown
    assert ["right", "expected"] in shown
    assert "|" not in "".join(line for line in lines if line.startswith(("left ", "right ")))


def test_junit_has_the_choice_and_no_probability(bench: Any, suite: Path, silent: Path, tmp_path: Path) -> None:
    xml = tmp_path / "junit.xml"
    bench(suite, "--candidate", silent, "--junitxml", xml)
    names = {(node.get("name"), node.get("value")) for node in ElementTree.parse(xml).iter("property")}
    assert ("chosen", "left") in names
    assert "top_probability" not in {name for name, _ in names}


def test_against_compares_choices_alone_and_says_so(bench: Any, suite: Path, silent: Path, mode: list[str]) -> None:
    first = bench(suite, "--candidate", silent)
    blessed = first.folder / "silent"
    run = bench(suite, "--candidate", silent, "--against", blessed, "--fail-on-regression", *mode)
    assert run.code == 0
    found = run.json("silent", "regression.json")
    assert (found["passed"], found["overall"]["shifted"]) == (True, None)
    assert "Only choices are compared: the candidate states no probabilities" in run.output
    silent.write_text(silent.read_text("utf-8").replace("[0]", "[-1]"), "utf-8")
    worse = bench(suite, "--candidate", silent, "--against", blessed, "--fail-on-regression", *mode)
    assert worse.code == 10
    assert worse.json("silent", "regression.json")["overall"]["newly_wrong"] > 0


def test_beside_a_candidate_with_probabilities_only_choices_are_contrasted(
    bench: Any, suite: Path, silent: Path, mode: list[str]
) -> None:
    run = bench(suite, "--candidate", "uniform", "--candidate", silent, *mode)
    comparison = run.json("comparison.json")
    assert [compared["states_probabilities"] for compared in comparison["compared"]] == [True, False]
    quantities = {contrast["quantity"] for contrast in comparison["contrasts"]}
    assert "macro_accuracy" in quantities
    assert quantities & {"brier_score", "log_loss", "coverage", "selective_risk"} == set()
    assert "Without probabilities: silent." in run.output
    assert (run.folder / "comparison.html").is_file()


def test_probabilities_beside_the_declaration_that_there_are_none_fail(bench: Any, suite: Path, own: Any) -> None:
    body = "return Answer({key: sure(question, 'left') for key, question in request.questions.items()})"
    run = bench(suite, "--candidate", declared(own(body, name="silent.py")))
    assert run.code == 1
    report = run.report("silent")
    assert {record["decisions"][0]["failure"]["code"] for record in report["records"]} == {"unexpected-probabilities"}
    # Nothing valid is there to tell that no probabilities are stated; the identity does.
    assert report["gates"]["empirical"]["status"] == "no-probabilities"
    assert report["metrics"]["holdout"]["overall"]["coverage"] is None


def test_what_a_lenient_reading_finds_is_counted_beside(bench: Any, suite: Path, own: Any, mode: list[str]) -> None:
    body = """
    from decibench.candidates.adapter import QuestionFailure
    return Answer({key: QuestionFailure("no-final-line", "the last line differs", "left") for key in request.questions})
    """
    run = bench(suite, "--candidate", declared(own(body, name="silent.py")), *mode)
    assert run.code == 1
    overall = run.report("silent")["metrics"]["holdout"]["overall"]
    assert (overall["accuracy"], overall["lenient_readable"], overall["lenient_correct"]) == (0.0, 4, 2)
    assert overall["lenient_accuracy"] == 0.5
    assert "accuracy would be 50.0% in place of 0.0%" in run.output


def test_a_report_of_choices_passes_its_own_reading(bench: Any, suite: Path, silent: Path) -> None:
    run = bench(suite, "--candidate", silent, "--trials", "2")
    path = run.folder / "silent" / "report.json"
    assert json.loads(path.read_text("utf-8"))["schema"] == "decibench.report/3"
    again = bench(suite, "--candidate", silent, "--trials", "2", "--against", path)
    assert again.code == 0
    assert "The 2 trials are identical" in again.output
