"""Going on with a run of a remote candidate: under the deadline and with the retries that it began with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Asked, Bench, Run, Said, Serve

MakeRun = Callable[..., "Run"]


@pytest.fixture
def run_of(bench: Bench, suite: Path, serve: Serve, served: Callable[[Asked], Said], tmp_path: Path) -> MakeRun:
    """Run a candidate whose table says that an attempt may take nine seconds."""
    table = f'[candidates.far]\nadapter = "systemone"\nendpoint = "{serve(served).url}"\nmodel = "m-1"\n'
    file = tmp_path / "candidates.toml"
    file.write_text(f"{table}deadline_s = 9.0\n", "utf-8")

    def make(*options: str | Path) -> Run:
        return bench(suite, "--candidates", file, "--candidate", "far", *options)

    return make


@pytest.mark.parametrize(
    ("options", "deadline", "retries"),
    [([], "9", "0"), (["--deadline", "5", "--retries", "2"], "5", "2")],
)
def test_deadline_and_retries_stand_in_the_report_and_its_summary(
    run_of: MakeRun, options: list[str], deadline: str, retries: str, mode: list[str]
) -> None:
    run = run_of(*options, *mode)
    environment = run.report("far")["environment"]
    assert (environment["deadline_s"], environment["retries"]) == (deadline, retries)
    assert f"deadline_s {deadline}, retries {retries}" in (run.folder / "far" / "summary.md").read_text("utf-8")


def test_a_local_candidate_has_neither(bench: Bench, suite: Path) -> None:
    assert not {"deadline_s", "retries"} & set(bench(suite, "--candidate", "uniform").report("uniform")["environment"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--deadline", "5"], "--deadline was 9.0, is 5.0; repeat the options of that run, or start a new one"),
        (["--retries", "1"], "--retries was 0, is 1; repeat"),
    ],
)
def test_a_run_goes_on_as_it_began(run_of: MakeRun, options: list[str], said: str) -> None:
    first = run_of("-k", "way-000")
    refused = run_of("--resume", first.folder, *options)
    assert refused.code == 4
    assert f"journal.jsonl: which decisions fail hangs on deadline and retries: {said}" in refused.output
    assert len(first.records("far")) == 2
    # The same deadline by another way.
    assert run_of("--resume", first.folder, "--deadline", "9").code == 0
    assert len(first.records("far")) == 24


def test_what_failed_may_be_asked_again_with_more_time_and_retries_and_never_with_less(run_of: MakeRun) -> None:
    first = run_of("-k", "way-000", "--retries", "1")
    for less in (["--retries", "0"], ["--retries", "1", "--deadline", "5"]):
        refused = run_of("--resume", first.folder, "--retry-failed", *less)
        assert refused.code == 4
        assert "which decisions fail hangs on deadline and retries" in refused.output
    more = run_of("--resume", first.folder, "--retry-failed", "--retries", "2", "--deadline", "20")
    assert more.code == 0
    environment = more.report("far")["environment"]
    assert (environment["deadline_s"], environment["retries"]) == ("20", "2")
