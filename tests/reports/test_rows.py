"""Rows files: what no file of rows may say is told with file and field before anything is computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.gates.__main__ import main as gates
from decibench.reports.__main__ import main as reports

Write = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a rows file of the given rows (default: a single right one); other fields can be added."""

    def make(*rows: dict[str, Any], **more: Any) -> Path:
        full = [list((ROW | row).values()) for row in rows or ({},)]
        content = {"row_fields": list(ROW), "rows": full, **more}
        path = tmp_path / "rows.json"
        path.write_text(json.dumps(content), "utf-8")
        return path

    return make


ROW: dict[str, Any] = {
    "case_id": "c",
    "question_id": "q",
    "expected": "a",
    "choice": "a",
    "probabilities": {"a": 0.75, "b": 0.25},
    "unsafe_labels": [],
    "type": "choice",
    "group": None,
    "trial": 1,
    "latency_s": None,
    "input_tokens": None,
}
LEVELS = {"type": "score", "expected": "1", "choice": "1", "probabilities": {"0": 0.25, "1": 0.75}}


def refusal(path: Path, capsys: Capture) -> str:
    """What ``score`` says about a file that it and ``fit`` refuse alike."""
    assert reports(["score", str(path)]) == 4
    said = capsys.readouterr()
    assert gates(["fit", str(path)]) == 4
    assert capsys.readouterr().err == said.err
    assert said.out == ""
    return said.err


def test_the_rows_used_here_are_scored_when_nothing_is_wrong_with_them(write: Write, capsys: Capture) -> None:
    assert reports(["score", str(write({}, LEVELS | {"case_id": "d"}, decimals=1, threshold=1))]) == 0
    overall = json.loads(capsys.readouterr().out)["overall"]
    assert (overall["decisions"], overall["accuracy"], overall["accepted"]) == (2, 1.0, 0)


@pytest.mark.parametrize(
    ("field", "value", "remedy"),
    [
        ("decimals", -3, "must be at least 1"),
        ("decimals", -400, "must be at least 1"),
        ("decimals", 18, "must be at most 17"),
        ("decimals", True, "must be a whole number"),
        ("threshold", 5, "must be at most 1"),
        ("threshold", -1, "must be at least 0"),
        ("candidate", {"model": "\ud800"}, "not valid Unicode (a lone surrogate); remove it"),
        ("candidate", json.loads('{"a":' * 60 + "1" + "}" * 60), "nested more than 50 deep; flatten it"),
    ],
)
def test_a_fact_of_the_file_out_of_its_range_is_refused(
    write: Write, capsys: Capture, field: str, value: Any, remedy: str
) -> None:
    path = write(**{field: value})
    said = refusal(path, capsys)
    assert said.startswith(f"{path}, field {field}: ")
    assert remedy in said


SURROGATE = "not valid Unicode (a lone surrogate); remove it"


@pytest.mark.parametrize(
    ("row", "field", "remedy"),
    [
        ({"case_id": "\ud800"}, "case_id", SURROGATE),
        ({"question_id": "\ud800"}, "question_id", SURROGATE),
        ({"group": "\ud800"}, "group", SURROGATE),
        ({"probabilities": {"a": 0.75, "\ud800": 0.25}}, "probabilities.\ufffd\ufffd\ufffd", SURROGATE),
        (
            {"unsafe_labels": ["b", "a"]},
            "unsafe_labels",
            "'a' is the expected option; only wrong options can be unsafe",
        ),
        ({"latency_s": 1e308}, "latency_s", "must be at most 1000000000"),
        ({"input_tokens": 10**300}, "input_tokens", "must be at most 9007199254740992"),
        ({"trial": 0}, "trial", "must be at least 1"),
        (LEVELS | {"expected": "high"}, "expected", "write expected and unsafe labels as '0', '1', ..."),
        (LEVELS | {"unsafe_labels": ["low"]}, "expected", "write expected and unsafe labels as '0', '1', ..."),
        (LEVELS | {"probabilities": {"1": 0.75, "low": 0.25}}, "probabilities", "must be its levels '0', '1', ..."),
        (LEVELS | {"probabilities": {"1": 0.75, "2": 0.25}}, "probabilities", "none left out"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_its_index_and_field(
    write: Write, capsys: Capture, row: dict[str, Any], field: str, remedy: str
) -> None:
    path = write({"case_id": "good"}, row)
    said = refusal(path, capsys)
    assert said.startswith(f"{path}, field rows[1].{field}: ")
    assert remedy in said


def test_an_item_is_answered_once_in_a_trial(write: Write, capsys: Capture) -> None:
    said = refusal(write({"trial": 1}, {"trial": 2}, {"trial": 1}), capsys)
    assert "field rows[2]: answers the case, question and trial of rows[0] again; keep one" in said
    assert reports(["score", str(write({"trial": 1}, {"trial": 2}))]) == 0


def test_a_field_is_named_once(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"row_fields": [*ROW, "choice"], "rows": [[*ROW.values(), "b"]]}), "utf-8")
    assert "field row_fields: names choice more than once; name each field once" in refusal(path, capsys)


def test_a_rows_file_in_another_encoding_is_refused(write: Write, capsys: Capture) -> None:
    path = write()
    path.write_bytes(path.read_text("utf-8").encode("utf-16"))
    assert refusal(path, capsys).endswith("byte 1 is not UTF-8; save the file as UTF-8 text\n")


def test_a_name_no_file_system_takes_is_a_sentence(capsys: Capture) -> None:
    assert refusal(Path("a" * 5000), capsys).endswith(": cannot be read (File name too long)\n")
