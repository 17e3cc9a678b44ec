"""``--report-format``: the decisions of a run as a table beside its report."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Inside a run pytester would forget it again, and it cannot be imported twice.
import pyarrow.parquet
import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_both_formats_hold_a_row_per_decision(bench: Bench, suite: Path, mode: list[str]) -> None:
    formats = ["--report-format", "csv", "--report-format", "parquet", "--report-format", "csv"]
    run = bench(suite, "--candidate", "uniform", "--candidate", "first-option", *formats, *mode)
    assert run.code == 0
    for name in ("uniform", "first-option"):
        in_csv = rows_of(run.folder / name / "decisions.csv")
        in_parquet = pyarrow.parquet.read_table(run.folder / name / "decisions.parquet").to_pylist()
        records = run.report(name)["records"]
        assert [row["case"] for row in in_csv] == [record["case"] for record in records]
        assert [row["choice"] for row in in_parquet] == [record["decisions"][0]["choice"] for record in records]
        assert {row["candidate"] for row in in_csv} == {name}


def test_no_table_is_written_unasked(bench: Bench, suite: Path) -> None:
    run = bench(suite)
    assert not list(run.folder.rglob("decisions.*"))


def test_accepted_agrees_with_the_report(bench: Bench, suite: Path) -> None:
    limits = ["--max-error", "0.6", "--min-accepted", "1"]
    run = bench(suite, "--candidate", "first-option", "--report-format", "csv", *limits)
    rows = rows_of(run.folder / "first-option" / "decisions.csv")
    holdout = [row for row in rows if row["split"] == "holdout" and row["role"] == "core"]
    overall = run.report("first-option")["metrics"]["holdout"]["overall"]
    assert overall["accepted"]
    assert sum(row["accepted"] == "true" for row in holdout) == overall["accepted"]
    assert sum(row["outcome"] == "correct" for row in holdout) == overall["correct"]


@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
def test_parquet_without_pyarrow_is_refused_before_anything_is_asked(
    bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    found = importlib.util.find_spec

    def lacking(name: str, package: str | None = None) -> Any:
        return None if name == "pyarrow" else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", lacking)
    run = bench(suite, "--report-format", "parquet", *flags)
    assert run.code == 4
    assert "--report-format parquet needs pyarrow: pip install 'decibench[parquet]'" in run.output
    assert not run.folder.exists()
    assert bench(suite, "--report-format", "csv").code == 0


def test_an_unknown_format_is_refused(bench: Bench, suite: Path) -> None:
    run = bench(suite, "--report-format", "xlsx")
    assert run.code == 4
    assert "csv" in run.output
    assert "parquet" in run.output
