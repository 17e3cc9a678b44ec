"""Workers that die under ``-n 2``: each costs its running item at most, and no such run ends as if all were well."""

from __future__ import annotations

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
if Path("deadly.txt").exists() and request.state in Path("deadly.txt").read_text().split():
    os.kill(os.getpid(), 9)
return Answer({"way": QuestionAnswer({"left": 0.75, "right": 0.25})})
"""
CASES = [f"demo-way-{number:02}-original" for number in range(24)]


@pytest.fixture
def named(make_suite: Callable[..., Path], row: MakeRow) -> Path:
    """Twenty-four cases, eight per split, whose states are their ids."""
    splits = ("development", "calibration", "holdout")
    return make_suite([row(f"way-{n:02}", splits[n % 3], state=case) for n, case in enumerate(CASES)])


@pytest.fixture
def candidate(own: Own) -> Path:
    return own(DECIDE)


def deadly(*cases: str) -> None:
    """Let the process die that is asked one of these cases."""
    Path("deadly.txt").write_text(" ".join(cases))


def asked() -> list[str]:
    """What was asked since the last call, in order."""
    log = Path("asked.txt")
    states = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    return states


def codes(run: Any) -> dict[str, str]:
    """The failed records of a report and their code."""
    return {
        record["case"]: decision["failure"]["code"]
        for record in run.report("own")["records"]
        for decision in record["decisions"]
        if decision["failure"]
    }


def test_a_killed_worker_costs_its_running_item_which_is_a_failed_record(
    bench: Bench, candidate: Path, named: Path
) -> None:
    deadly(CASES[10])
    run = bench(named, "--candidate", candidate, "-n", "2")
    assert run.code == 1
    assert sorted(record["case"] for record in run.records("own")) == CASES
    assert codes(run) == {CASES[10]: "worker-crashed"}
    report = run.report("own")
    assert report["scope"]["measured"] == 24
    assert sum(metrics["overall"]["failed"] for metrics in report["metrics"].values()) == 1
    calibration = report["metrics"]["calibration"]["overall"]
    assert (calibration["decisions"], calibration["valid"], calibration["correct"]) == (8, 7, 7)
    assert report["gates"]["empirical"]["status"] == "refused"


def test_the_lost_item_is_kept_by_a_resume_and_asked_again_by_a_retry(
    bench: Bench, candidate: Path, named: Path
) -> None:
    deadly(CASES[10])
    run = bench(named, "--candidate", candidate, "-n", "2")
    deadly()
    asked()
    kept = bench(named, "--candidate", candidate, "--resume", run.folder)
    assert (kept.code, asked(), codes(kept)) == (1, [], {CASES[10]: "worker-crashed"})
    retried = bench(named, "--candidate", candidate, "--resume", run.folder, "--retry-failed")
    assert (retried.code, asked(), codes(retried)) == (0, [CASES[10]], {})
    assert retried.report("own")["scope"]["retried"] == 1


def test_workers_that_all_die_at_their_first_item_never_end_the_run_with_zero(
    bench: Bench, candidate: Path, named: Path
) -> None:
    deadly(*CASES)
    run = bench(named, "--candidate", candidate, "-n", "2", "--max-worker-restart", "2")
    # Where two workers die in the same moment, xdist itself may end in an internal error, status 3.
    assert run.code in (3, 11)
    assert len(asked()) < 24


def test_items_left_when_no_worker_is_left_make_the_run_incomplete(bench: Bench, candidate: Path, named: Path) -> None:
    deadly(*CASES)
    run = bench(named, "--candidate", candidate, "-n", "1", "--max-worker-restart", "1")
    assert run.code == 11
    report = run.report("own")
    assert report["complete"] is False
    assert list(codes(run).values()) == ["worker-crashed"] * 2
    [reason] = report["incomplete_reasons"]
    assert reason.startswith("22 of 24 selected items have no record (")
    assert f"Incomplete: {reason}." in " ".join(run.output.split())
    assert report["gates"]["empirical"]["status"] == "not-fitted"


def test_workers_that_die_on_the_only_items_there_are_end_in_failed_records(
    bench: Bench, candidate: Path, named: Path
) -> None:
    deadly(*CASES)
    run = bench(named, "--candidate", candidate, "-n", "2", "-k", "way-02 or way-05")
    assert run.code == 1
    assert codes(run) == {CASES[2]: "worker-crashed", CASES[5]: "worker-crashed"}
    assert run.report("own")["metrics"]["holdout"]["overall"]["accuracy"] == 0.0


def test_an_item_lost_with_status_zero_before_anyone_said_who_answers_is_a_retry_when_asked_again(
    bench: Bench, own: Own, named: Path
) -> None:
    candidate = own(DECIDE, create='if Path("dying").exists(): os._exit(0)\nreturn Own()')
    Path("dying").write_text("")
    run = bench(named, "--candidate", candidate, "-n", "1", "--max-worker-restart", "0")
    assert run.code == 11
    assert asked() == []
    assert codes(run) == {CASES[0]: "worker-crashed"}
    Path("dying").unlink()
    again = bench(named, "--candidate", candidate, "--resume", run.folder, "-n", "2")
    assert sorted(asked()) == CASES
    assert again.code == 0
    assert again.report("own")["scope"]["retried"] == 1
    assert "1 records replace failed ones that were asked again." in again.output


def test_workers_that_die_in_a_resumed_run_cost_no_finished_record(bench: Bench, own: Own, named: Path) -> None:
    candidate = own(DECIDE, create='if Path("dying").exists(): os._exit(0)\nreturn Own()')
    run = bench(named, "--candidate", candidate, "-n", "2")
    before = run.report("own")["records"]
    Path("dying").write_text("")
    broken = bench(named, "--candidate", candidate, "--resume", run.folder, "-n", "1", "--max-worker-restart", "0")
    assert broken.code == 1
    assert broken.report("own")["records"] == before
    Path("dying").unlink()
    asked()
    again = bench(named, "--candidate", candidate, "--resume", run.folder)
    assert (again.code, asked()) == (0, [])
    assert again.report("own")["records"] == before
