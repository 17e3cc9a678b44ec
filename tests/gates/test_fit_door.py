"""``python -m decibench.gates fit`` and ``apply`` with certified gates: options, rows with and without groups."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.gates.__main__ import main

Write = Callable[..., Path]
Capture = pytest.CaptureFixture[str]
FIELDS = ["case_id", "question_id", "expected", "choice", "probabilities", "unsafe_labels", "group"]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a rows file of ``number`` scenarios in two variants; the last ``wrong`` of them chose the unsafe option."""

    def make(name: str, number: int, *, wrong: int = 0, fields: int = len(FIELDS)) -> Path:
        rows = [
            _row(f"{name}-{scenario}", variant, scenario >= number - wrong)[:fields]
            for scenario in range(number)
            for variant in range(2)
        ]
        path = tmp_path / f"{name}.json"
        content = {"row_fields": FIELDS[:fields], "rows": rows, "candidate": {"model": "robot"}}
        path.write_text(json.dumps(content), "utf-8")
        return path

    return make


def _row(group: str, variant: int, wrong: bool) -> list[Any]:
    probabilities = {"b": 0.9, "a": 0.1} if wrong else {"a": 0.9, "b": 0.1}
    return [f"{group}-{variant}", "q", "a", "b" if wrong else "a", probabilities, ["b"], group]


def fitted(capsys: Capture, *arguments: str | Path) -> Any:
    assert main(["fit", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out)["gates"]


@pytest.mark.parametrize(("number", "method"), [(80, "one_per_group_cp"), (150, "betting")])
def test_rows_with_groups_get_a_certified_gate(write: Write, capsys: Capture, number: int, method: str) -> None:
    gates = fitted(capsys, write("rows", number))
    assert list(gates) == ["empirical", "certified"]
    certified = gates["certified"]
    assert (certified["method"], certified["threshold"], certified["scenarios"]) == (method, 0.5, number)
    assert certified["sequence"] == "holm"
    assert certified["claim"].startswith("If your requests were drawn like these scenarios: with probability >= 90%")


def test_rows_without_groups_get_the_empirical_gate_only(write: Write, capsys: Capture, tmp_path: Path) -> None:
    path = write("rows", 80, fields=6)
    gates = fitted(capsys, path, "--max-unsafe", "0.1")
    assert gates["empirical"]["threshold"] == 0.5
    assert list(gates) == ["empirical", "certified"]
    assert gates["certified"].startswith("no certified gate: the rows name no groups")
    gate = tmp_path / "gate.json"
    assert main(["fit", str(path), "--gate-method", "auto", "--out", str(gate)]) == 4
    assert "name the scenario of each row (field group)" in capsys.readouterr().err
    assert not gate.exists()


def test_limits_can_be_chosen(write: Write, capsys: Capture) -> None:
    path = write("rows", 60, wrong=1)
    chosen = ["--alpha", "0.2", "--delta", "0.05", "--estimand", "any", "--max-unsafe", "0.2"]
    gates = fitted(capsys, path, *chosen)
    assert list(gates) == ["empirical", "certified", "unsafe", "joint"]
    certified = gates["certified"]
    assert (certified["method"], certified["alpha"], certified["delta"]) == ("group_any_cp", 0.2, 0.05)
    assert certified["estimand"] == "any"
    assert certified["rules"] == {"alpha": 0.2, "delta": 0.05, "estimand": "any", "max_unsafe": 0.2}
    assert (gates["unsafe"]["unsafe_scenarios"], gates["unsafe"]["grid"][0]["accepting"]) == (60, 1)
    assert gates["joint"]["threshold"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--alpha", "0"], "--alpha: use a number from 0.0001 to 0.9999"),
        (["--alpha", "1"], "--alpha: use a number"),
        (["--alpha", "1e-300"], "--alpha: use a number"),
        (["--delta", "-0.1"], "--delta: use a number"),
        (["--delta", "nan"], "--delta: use a number"),
        (["--max-unsafe", "1"], "--max-unsafe: use a number"),
        (["--max-error", "1"], "--max-error: use a share in [0, 1)"),
        (["--min-accepted", "0"], "--min-accepted: use at least 1"),
        (["--gate-method", "group_any_cp"], "bounds the estimand any, not scenario-weighted; give --estimand any"),
        (
            ["--gate-method", "one_per_group_cp", "--estimand", "any"],
            "bounds the estimand scenario-weighted, not any; give --estimand scenario-weighted",
        ),
    ],
)
def test_rules_that_make_no_gate_are_refused(write: Write, capsys: Capture, arguments: list[str], words: str) -> None:
    assert main(["fit", str(write("rows", 3)), *arguments]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert words in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("extra", [[], ["--max-unsafe", "0.1"]], ids=["certified", "joint"])
@pytest.mark.parametrize(("wrong", "code"), [(0, 0), (1, 0), (30, 10)])
def test_a_certified_gate_is_applied_to_other_scenarios(
    write: Write, capsys: Capture, tmp_path: Path, extra: list[str], wrong: int, code: int
) -> None:
    gate = tmp_path / "gate.json"
    name = "joint" if extra else "certified"
    gates = fitted(capsys, write("fitted", 150), "--gate-method", "auto", "--out", gate, *extra)
    assert json.loads(gate.read_text("utf-8")) == gates[name]
    assert main(["apply", str(gate), str(write("applied", 40, wrong=wrong))]) == code
    applied = json.loads(capsys.readouterr().out)
    assert applied["check"]["passed"] is (code == 0)
    assert f"(scenario-weighted {wrong / 40:.1%}, limit 5.0%)" in applied["check"]["reason"]
    assert ("an unsafe option in" in applied["check"]["reason"]) is bool(extra)
    assert (applied["overall"]["accepted"], list(applied["gates"])) == (80, [name])


def test_a_joint_gate_fails_on_unsafe_options_alone(write: Write, capsys: Capture, tmp_path: Path) -> None:
    gate = tmp_path / "gate.json"
    chosen = ["--gate-method", "auto", "--alpha", "0.5", "--max-unsafe", "0.1", "--out", str(gate)]
    fitted(capsys, write("fitted", 150), *chosen)
    assert main(["apply", str(gate), str(write("applied", 40, wrong=8))]) == 10
    reason = json.loads(capsys.readouterr().out)["check"]["reason"]
    assert "(scenario-weighted 20.0%, limit 50.0%), and an unsafe option in 8 of 40 scenarios that have one" in reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": {}}, "field method: is 'betting', but the rules make the empirical gate the one that decides"),
        ({"rules": {"alpha": 2.0}}, "field rules: cannot be used: --alpha: use a number"),
        ({"rules": {"seed": 3}}, "field rules: cannot be used: seed: is no rule of gates"),
        ({"method": "conformal"}, "field method: must be"),
        ({"alpha": None}, "field alpha: must be a number"),
    ],
)
def test_a_gate_file_that_contradicts_itself_is_refused(
    write: Write, capsys: Capture, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    gate = tmp_path / "gate.json"
    gates = fitted(capsys, write("fitted", 150), "--gate-method", "betting", "--out", gate)
    gate.write_text(json.dumps(gates["certified"] | change), "utf-8")
    assert main(["apply", str(gate), str(write("applied", 40))]) == 4
    assert words in capsys.readouterr().err


def test_the_same_decisions_give_the_same_gates_with_options_renamed(write: Write, capsys: Capture) -> None:
    path = write("rows", 70, wrong=2)
    before = fitted(capsys, path, "--max-unsafe", "0.1")
    text = path.read_text("utf-8")
    path.write_text(text.replace('"a"', '"yes"').replace('"b"', '"no"'), "utf-8")
    after = fitted(capsys, path, "--max-unsafe", "0.1")
    for name, gate in before.items():
        hashes = ("calibration_hash", "seal")
        assert {k: v for k, v in after[name].items() if k not in hashes} == {
            k: v for k, v in gate.items() if k not in hashes
        }
