"""``--junitxml``: what was measured stands with each case, and only there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from decibench.bench_tests.session import Controller

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

Row = Callable[..., dict[str, Any]]

CRASHES = """
    if os.environ.get("PYTEST_XDIST_WORKER") and request.state == "crash":
        os._exit(1)
    return Answer({key: even(question) for key, question in request.questions.items()})
"""


@pytest.fixture
def properties(bench: Bench, pytester: pytest.Pytester) -> Callable[..., dict[str, dict[str, str]]]:
    """Run with ``--junitxml`` and return the properties of every case, by the id of its item."""

    def run(suite: Path, *arguments: str | Path) -> dict[str, dict[str, str]]:
        bench(suite, *arguments, "--junitxml", "junit.xml")
        root = ElementTree.parse(pytester.path / "junit.xml").getroot()
        found: dict[str, dict[str, str]] = {}
        for case in root.iter("testcase"):
            name = case.attrib["name"].partition("[")[2].removesuffix("]")
            entries = [(entry.attrib["name"], entry.attrib["value"]) for entry in case.iter("property")]
            assert len(dict(entries)) == len(entries)
            assert name not in found
            found[name] = dict(entries)
        return found

    return run


def test_every_case_tells_what_was_chosen(
    properties: Callable[..., dict[str, dict[str, str]]], suite: Path, mode: list[str]
) -> None:
    names = ["--candidate", "uniform", "--candidate", "first-option"]
    found = properties(suite, *names, "--trials", "2", *mode)
    assert len(found) == 96
    assert found["uniform-demo-way-000-original"] == {
        "candidate": "uniform",
        "outcome": "correct",
        "expected": "left",
        "chosen": "left",
        "top_probability": "0.5",
    }
    assert found["first-option-demo-way-006-injection-t2"] == {
        "candidate": "first-option",
        "outcome": "missed",
        "expected": "right",
        "chosen": "left",
        "top_probability": "1.0",
    }


def test_a_failed_case_tells_its_failure_and_no_answer(
    properties: Callable[..., dict[str, dict[str, str]]], suite: Path, own: Own, mode: list[str]
) -> None:
    path = own('raise CandidateError("too-long", "more than it reads")')
    found = properties(suite, "--candidate", path, "--split", "holdout", "--variant", "original", *mode)
    assert found["own-demo-way-002-original"] == {
        "candidate": "own",
        "outcome": "failed",
        "expected": "left",
        "failure": "too-long",
    }


def test_a_case_whose_process_died_is_no_exception(
    properties: Callable[..., dict[str, dict[str, str]]], make_suite: Callable[..., Path], row: Row, own: Own
) -> None:
    rows = [row(f"way-{n:03}", "holdout", state="crash" if n == 1 else "fine") for n in range(4)]
    found = properties(make_suite(rows), "--candidate", own(CRASHES), "-n", "2")
    assert found["own-demo-way-001-original"]["failure"] == "worker-crashed"
    assert found["own-demo-way-001-original"]["outcome"] == "failed"
    assert {entry["outcome"] for name, entry in found.items() if "001" not in name} <= {"correct", "missed"}


def test_several_questions_are_told_apart(
    properties: Callable[..., dict[str, dict[str, str]]], make_suite: Callable[..., Path], row: Row, own: Own
) -> None:
    scale = {"type": "score", "instructions": "How bad?", "criteria": ["fine", "bad"]}
    questions = {"way": row("x")["questions"]["way"], "level": scale}
    rows = [
        row(
            "way-000",
            "holdout",
            questions=questions,
            references={"way": {"expected": "left"}, "level": {"expected": "1"}},
        )
    ]
    body = """
        way, level = request.questions["way"], request.questions["level"]
        return Answer({"way": sure(way, "left"), "level": QuestionAnswer({"0": 2.0, "1": 0.0})})
    """
    assert properties(make_suite(rows), "--candidate", own(body))["own-demo-way-000-original"] == {
        "candidate": "own",
        "outcome": "failed",
        "outcome[way]": "correct",
        "expected[way]": "left",
        "chosen[way]": "left",
        "top_probability[way]": "1.0",
        "outcome[level]": "failed",
        "expected[level]": "1",
        "failure[level]": "out-of-range",
    }


def test_hostile_names_leave_the_xml_well_formed(
    properties: Callable[..., dict[str, dict[str, str]]], make_suite: Callable[..., Path], row: Row, own: Own
) -> None:
    option, question = "<b>&\"'\x00\x1b[31m]]>\n|é", "wie\x07<!--"
    asked = {"type": "choice", "instructions": "?", "criteria": {option: None, "left": None}}
    second = {**asked, "criteria": {"left": None, "right": None}}
    references = {question: {"expected": option}, "way": {"expected": "left"}}
    rows = [row("way-000", "holdout", questions={question: asked, "way": second}, references=references)]
    body = "return Answer({key: sure(question, question.options[0]) for key, question in request.questions.items()})"
    found = properties(make_suite(rows), "--candidate", own(body))["own-demo-way-000-original"]
    shown = option.replace("\x00", "#x00").replace("\x1b", "#x1B")
    assert found["chosen[wie#x07<!--]"] == found["expected[wie#x07<!--]"] == shown
    assert found["outcome"] == "correct"


def test_nothing_of_it_reaches_other_plugins(
    properties: Callable[..., dict[str, dict[str, str]]], suite: Path, monkeypatch: pytest.MonkeyPatch, mode: list[str]
) -> None:
    seen: list[pytest.TestReport] = []

    def spy(self: Controller, terminalreporter: Any) -> None:
        seen.extend(report for kind in ("passed", "missed") for report in terminalreporter.stats[kind])

    monkeypatch.setattr(Controller, "pytest_terminal_summary", spy)
    found = properties(suite, *mode)
    assert all("outcome" in entry for entry in found.values())
    assert len(seen) == 24
    assert not any(report.user_properties or report.sections for report in seen)


def test_aggregate_only_leaves_the_cases_without_properties(
    properties: Callable[..., dict[str, dict[str, str]]], suite: Path, mode: list[str]
) -> None:
    found = properties(suite, "--aggregate-only", *mode)
    assert len(found) == 24
    assert not any(found.values())


def test_records_of_an_earlier_run_have_their_properties(
    bench: Bench, properties: Callable[..., dict[str, dict[str, str]]], suite: Path
) -> None:
    run = bench(suite, "--candidate", "uniform", "-k", "way-000")
    found = properties(suite, "--candidate", "uniform", "--resume", run.folder.name)
    assert len(found) == 24
    assert all(entry["top_probability"] == "0.5" for entry in found.values())
