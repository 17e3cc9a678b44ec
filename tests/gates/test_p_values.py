"""p-values of certified gates: reference values, independent oracles, and what must hold for any groups."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from decibench.gates.groups import GroupCounts
from decibench.gates.p_values.binomial import binomial_p
from decibench.gates.p_values.methods import METHODS, default_method, p_value
from decibench.reports.protocol import CertifiedMethod

Group = tuple[int, int, int, int]
NAMES: tuple[CertifiedMethod, ...] = get_args(CertifiedMethod)
ALPHA = 0.05
# What the numerical inversion may be off by; the other methods are closed forms.
SLACK = {name: 1e-6 if name == "gaffke" else 1e-12 for name in NAMES}


def counts(groups: Sequence[Group]) -> GroupCounts:
    """Groups as (errors, accepted, presented, picked): the decision picked is that of this number, errors first."""
    errors, accepted, presented, picked = np.array(groups, dtype=np.int64).reshape(-1, 4).T
    return GroupCounts(errors, accepted, presented, picked < accepted, picked < errors)


def p(method: CertifiedMethod, groups: Sequence[Group], alpha: float = ALPHA) -> float:
    """The p-value for the estimand that the method bounds first."""
    found = p_value(method, counts(groups), alpha, METHODS[method].estimands[0])
    assert found is not None
    return found


@st.composite
def group(draw: st.DrawFn) -> Group:
    presented = draw(st.integers(1, 6))
    accepted = draw(st.integers(0, presented))
    return draw(st.integers(0, accepted)), accepted, presented, draw(st.integers(0, presented - 1))


any_groups = st.lists(group(), max_size=40)


def test_reference_values_are_reproduced(shared: Path) -> None:
    cases = json.loads((shared / "data/gate-known-answers.json").read_text("utf-8"))["cases"]
    assert cases
    for case in cases:
        groups = [(e, a, m, 0) for e, a, m in case["groups_E_A_m"]]
        for name in NAMES:
            if name in case:
                slack = 1e-6 if name == "gaffke" else 1e-9
                assert p(name, groups, case["alpha"]) == pytest.approx(case[name], abs=slack), (case["name"], name)


@pytest.mark.parametrize(("errors", "units"), [(0, 1), (0, 45), (3, 60), (12, 240), (7, 7), (240, 5000)])
def test_the_binomial_is_that_of_scipy_and_of_the_exact_bound(errors: int, units: int) -> None:
    mine = binomial_p(errors, units, ALPHA)
    assert mine == pytest.approx(binomtest(errors, units, ALPHA, "less").pvalue, rel=1e-9)
    if errors < units:
        # The one-sided exact bound at confidence 1 - p is alpha itself.
        assert beta.ppf(1 - mine, errors + 1, units - errors) == pytest.approx(ALPHA, rel=1e-6)


@pytest.mark.parametrize(("errors", "units"), [(-1, 3), (4, 3)])
def test_impossible_counts_have_no_p_value(errors: int, units: int) -> None:
    with pytest.raises(ValueError, match="0 <= errors <= units"):
        binomial_p(errors, units, ALPHA)


def test_hoeffding_bentkus_is_that_of_mapie() -> None:
    methods = pytest.importorskip("mapie.risk_control.methods", reason="mapie is an oracle for development only")
    generator = np.random.default_rng(1)
    for groups in (20, 60, 175, 240):
        presented = generator.choice([3, 7], groups)
        accepted = generator.binomial(presented - 1, 0.9) + 1
        errors = generator.binomial(accepted, 0.03)
        shifted = (errors + ALPHA * (presented - accepted)) / presented
        # Theirs takes the ceiling of a rounded product, so a sum that is a whole number has no one answer.
        assert abs(shifted.sum() - round(shifted.sum())) > 1e-6
        expected = methods.compute_hoeffding_bentkus_p_value(np.array([shifted.mean()]), groups, ALPHA)[0, 0]
        chosen = [(int(e), int(a), int(m), 0) for e, a, m in zip(errors, accepted, presented, strict=True)]
        assert p("hoeffding_bentkus", chosen) == pytest.approx(min(1.0, expected), abs=1e-12)


@given(any_groups, st.sampled_from([0.01, 0.05, 0.2]))
def test_betting_is_the_inverse_of_the_wealth_won_group_by_group(groups: list[Group], alpha: float) -> None:
    bets = ((0.4, 0.15), (0.6, 0.2), (0.75, 0.3), (0.85, 0.2), (0.95, 0.15))
    wealth = sum(
        weight * math.prod(1 - stake * (e - alpha * a) / m / (1 - alpha) for e, a, m, _ in groups)
        for stake, weight in bets
    )
    assert p("betting", groups, alpha) == pytest.approx(min(1.0, 1 / wealth), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.integers(0, 12), st.sampled_from([0.01, 0.05, 0.2]))
def test_gaffke_is_the_binomial_where_groups_are_right_or_wrong_as_a_whole(n: int, k: int, alpha: float) -> None:
    groups = [(4 * (place < k), 4, 4, 0) for place in range(n)]
    assert p("gaffke", groups, alpha) == pytest.approx(binomial_p(min(k, n), n, alpha), abs=1e-10)


def test_gaffke_is_the_probability_that_a_random_weighting_exceeds_the_null() -> None:
    generator = np.random.default_rng(2)
    groups = [(int(e), 4 - (place % 3), 4, 0) for place, e in enumerate(generator.binomial(2, 0.06, 80))]
    z = np.array([(e - ALPHA * a) / m for e, a, m, _ in groups] + [1 - ALPHA])
    drawn = 200_000
    expected = float((generator.exponential(size=(drawn, z.size)) @ z > 0).mean())
    assert p("gaffke", groups) == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / drawn))


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("groups", [[], [(0, 0, 5, 0)] * 300], ids=["no-groups", "nothing-accepted"])
def test_without_an_accepted_decision_there_is_no_evidence(method: CertifiedMethod, groups: list[Group]) -> None:
    assert p(method, groups) == 1


@pytest.mark.parametrize("method", NAMES)
def test_only_errors_are_no_evidence(method: CertifiedMethod) -> None:
    assert p(method, [(4, 4, 4, 0)] * 100) == pytest.approx(1, abs=SLACK[method])


@pytest.mark.parametrize("method", NAMES)
@settings(max_examples=30, deadline=None)
@given(groups=any_groups, data=st.data())
def test_neither_order_nor_groups_that_accept_nothing_matter(
    method: CertifiedMethod, groups: list[Group], data: st.DataObject
) -> None:
    mixed = data.draw(st.permutations([*groups, (0, 0, 3, 1), (0, 0, 6, 0)]))
    assert p(method, mixed) == pytest.approx(p(method, groups), abs=SLACK[method])


@pytest.mark.parametrize("method", NAMES)
@settings(max_examples=30, deadline=None)
@given(groups=st.lists(group(), min_size=1, max_size=40), data=st.data())
def test_an_error_more_never_helps(method: CertifiedMethod, groups: list[Group], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(groups) - 1))
    errors, accepted, *rest = groups[place]
    worse = [*groups[:place], cast(Group, (min(errors + 1, accepted), accepted, *rest)), *groups[place + 1 :]]
    assert 0 <= p(method, groups) <= p(method, worse) + SLACK[method] <= 1 + SLACK[method]


# Without hoeffding_bentkus, whose p-value jumps up where a sum of shares passes a whole number.
@pytest.mark.parametrize("method", [name for name in NAMES if name != "hoeffding_bentkus"])
@settings(max_examples=30, deadline=None)
@given(groups=any_groups, alpha=st.floats(0.01, 0.4))
def test_a_looser_limit_never_hurts(method: CertifiedMethod, groups: list[Group], alpha: float) -> None:
    assert p(method, groups, alpha + 0.05) <= p(method, groups, alpha) + SLACK[method]


@settings(max_examples=30, deadline=None)
@given(any_groups)
def test_for_the_estimand_any_a_group_counts_once_and_whole(groups: list[Group]) -> None:
    whole = [(int(e > 0), int(a > 0), 1, 0) for e, a, *_ in groups]
    for method in ("hoeffding_bentkus", "betting"):
        assert p_value(method, counts(groups), ALPHA, "any") == pytest.approx(p(method, whole), rel=1e-12)
    assert p_value("group_any_cp", counts(groups), ALPHA, "any") == p("group_any_cp", whole)


def test_a_method_says_nothing_of_an_estimand_that_it_does_not_bound() -> None:
    groups = counts([(0, 4, 4, 0)] * 200)
    assert p_value("group_any_cp", groups, ALPHA, "scenario-weighted") is None
    assert p_value("one_per_group_cp", groups, ALPHA, "any") is None


@pytest.mark.parametrize(
    ("groups", "method"), [(1, "one_per_group_cp"), (119, "one_per_group_cp"), (120, "betting"), (500, "betting")]
)
def test_the_number_of_groups_alone_gives_the_method(groups: int, method: CertifiedMethod) -> None:
    assert default_method(groups, "scenario-weighted") == method
    assert METHODS[default_method(groups, "scenario-weighted")].proved
    assert METHODS[default_method(groups, "any")].proved
