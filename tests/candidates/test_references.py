"""``uniform``, ``first-option`` and ``majority``: candidates that do not look at the state."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from decibench.candidates.adapter import Candidate
from decibench.candidates.registry import REGISTRY
from decibench.candidates.setup import Setup
from decibench.cases.schema import Case, Choice, Noul, Score

Ask = Callable[..., Any]
MakeChoice = Callable[..., Choice]
MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]

NOUL = Noul(type="noul", instructions="It is open.")
SCORE = Score(type="score", instructions="How far?", criteria=["near", "far", "very far"])


def create(name: str, development: Sequence[Case] = ()) -> Candidate:
    return REGISTRY[name].create(Setup("cpu", development=development))


def majority(row: Row, answers: str, **options: str) -> Candidate:
    """``majority`` fitted on one case per letter: l expects left, r right, f forward."""
    criteria = options or {"left": "Turn left.", "right": "Turn right.", "forward": "Go on."}
    labels = {label[0]: label for label in criteria}
    question = {"type": "choice", "instructions": "Which way?", "criteria": criteria}
    cases = [
        Case.model_validate(
            row(f"n{number}", "development", expected=labels[letter]) | {"questions": {"way": question}}
        )
        for number, letter in enumerate(answers)
    ]
    return create("majority", cases)


def test_uniform_gives_every_option_the_same_whatever_the_state(ask: Ask, choice: MakeChoice) -> None:
    uniform = create("uniform")
    for state in ("left", {"way": "left"}, ["left"]):
        assert ask(uniform, state, choice(left="", right="", back="", on="")).probabilities == {
            "left": 0.25,
            "right": 0.25,
            "back": 0.25,
            "on": 0.25,
        }
    assert ask(uniform, "", NOUL).probabilities == {"true": 0.5, "false": 0.5}
    assert ask(uniform, "", SCORE).probabilities == pytest.approx({"0": 1 / 3, "1": 1 / 3, "2": 1 / 3})


def test_uniform_over_255_options_still_sums_to_one(ask: Ask) -> None:
    question = Choice(type="choice", instructions="?", criteria={f"option-{n}": None for n in range(255)})
    assert sum(ask(create("uniform"), "", question).probabilities.values()) == pytest.approx(1, abs=1e-12)


def test_first_option_is_certain_of_whatever_stands_first(ask: Ask, choice: MakeChoice) -> None:
    first = create("first-option")
    assert ask(first, "right", choice(left="", right="")).probabilities == {"left": 1.0, "right": 0.0}
    assert ask(first, "right", choice(right="", left="")).probabilities == {"right": 1.0, "left": 0.0}
    assert ask(first, "", NOUL).probabilities == {"true": 1.0, "false": 0.0}
    assert ask(first, "", SCORE).probabilities == {"0": 1.0, "1": 0.0, "2": 0.0}


def test_majority_answers_with_the_frequencies_of_development(row: Row, ask: Ask, choice: MakeChoice) -> None:
    question = choice(left="Turn left.", right="Turn right.", forward="Go on.")
    answer = ask(majority(row, "llrl"), "right", question)
    assert answer.choice == "left"
    assert answer.probabilities == {"left": 0.75, "right": 0.25, "forward": 0.0}


def test_majority_knows_a_set_of_options_in_any_order(row: Row, ask: Ask, choice: MakeChoice) -> None:
    fitted = majority(row, "llr")
    forwards = ask(fitted, "", choice(left="Turn left.", right="Turn right.", forward="Go on."))
    backwards = ask(fitted, "", choice(forward="Go on.", right="Turn right.", left="Turn left."))
    assert forwards.choice == backwards.choice == "left"
    assert forwards.probabilities == backwards.probabilities
    assert list(backwards.probabilities) == ["forward", "right", "left"]


@pytest.mark.parametrize("answers", ["lr", "rl", "rllr"])
def test_a_tie_goes_to_the_label_that_sorts_first_in_any_order_of_options(
    row: Row, ask: Ask, choice: MakeChoice, answers: str
) -> None:
    fitted = majority(row, answers, left="", right="")
    for question in (choice(left="", right=""), choice(right="", left="")):
        answer = ask(fitted, "", question)
        assert answer.choice == "left"
        assert answer.probabilities == {"left": 0.5, "right": 0.5}


def test_a_set_of_options_that_development_lacks_is_answered_uniformly(row: Row, ask: Ask, choice: MakeChoice) -> None:
    fitted = majority(row, "lll", left="Turn left.", right="Turn right.")
    unseen = (
        choice(left="Turn left.", right="Turn right.", forward="Go on."),
        choice(left="Port.", right="Starboard."),
        choice(left="Turn right.", right="Turn left."),
        choice(links="Turn left.", rechts="Turn right."),
    )
    for question in unseen:
        probabilities = ask(fitted, "", question).probabilities
        assert set(probabilities.values()) == {1 / len(question.options)}


def test_questions_over_different_options_are_counted_apart(row: Row, ask: Ask, choice: MakeChoice) -> None:
    way = {"type": "choice", "instructions": "?", "criteria": {"left": "L", "right": "R"}}
    pace = {"type": "choice", "instructions": "?", "criteria": {"fast": "F", "slow": "S"}}
    case = row("one", "development") | {
        "questions": {"way": way, "pace": pace},
        "references": {"way": {"expected": "left"}, "pace": {"expected": "slow"}},
    }
    fitted = create("majority", [Case.model_validate(case)])
    assert ask(fitted, "", choice(left="L", right="R")).probabilities == {"left": 1.0, "right": 0.0}
    assert ask(fitted, "", choice(fast="F", slow="S")).probabilities == {"fast": 0.0, "slow": 1.0}


def test_majority_fitted_on_other_cases_is_another_candidate(row: Row) -> None:
    assert majority(row, "llr").identity == majority(row, "rll").identity
    assert majority(row, "llr").identity != majority(row, "lrr").identity


def test_in_a_run_majority_is_fitted_on_development_only(row: Row, make_suite: MakeSuite, tmp_path: Path) -> None:
    rows = [row(f"d{n}", "development", expected="right") for n in range(2)]
    rows += [row(f"c{n}", split, expected="left") for n, split in enumerate(["calibration", "holdout"] * 6)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "decibench.bench_tests.plugin", "-p", "no:cacheprovider"]
    command += ["--pyargs", "decibench.bench_tests", "--candidate", "majority", "--suite", str(make_suite(rows))]
    run = tmp_path / "run"
    done = subprocess.run([*command, "--run-dir", str(run)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    metrics = json.loads((run / "majority" / "report.json").read_text("utf-8"))["metrics"]
    accuracy = {split: metrics[split]["overall"]["accuracy"] for split in metrics}
    assert accuracy == {"development": 1.0, "calibration": 0.0, "holdout": 0.0}
