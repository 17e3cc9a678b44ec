"""Metrics and gates of recorded distributions of real models equal the figures recorded with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from decibench.gates.__main__ import main as gates
from decibench.reports.__main__ import main as reports

NAMES = {
    "accuracy": "accuracy",
    "brier_multiclass": "brier_score",
    "nll": "log_loss",
    "ece_10_equal_width": "ece_10",
    "coverage": "coverage",
    "accepted_error_rate": "selective_risk",
    "accepted_unsafe_rate": "unsafe_acceptance",
}
COUNTS = {"decisions": "decisions", "valid_decisions": "valid", "correct": "correct", "accepted": "accepted"}


def score(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert reports(["score", str(path), *options]) == 0
    overall: dict[str, Any] = json.loads(capsys.readouterr().out)["overall"]
    return overall


@pytest.mark.parametrize("split", ["calibration", "holdout"])
@pytest.mark.parametrize("model", ["laya", "baseline"])
def test_recorded_metrics_are_reproduced(
    shared: Path, capsys: pytest.CaptureFixture[str], model: str, split: str
) -> None:
    path = shared / "data" / "recordings" / f"{model}-{split}.json"
    recorded = json.loads(path.read_text())["metrics"]
    ours = score(path, capsys)
    for theirs, name in NAMES.items():
        expected = recorded[theirs]
        assert ours[name] == (None if expected is None else pytest.approx(expected, abs=1e-9)), name


@pytest.mark.parametrize("model", ["laya", "baseline"])
def test_recorded_counts_are_reproduced_where_every_trial_was_recorded(
    shared: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    path = shared / "data" / "recordings" / f"{model}-calibration.json"
    recorded = json.loads(path.read_text())["metrics"]
    ours = score(path, capsys)
    assert {name: ours[name] for name in COUNTS.values()} == {COUNTS[key]: recorded[key] for key in COUNTS}


@pytest.mark.parametrize("model", ["laya", "baseline"])
def test_no_gate_qualifies_on_the_recorded_calibration(
    shared: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    assert gates(["fit", str(shared / "data" / "recordings" / f"{model}-calibration.json")]) == 0
    gate = json.loads(capsys.readouterr().out)["gates"]["empirical"]
    assert gate["threshold"] is None
    assert gate["status"] == "none-qualifies"
    assert "10 accepted" in gate["reason"]


def test_a_gate_fitted_on_strands_carries_over_to_its_holdout_but_not_to_laya(
    shared: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recordings = shared / "data" / "recordings"
    gate = tmp_path / "gate.json"
    assert gates(["fit", str(recordings / "strands-calibration.json"), "--out", str(gate)]) == 0
    assert json.loads(capsys.readouterr().out)["gates"]["empirical"]["threshold"] == 0.9
    assert gates(["apply", str(gate), str(recordings / "strands-holdout.json")]) == 0
    applied = json.loads(capsys.readouterr().out)
    assert applied["overall"]["accepted"] == 11
    assert applied["overall"]["accepted_errors"] == 0
    assert gates(["apply", str(gate), str(recordings / "laya-holdout.json")]) == 4
    assert "another candidate" in capsys.readouterr().err
