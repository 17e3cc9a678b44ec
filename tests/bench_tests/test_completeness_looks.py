"""Looks at the holdout: one per run and candidate, counted in every report, and no reason to lose a measurement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]

ANSWERS = 'return Answer({"way": even(request.questions["way"])})'


@pytest.fixture
def ledger(pytester: pytest.Pytester) -> Path:
    return pytester.path / "runs" / "ledger.jsonl"


def looks(ledger: Path) -> list[dict[str, Any]]:
    """The lines of the ledger."""
    return [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []


def counts(run: Any, candidate: str = "uniform") -> tuple[int | None, int | None]:
    """Looks of this candidate and of all, as the report says."""
    found = run.report(candidate)["holdout_looks"]
    return found["this_candidate"], found["all_candidates"]


def family(run: Any, candidate: str) -> tuple[str, int | None, int | None]:
    """The family of a candidate, its looks, and which of them this run is."""
    found = run.report(candidate)["holdout_looks"]
    return found["family"], found["this_family"], found["number"]


def test_a_run_over_the_holdout_is_one_look_with_its_facts(
    bench: Bench, suite: Path, ledger: Path, mode: list[str]
) -> None:
    run = bench(suite, "--candidate", "uniform", *mode)
    report = run.report("uniform")
    assert looks(ledger) == [
        {
            "date": report["created"],
            "run": report["run"],
            "candidate": "uniform",
            "candidate_hash": report["candidate"]["hash"],
            "family": "uniform",
            "suite": "tiny",
            "suite_version": "1",
            "suite_hash": report["suite"]["hash"],
            "decisions": 8,
            "partial": False,
            "report_hash": report["seal"],
        }
    ]
    assert counts(run) == (1, 1)
    said = "Looks at this holdout recorded here: 1 by this candidate, 1 by the family uniform, 1 in all."
    assert said in run.output
    assert "This is look" not in run.output


def test_looks_add_up_over_runs_and_candidates_and_a_resume_is_no_new_one(
    bench: Bench, suite: Path, ledger: Path
) -> None:
    first = bench(suite, "--candidate", "uniform")
    assert counts(bench(suite, "--candidate", "uniform")) == (2, 2)
    both = bench(suite, "--candidate", "uniform", "--candidate", "first-option")
    assert counts(both) == (3, 3)
    assert counts(both, "first-option") == (1, 4)
    again = bench(suite, "--candidate", "uniform", "--resume", first.folder)
    assert counts(again) == (3, 4)
    assert [look["candidate"] for look in looks(ledger)] == ["uniform", "uniform", "uniform", "first-option"]


def test_a_partial_run_that_touches_the_holdout_is_a_look(bench: Bench, suite: Path, ledger: Path) -> None:
    run = bench(suite, "--candidate", "uniform", "-k", "way-002-original")
    assert run.report("uniform")["partial"] is True
    assert [(look["partial"], look["decisions"]) for look in looks(ledger)] == [(True, 1)]
    assert counts(run) == (1, 1)


def test_a_developers_run_that_fails_on_misses_is_a_look(bench: Bench, suite: Path, ledger: Path) -> None:
    assert bench(suite, "--candidate", "uniform", "--on-miss", "fail").code == 1
    assert len(looks(ledger)) == 1


@pytest.mark.parametrize(
    "scope", [["--smoke"], ["--split", "calibration"], ["-k", "way-000"], ["--collect-only"]], ids=" ".join
)
def test_a_run_without_holdout_is_no_look(bench: Bench, suite: Path, ledger: Path, scope: list[str]) -> None:
    bench(suite, "--candidate", "uniform")
    run = bench(suite, "--candidate", "uniform", *scope)
    assert len(looks(ledger)) == 1
    if "--collect-only" not in scope:
        assert counts(run) == (1, 1)
        assert "Looks at this holdout" not in run.output


def test_a_changed_candidate_in_a_resumed_run_is_a_look_of_its_own(
    bench: Bench, own: Own, suite: Path, ledger: Path
) -> None:
    candidate = own(ANSWERS)
    first = bench(suite, "--candidate", candidate)
    candidate.write_text(candidate.read_text() + "\n# changed\n")
    again = bench(suite, "--candidate", candidate, "--resume", first.folder)
    assert counts(again, "own") == (1, 2)
    assert family(again, "own") == ("own.py", 2, 2)
    assert len({look["candidate_hash"] for look in looks(ledger)}) == 2


def test_looks_of_one_adapter_under_several_names_are_looks_of_one_family(
    bench: Bench, suite: Path, ledger: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    table = '[candidates.first]\nadapter = "uniform"\n[candidates.second]\nadapter = "uniform"\n'
    (pytester.path / "decibench.toml").write_text(table)
    first = bench(suite, "--candidate", "first", "--candidate", "baseline", *mode)
    assert family(first, "first") == ("uniform", 1, 1)
    assert family(first, "baseline") == ("baseline", 1, 1)
    second = bench(suite, "--candidate", "second", *mode)
    assert family(second, "second") == ("uniform", 2, 2)
    third = bench(suite, "--candidate", "uniform", "--model-label", "fresh", *mode)
    assert family(third, "fresh") == ("uniform", 3, 3)
    said = "This is look 3 at this holdout by the family uniform: only a first look is sure to owe nothing to earlier"
    assert said in " ".join(third.output.split())
    assert said in (third.folder / "fresh" / "summary.md").read_text()
    again = bench(suite, "--candidate", "first", "--candidate", "baseline", "--resume", first.folder, *mode)
    assert family(again, "first") == ("uniform", 3, 1)
    assert [look["family"] for look in looks(ledger)] == ["uniform", "baseline", "uniform", "uniform"]


def test_a_changed_file_of_ones_own_is_a_second_look_of_its_family(
    bench: Bench, own: Own, suite: Path, ledger: Path
) -> None:
    candidate = own(ANSWERS)
    bench(suite, "--candidate", candidate)
    candidate.write_text(candidate.read_text() + "\n# tuned\n")
    tuned = bench(suite, "--candidate", candidate)
    assert counts(tuned, "own") == (1, 2)
    assert family(tuned, "own") == ("own.py", 2, 2)
    assert "This is look 2 at this holdout by the family own.py" in tuned.output
    other = bench(suite, "--candidate", own(f"{ANSWERS}  # Another.", name="other.py"))
    assert family(other, "other") == ("other.py", 1, 1)
    assert "This is look" not in other.output
    # A new name does not make the same candidate new.
    renamed = bench(suite, "--candidate", own(ANSWERS, name="renamed.py"))
    assert family(renamed, "renamed") == ("renamed.py", 2, 2)


def test_a_ledger_from_before_families_were_told_goes_on(bench: Bench, suite: Path, ledger: Path) -> None:
    bench(suite, "--candidate", "uniform")
    bench(suite, "--candidate", "first-option")
    lines = [{k: v for k, v in look.items() if k != "family"} for look in looks(ledger)]
    ledger.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = bench(suite, "--candidate", "uniform")
    assert counts(run) == (2, 3)
    assert family(run, "uniform") == ("uniform", 2, 2)


def test_looks_at_another_version_of_the_suite_are_not_counted(
    bench: Bench, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]], suite: Path
) -> None:
    bench(suite, "--candidate", "uniform")
    other = make_suite([row("way-000", "calibration"), row("way-001", "holdout")], "other")
    assert counts(bench(other, "--candidate", "uniform")) == (1, 1)


def test_a_damaged_ledger_is_named_and_nothing_measured_is_lost(
    bench: Bench, suite: Path, ledger: Path, mode: list[str]
) -> None:
    bench(suite, "--candidate", "uniform")
    whole = ledger.read_text()
    ledger.write_text(whole + whole[:40] + "\n")
    run = bench(suite, "--candidate", "uniform", "--candidate", "first-option", *mode)
    assert run.code == 4
    said = f"ERROR: {ledger}, line 2: is not a ledger line; restore the file, or move it away to start a new count"
    assert run.output.count(said) == 1
    assert "INTERNALERROR" not in run.output
    for candidate in ("uniform", "first-option"):
        assert len(run.records(candidate)) == 24
        assert run.report(candidate)["metrics"]["holdout"]["overall"]["decisions"] == 4
        assert counts(run, candidate) == (None, None)
        assert family(run, candidate) == (candidate, None, None)
        summary = (run.folder / candidate / "summary.md").read_text()
        assert "Looks at this holdout: unknown, because no ledger of them can be read." in summary
    assert ledger.read_text() == whole + whole[:40] + "\n"

    ledger.write_text(whole)
    again = bench(suite, "--candidate", "uniform", "--candidate", "first-option", "--resume", run.folder)
    assert again.code == 0
    assert counts(again) == (2, 2)
    assert [look["candidate"] for look in looks(ledger)] == ["uniform", "uniform", "first-option"]


def test_a_ledger_that_cannot_be_written_is_a_sentence_and_the_report_is_there(
    bench: Bench, suite: Path, pytester: pytest.Pytester
) -> None:
    (pytester.path / "runs").write_text("a file where the folder of the ledger belongs")
    run = bench(suite, "--candidate", "uniform")
    assert run.code == 4
    assert "INTERNALERROR" not in run.output
    assert f"ERROR: {pytester.path / 'runs'}" in run.output
    assert run.report("uniform")["metrics"]["holdout"]["overall"]["decisions"] == 4
