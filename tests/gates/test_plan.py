"""``python -m decibench.gates plan``: groups needed, power and the least risk, against figures worked out elsewhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from decibench.gates.__main__ import main
from decibench.gates.p_values.methods import METHODS
from decibench.gates.power import groups_needed, least_risk, most_errors, p_of_errors, power
from decibench.reports.protocol import CertifiedMethod

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("method", "delta", "needed"),
    [
        ("one_per_group_cp", 0.10, [45, 77, 105, 132]),
        ("group_any_cp", 0.10, [45, 77, 105, 132]),
        ("one_per_group_cp", 0.05, [59, 93, 124, 153]),
        ("hoeffding_bentkus", 0.10, [45, 96, 132, 162]),
        ("betting", 0.10, [59, 103, 142, 179]),
        ("gaffke", 0.10, [45, 77, 105, 132]),
    ],
)
def test_groups_needed_where_whole_groups_are_wrong(method: CertifiedMethod, delta: float, needed: list[int]) -> None:
    assert [groups_needed(method, 0.05, delta, errors) for errors in range(4)] == needed


@pytest.mark.parametrize(("method", "needed"), [("betting", [59, 65, 70, 76]), ("gaffke", [45, 51, 57, 62])])
def test_groups_needed_where_one_of_four_variants_is_wrong(method: CertifiedMethod, needed: list[int]) -> None:
    assert [groups_needed(method, 0.05, 0.10, errors, wrong=1, variants=4) for errors in range(4)] == needed


@pytest.mark.parametrize(
    ("alpha", "delta", "needed"), [(0.01, 0.10, 230), (0.01, 0.05, 299), (0.02, 0.10, 114), (0.02, 0.05, 149)]
)
def test_groups_needed_for_smaller_risks(alpha: float, delta: float, needed: int) -> None:
    assert groups_needed("one_per_group_cp", alpha, delta, 0) == needed


@pytest.mark.parametrize("method", METHODS)
def test_one_group_fewer_than_needed_is_not_enough(method: CertifiedMethod) -> None:
    for errors in (0, 2):
        needed = groups_needed(method, 0.1, 0.1, errors)
        assert p_of_errors(method, 0.1, needed, errors) <= 0.1 < p_of_errors(method, 0.1, needed - 1, errors)
        assert most_errors(method, 0.1, 0.1, needed) == errors
        assert most_errors(method, 0.1, 0.1, needed - 1) == (errors - 1 if errors else None)


@pytest.mark.parametrize(
    ("risk", "expected"), [(0.01, [0.547, 0.880, 0.997]), (0.03, [0.161, 0.298, 0.568])], ids=["1%", "3%"]
)
def test_power_of_the_exact_binomial(risk: float, expected: list[float]) -> None:
    found = [power("one_per_group_cp", 0.05, 0.10, groups, risk) for groups in (60, 120, 240)]
    assert found == pytest.approx(expected, abs=5e-4)


def test_power_is_the_share_of_samples_that_certify() -> None:
    groups, risk, drawn = 150, 0.015, 4_000
    wrong = np.random.default_rng(5).binomial(groups, risk, drawn)
    p = {int(k): p_of_errors("betting", 0.05, groups, int(k)) for k in np.unique(wrong)}
    share = np.mean([p[int(k)] <= 0.10 for k in wrong])
    exact = power("betting", 0.05, 0.10, groups, risk)
    assert share == pytest.approx(exact, abs=4 * (exact * (1 - exact) / drawn) ** 0.5)


@pytest.mark.parametrize("method", METHODS)
def test_too_few_groups_have_no_power(method: CertifiedMethod) -> None:
    assert power(method, 0.05, 0.10, 44, 0.0) == 0
    assert power(method, 0.05, 0.10, 59, 0.0) == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("groups", [1, 60, 240])
def test_the_least_risk_is_just_certified(method: CertifiedMethod, groups: int) -> None:
    risk = least_risk(method, 0.10, groups)
    assert p_of_errors(method, risk, groups, 0) == pytest.approx(0.10, abs=1e-5)
    if method != "betting":
        assert risk == pytest.approx(1 - 0.10 ** (1 / groups), abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_only_wrong_groups_certify_no_risk(method: CertifiedMethod) -> None:
    assert least_risk(method, 0.10, 3, errors=3) == 1


@pytest.mark.parametrize("more", [{"errors": -1}, {"wrong": 0}, {"wrong": 2}, {"alpha": 0.0}, {"delta": 1.0}])
def test_impossible_questions_are_refused(more: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"alpha": 0.05, "delta": 0.1, "errors": 0, **more}
    with pytest.raises(ValueError, match="needs errors >= 0"):
        groups_needed("betting", **arguments)


def test_the_door_prints_the_plan_and_what_it_assumes(capsys: Capture) -> None:
    assert main(["plan", "--alpha", "0.05", "--delta", "0.1", "--true-risk", "0.01", "--groups", "120"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a risk of at most 5% at confidence 90%" in shown
    assert "betting 59 103 142 179" in shown
    assert "true risk is 1% method 120 groups one_per_group_cp 88.0%" in shown
    assert "hoeffding_bentkus 1.90% betting 2.49%" in shown
    assert "every decision is accepted, and a group is right or wrong as a whole" in " ".join(shown.split())
    assert "gaffke: sharper, conjectural" in shown


def test_the_door_calls_power_by_its_name_where_the_limit_does_not_hold(capsys: Capture) -> None:
    assert main(["plan", "--true-risk", "0.06", "--method", "one_per_group_cp"]) == 0
    shown = capsys.readouterr().out
    assert "Wrong certificates: the probability that" in shown
    assert "conjectural" not in shown


def test_the_plan_as_json(capsys: Capture) -> None:
    assert main(["plan", "--json", "--method", "betting", "--method", "group_any_cp", "--groups", "60"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [(row["method"], row["proved"]) for row in plan["methods"]] == [("betting", True), ("group_any_cp", True)]
    assert plan["methods"][0]["groups_needed"] == [59, 103, 142, 179]
    (point,) = plan["methods"][0]["points"]
    assert point == {"groups": 60, "power": pytest.approx(0.99**60), "least_risk": pytest.approx(0.0491442, abs=1e-6)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--alpha", "0"], "--alpha: use a number from 0.0001 to 0.9999"),
        (["--alpha", "nan"], "--alpha: use a number from 0.0001 to 0.9999"),
        (["--delta", "1"], "--delta: use a number from 0.0001 to 0.9999"),
        (["--true-risk", "1.5"], "--true-risk: use a number from 0 up to, but not, 1"),
        (["--groups", "0"], "--groups: use whole numbers from 1 to 100000"),
    ],
)
def test_what_is_out_of_range_is_said_in_one_sentence(capsys: Capture, arguments: list[str], message: str) -> None:
    assert main(["plan", *arguments]) == 4
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", message + "\n")
