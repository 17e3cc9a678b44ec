"""A run killed by SIGKILL at random points: nothing finished is asked again, and the report is that of a whole run."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

DECIDE = """
import time, zlib
if "ASKED" in os.environ:
    with open(os.environ["ASKED"], "a") as file:
        file.write(request.state + "\\n")
    held = len(Path(os.environ["ASKED"]).read_text().splitlines()) > int(os.environ["HOLD"])
    time.sleep(600 if held else 0.002)
share = zlib.crc32(request.state.encode()) / 2**32
return Answer({"way": QuestionAnswer({"left": share, "right": 1 - share})})
"""
VARYING = ("run", "created", "latency", "holdout_looks", "seal")
"""What two runs over the same cases may differ in; in a record it is only the latency."""

MakeRow: TypeAlias = Callable[..., dict[str, Any]]


class Killable:
    """A suite of 36 cases whose states name them, a candidate that logs each state, and processes that run it.

    The candidate hangs some cases after the point where it is to be killed, so that no run can get away by itself.
    """

    def __init__(self, suite: Path, candidate: Path, argv: Callable[..., list[str]]) -> None:
        self._argv = argv
        self._suite = suite
        self._candidate = candidate
        self.home = candidate.parent

    def start(self, log: Path, *arguments: str | Path, hold: int = 1000) -> subprocess.Popen[bytes]:
        """Start a run whose candidate logs to ``log`` and hangs after ``hold`` cases."""
        return subprocess.Popen(
            self._argv(self._suite, "--candidate", self._candidate, "-p", "no:cacheprovider", *arguments),
            cwd=self.home,
            env={**os.environ, "ASKED": str(log), "HOLD": str(hold)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def finish(self, log: Path, *arguments: str | Path) -> int:
        """Run to the end and return the exit status."""
        return self.start(log, *arguments).wait(timeout=120)

    def kill(self, log: Path, dice: random.Random, ready: Callable[[], bool], hold: int, *arguments: str | Path) -> int:
        """Run until ``ready``, then kill the process wherever it is; returns how it ended."""
        process = self.start(log, *arguments, hold=hold)
        while process.poll() is None and not ready():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(dice.uniform(0.0005, 0.006))
        process.kill()
        return process.wait(timeout=60)


@pytest.fixture
def killable(
    make_suite: Callable[..., Path],
    row: MakeRow,
    own: Callable[..., Path],
    bench_argv: Callable[..., list[str]],
) -> Killable:
    rows = [
        row(f"way-{n:03}", ("development", "calibration", "holdout")[n % 3], variant, "left" if n < 9 else "right")
        for n in range(18)
        for variant in ("original", "injection")
    ]
    return Killable(make_suite([r | {"state": r["id"]} for r in rows]), own(DECIDE), bench_argv)


@pytest.fixture
def dice() -> random.Random:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    return random.Random(seed)


def states(log: Path) -> list[str]:
    """What was asked, warm-ups apart; the states are the ids of the cases."""
    return log.read_text().splitlines() if log.exists() else []


def journaled(run: Path) -> list[str]:
    """The cases with a complete record line, in order of arrival; none where there is no journal yet."""
    path = run / "own" / "journal.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [entry["case"] for entry in map(json.loads, lines) if entry["kind"] == "record"]


def lasting(run: Path) -> dict[str, Any]:
    """A report without what differs between two runs over the same cases."""
    report = json.loads((run / "own" / "report.json").read_text())
    for record in report["records"]:
        assert record.pop("latency_s") >= 0
    return {key: value for key, value in report.items() if key not in VARYING}


def test_killed_three_times_and_resumed_it_asks_nothing_twice_and_reports_the_same(
    killable: Killable, dice: random.Random
) -> None:
    run, whole = killable.home / "killed", killable.home / "whole"
    goal, option, known = 36, "--run-dir", Counter[str]()
    for life in range(3):
        log, point = killable.home / f"asked-{life}", dice.randint(2, 8)
        ended = killable.kill(log, dice, lambda: len(states(log)) >= point, point + 3, option, run)  # noqa: B023
        assert ended == -signal.SIGKILL
        asked, finished, option = states(log), journaled(run), "--resume"
        assert not set(asked) & set(known), "a finished decision was asked again"
        # Only the case that was being asked when the end came may lack its record.
        assert set(asked) - set(finished) <= {asked[-1]}
        assert len(asked) == len(set(asked))
        known = Counter(finished)
    assert set(known.values()) == {1}

    assert killable.finish(killable.home / "asked-last", option, run) == 0
    rest = states(killable.home / "asked-last")
    assert len(rest) == goal - len(known)
    assert not set(rest) & set(known)
    assert Counter(journaled(run)).most_common(1)[0][1] == 1
    assert len(journaled(run)) == goal

    assert killable.finish(killable.home / "asked-whole", "--run-dir", whole) == 0
    assert len(states(killable.home / "asked-whole")) == goal
    assert lasting(run) == lasting(whole)
    assert lasting(run)["complete"] is True


def test_the_controller_of_two_workers_is_killed_and_resumed(killable: Killable, dice: random.Random) -> None:
    run, whole = killable.home / "killed", killable.home / "whole"
    point = dice.randint(2, 24)
    ready = lambda: len(journaled(run)) >= point  # noqa: E731
    ended = killable.kill(killable.home / "first", dice, ready, point + 6, "--run-dir", run, "-n", "2")
    known = journaled(run)
    assert ended == -signal.SIGKILL
    assert point <= len(known) < 36

    assert killable.finish(killable.home / "second", "--resume", run, "-n", "2") == 0
    assert sorted(states(killable.home / "second")) == sorted(set(whole_suite()) - set(known))
    assert sorted(journaled(run)) == sorted(whole_suite())
    assert killable.finish(killable.home / "third", "--run-dir", whole) == 0
    assert lasting(run) == lasting(whole)


def test_killed_after_the_last_answer_it_still_gets_its_report(killable: Killable, dice: random.Random) -> None:
    run = killable.home / "killed"
    killable.kill(killable.home / "first", dice, lambda: len(journaled(run)) == 36, 36, "--run-dir", run)
    known = journaled(run)
    assert len(known) == 36
    assert killable.finish(killable.home / "second", "--resume", run) == 0
    assert states(killable.home / "second") == []
    assert lasting(run)["scope"]["measured"] == 36


def whole_suite() -> list[str]:
    return [f"demo-way-{n:03}-{variant}" for n in range(18) for variant in ("original", "injection")]
