"""Request times in the storage format of pytest-benchmark, read back by its own command line."""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from decibench.bench_tests.storage import write_benchmark
from decibench.reports.report import read_report

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
MakeRow: TypeAlias = Callable[..., dict[str, Any]]

EVEN = "return Answer({key: even(question) for key, question in request.questions.items()})"
FAILING = f'if "5" in request.state:\n    raise CandidateError("timeout", "too late")\n{EVEN}'


@pytest.fixture
def families(make_suite: Callable[..., Path], row: MakeRow) -> Path:
    """Twelve cases: eight of the family demo, four of the family other; one state holds a 5."""
    splits = ("development", "calibration", "holdout")
    return make_suite(
        [row(f"way-{n}", splits[n % 3], state=f"State {n}.", family="demo" if n < 8 else "other") for n in range(12)]
    )


def compare(*arguments: str | Path) -> str:
    """What ``pytest-benchmark compare`` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest_benchmark", "compare", *arguments], capture_output=True, text=True, check=True
    )
    assert "Failed to load" not in done.stdout + done.stderr
    return done.stdout


def test_two_runs_stand_beside_each_other_in_its_table(bench: Bench, families: Path) -> None:
    one = bench(families, "--candidate", "baseline").folder / "baseline" / "benchmark.json"
    two = bench(families, "--candidate", "uniform").folder / "uniform" / "benchmark.json"
    shown = compare(one, two, "--columns=min,median,iqr,rounds")
    for family in ("all families", "demo", "other"):
        assert f"benchmark 'tiny 1, {family}': 2 tests" in shown
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("request")] == [
        *("12", "12"),
        *("8", "8"),
        *("4", "4"),
    ]


def test_its_csv_holds_the_times_of_the_records(bench: Bench, families: Path) -> None:
    run = bench(families, "--candidate", "baseline")
    compare(run.folder / "baseline" / "benchmark.json", "--csv=times.csv", "--columns=min,median,rounds")
    with Path("times.csv").open(encoding="utf-8") as file:
        rows = {row["name"].partition("::")[2]: row for row in csv.DictReader(file)}
    seconds = [record["latency_s"] for record in run.report()["records"]]
    assert float(rows["request"]["median"]) == pytest.approx(statistics.median(seconds))
    assert float(rows["request[demo]"]["min"]) == pytest.approx(min(seconds[:8]))
    assert float(rows["request[other]"]["median"]) == pytest.approx(statistics.median(seconds[8:]))


def test_failed_requests_are_in_it(bench: Bench, own: Own, families: Path) -> None:
    run = bench(families, "--candidate", own(FAILING))
    assert run.code == 1
    whole, demo, other = run.json("own", "benchmark.json")["benchmarks"]
    counted = [(e["stats"]["rounds"], e["extra_info"]["failed"]) for e in (whole, demo, other)]
    assert counted == [(12, 1), (8, 1), (4, 0)]
    facts = whole["extra_info"]
    candidate = run.report("own")["candidate"]
    assert (facts["candidate"], facts["candidate_hash"], facts["model"]) == ("own", candidate["hash"], "own-1")
    overall = run.report("own")["latency"]["overall"]
    assert {key: facts[key] for key in ("p50_s", "p95_s", "p99_s")} == {
        key: overall[key] for key in ("p50_s", "p95_s", "p99_s")
    }


def test_single_times_stay_in_the_report(bench: Bench, families: Path) -> None:
    stored = bench(families, "--candidate", "baseline").json("baseline", "benchmark.json")
    assert all("data" not in entry["stats"] for entry in stored["benchmarks"])


def test_where_nothing_was_timed_there_is_no_file(bench: Bench, own: Own, families: Path) -> None:
    run = bench(families, "--candidate", own(EVEN, create='raise CandidateError("gone", "no weights")'))
    assert run.code == 1
    assert (run.folder / "own" / "report.json").is_file()
    assert not (run.folder / "own" / "benchmark.json").exists()


def test_an_older_file_does_not_outlive_its_times(bench: Bench, own: Own, families: Path) -> None:
    run = bench(families, "--candidate", own(EVEN, create='raise CandidateError("gone", "no weights")'))
    path = run.folder / "own" / "benchmark.json"
    path.write_text("{}", "utf-8")
    write_benchmark(read_report(run.folder / "own" / "report.json"), path)
    assert not path.exists()
