"""How much was measured: lost items, early stops and chosen subsets are told apart, and say so."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
MakeRow: TypeAlias = Callable[..., dict[str, Any]]

CASES = [f"demo-way-{number}-original" for number in range(9)]
ANSWERS = 'return Answer({"way": QuestionAnswer({"left": 0.75, "right": 0.25})})'
LEAVING = """
import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        decision = item.callspec.params["decision"]
        if decision.candidate == "own" and "way-4" in decision.case.state:
            item.add_marker(pytest.mark.skip(reason="not today"))
"""
"""A conftest that leaves items of ``own`` without a record and without a failure."""
HOOK = """
import pytest


def pytest_runtest_setup(item):
    if "uniform-demo-way-4-" in item.nodeid:
        pytest.skip("not today")
    if "uniform-demo-way-2-" in item.nodeid:
        raise OSError("no disk")
"""


@pytest.fixture
def named(make_suite: Callable[..., Path], row: MakeRow) -> Path:
    """Nine cases, three per split, whose states are their ids."""
    splits = ("development", "calibration", "holdout")
    return make_suite([row(f"way-{n}", splits[n % 3], state=case) for n, case in enumerate(CASES)])


@pytest.fixture
def leaves(pytester: pytest.Pytester) -> str:
    """The argument that brings the conftest above into a run."""
    (pytester.path / "leaving").mkdir()
    (pytester.path / "leaving" / "conftest.py").write_text(LEAVING)
    return "leaving"


def codes(report: dict[str, Any]) -> dict[str, str]:
    """The failed records of a report and their code."""
    return {
        record["case"]: decision["failure"]["code"]
        for record in report["records"]
        for decision in record["decisions"]
        if decision["failure"]
    }


def test_an_item_that_leaves_no_record_makes_the_run_incomplete_and_is_named(
    bench: Bench, own: Own, named: Path, leaves: str, mode: list[str]
) -> None:
    run = bench(named, "--candidate", own(ANSWERS), leaves, *mode)
    assert run.code == 11
    report = run.report("own")
    assert (report["complete"], report["partial"]) == (False, False)
    assert report["scope"]["missing"] == [f"own-{CASES[4]}"]
    assert (report["scope"]["collected"], report["scope"]["measured"]) == (9, 8)
    assert report["incomplete_reasons"] == [f"1 of 9 selected items have no record (own-{CASES[4]})"]
    assert f"Incomplete: 1 of 9 selected items have no record (own-{CASES[4]})." in " ".join(run.output.split())
    assert "INCOMPLETE run." in run.output
    assert report["gates"]["empirical"]["status"] == "not-fitted"
    assert report["gates"]["empirical"]["reason"] == "the run is incomplete; a gate needs all of its scope"


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["serial", "n2"])
def test_a_hook_that_skips_one_item_and_breaks_another_is_caught_in_both(
    bench_argv: Callable[..., list[str]], named: Path, pytester: pytest.Pytester, workers: list[str]
) -> None:
    (pytester.path / "hook.py").write_text(HOOK)
    argv = bench_argv(named, "--candidate", "uniform", "--run-dir", "run", "-p", "hook", *workers)
    ended = subprocess.run(
        argv, cwd=pytester.path, env={**os.environ, "PYTHONPATH": str(pytester.path)}, capture_output=True, text=True
    )
    assert ended.returncode == 11, ended.stdout
    report = json.loads((pytester.path / "run" / "uniform" / "report.json").read_text())
    assert report["scope"]["missing"] == [f"uniform-{CASES[4]}"]
    assert codes(report) == {CASES[2]: "setup-failed"}
    assert report["scope"]["measured"] == 8


def test_an_incomplete_run_is_completed_by_resume(bench: Bench, own: Own, named: Path, leaves: str) -> None:
    candidate = own(ANSWERS)
    lost = bench(named, "--candidate", candidate, leaves)
    run = bench(named, "--candidate", candidate, "--resume", lost.folder)
    assert (lost.code, run.code) == (11, 0)
    assert run.report("own")["complete"] is True
    assert len(run.records("own")) == 9


def test_lost_and_failed_items_together_are_incomplete(
    bench: Bench, own: Own, named: Path, leaves: str, mode: list[str]
) -> None:
    decide = f'if "way-2" in request.state:\n    raise CandidateError("timeout", "too late")\n{ANSWERS}'
    run = bench(named, "--candidate", own(decide), leaves, *mode)
    assert run.code == 11
    assert codes(run.report("own")) == {CASES[2]: "timeout"}


def test_one_of_two_candidates_that_lost_an_item_makes_the_session_incomplete(
    bench: Bench, own: Own, named: Path, leaves: str
) -> None:
    run = bench(named, "--candidate", "uniform", "--candidate", own(ANSWERS), leaves)
    assert run.code == 11
    assert run.report("uniform")["complete"] is True
    assert run.report("own")["complete"] is False
    comparison = run.json("comparison.json")
    assert comparison["contrasts"] == []
    assert "own: partial or incomplete, so no difference is tested" in comparison["note"]


def test_a_candidate_that_lost_every_item_is_incomplete_too(
    bench: Bench, own: Own, named: Path, leaves: str, mode: list[str]
) -> None:
    run = bench(named, "--candidate", own(ANSWERS), leaves, "-k", "way-4", *mode)
    assert run.code == 11
    assert not (run.folder / "own" / "report.json").exists()


def test_a_resumed_journal_that_still_has_no_line_is_incomplete(
    bench: Bench, own: Own, named: Path, leaves: str
) -> None:
    journal = Path("killed/own/journal.jsonl")
    journal.parent.mkdir(parents=True)
    journal.write_text('{"kind":"run","schema":"decib')
    run = bench(named, "--candidate", own(ANSWERS), leaves, "-k", "way-4", "--resume", "killed")
    assert run.code == 11
    assert "INTERNALERROR" not in run.output


@pytest.mark.parametrize("stop", [["-x"], ["--maxfail", "2"]], ids=["x", "maxfail"])
def test_a_stop_at_failures_is_partial_and_exits_by_its_items(
    bench: Bench, own: Own, named: Path, mode: list[str], stop: list[str]
) -> None:
    run = bench(named, "--candidate", own('raise CandidateError("timeout", "too late")'), *stop, *mode)
    assert run.code == 1
    report = run.report("own")
    assert (report["complete"], report["partial"], report["incomplete_reasons"]) == (False, True, [])
    assert 1 <= report["scope"]["measured"] < 9
    assert report["gates"]["empirical"]["reason"] == "the run is partial; a gate needs all of its scope"
    assert f"Partial: 9 of 9 items of the scope were selected, {report['scope']['measured']} measured" in run.output


def test_a_stop_at_failures_that_never_came_is_a_complete_run(bench: Bench, named: Path, mode: list[str]) -> None:
    run = bench(named, "--candidate", "uniform", "-x", *mode)
    assert run.code == 0
    assert run.report("uniform")["complete"] is True


def test_a_stop_at_the_very_last_item_misses_nothing(bench: Bench, own: Own, named: Path) -> None:
    decide = f'if "way-8" in request.state:\n    raise CandidateError("timeout", "too late")\n{ANSWERS}'
    run = bench(named, "--candidate", own(decide), "-x")
    assert run.code == 1
    assert (run.report("own")["complete"], run.report("own")["partial"]) == (True, False)


def test_workers_that_build_different_candidates_make_the_run_incomplete(bench: Bench, own: Own, named: Path) -> None:
    candidate = own(
        ANSWERS,
        create='own = Own()\nown.identity = Identity(model="own", settings={"process": os.getpid()})\nreturn own',
    )
    run = bench(named, "--candidate", candidate, "-n", "2")
    assert run.code == 11
    report = run.report("own")
    assert report["complete"] is False
    assert "the processes of this run built 2 different candidates" in report["incomplete_reasons"]
    assert "Incomplete: the processes of this run built 2 different candidates." in run.output
    # What the other process measured belongs to another candidate and is in no figure.
    assert {record["candidate_hash"] for record in report["records"]} == {report["candidate"]["hash"]}
    assert len(report["records"]) + report["scope"]["set_aside"] == 9
    assert len(run.records("own")) == 9


def test_the_missing_items_of_a_report_are_ten_at_most(
    bench: Bench, own: Own, make_suite: Callable[..., Path], row: MakeRow, leaves: str
) -> None:
    splits = ("calibration", "holdout")
    rows = [row(f"way-{n:02}", splits[n % 2], state="first" if n == 0 else f"way-4 {n}") for n in range(13)]
    run = bench(make_suite(rows, "many"), "--candidate", own(ANSWERS), leaves)
    assert run.code == 11
    scope = run.report("own")["scope"]
    assert (scope["collected"], scope["measured"], len(scope["missing"])) == (13, 1, 10)
