"""Confidence bounds of the risk: what they must equal, what they must cover, and where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from decibench.gates.bound import exact_upper_bound, p_value_within, upper_bound
from decibench.gates.groups import GroupCounts
from decibench.gates.p_values.methods import METHODS, p_value
from decibench.reports.protocol import CertifiedMethod, Estimand

QUICK: list[CertifiedMethod] = ["one_per_group_cp", "hoeffding_bentkus", "betting"]
"""Methods for the scenario-weighted estimand without numerical inversion, which takes a tenth of a second each."""


def counts(groups: Sequence[tuple[int, int, int]]) -> GroupCounts:
    """Groups of (errors, accepted, presented); the picked decision is accepted, or wrong, where all of a group are."""
    errors, accepted, presented = (np.array(column, dtype=np.int64) for column in zip(*groups, strict=True))
    picked = accepted == presented
    return GroupCounts(errors, accepted, presented, picked, picked & (errors == accepted) & (errors > 0))


def single(errors: int, units: int) -> GroupCounts:
    """Groups of one accepted decision each."""
    return counts([(1, 1, 1)] * errors + [(0, 1, 1)] * (units - errors))


@pytest.mark.parametrize(
    ("method", "estimand"),
    [("one_per_group_cp", "scenario-weighted"), ("group_any_cp", "any")],
    ids=lambda value: value,
)
@given(data=st.data(), units=st.integers(1, 300), delta=st.sampled_from([0.05, 0.1, 0.32]))
@settings(max_examples=40, deadline=None)
def test_the_exact_methods_are_clopper_pearson(
    method: CertifiedMethod, estimand: Estimand, data: st.DataObject, units: int, delta: float
) -> None:
    errors = data.draw(st.integers(0, units))
    known = 1.0 if errors == units else float(beta.ppf(1 - delta, errors + 1, units - errors))
    assert upper_bound(method, single(errors, units), delta, estimand) == pytest.approx(known, abs=1e-6)
    other = binomtest(errors, units, alternative="less").proportion_ci(1 - delta, "exact").high
    assert exact_upper_bound(errors, units, delta) == pytest.approx(other, abs=1e-9)


def test_gaffke_of_two_valued_groups_is_clopper_pearson() -> None:
    known = float(beta.ppf(0.9, 2, 19))
    assert upper_bound("gaffke", single(1, 20), 0.1, "scenario-weighted") == pytest.approx(known, abs=1e-5)


@pytest.mark.parametrize("method", QUICK)
@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.floats(0, 1), st.floats(0, 0.4)).map(
            lambda group: (round(group[0] * group[1] * group[2]), round(group[0] * group[1]), group[0])
        ),
        min_size=1,
        max_size=60,
    )
)
@settings(max_examples=20, deadline=None)
def test_every_limit_above_the_bound_is_rejected_and_none_just_below(
    method: CertifiedMethod, groups: list[tuple[int, int, int]]
) -> None:
    found = upper_bound(method, counts(groups), 0.1, "scenario-weighted")
    if not any(accepted for _, accepted, _ in groups):
        assert found is None
        return
    assert found is not None

    def p(limit: float) -> float:
        value = p_value(method, counts(groups), limit, "scenario-weighted")
        assert value is not None
        return value

    assert found == 1.0 or all(p(limit) <= 0.1 for limit in np.linspace(found + 1e-7, 1 - 1e-7, 60))
    assert p(max(found - 1e-5, 1e-9)) > 0.1


def test_the_p_value_that_jumps_does_not_cut_its_bound_short() -> None:
    # Its p-value falls to delta at a first limit, jumps up past it, and falls again: the first would be too low.
    groups = counts([(0, 1, 5)] * 60)
    limits = np.linspace(0.5, 0.8, 600)
    rejected = np.array([(p_value("hoeffding_bentkus", groups, a, "scenario-weighted") or 0.0) <= 0.1 for a in limits])
    first, last = float(limits[rejected.argmax()]), float(limits[np.flatnonzero(~rejected)[-1]])
    found = upper_bound("hoeffding_bentkus", groups, 0.1, "scenario-weighted")
    assert found is not None
    assert last > first + 0.04
    assert last < found < last + 0.001


@pytest.mark.parametrize("method", [*QUICK, "group_any_cp"])
@pytest.mark.parametrize("risk", [0.02, 0.1, 0.4])
def test_the_bound_is_below_the_true_risk_at_most_as_often_as_delta_allows(
    method: CertifiedMethod, risk: float
) -> None:
    estimand: Estimand = "any" if method == "group_any_cp" else "scenario-weighted"
    units, delta = 40, 0.1
    chances = binom.pmf(np.arange(units + 1), units, risk)
    missed = [(upper_bound(method, single(k, units), delta, estimand) or 0.0) < risk for k in range(units + 1)]
    assert chances[np.array(missed)].sum() <= delta
    refuted = [(p_value_within(method, single(k, units), risk, estimand) or 0.0) <= delta for k in range(units + 1)]
    assert chances[np.array(refuted)].sum() <= delta
    assert refuted[-1]


def test_the_other_side_of_the_exact_test_is_its_upper_tail() -> None:
    for errors in (0, 3, 7, 20):
        known = float(binom.sf(errors - 1, 20, 0.15))
        assert p_value_within("group_any_cp", single(errors, 20), 0.15, "any") == pytest.approx(known, abs=1e-12)
        assert p_value_within("one_per_group_cp", single(errors, 20), 0.15, "scenario-weighted") == pytest.approx(known)


def test_the_estimand_any_counts_a_group_once_on_both_sides() -> None:
    once, often = counts([(1, 4, 4)] * 3 + [(0, 4, 4)] * 17), counts([(4, 4, 4)] * 3 + [(0, 1, 4)] * 17)
    for method in ("group_any_cp", "betting"):
        for function in (p_value, p_value_within):
            assert function(method, once, 0.1, "any") == function(method, often, 0.1, "any")


@pytest.mark.parametrize("method", list(METHODS))
def test_nothing_accepted_has_no_bound_and_nothing_right_none_below_one(method: CertifiedMethod) -> None:
    estimand = METHODS[method].estimands[0]
    assert upper_bound(method, counts([(0, 0, 4)] * 9), 0.1, estimand) is None
    assert upper_bound(method, counts([(4, 4, 4)] * 9), 0.1, estimand) == 1.0


def test_a_group_whose_picked_decision_falls_back_bounds_nothing_alone() -> None:
    groups = replace(counts([(0, 2, 4)] * 30), picked_accepted=np.zeros(30, dtype=np.bool_))
    assert upper_bound("one_per_group_cp", groups, 0.1, "scenario-weighted") == 1.0


def test_a_method_for_another_estimand_gives_no_bound() -> None:
    assert upper_bound("group_any_cp", single(0, 60), 0.1, "scenario-weighted") is None
    assert p_value_within("one_per_group_cp", single(0, 60), 0.1, "any") is None


@given(st.permutations(list(range(12))))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_groups_is_irrelevant(order: list[int]) -> None:
    groups = [(g % 2 * (g % 3), 1 + g % 3, 4) for g in range(12)]
    for method in QUICK:
        known = upper_bound(method, counts(groups), 0.1, "scenario-weighted")
        assert known == pytest.approx(
            upper_bound(method, counts([groups[g] for g in order]), 0.1, "scenario-weighted"), abs=1e-7
        )


@pytest.mark.parametrize(("hits", "units", "delta"), [(-1, 5, 0.1), (6, 5, 0.1), (1, 5, 0.0), (1, 5, 1.0)])
def test_impossible_counts_and_levels_are_refused(hits: int, units: int, delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        exact_upper_bound(hits, units, delta)


def test_no_units_have_no_bound() -> None:
    assert exact_upper_bound(0, 0, 0.1) is None
    with pytest.raises(ValueError, match="delta"):
        upper_bound("betting", single(0, 5), 1.0, "scenario-weighted")
