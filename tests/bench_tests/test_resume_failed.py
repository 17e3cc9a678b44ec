"""Failed records in a resumed run: kept as they are, or asked again and said to be; a fatal one stops only its run."""

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
broken = Path("broken.txt").read_text().split()
if request.state in broken:
    raise CandidateError("timeout", "no answer within the deadline", fatal="fatal" in broken)
return Answer({"way": QuestionAnswer({"left": 0.75, "right": 0.25})})
"""
CASES = [f"demo-way-{number}-original" for number in range(9)]


@pytest.fixture
def named(make_suite: Callable[..., Path], row: MakeRow) -> Path:
    """Nine cases, three per split, whose states are their ids; the last answer of DECIDE is wrong."""
    splits = ("development", "calibration", "holdout")
    expected = ["left"] * 8 + ["right"]
    return make_suite([row(f"way-{n}", splits[n % 3], "original", expected[n], state=c) for n, c in enumerate(CASES)])


@pytest.fixture
def candidate(own: Own) -> Path:
    return own(DECIDE)


def broken(*cases: str) -> None:
    """Let the candidate fail on these cases from now on; with the word ``fatal`` it cannot go on."""
    Path("broken.txt").write_text(" ".join(cases))


def asked() -> list[str]:
    """What the candidate was asked since the last call, in order."""
    log = Path("asked.txt")
    states = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    return states


def failures(run: Any) -> dict[str, tuple[str, int]]:
    """The failed records of a report: their code and attempt by case."""
    return {
        record["case"]: (decision["failure"]["code"], record["attempt"])
        for record in run.report("own")["records"]
        for decision in record["decisions"]
        if decision["failure"]
    }


def test_a_failed_record_is_kept_and_not_asked_again(
    bench: Bench, candidate: Path, named: Path, mode: list[str]
) -> None:
    broken(CASES[4])
    first = bench(named, "--candidate", candidate)
    metrics = first.report("own")["metrics"]
    assert first.code == 1
    asked()
    broken()
    again = bench(named, "--candidate", candidate, "--resume", first.folder, *mode)
    assert asked() == []
    assert again.code == 1
    assert failures(again) == {CASES[4]: ("timeout", 1)}
    assert "timeout: no answer within the deadline" in again.output
    assert again.report("own")["metrics"] == metrics
    assert again.report("own")["scope"]["retried"] == 0
    assert again.report("own")["complete"] is True


def test_retry_failed_asks_only_failed_records_again_and_says_so(
    bench: Bench, candidate: Path, named: Path, mode: list[str]
) -> None:
    broken(CASES[4], CASES[7])
    first = bench(named, "--candidate", candidate)
    asked()
    broken()
    again = bench(named, "--candidate", candidate, "--resume", first.folder, "--retry-failed", *mode)
    assert sorted(asked()) == [CASES[4], CASES[7]]
    assert again.code == 0
    assert failures(again) == {}
    report = again.report("own")
    assert {r["case"]: r["attempt"] for r in report["records"] if r["attempt"] > 1} == {CASES[4]: 2, CASES[7]: 2}
    assert report["scope"]["retried"] == 2
    said = "2 records replace failed ones that were asked again."
    assert said in again.output
    assert said in (again.folder / "own" / "summary.md").read_text()
    # The evidence of the failures stays in the journal.
    assert len(again.records("own")) == 11
    # Calibration is whole now, so the gate is no longer refused.
    assert report["gates"]["empirical"]["status"] != "refused"


def test_a_record_that_fails_again_counts_its_attempts(bench: Bench, candidate: Path, named: Path) -> None:
    broken(CASES[4])
    first = bench(named, "--candidate", candidate)
    for attempt in (2, 3):
        asked()
        again = bench(named, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
        assert asked() == [CASES[4]]
        assert again.code == 1
        assert failures(again) == {CASES[4]: ("timeout", attempt)}
        assert again.report("own")["scope"]["retried"] == 1


def test_a_wrong_answer_is_never_asked_again(bench: Bench, candidate: Path, named: Path) -> None:
    broken()
    first = bench(named, "--candidate", candidate)
    asked()
    again = bench(named, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    assert asked() == []
    assert again.report("own")["metrics"]["holdout"]["overall"]["correct"] == 2
    assert again.code == 0


def test_a_retried_record_is_kept_by_a_later_resume(bench: Bench, candidate: Path, named: Path) -> None:
    broken(CASES[4])
    first = bench(named, "--candidate", candidate)
    broken()
    bench(named, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    asked()
    again = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert asked() == []
    assert again.code == 0
    assert again.report("own")["scope"]["retried"] == 1


def test_retry_failed_needs_a_run_to_resume(bench: Bench, named: Path, mode: list[str]) -> None:
    run = bench(named, "--candidate", "uniform", "--retry-failed", *mode)
    assert run.code == 4
    assert "--retry-failed goes with --resume RUN" in run.output


def test_a_fatal_record_does_not_stop_the_run_that_resumes_it(
    bench: Bench, candidate: Path, named: Path, mode: list[str]
) -> None:
    broken("fatal", CASES[2])
    first = bench(named, "--candidate", candidate)
    assert first.code == 2
    done = {record["case"] for record in first.records("own")}
    asked()
    broken()
    again = bench(named, "--candidate", candidate, "--resume", first.folder, *mode)
    assert sorted(asked()) == sorted(set(CASES) - done)
    assert again.code == 1
    assert failures(again) == {CASES[2]: ("timeout", 1)}
    assert again.report("own")["complete"] is True
    assert "STOPPED" not in again.output
    last = bench(named, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    assert last.code == 0
    assert failures(last) == {}


def test_a_trouble_that_is_still_there_stops_the_resumed_run_too(bench: Bench, candidate: Path, named: Path) -> None:
    broken("fatal", *CASES[2:])
    first = bench(named, "--candidate", candidate)
    asked()
    again = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert asked() == [CASES[3]]
    assert again.code == 2
    assert "STOPPED: own cannot go on: no answer within the deadline" in again.output


def test_a_candidate_that_could_not_be_built_is_asked_in_the_resumed_run_and_counted_as_retried(
    bench: Bench, own: Own, named: Path
) -> None:
    broken()
    candidate = own(DECIDE, create='if Path("missing").exists(): raise OSError("no weights")\nreturn Own()')
    Path("missing").write_text("")
    first = bench(named, "--candidate", candidate)
    assert first.code == 1
    assert asked() == []
    kept = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert (kept.code, len(kept.records("own"))) == (1, 9)
    Path("missing").unlink()
    again = bench(named, "--candidate", candidate, "--resume", first.folder)
    assert asked() == CASES
    assert again.code == 0
    assert again.report("own")["scope"]["retried"] == 9
    assert "9 records replace failed ones that were asked again." in again.output
