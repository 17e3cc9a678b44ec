"""``python -m decibench.gates``: a gate is printed whatever becomes of its file, and tied to its candidate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.gates.__main__ import main

Write = Callable[..., Path]
Capture = pytest.CaptureFixture[str]
FIELDS = ["case_id", "question_id", "expected", "choice", "probabilities"]
ROBOT = {"model": "robot"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a rows file of twenty right decisions, of other cases per name."""

    def make(name: str, **more: Any) -> Path:
        rows = [[f"{name}-{number}", "q", "a", "a", {"a": 0.9, "b": 0.1}] for number in range(20)]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"row_fields": FIELDS, "rows": rows, **more}), "utf-8")
        return path

    return make


@pytest.mark.parametrize("out", ["", "absent/gate.json", "fitted.json/gate.json", "a" * 300])
def test_a_gate_whose_file_cannot_be_written_is_printed_all_the_same(
    write: Write, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    path = write("fitted")
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(path), "--out", out]) == 4
    shown = capsys.readouterr()
    assert json.loads(shown.out)["gates"]["empirical"]["status"] == "fitted"
    assert shown.err.startswith(f"--out {Path(out)}: cannot be written (")
    assert shown.err.endswith("; name a file in a folder that exists\n")


@pytest.mark.parametrize(
    ("fitted", "applied", "which"),
    [
        ({}, {}, "the gate"),
        ({}, {"candidate": ROBOT}, "the gate"),
        ({"candidate": ROBOT}, {}, "the file it is applied to"),
    ],
)
def test_a_gate_of_an_unknown_candidate_is_not_applied(
    write: Write, capsys: Capture, tmp_path: Path, fitted: dict[str, Any], applied: dict[str, Any], which: str
) -> None:
    gate = tmp_path / "gate.json"
    assert main(["fit", str(write("fitted", **fitted)), "--out", str(gate)]) == 0
    capsys.readouterr()
    assert main(["apply", str(gate), str(write("applied", **applied))]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"{which} does not say which candidate answered")
    assert "name the candidate in the rows file (field candidate)" in shown.err


def test_a_gate_of_the_same_candidate_is_applied_to_other_cases(write: Write, capsys: Capture, tmp_path: Path) -> None:
    gate = tmp_path / "gate.json"
    assert main(["fit", str(write("fitted", candidate=ROBOT)), "--out", str(gate)]) == 0
    capsys.readouterr()
    assert main(["apply", str(gate), str(write("applied", candidate=ROBOT))]) == 0
    assert json.loads(capsys.readouterr().out)["check"]["passed"] is True
