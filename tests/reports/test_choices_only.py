"""Reports of a model that states no probabilities: what choices alone support stays, everything else is null."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from decibench.gates.__main__ import main as gates
from decibench.reports.__main__ import main as reports
from decibench.reports.comparisons.comparison import compare
from decibench.reports.decision_table import write_decision_table
from decibench.reports.invariance.summary import invariance_of
from decibench.reports.journal import Header, Load
from decibench.reports.markdown import comparison_markdown, summary_markdown
from decibench.reports.record import Record
from decibench.reports.regression import regression_of
from decibench.reports.report import Report, read_report, write_report
from decibench.reports.tables.comparison import comparison_head
from decibench.reports.tables.regression import regression_sentences

MakeReport: TypeAlias = Callable[..., Report]
Silence: TypeAlias = Callable[[Report], Report]

NULL = (
    *("ties", "brier_score", "log_loss", "log_loss_floor_hits", "zeros_on_reference", "ece_10", "threshold"),
    *("accepted", "accepted_errors", "coverage", "selective_risk", "unsafe_accepted", "unsafe_acceptance"),
)
KEPT = ("decisions", "valid", "failed", "correct", "validity", "accuracy", "accuracy_answered", "macro_accuracy")
REASON = "the candidate states no probabilities, on which a threshold could stand"


def outcomes(wrong: int = 3) -> dict[str, list[bool | None]]:
    """Ten scenarios of two families in three variants; some are wrong, some change, and one failed."""
    found: dict[str, list[bool | None]] = {}
    for number in range(10):
        right = number >= wrong
        family = "maze" if number % 2 else "road"
        found[f"{family}-{number}"] = [right, right if number % 3 else not right, None if number == 9 else right]
    return found


def complete(wrong: int) -> dict[str, list[bool | None]]:
    """The same without a failure: nothing is dropped."""
    return {group: [bool(right) for right in rights] for group, rights in outcomes(wrong).items()}


@pytest.fixture
def full(make_report: MakeReport) -> Report:
    """A report with probabilities."""
    return make_report("full", outcomes())


@pytest.fixture
def silent(full: Report, choices_only: Silence) -> Report:
    """The same choices without them."""
    return choices_only(full)


def test_what_rests_on_probabilities_is_null_in_every_slice_and_the_rest_stays(full: Report, silent: Report) -> None:
    before, after = (report.metrics["holdout"] for report in (full, silent))
    slices = [(before.overall, after.overall)]
    slices += [(before.by_family[name], found) for name, found in after.by_family.items()]
    slices += [(before.by_variant[name], found) for name, found in after.by_variant.items()]
    assert len(slices) == 6
    for one, other in slices:
        assert [name for name in NULL if getattr(other, name) is not None] == []
        assert [name for name in KEPT if getattr(other, name) != getattr(one, name)] == []
        assert not other.gated
    assert after.variant_effects == before.variant_effects
    assert after.by_class == before.by_class


def test_evidence_keeps_what_choices_show(full: Report, silent: Report) -> None:
    before, after = full.evidence, silent.evidence
    assert before is not None
    assert after is not None
    assert (after.calibration, after.selective) == ({}, {})
    assert after.effects == before.effects
    assert any(effect.flip_share.value for effect in after.effects["holdout"].values())
    was, now = before.intervals["holdout"], after.intervals["holdout"]
    assert (now.macro_accuracy, now.accuracy, now.above_chance) == (was.macro_accuracy, was.accuracy, was.above_chance)
    assert (now.brier_score.value, now.log_loss.value, now.coverage, now.selective_risk) == (None, None, None, None)


def test_forms_are_compared_by_choice_alone(make_report: MakeReport, choices_only: Silence) -> None:
    turned = {f"way-{n}": [True, True, True, n >= 4] for n in range(25)}
    full = make_report("full", [turned, turned | {"way-7": [False, True, True, True]}])
    evidence, found = full.evidence, choices_only(full).evidence
    assert evidence is not None
    assert found is not None
    before, after = evidence.invariance["holdout"], found.invariance["holdout"]
    was, now = before.option_orders, after.option_orders
    assert was is not None
    assert now is not None
    assert was.retest is not None
    assert now.retest is not None
    assert (now.flip_share, now.excess_flip_share, now.pairs) == (was.flip_share, was.excess_flip_share, was.pairs)
    assert now.retest.flip_share == was.retest.flip_share
    assert now.flip_share.value == pytest.approx(0.18)
    assert (now.total_variation.value, now.retest.total_variation.value, now.tie_share) == (None, None, None)
    assert [rates.chosen for rates in after.positions] == [rates.chosen for rates in before.positions]
    trials, known = found.variability["holdout"], evidence.variability["holdout"]
    assert (trials.changed_choice, trials.changed_answer) == (known.changed_choice, known.changed_answer)
    assert (trials.retest_variation.value, trials.identical) == (None, False)


def test_a_flip_is_another_option_and_under_neutral_names_another_place(silent: Report) -> None:
    def asked(number: int, variant: str, options: list[str], choice: str) -> Record:
        one = silent.records[0]
        decision = one.decisions[0].model_copy(update={"options": options, "expected": options[1], "choice": choice})
        role = "probe" if variant == "neutral-keys" else "core"
        update = {"case": f"way-{number}-{variant}", "group": f"way-{number}", "variant": variant, "role": role}
        return one.model_copy(update=update | {"decisions": [decision]})

    records = []
    for n in range(25):
        records.append(asked(n, "original", ["right", "left"], "left"))
        records.append(asked(n, "options-reversed", ["left", "right"], "right" if n < 5 else "left"))
        records.append(asked(n, "neutral-keys", ["option-1", "option-2"], "option-1" if n < 10 else "option-2"))
    found = invariance_of(records, silent.protocol)["holdout"]
    assert found.option_orders is not None
    assert found.neutral_keys is not None
    assert (found.option_orders.flip_share.value, found.neutral_keys.flip_share.value) == (0.2, 0.4)


def test_questions_that_imply_each_other_contradict_by_choice(silent: Report) -> None:
    def asked(number: int, *choices: str) -> Record:
        one = silent.records[0]
        expected = ("left", "stop") if number % 2 else ("right", "go")
        decisions = [
            one.decisions[0].model_copy(update={"question": q, "options": o, "expected": e, "choice": c})
            for q, o, e, c in zip("ab", (["left", "right"], ["go", "stop"]), expected, choices, strict=True)
        ]
        return one.model_copy(update={"case": f"c-{number}", "group": f"c-{number}", "decisions": decisions})

    records = [asked(n, "left", "go" if n < 6 else "stop") for n in range(24)]
    (found,) = invariance_of(records, silent.protocol)["holdout"].complements
    assert (found.contradiction_share.value, found.gap.value, found.tie_share) == (0.25, None, None)


def test_every_gate_is_null_for_the_same_reason(silent: Report) -> None:
    assert {name: silent.gates[name]["status"] for name in ("empirical", "certified")} == {
        "empirical": "no-probabilities",
        "certified": "no-probabilities",
    }
    assert silent.gates["empirical"]["threshold"] is None
    assert (silent.gates["holdout_tests"], silent.gates["transfer"], silent.gates["cost"]) == ({}, None, None)


def test_a_summary_says_so_first_and_has_no_empty_table(silent: Report) -> None:
    lines = summary_markdown(silent).splitlines()
    assert lines[2] == f"**Act on nothing: {REASON}.**"
    assert f"Gate: none. T{REASON[1:]}." in lines
    titles = [line for line in lines if line.startswith("#")]
    assert "## Variant effects" in titles
    assert [title for title in titles if "Calibration" in title or "Selective" in title or "confident" in title] == []
    assert not [line for line in lines if line.startswith(("| total_variation", "| tie_share"))]


def test_a_report_is_read_again_and_an_edited_one_is_not(silent: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(silent, path)
    assert read_report(path).metrics == silent.metrics
    raw = json.loads(path.read_text("utf-8"))
    raw["metrics"]["holdout"]["overall"]["log_loss_floor_hits"] = 0
    path.write_text(json.dumps(raw), "utf-8")
    with pytest.raises(Exception, match="log_loss_floor_hits: says 0, its records give None"):
        read_report(path)


def test_candidates_are_contrasted_where_both_have_what_is_compared(
    make_report: MakeReport, choices_only: Silence
) -> None:
    better, plain = make_report("better", complete(1), sure=0.9), make_report("plain", complete(3))
    mute = choices_only(make_report("mute", complete(2)))
    found = compare([plain, mute, better])
    quantities = {name: {c.quantity for c in found.contrasts if c.candidate == name} for name in ("mute", "better")}
    assert {"macro_accuracy", "accuracy"} <= quantities["mute"]
    assert quantities["mute"] & {"brier_score", "log_loss", "coverage", "selective_risk", "unsafe_acceptance"} == set()
    assert {"brier_score", "log_loss", "coverage", "selective_risk"} <= quantities["better"]
    assert [rank.candidate for rank in found.ranks] == ["plain", "mute", "better"]
    text = comparison_markdown(found)
    assert "Without probabilities: mute." in text
    (row,) = (line for line in text.splitlines() if line.startswith("| brier_score |") and "n/a" in line)
    assert [cell.strip() for cell in row.strip("|").split("|")][2] == "n/a"
    turned = compare([mute, better])
    assert {c.quantity for c in turned.contrasts} & {"brier_score", "log_loss", "coverage"} == set()


@pytest.mark.parametrize(
    ("now", "then", "who"),
    [
        ("silent", "full", "the candidate of this run states no probabilities"),
        ("full", "silent", "the blessed candidate states no probabilities"),
        ("silent", "silent", "the candidate states no probabilities"),
    ],
)
def test_choices_alone_are_compared_with_a_blessed_report(
    make_report: MakeReport, choices_only: Silence, now: str, then: str, who: str
) -> None:
    def made(kind: str, wrong: int, sure: float) -> Report:
        report = make_report("own", outcomes(wrong), sure=sure)
        return choices_only(report) if kind == "silent" else report

    same = regression_of(made(now, 3, 0.9), made(then, 3, 0.6))
    assert (same.passed, same.overall.shifted, same.overall.largest_shift, same.choices_only) == (True, None, None, who)
    said = list(regression_sentences(same))
    assert f"Only choices are compared: {who}, so that no shift of a distribution can be seen." in said
    assert "Passed: no decision is newly wrong or newly failed." in said
    assert "shifted" not in said[0]
    worse = regression_of(made(now, 5, 0.9), made(then, 3, 0.9))
    assert (worse.passed, worse.overall.newly_wrong > 0) == (False, True)


def test_a_table_of_decisions_leaves_out_what_is_not_stated(silent: Report, tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    write_decision_table(silent, path)
    with path.open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["choice"], row["outcome"]) == ("right", "missed")
    for name in (
        "tie",
        "top_option",
        "top_probability",
        "expected_probability",
        "accepted",
        "raw_sum",
        "probabilities",
    ):
        assert row[name] == "", name


def test_the_doors_read_a_report_and_a_journal_of_choices(
    silent: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibration = [record.model_copy(update={"split": "calibration"}) for record in silent.records]
    report, journal = tmp_path / "report.json", tmp_path / "journal.jsonl"
    write_report(silent, report)
    journal.write_text("".join(f"{line}\n" for line in _journal(silent, calibration)), "utf-8")
    for path in (report, journal):
        assert reports(["score", str(path)]) == 0
        overall = json.loads(capsys.readouterr().out)["overall"]
        assert overall["accuracy"] == silent.metrics["holdout"].overall.accuracy
        assert [name for name in NULL if overall[name] is not None] == []
        assert gates(["fit", str(path)]) == 0
        fitted = json.loads(capsys.readouterr().out)["gates"]
        assert {gate["status"] for gate in fitted.values()} == {"no-probabilities"}
        assert {(gate["threshold"], gate["reason"]) for gate in fitted.values()} == {(None, REASON)}


def test_a_null_gate_of_choices_cannot_be_applied(
    silent: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, gate = tmp_path / "report.json", tmp_path / "gate.json"
    write_report(silent, report)
    assert gates(["fit", str(report), "--out", str(gate)]) == 0
    assert gates(["apply", str(gate), str(report)]) == 4
    assert f"the gate cannot be applied: {REASON}" in capsys.readouterr().err


def _journal(report: Report, records: list[Record]) -> list[str]:
    header = Header(run="0", candidate="own", suite=report.suite, protocol=report.protocol)
    load: dict[str, Any] = {"identity": report.candidate.identity, "candidate_hash": report.candidate.hash}
    made = Load(**load, worker="main", load_s=0.0, first_probe_s=None, warm_ups_s=[])
    parts = [("run", header), ("load", made), *(("record", record) for record in records)]
    return [
        json.dumps({"kind": kind} | part.model_dump(mode="json"), separators=(",", ":"), ensure_ascii=False)
        for kind, part in parts
    ]


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (("silent", "silent"), "Without probabilities: c0, c1. What rests on probabilities is n/a."),
        (("silent", "full"), "Without probabilities: c0. What rests on probabilities is n/a there, and not compared."),
        (
            ("full", "silent", "full"),
            "Without probabilities: c1. What rests on probabilities is n/a there, and compared only between the "
            "others.",
        ),
    ],
)
def test_a_comparison_speaks_of_others_only_where_there_are_some(
    make_report: MakeReport, choices_only: Silence, kinds: tuple[str, ...], said: str
) -> None:
    reports = [make_report(f"c{place}", complete(2)) for place in range(len(kinds))]
    found = compare([choices_only(r) if kind == "silent" else r for r, kind in zip(reports, kinds, strict=True)])
    assert [line for line in comparison_head(found) if line.startswith("Without probabilities")] == [said]
