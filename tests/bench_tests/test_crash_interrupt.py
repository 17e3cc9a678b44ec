"""A run ended by the user or by a candidate that cannot go on: status 2, evidence kept, and a way to finish it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
MakeRow: TypeAlias = Callable[..., dict[str, Any]]

SLOW = """
import time
with open("asked.txt", "a") as file:
    file.write(request.state + "\\n")
if "SLOW" in os.environ and len(Path("asked.txt").read_text().splitlines()) > 6:
    time.sleep(0.1)
return Answer({"way": QuestionAnswer({"left": 0.75, "right": 0.25})})
"""
REFUSES = """
with open("asked.txt", "a") as file:
    file.write(request.state + "\\n")
if request.state >= "demo-way-04":
    raise CandidateError("credentials", "the server refused the key", fatal=True)
return Answer({"way": QuestionAnswer({"left": 0.75, "right": 0.25})})
"""
CASES = [f"demo-way-{number:02}-original" for number in range(60)]


@pytest.fixture
def named(make_suite: Callable[..., Path], row: MakeRow) -> Path:
    """Sixty cases, twenty per split, whose states are their ids."""
    splits = ("development", "calibration", "holdout")
    return make_suite([row(f"way-{n:02}", splits[n % 3], state=case) for n, case in enumerate(CASES)])


def asked() -> list[str]:
    """What was asked since the last call, in order."""
    log = Path("asked.txt")
    states = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    return states


def journaled(run: Path) -> list[str]:
    """The cases that have a record in the journal."""
    path = run / "own" / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [entry["case"] for entry in map(json.loads, lines) if entry["kind"] == "record"]


def interrupt(argv: list[str], home: Path, run: Path) -> tuple[int, str]:
    """Run until three records are written, send SIGINT to the one process, return status and output."""
    process = subprocess.Popen(
        argv,
        cwd=home,
        env={**os.environ, "SLOW": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell that runs things in the background has them ignore the signal, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        while process.poll() is None and len(journaled(run)) < 3:
            try:
                process.wait(0.01)
            except subprocess.TimeoutExpired:
                continue
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, output


def test_an_interrupted_run_reports_what_it_has_as_incomplete_and_can_be_completed(
    bench: Bench, bench_argv: Callable[..., list[str]], own: Own, named: Path, mode: list[str]
) -> None:
    candidate = own(SLOW)
    home = candidate.parent
    run = home / "run"
    code, output = interrupt(bench_argv(named, "--candidate", candidate, "--run-dir", run, *mode), home, run)
    assert code == 2
    assert "INTERNALERROR" not in output
    done = journaled(run)
    assert 3 <= len(done) < len(CASES)
    report = json.loads((run / "own" / "report.json").read_text())
    assert (report["complete"], report["partial"]) == (False, False)
    assert report["scope"]["measured"] == len(done)
    assert f"Incomplete: {len(CASES) - len(done)} of {len(CASES)} selected items have no record (" in output
    assert report["gates"]["empirical"]["status"] == "not-fitted"

    asked()
    rest = bench(named, "--candidate", candidate, "--resume", run, *mode)
    assert sorted(asked()) == sorted(set(CASES) - set(done))
    assert (rest.code, rest.report("own")["complete"]) == (0, True)


def test_a_candidate_that_cannot_go_on_stops_the_run_and_says_why(
    bench: Bench, own: Own, named: Path, mode: list[str]
) -> None:
    run = bench(named, "--candidate", own(REFUSES), *mode)
    assert run.code == 2
    assert "STOPPED: own cannot go on: the server refused the key" in run.output
    assert len(asked()) < len(CASES) / 2
    records = {record["case"]: record["decisions"][0]["failure"] for record in run.records("own")}
    refused = {"code": "credentials", "detail": "the server refused the key", "fatal": True}
    assert refused in records.values()
    assert all(failure == (refused if case >= CASES[4] else None) for case, failure in records.items())
    report = run.report("own")
    assert report["complete"] is False
    assert len(report["records"]) == len(records)
    [reason] = report["incomplete_reasons"]
    assert reason.startswith(f"{60 - len(records)} of 60 selected items have no record (")


def test_a_candidate_that_cannot_be_built_for_good_is_asked_nothing(bench: Bench, own: Own, named: Path) -> None:
    create = 'raise CandidateError("credentials", "no key in OWN_KEY", fatal=True)'
    run = bench(named, "--candidate", own(REFUSES, create=create))
    assert run.code == 2
    assert "STOPPED: own cannot go on: no key in OWN_KEY" in run.output
    assert asked() == []
    assert len(run.records("own")) == 1


def test_a_candidate_that_cannot_go_on_stops_those_after_it_and_they_are_named_as_not_run(
    bench: Bench, own: Own, named: Path
) -> None:
    run = bench(named, "--candidate", own(REFUSES), "--candidate", "uniform")
    assert run.code == 2
    assert run.json("comparison.json")["not_run"] == ["uniform"]
    assert not (run.folder / "uniform").exists()


def test_a_last_item_that_is_fatal_still_ends_in_status_two(
    bench: Bench, own: Own, named: Path, mode: list[str]
) -> None:
    run = bench(named, "--candidate", own(REFUSES), "-k", "way-04", *mode)
    assert run.code == 2
    assert "STOPPED: own cannot go on: the server refused the key" in run.output
