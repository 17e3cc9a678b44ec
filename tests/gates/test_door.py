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


def _edited(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], str]:
    def edit(content: bytes) -> str:
        gate = json.loads(content)
        change(gate)
        return json.dumps(gate)

    return edit


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: "", "is empty; restore it, or fit the gate again"),
        (lambda content: content.decode()[:200], "it was cut off; restore it, or fit the gate again"),
        (lambda content: "[]", "is not a gate: it states no schema decibench.gate/1; name a gate.json"),
        (_edited(lambda gate: gate.update(schema="decibench.gate/9")), "was written by a newer decibench"),
        (_edited(lambda gate: gate.update(schema="decibench.gate/0")), "reads decibench.gate/1: fit the gate again"),
        (_edited(lambda gate: gate.update(schema="decibench.report/3")), "is the report of a candidate, not a gate"),
        (
            _edited(lambda gate: gate.pop("reason")),
            "field reason: is missing; it was edited or damaged: restore it, or",
        ),
        (
            _edited(lambda gate: gate.pop("method")),
            "field method: is missing; it was edited or damaged: restore it, or",
        ),
        (_edited(lambda gate: gate.pop("rules")), "field rules: is missing; it was edited or damaged: restore it, or"),
    ],
    ids=["empty", "cut", "other", "newer", "older", "report", "reason", "method", "rules"],
)
def test_a_gate_file_that_is_not_whole_is_refused(
    write: Write, capsys: Capture, tmp_path: Path, spoil: Callable[[bytes], str], words: str
) -> None:
    gate = tmp_path / "gate.json"
    assert main(["fit", str(write("fitted", candidate=ROBOT)), "--out", str(gate)]) == 0
    gate.write_text(spoil(gate.read_bytes()), "utf-8")
    capsys.readouterr()
    assert main(["apply", str(gate), str(write("applied", candidate=ROBOT))]) == 4
    said = capsys.readouterr().err
    assert str(gate) in said
    assert words in said


def test_what_fit_prints_is_told_from_a_gate(write: Write, capsys: Capture, tmp_path: Path) -> None:
    printed = tmp_path / "printed.json"
    assert main(["fit", str(write("fitted", candidate=ROBOT))]) == 0
    printed.write_text(capsys.readouterr().out, "utf-8")
    assert main(["apply", str(printed), str(write("applied", candidate=ROBOT))]) == 4
    assert "is what gates fit or gates apply prints, not a gate; gates fit FILE --out GATE" in capsys.readouterr().err
