"""Remote candidates in every way a run can be asked: side by side, in turns, again and again, and timed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jevcompat.mock import MockConfig, Running

Bench: TypeAlias = Callable[..., Any]


@pytest.fixture
def mock() -> Iterator[MockConfig]:
    """A server of the System One protocol, and a candidates file with two ways to ask it."""
    config = MockConfig()
    with Running(config) as server:
        tables = (
            f'[candidates.{name}]\nadapter = "systemone"\nendpoint = "{server.url}"\nmodel = "{model}"\n'
            for name, model in (("team-a", "mock"), ("team-b", "jev-latest"))
        )
        Path("decibench.toml").write_text("\n".join(tables), "utf-8")
        yield config


@pytest.fixture(autouse=True)
def _home(pytester: pytest.Pytester) -> None:
    """The working directory of a run, where the candidates file lies."""


def decisions(run: Any, candidate: str) -> dict[tuple[str, int], Any]:
    """What was decided, by case and trial: all of a record but its times."""
    return {(r["case"], r["trial"]): (r["model"], r["decisions"]) for r in run.records(candidate)}


def test_workers_decide_what_one_process_decides(bench: Bench, mock: MockConfig, suite: Path) -> None:
    serial = bench(suite, "--candidate", "team-a")
    parallel = bench(suite, "--candidate", "team-a", "-n", "2")
    assert (serial.code, parallel.code) == (0, 0)
    assert len(decisions(serial, "team-a")) == 24
    assert decisions(parallel, "team-a") == decisions(serial, "team-a")
    assert parallel.report("team-a")["metrics"] == serial.report("team-a")["metrics"]
    assert {line["worker"] for line in parallel.journal("team-a") if line["kind"] == "load"} == {"gw0", "gw1"}
    assert mock.requests == 24 + 4 + 24 + 2 * 4  # Each process warms up by a probe and three requests.


def test_candidates_take_turns_and_decide_the_same(bench: Bench, mock: MockConfig, suite: Path) -> None:
    names = ["--candidate", "team-a", "--candidate", "team-b"]
    apart, together = bench(suite, *names), bench(suite, *names, "--interleave")
    assert (apart.code, together.code) == (0, 0)
    for name in ("team-a", "team-b"):
        assert decisions(together, name) == decisions(apart, name)
        assert together.report(name)["scope"]["interleaved"] is True


def test_trials_are_asked_again(bench: Bench, mock: MockConfig, suite: Path) -> None:
    mock.noise = 0.5
    run = bench(suite, "--candidate", "team-a", "--trials", "3")
    assert run.code == 0
    found = decisions(run, "team-a")
    assert len(found) == 72
    assert mock.requests == 72 + 4
    first, second = found["demo-way-000-original", 1], found["demo-way-000-original", 2]
    assert first[1][0]["probabilities"] != second[1][0]["probabilities"]


def test_the_latency_grid_times_them(bench: Bench, mock: MockConfig, suite: Path) -> None:
    grid = ["decibench.bench_tests.test_latency", "--latency", "-k", "words-30-options-2-"]
    run = bench(suite, *grid, "--candidate", "team-a", "--candidate", "team-b", "--benchmark-json=grid.json")
    assert run.code == 0
    entries = json.loads(Path("grid.json").read_text("utf-8"))["benchmarks"]
    assert [entry["extra_info"]["candidate"] for entry in entries] == ["team-a", "team-a", "team-b", "team-b"]
    facts = entries[0]["extra_info"]
    assert (facts["device"], facts["model"], facts["requests"], facts["failed"]) == ("remote", "mock", 20, 0)
