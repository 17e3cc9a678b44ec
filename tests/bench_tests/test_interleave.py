"""Interleaved candidates: asked case by case, taking turns in going first, and measured as without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
MakeRow: TypeAlias = Callable[..., dict[str, Any]]

CASES = [f"demo-way-{number}-original" for number in range(6)]
BODY = """
with open("asked.txt", "a") as file:
    file.write(Path(__file__).stem + " " + " ".join(request.state.split()[:4]) + "\\n")
if Path("stop.txt").exists() and request.state == Path("stop.txt").read_text():
    raise CandidateError("refused", "no more", fatal=True)
return Answer({key: even(question) for key, question in request.questions.items()})
"""


@pytest.fixture
def named(make_suite: Callable[..., Path], row: MakeRow) -> Path:
    """Six cases, two per split, whose states are their ids."""
    splits = ("development", "calibration", "holdout")
    return make_suite([row(f"way-{n}", splits[n % 3], state=case) for n, case in enumerate(CASES)])


@pytest.fixture
def three(own: Own) -> list[str]:
    """Options that name three candidates."""
    return [word for name in "abc" for word in ("--candidate", str(own(BODY, name=f"{name}.py")))]


def asked() -> list[tuple[str, str]]:
    """Who was asked what since the last call, in order."""
    log = Path("asked.txt")
    lines = [line.partition(" ") for line in log.read_text().splitlines()]
    log.unlink()
    return [(name, state) for name, _, state in lines]


def test_candidates_take_turns(bench: Bench, three: list[str], named: Path) -> None:
    assert bench(named, *three, "--interleave").code == 0
    order = asked()
    assert [state for _, state in order] == [case for case in CASES for _ in range(3)]
    assert "".join(name for name, _ in order) == "abcbcacab" * 2


def test_without_it_one_candidate_comes_after_the_other(bench: Bench, three: list[str], named: Path) -> None:
    run = bench(named, *three)
    assert asked() == [(name, case) for name in "abc" for case in CASES]
    assert run.report("a")["scope"]["interleaved"] is False


def test_trials_take_turns_too(bench: Bench, three: list[str], named: Path) -> None:
    assert bench(named, *three[:4], "--interleave", "--trials", "2").code == 0
    order = asked()
    assert [state for _, state in order] == [case for case in CASES for _ in range(4)]
    assert "".join(name for name, _ in order) == "abba" * 6


def test_what_was_measured_is_the_same(bench: Bench, three: list[str], named: Path) -> None:
    apart, together = bench(named, *three), bench(named, *three, "--interleave")
    for name in "abc":
        assert [r["case"] for r in together.records(name)] == [r["case"] for r in apart.records(name)] == CASES
        report = together.report(name)
        assert report["scope"]["interleaved"] is True
        assert report["complete"] is True
        assert report["metrics"] == apart.report(name)["metrics"]


def test_a_stopped_run_goes_on_where_it_stopped(bench: Bench, three: list[str], named: Path) -> None:
    Path("stop.txt").write_text(CASES[2])
    first = bench(named, *three, "--interleave")
    assert first.code == 2
    assert len(asked()) == 7
    Path("stop.txt").unlink()
    again = bench(named, *three, "--interleave", "--resume", first.folder, "--retry-failed")
    assert again.code == 0
    assert "".join(name for name, _ in asked()) == "cab" + "abcbcacab"
    assert all(again.report(name)["complete"] for name in "abc")


def test_the_latency_grid_takes_turns(bench: Bench, three: list[str], named: Path) -> None:
    grid = ["decibench.bench_tests.test_latency", "--latency", "-k", "words-30-"]
    assert bench(named, *three, *grid, "--interleave").code == 0
    turns = asked()[::23]
    assert "".join(name for name, _ in turns) == "abcbcacab" * 2
    assert bench(named, *three, *grid).code == 0
    assert "".join(name for name, _ in asked()[::23]) == "a" * 6 + "b" * 6 + "c" * 6


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param(["--candidate", "uniform"], "give a second --candidate", id="one-candidate"),
        pytest.param([], "give a second --candidate", id="default-candidate"),
        pytest.param(["--candidate", "uniform", "-n", "2"], "give a second --candidate", id="one-and-workers"),
        pytest.param(
            ["--candidate", "uniform", "--candidate", "baseline", "-n", "2"], "-n asks side by side", id="workers"
        ),
    ],
)
def test_what_cannot_be_interleaved_is_refused(bench: Bench, suite: Path, flags: list[str], words: str) -> None:
    run = bench(suite, "--interleave", *flags)
    assert run.code == 4
    (line,) = [line for line in run.output.splitlines() if line.startswith("ERROR: ")]
    assert "--interleave" in line
    assert words in line


def test_without_xdist_it_works(bench: Bench, three: list[str], named: Path) -> None:
    assert bench(named, *three, "--interleave", "-p", "no:xdist").code == 0
    assert "".join(name for name, _ in asked()) == "abcbcacab" * 2
