"""Going on with a run: what is finished is kept, what is missing is asked, what belongs elsewhere is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
MakeRow: TypeAlias = Callable[..., dict[str, Any]]

DECIDE = """
with open("asked.txt", "a") as file:
    file.write(request.state + "\\n")
return Answer({"way": QuestionAnswer({"left": 0.75, "right": 0.25})})
"""
CASES = [f"demo-way-{number}-original" for number in range(9)]


@pytest.fixture
def rows(row: MakeRow) -> list[dict[str, Any]]:
    """Nine cases, three per split, whose states are their ids."""
    splits = ("development", "calibration", "holdout")
    return [row(f"way-{n}", splits[n % 3], state=case) for n, case in enumerate(CASES)]


@pytest.fixture
def named(make_suite: Callable[..., Path], rows: list[dict[str, Any]]) -> Path:
    return make_suite(rows, "named")


def asked() -> list[str]:
    """What the candidate was asked since the last call, in order."""
    log = Path("asked.txt")
    states = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    return states


def lasting(report: dict[str, Any]) -> dict[str, Any]:
    """A report without date, load times and seal; a resumed run keeps everything else, latencies included."""
    latency = {key: value for key, value in report["latency"].items() if key != "loads"}
    return {key: value for key, value in report.items() if key not in ("created", "seal")} | {"latency": latency}


def journal_of(folder: Path) -> Path:
    return folder / "own" / "journal.jsonl"


def test_resuming_a_complete_run_asks_nothing_and_changes_nothing(
    bench: Bench, own: Own, named: Path, mode: list[str]
) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    before = lasting(first.report("own"))
    assert sorted(asked()) == CASES
    again = bench(named, "--candidate", candidate, "--resume", first.folder, *mode)
    assert asked() == []
    assert (first.code, again.code) == (0, 0)
    assert "9 of 9 items had their record from before" in again.output
    assert "from before" not in first.output
    assert len(again.records("own")) == len(CASES)
    assert lasting(again.report("own")) == before


@pytest.mark.parametrize("kept", [0, 1, -1], ids=["run-line", "load-line", "record-line"])
def test_a_torn_last_line_is_cut_and_its_case_asked_again(bench: Bench, own: Own, named: Path, kept: int) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    journal = journal_of(first.folder)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
    asked()
    again = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert again.code == 0
    assert asked() == (CASES[-1:] if kept == -1 else CASES)
    assert sorted(record["case"] for record in again.records("own")) == CASES
    assert again.report("own")["complete"] is True


def test_a_run_that_was_cut_short_is_completed(bench: Bench, own: Own, named: Path, mode: list[str]) -> None:
    candidate = own(DECIDE)
    part = bench(named, "--candidate", candidate, "-k", "way-2 or way-5")
    assert part.report("own")["partial"] is True
    assert sorted(asked()) == [CASES[2], CASES[5]]
    rest = bench(named, "--candidate", candidate, "--resume", part.folder, *mode)
    assert sorted(asked()) == [case for case in CASES if case not in (CASES[2], CASES[5])]
    report = rest.report("own")
    assert (report["complete"], report["partial"], rest.code) == (True, False, 0)
    assert [record["case"] for record in report["records"]] == CASES


def test_another_trial_only_adds_its_items(bench: Bench, own: Own, named: Path) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    asked()
    more = bench(named, "--candidate", candidate, "--resume", first.folder, "--trials", "2")
    assert asked() == CASES
    assert more.code == 0
    assert [record["trial"] for record in more.records("own")] == [1] * 9 + [2] * 9
    assert set(more.report("own")["latency"]["by_trial"]) == {"1", "2"}


def test_another_candidate_only_adds_its_items(bench: Bench, own: Own, named: Path) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    asked()
    more = bench(named, "--candidate", candidate, "--candidate", "uniform", "--resume", first.folder)
    assert asked() == []
    assert more.code == 0
    assert len(more.records("uniform")) == 9
    assert [s["candidate"] for s in more.json("comparison.json")["standings"]] == ["own", "uniform"]


def test_a_changed_candidate_file_is_asked_everything_and_the_old_records_are_set_aside(
    bench: Bench, own: Own, named: Path
) -> None:
    candidate = own(DECIDE)
    original = candidate.read_text()
    first = bench(named, "--candidate", candidate)
    before = first.report("own")
    asked()
    candidate.write_text(original.replace("0.75", "0.25").replace('"right": 0.25', '"right": 0.75'))
    changed = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert sorted(asked()) == CASES
    report = changed.report("own")
    assert report["scope"]["set_aside"] == 9
    assert "9 records of an earlier candidate hash are set aside" in changed.output
    assert "9 records of an earlier candidate hash are set aside" in (changed.folder / "own/summary.md").read_text()
    assert report["candidate"]["hash"] != before["candidate"]["hash"]
    assert {record["candidate_hash"] for record in report["records"]} == {report["candidate"]["hash"]}
    assert report["metrics"]["holdout"]["overall"]["accuracy"] == 0.0
    assert len(changed.records("own")) == 18

    candidate.write_text(original)
    back = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert asked() == []
    assert back.report("own")["records"] == before["records"]


def test_another_suite_of_the_same_name_is_refused(
    bench: Bench, own: Own, named: Path, rows: list[dict[str, Any]], make_suite: Callable[..., Path]
) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    journal = journal_of(first.folder).read_bytes()
    asked()
    shutil.rmtree(named)
    rows[0]["state"] = "another state"
    again = bench(make_suite(rows, "named"), "--candidate", candidate, "--resume", first.folder)
    assert again.code == 4
    assert f"{journal_of(first.folder)}: was recorded on another suite or version; start a new run" in again.output
    assert asked() == []
    assert journal_of(first.folder).read_bytes() == journal


@pytest.mark.parametrize("limit", [["--max-error", "0.1"], ["--min-accepted", "3"]])
def test_other_gate_limits_are_refused(bench: Bench, own: Own, named: Path, mode: list[str], limit: list[str]) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    asked()
    again = bench(named, "--candidate", candidate, "--resume", first.folder, *limit, *mode)
    assert again.code == 4
    option, value = limit
    was = {"--max-error": 0.05, "--min-accepted": 10}[option]
    assert f"was recorded under another protocol: {option} was {was}, is {value}; repeat the options" in again.output
    assert asked() == []


def test_a_run_with_limits_of_its_own_is_resumed_under_the_same_ones(bench: Bench, own: Own, named: Path) -> None:
    candidate = own(DECIDE)
    limits = ["--max-error", "0.2", "--min-accepted", "2"]
    first = bench(named, "--candidate", candidate, *limits)
    gates = first.report("own")["gates"]
    again = bench(named, "--candidate", candidate, *limits, "--resume", first.folder)
    assert again.code == 0
    assert again.report("own")["gates"] == gates
    assert again.report("own")["protocol"]["max_error"] == 0.2


def test_a_directory_without_a_journal_is_refused(bench: Bench, named: Path, tmp_path: Path, mode: list[str]) -> None:
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "nowhere"):
        run = bench(named, "--candidate", "uniform", "--resume", place, *mode)
        assert run.code == 4
        assert f"--resume {place}: no journal of uniform there; it holds no journal" in run.output
    assert not (tmp_path / "nowhere").exists()


def test_a_file_is_no_run_to_resume(bench: Bench, named: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    run = bench(named, "--resume", tmp_path / "file")
    assert run.code == 4
    assert f"--resume {tmp_path / 'file'}" in run.output
    assert "INTERNALERROR" not in run.output


def test_a_journal_that_is_a_directory_is_a_sentence(bench: Bench, named: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "uniform" / "journal.jsonl").mkdir(parents=True)
    run = bench(named, "--candidate", "uniform", "--resume", tmp_path / "run")
    assert run.code == 4
    assert f"{tmp_path / 'run' / 'uniform' / 'journal.jsonl'}" in run.output
    assert "Traceback" not in run.output


def test_the_run_of_another_candidate_is_named(bench: Bench, named: Path) -> None:
    first = bench(named, "--candidate", "uniform", "--candidate", "first-option")
    run = bench(named, "--candidate", "majority", "--resume", first.folder)
    assert run.code == 4
    assert "no journal of majority there; it holds first-option, uniform" in run.output


def test_a_run_directory_in_use_is_not_written_into_without_resume(bench: Bench, named: Path) -> None:
    first = bench(named, "--candidate", "uniform")
    before = (first.folder / "uniform" / "journal.jsonl").read_bytes()
    again = bench(named, "--candidate", "uniform", "--run-dir", first.folder)
    assert again.code == 4
    assert "is not an empty directory; go on with it by --resume, or name another" in again.output
    assert (first.folder / "uniform" / "journal.jsonl").read_bytes() == before


def test_a_damaged_middle_line_is_named_and_nothing_is_asked(
    bench: Bench, own: Own, named: Path, mode: list[str]
) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate)
    journal = journal_of(first.folder)
    lines = journal.read_text().splitlines()
    lines[4] = lines[4][:50]
    journal.write_text("\n".join(lines) + "\n")
    damaged = journal.read_bytes()
    asked()
    again = bench(named, "--candidate", candidate, "--resume", first.folder, *mode)
    assert again.code == 4
    assert f"{journal}, line 5: is not a journal line" in again.output
    assert asked() == []
    assert journal.read_bytes() == damaged


def test_the_model_asked_in_a_resumed_run_is_loaded_again_and_both_loads_are_reported(
    bench: Bench, own: Own, named: Path
) -> None:
    candidate = own(DECIDE)
    first = bench(named, "--candidate", candidate, "-k", "way-1")
    again = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert [line["kind"] for line in again.journal("own")].count("load") == 2
    assert len(json.loads((again.folder / "own" / "report.json").read_text())["latency"]["loads"]) == 2
