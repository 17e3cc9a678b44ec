"""``fitted``: TF-IDF and logistic regression, fitted on the development split and on nothing else."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from decibench.candidates.adapter import Candidate, QuestionAnswer
from decibench.candidates.registry import REGISTRY
from decibench.candidates.setup import Setup
from decibench.cases.request import request_of
from decibench.cases.schema import Case, Noul, Score

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]
Rows = list[dict[str, Any]]

# Words that go with an answer without occurring in its label or description.
WORDS = {"left": ("harbour", "gulls", "pier", "tide"), "right": ("forest", "owls", "ferns", "moss")}
PLACES = ("north", "south", "east", "west", "old", "new", "upper", "lower")


@pytest.fixture
def toy(row: Row) -> Rows:
    """Forty scenarios whose answer follows from two words of the state; left is commoner in development."""
    rows = []
    for number in range(40):
        split = ("development", "calibration", "holdout", "holdout")[number % 4]
        expected = "left" if number % 3 else "right"
        own = WORDS[expected]
        state = f"The {PLACES[number % 8]} way, by {own[number % 4]} and {own[number // 4 % 4]}, number {number}."
        rows.append(row(f"way-{number:03}", split, expected=expected, state=state))
    return rows


def cases(rows: Rows, split: str) -> list[Case]:
    return [Case.model_validate(row) for row in rows if row["split"] == split]


def create(name: str, development: Sequence[Case]) -> Candidate:
    return REGISTRY[name].create(Setup("cpu", development=development))


def answers(candidate: Candidate, asked: Sequence[Case]) -> list[Mapping[str, float]]:
    return [stated(candidate.decide(request_of(case)).questions["way"]) for case in asked]


def stated(answer: object) -> Mapping[str, float]:
    assert isinstance(answer, QuestionAnswer)
    assert answer.probabilities is not None
    return answer.probabilities


def accuracy(candidate: Candidate, asked: Sequence[Case]) -> float:
    right = 0
    for answer, case in zip(answers(candidate, asked), asked, strict=True):
        chosen = max(answer, key=lambda option: answer[option])
        right += chosen == case.references["way"].expected
    return right / len(asked)


def test_it_beats_majority_where_words_tell_the_answer(toy: Rows) -> None:
    development, holdout = cases(toy, "development"), cases(toy, "holdout")
    assert accuracy(create("majority", development), holdout) == pytest.approx(0.65, abs=0.06)
    assert accuracy(create("fitted", development), holdout) >= 0.9


def test_every_option_has_a_probability_and_they_sum_to_one(toy: Rows) -> None:
    for answer in answers(create("fitted", cases(toy, "development")), cases(toy, "holdout")):
        assert set(answer) == {"left", "right"}
        assert all(0 < p < 1 for p in answer.values())
        assert math.fsum(answer.values()) == pytest.approx(1, abs=1e-12)


def test_fitting_twice_gives_the_same_identity_and_the_same_probabilities(toy: Rows) -> None:
    development, holdout = cases(toy, "development"), cases(toy, "holdout")
    one, two = create("fitted", development), create("fitted", development)
    assert one.identity == two.identity
    assert answers(one, holdout) == answers(two, holdout)


def test_the_order_of_options_does_not_matter(toy: Rows) -> None:
    fitted = create("fitted", cases(toy, "development"))
    for row in toy:
        criteria = row["questions"]["way"]["criteria"]
        turned = {"way": {**row["questions"]["way"], "criteria": dict(reversed(criteria.items()))}}
        (before,) = answers(fitted, [Case.model_validate(row)])
        (after,) = answers(fitted, [Case.model_validate(row | {"questions": turned})])
        assert list(after) == list(before)[::-1]
        assert after == pytest.approx(dict(before), abs=1e-12)


@pytest.mark.parametrize("change", ["state", "reference", "fewer"])
def test_the_identity_changes_with_the_data_it_was_fitted_on(toy: Rows, change: str) -> None:
    development = [row for row in toy if row["split"] == "development"]
    other = [dict(row) for row in development]
    if change == "state":
        other[0]["state"] = other[0]["state"].replace("number", "numeral")
    elif change == "reference":
        other[0]["references"] = other[1]["references"]
    else:
        del other[0]
    first = create("fitted", cases(development, "development")).identity
    second = create("fitted", cases(other, "development")).identity
    assert first.settings != second.settings


def test_json_states_scales_statements_and_unseen_options_are_answered(toy: Rows) -> None:
    fitted = create("fitted", cases(toy, "development"))
    for question in (
        Noul(type="noul", instructions="It is open."),
        Score(type="score", instructions="?", criteria=["n", "f"]),
    ):
        case = Case.model_validate({**toy[0], "state": {"way": ["harbour", 3]}, "references": {}})
        request = request_of(case.model_copy(update={"questions": {"way": question}}))
        probabilities = stated(fitted.decide(request).questions["way"])
        assert tuple(probabilities) == question.options
        assert math.fsum(probabilities.values()) == pytest.approx(1, abs=1e-12)


def identity(suite: Path, folder: Path) -> Any:
    """The identity of ``fitted`` in a real run."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "decibench.bench_tests.plugin"]
    command += ["-p", "no:cacheprovider", "--pyargs", "decibench.bench_tests"]
    command += ["--suite", str(suite), "--candidate", "fitted", "--run-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((folder / "fitted" / "report.json").read_text("utf-8"))
    return report["candidate"]["identity"]["settings"]["fitted_sha256"]


def test_a_run_fits_on_originals_of_the_development_split_only(
    toy: Rows, make_suite: MakeSuite, tmp_path: Path
) -> None:
    other = []
    for entry in toy:
        changed = dict(entry)
        if entry["split"] != "development":
            changed["state"] = f"Quite another text: {entry['state']}"
        other.append(changed)
    paraphrase = {**toy[0], "variant": "paraphrase", "id": f"{toy[0]['group']}-paraphrase", "state": "In other words."}
    found = identity(make_suite([*other, paraphrase]), tmp_path / "run")
    assert found == create("fitted", cases(toy, "development")).identity.settings["fitted_sha256"]
