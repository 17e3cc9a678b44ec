"""Requests are timed only where that is asked for, and never where the times would mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import decibench.bench_tests

Bench: TypeAlias = Callable[..., Any]

GRID = "decibench.bench_tests.test_latency"
FILE = str(Path(decibench.bench_tests.__path__[0]) / "test_latency.py")
ITEM = "test_latency[baseline-words-30-options-2-questions-1]"

REFUSED = {
    "workers": (["--latency", "-n", "2"], ["--latency", "run without -n"]),
    "workers-auto": (["--latency", "-n", "auto"], ["--latency", "run without -n"]),
    "one-worker": (["--latency", "-n", "1"], ["--latency", "run without -n"]),
    "dist": (["--latency", "--dist", "load"], ["--latency", "run without -n"]),
    "tx": (["--latency", "-d", "--tx", "popen"], ["--latency", "run without -n"]),
    "no-benchmark": (["--latency", "-p", "no:benchmark"], ["--latency", "pytest-benchmark", "-p no:benchmark"]),
    "disabled": (["--latency", "--benchmark-disable"], ["--latency", "leave --benchmark-disable out"]),
    "skipped": (["--latency", "--benchmark-skip"], ["--latency", "leave --benchmark-skip out"]),
    "module": ([GRID], [GRID, "add --latency"]),
    "file": ([FILE], [FILE, "add --latency"]),
    "node": ([f"{GRID}::{ITEM}"], ["add --latency"]),
    "node-of-file": ([f"{FILE}::{ITEM}"], ["add --latency"]),
    "node-and-workers": ([f"{GRID}::{ITEM}", "-n", "2"], ["add --latency"]),
    "node-without-xdist": ([f"{GRID}::{ITEM}", "-p", "no:xdist"], ["add --latency"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_one_sentence(bench: Bench, suite: Path, name: str) -> None:
    arguments, words = REFUSED[name]
    run = bench(suite, *arguments)
    assert run.code == 4
    (line,) = [line for line in run.output.splitlines() if line.startswith("ERROR: ")]
    assert all(word in line for word in words)
    assert not run.folder.exists()


def test_a_plain_run_leaves_the_grid_out(bench: Bench, suite: Path, mode: list[str]) -> None:
    run = bench(suite, *mode, "-v")
    assert run.code == 0
    assert "test_decision[" in run.output
    assert "test_latency" not in run.output


def test_a_link_to_the_folder_does_not_start_the_grid(bench: Bench, suite: Path, tmp_path: Path) -> None:
    link = tmp_path / "linked"
    link.symlink_to(Path(FILE).parent)
    assert "test_latency" not in bench(suite, link, "--collect-only", "-q").output
    assert "add --latency" in bench(suite, link / "test_latency.py").output


def test_a_file_of_the_same_name_is_none_of_ours(bench: Bench, suite: Path) -> None:
    Path("test_latency.py").write_text("def test_something():\n    pass\n", "utf-8")
    run = bench(suite, "test_latency.py")
    assert run.code == 0
    assert run.result.parseoutcomes()["passed"] >= 1
    assert "test_latency.py" in run.output


def test_other_files_can_be_named_beside_the_option(bench: Bench, suite: Path) -> None:
    run = bench(suite, "decibench.bench_tests.test_decisions", "--latency", "-v")
    assert run.code == 0
    assert "test_latency[" not in run.output


def test_without_xdist_the_grid_runs(bench: Bench, suite: Path) -> None:
    run = bench(suite, f"{GRID}::{ITEM}", "--latency", "-p", "no:xdist")
    assert run.code == 0
    assert run.result.parseoutcomes() == {"passed": 1}


def test_benchmarks_that_are_enabled_again_run(bench: Bench, suite: Path) -> None:
    run = bench(suite, f"{GRID}::{ITEM}", "--latency", "--benchmark-disable", "--benchmark-enable")
    assert run.code == 0
