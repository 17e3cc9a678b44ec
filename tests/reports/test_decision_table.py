"""The decisions of a report for other tools: every row, exact values, and nothing unknown written as 0."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest

from decibench.reports.decision_table import COLUMNS, write_decision_table
from decibench.reports.record import Decision, EarlierAttempt, Failure, Record, TokenUsage
from decibench.reports.report import Report

HOSTILE = 'a,"b"\r\nc|<d>\té\u202e'


@pytest.fixture
def report(make_report: Any) -> Report:
    """A right answer, a wrong and unsafe one that is demanded, and a failure, with hostile names and a third trial."""
    made: Report = make_report("one", {"a-1": [True, False, None]}, sure=0.1 + 0.2)
    right, wrong, failed = made.records
    answer = {HOSTILE: 0.75, "left": 0.25}
    decision = Decision(
        question="way",
        type="choice",
        options=list(answer),
        expected="left",
        unsafe=[HOSTILE],
        demanded=HOSTILE,
        choice=HOSTILE,
        probabilities=answer,
        raw_sum=1.0000001,
        confidence=0.5,
    )
    usage = TokenUsage(input_tokens=2**53, output_tokens=0, cached_tokens=7)
    early = EarlierAttempt(seconds=0.2, waited_s=0.05, code="timeout")
    untimed = EarlierAttempt(seconds=None, code="timeout")
    lost: dict[str, Any] = {"latency_s": None, "attempt": 3, "earlier": [early, untimed]}
    records = [
        right.model_copy(update={"attempt": 2, "earlier": [early]}),
        wrong.model_copy(update={"decisions": [decision], "usage": usage, "trial": 3}),
        failed.model_copy(update=lost),
    ]
    return made.model_copy(update={"records": records})


def rows_of(report: Report, path: Path) -> list[dict[str, str]]:
    write_decision_table(report, path)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parquet_of(report: Report, path: Path) -> list[dict[str, Any]]:
    write_decision_table(report, path)
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


def test_csv_has_the_documented_columns_and_the_exact_values(report: Report, tmp_path: Path) -> None:
    right, wrong, failed = rows_of(report, tmp_path / "decisions.csv")
    assert list(right) == list(COLUMNS)
    assert (right["suite"], right["candidate"], right["case"]) == ("tiny 1", "one", "a-1-original")
    assert (right["outcome"], wrong["outcome"], failed["outcome"]) == ("correct", "missed", "failed")
    assert float(right["top_probability"]) == report.records[0].decisions[0].probabilities["right"]  # type: ignore[index]
    assert (wrong["choice"], wrong["top_option"], wrong["trial"]) == (HOSTILE, HOSTILE, "3")
    assert json.loads(wrong["probabilities"]) == {HOSTILE: 0.75, "left": 0.25}
    assert (wrong["unsafe"], wrong["demanded"], wrong["accepted"]) == ("true", "true", "true")
    assert (wrong["expected_probability"], wrong["raw_sum"], wrong["confidence"]) == ("0.25", "1.0000001", "0.5")
    assert (wrong["input_tokens"], wrong["output_tokens"], wrong["cached_tokens"]) == (str(2**53), "0", "7")
    assert failed["failure"] == "timeout"


def test_what_is_unknown_or_does_not_apply_is_empty(report: Report, tmp_path: Path) -> None:
    right, _, failed = rows_of(report, tmp_path / "decisions.csv")
    for name in ("choice", "tie", "top_option", "top_probability", "expected_probability", "probabilities", "raw_sum"):
        assert failed[name] == "", name
    assert (failed["latency_s"], failed["unsafe"], failed["demanded"]) == ("", "", "")
    assert failed["accepted"] == "false"
    assert (right["unsafe"], right["demanded"], right["input_tokens"], right["score"]) == ("", "", "", "")


def test_earlier_seconds_are_a_sum_where_all_of_them_are_known(report: Report, tmp_path: Path) -> None:
    right, wrong, failed = parquet_of(report, tmp_path / "decisions.parquet")
    # A second attempt after 0.25 s and its wait, a first attempt, and a third of which an earlier one was not timed.
    assert (right["earlier_s"], wrong["earlier_s"], failed["earlier_s"]) == (0.25, 0.0, None)


@pytest.mark.parametrize(
    ("gate", "accepted"),
    [
        ({"status": "fitted", "threshold": 0.75}, [False, True, False]),
        ({"status": "none-qualifies", "threshold": None}, [False, False, False]),
        ({"status": "not-fitted", "threshold": None}, [None, None, None]),
    ],
    ids=["at-the-threshold", "null", "none"],
)
def test_accepted_is_by_the_primary_gate_and_unknown_without_one(
    report: Report, tmp_path: Path, gate: dict[str, Any], accepted: list[bool | None]
) -> None:
    gated = report.model_copy(update={"gates": {"empirical": gate}})
    assert [row["accepted"] for row in parquet_of(gated, tmp_path / "decisions.parquet")] == accepted


def test_ties_go_to_the_first_option_by_id(report: Report, tmp_path: Path) -> None:
    decision = report.records[0].decisions[0]
    even = decision.model_copy(update={"choice": "right", "probabilities": {"right": 0.5, "left": 0.5}, "tie": True})
    record = report.records[0].model_copy(update={"decisions": [even]})
    row = parquet_of(report.model_copy(update={"records": [record]}), tmp_path / "decisions.parquet")[0]
    assert (row["choice"], row["top_option"], row["tie"]) == ("right", "left", True)


def test_every_question_of_a_case_has_a_row(report: Report, tmp_path: Path) -> None:
    first: Record = report.records[0]
    fault = Failure(code="not-a-number", detail="a probability is none")
    second = first.decisions[0].model_copy(
        update={"question": "level", "choice": None, "probabilities": None, "failure": fault}
    )
    record = first.model_copy(update={"decisions": [first.decisions[0], second]})
    rows = rows_of(report.model_copy(update={"records": [record]}), tmp_path / "decisions.csv")
    assert [(row["question"], row["outcome"], row["latency_s"]) for row in rows] == [
        ("way", "correct", "0.001"),
        ("level", "failed", "0.001"),
    ]


def test_parquet_keeps_types_where_every_value_is_unknown(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "decisions.parquet"
    write_decision_table(report.model_copy(update={"records": report.records[2:]}), path)
    schema = pyarrow.parquet.read_schema(path)
    types = {name: str(schema.field(name).type) for name in ("choice", "tie", "input_tokens", "latency_s")}
    assert types == {"choice": "string", "tie": "bool", "input_tokens": "int64", "latency_s": "double"}
    row = pyarrow.parquet.read_table(path).to_pylist()[0]
    assert all(row[name] is None for name in (*types, "probabilities"))


def test_parquet_and_csv_say_the_same(report: Report, tmp_path: Path) -> None:
    in_csv = rows_of(report, tmp_path / "decisions.csv")
    in_parquet = parquet_of(report, tmp_path / "decisions.parquet")
    forms: dict[str, Callable[[Any], str]] = {
        "flag": lambda value: str(value).lower(),
        "number": repr,
        "distribution": lambda value: json.dumps(
            {pair["option"]: pair["probability"] for pair in value}, ensure_ascii=False, separators=(",", ":")
        ),
    }
    for text, typed in zip(in_csv, in_parquet, strict=True):
        for name, kind in COLUMNS.items():
            form = forms.get(kind, str)
            assert text[name] == ("" if typed[name] is None else form(typed[name])), name


def test_pyarrow_reads_the_csv(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    write_decision_table(report, path)
    options = pyarrow.csv.ParseOptions(newlines_in_values=True)
    table = pyarrow.csv.read_csv(path, parse_options=options)
    assert table["accepted"].to_pylist() == [True, True, False]
    assert table["expected"].to_pylist()[1:] == ["left", "left"]
    assert table["choice"].to_pylist()[1] == HOSTILE


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_report_without_records_is_a_table_without_rows(report: Report, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"decisions.{suffix}"
    empty = report.model_copy(update={"records": []})
    assert (rows_of(empty, path) if suffix == "csv" else parquet_of(empty, path)) == []
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
