"""A report follows from its records, or it is not read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.gates.__main__ import main as gates
from decibench.reports.__main__ import main as reports

Bench = Callable[..., Any]


@pytest.fixture
def report(bench: Bench, suite: Path) -> Path:
    path: Path = bench(suite, "--trials", "2", "--input-usd-per-million", "1").folder / "baseline" / "report.json"
    return path


def edited(path: Path, change: Callable[[Any], object]) -> Path:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def test_7_figures_that_do_not_follow_from_the_records_are_refused(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    original = report.read_text()
    changes: dict[str, Callable[[Any], None]] = {
        "metrics.holdout.overall.accuracy": lambda r: r["metrics"]["holdout"]["overall"].update(accuracy=0.99),
        "metrics.calibration.overall.ece_10": lambda r: r["metrics"]["calibration"]["overall"].update(ece_10=None),
        "latency.overall.p50_s": lambda r: r["latency"]["overall"].update(p50_s=1e-9),
        "latency.by_trial.2.p99_s": lambda r: r["latency"]["by_trial"]["2"].update(p99_s=9.0),
        "cost.total_usd": lambda r: r["cost"].update(total_usd=0.5),
        "protocol_hash": lambda r: r.update(protocol_hash="0" * 64),
    }
    for field, change in changes.items():
        report.write_text(original)
        assert reports(["score", str(edited(report, change))]) == 4, field
        message = capsys.readouterr().err
        assert f"field {field}" in message
        assert "edited or damaged" in message


def test_an_edited_record_breaks_the_figures_and_an_edited_date_the_seal(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    original = report.read_text()

    def flip(content: Any) -> None:
        decision = next(d for r in content["records"] for d in r["decisions"] if d["choice"] != d["expected"])
        decision["choice"] = decision["expected"]

    assert reports(["score", str(edited(report, flip))]) == 4
    assert "its records give" in capsys.readouterr().err
    report.write_text(original)
    assert reports(["score", str(edited(report, lambda r: r.update(created="2020-01-01T00:00:00Z")))]) == 4
    assert "field seal" in capsys.readouterr().err
    report.write_text(original)
    assert reports(["score", str(report)]) == 0


def test_unknown_and_missing_fields_are_named(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    edited(report, lambda r: (r.update(extra=1), r["scope"].pop("trials")))
    assert reports(["score", str(report)]) == 4
    message = capsys.readouterr().err
    assert "field extra: is not a known field" in message
    assert "field scope.trials: is missing" in message


def test_score_of_report_and_journal_agree(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert reports(["score", str(report), "--split", "holdout"]) == 0
    of_report = json.loads(capsys.readouterr().out)["overall"]
    assert of_report == json.loads(report.read_text())["metrics"]["holdout"]["overall"]
    assert reports(["score", str(report.parent / "journal.jsonl"), "--split", "holdout"]) == 0
    of_journal = json.loads(capsys.readouterr().out)["overall"]
    ungated = {"gated", "threshold", "accepted", "accepted_errors", "coverage", "selective_risk"}
    ungated |= {"unsafe_accepted", "unsafe_acceptance"}
    assert {k: v for k, v in of_journal.items() if k not in ungated} == {
        k: v for k, v in of_report.items() if k not in ungated
    }


def test_14_a_paraphrase_pair_with_the_same_wrong_label_agrees_and_is_never_right(
    bench: Bench, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]
) -> None:
    rows = [row("one-001", "holdout", variant, "right") for variant in ("original", "paraphrase")]
    run = bench(make_suite(rows), "--candidate", "first-option")
    effect = run.report("first-option")["metrics"]["holdout"]["variant_effects"]["paraphrase"]
    assert (effect["pairs"], effect["agreement"], effect["both_correct"]) == (1, 1.0, 0.0)
    summary = (run.folder / "first-option" / "summary.md").read_text()
    assert "| agreement | 100.0% |" in summary
    assert "| both_correct | 0.0% |" in summary


def test_offline_gates_equal_those_of_the_run(
    bench: Bench, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = bench(suite, "--candidate", "first-option", "--min-accepted", "1", "--max-error", "0.5")
    capsys.readouterr()
    assert gates(["fit", str(run.folder / "first-option" / "report.json"), "--out", str(tmp_path / "g.json")]) == 0
    offline = json.loads(capsys.readouterr().out)["gates"]["empirical"]
    assert offline == run.json("first-option", "gate.json")
    assert gates(["apply", str(tmp_path / "g.json"), str(run.folder / "first-option" / "report.json")]) == 0
    applied = json.loads(capsys.readouterr().out)["overall"]
    assert applied == run.report("first-option")["metrics"]["holdout"]["overall"]


def test_gates_are_not_fitted_on_partial_runs_and_a_journal_is_said_to_be_of_unknown_extent(
    bench: Bench, suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = bench(suite, "-k", "way-001")
    capsys.readouterr()
    assert gates(["fit", str(run.folder / "baseline" / "report.json")]) == 11
    assert "partial or incomplete" in capsys.readouterr().err
    assert gates(["fit", str(run.folder / "baseline" / "journal.jsonl")]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["gates"]["empirical"]["decisions"] == 1
    assert "does not tell whether its run was complete" in printed.err
