"""Validity of certified gates by exact enumeration: how often they certify a limit that is not kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from decibench.gates.groups import GroupCounts, PresentedGroups
from decibench.gates.p_values.methods import METHODS
from decibench.gates.power import most_errors
from decibench.reports.protocol import CertifiedMethod
from decibench.reports.table import Decisions

ALPHA, DELTA = 0.05, 0.10
ROUNDING = 1e-12


def p_of(method: CertifiedMethod, groups: Iterable[tuple[int, int, int]], number: Iterable[int]) -> float:
    """The p-value for ``number`` groups of each kind in ``groups``: errors, accepted and presented decisions."""
    errors, accepted, presented = np.repeat(np.array(list(groups), dtype=np.int64), np.array(list(number)), axis=0).T
    # The picked decision is the first one, and errors come first.
    return METHODS[method].p_value(GroupCounts(errors, accepted, presented, accepted > 0, errors > 0), ALPHA)


def certified(units: int, risk: float) -> float:
    """Probability that the exact binomial certifies ALPHA on ``units`` iid units that err with ``risk``."""
    most = most_errors("one_per_group_cp", ALPHA, DELTA, units) if units else None
    return 0.0 if most is None else float(binom.cdf(most, units, risk))


@pytest.mark.parametrize("method", ["one_per_group_cp", "group_any_cp"])
@pytest.mark.parametrize("groups", [60, 150])
@pytest.mark.parametrize("acceptance", [0.5, 0.9, 1.0])
def test_exact_binomials_at_the_boundary(method: CertifiedMethod, groups: int, acceptance: float) -> None:
    """Each group accepts (its picked decision) with ``acceptance``, and errs there with exactly ALPHA."""
    size = 0.0
    for units in range(1, groups + 1):
        for errors in range(units + 1):
            if p_of(method, [(1, 1, 1), (0, 1, 1), (0, 0, 1)], [errors, units - errors, groups - units]) > DELTA:
                break
            size += float(binom.pmf(units, groups, acceptance) * binom.pmf(errors, units, ALPHA))
    assert 0 < size <= DELTA + ROUNDING


NULLS = {
    "whole groups, or one of four": [(0, 4, 4), (1, 4, 4), (4, 4, 4)],
    "half of a group, or a whole one": [(0, 4, 4), (2, 4, 4), (4, 4, 4)],
    "fewer accepted where right": [(0, 3, 4), (1, 4, 4), (4, 4, 4)],
    "wrong where few are accepted": [(0, 4, 4), (1, 1, 4), (2, 2, 4)],
    "sizes five and ten": [(0, 10, 10), (5, 10, 10), (5, 5, 5)],
}


@pytest.mark.parametrize("method", ["betting", "hoeffding_bentkus"])
@pytest.mark.parametrize("atoms", NULLS.values(), ids=NULLS.keys())
@pytest.mark.parametrize("groups", [175, 240])
def test_methods_for_means_at_the_boundary(
    method: CertifiedMethod, atoms: list[tuple[int, int, int]], groups: int
) -> None:
    """Three kinds of groups, the first without an error, mixed so that the scenario-weighted risk is exactly ALPHA."""
    right, first, second = ((e - ALPHA * a) / m for e, a, m in atoms)
    low = list(_certifying(method, atoms, groups))
    assert low
    for share in np.linspace(0, 1, 11):
        weights = np.array([-1 / right, share / first, (1 - share) / second])
        weights /= weights.sum()
        assert abs(weights @ [right, first, second]) < ROUNDING
        size = float(multinomial.pmf(low, groups, weights).sum())
        assert size <= DELTA + ROUNDING


def _certifying(method: CertifiedMethod, atoms: list[tuple[int, int, int]], groups: int) -> Iterator[list[int]]:
    """How many groups there are of each kind in the samples that certify; errors more than enough end the search."""
    for first in range(groups + 1):
        for second in range(groups + 1 - first):
            number = [groups - first - second, first, second]
            if p_of(method, atoms, number) > DELTA:
                break
            yield number


def test_an_item_level_bound_breaks_where_variants_only_repeat_each_other() -> None:
    """Four variants that agree are one piece of evidence; counted as four, they certify at twice the level."""
    groups, variants = 60, 4
    most = most_errors("one_per_group_cp", ALPHA, DELTA, groups * variants)
    assert most is not None
    assert binom.cdf(most // variants, groups, ALPHA) == pytest.approx(0.192, abs=5e-4)
    assert certified(groups, ALPHA) <= DELTA


def test_groups_of_unequal_size_are_certified_by_scenario_not_by_decision() -> None:
    """Groups with two questions, a share ``two`` of all, err at 20%, the others at 2%."""

    def risks(two: float) -> tuple[float, float]:
        by_decision = (2 * two * 0.20 + (1 - two) * 0.02) / (2 * two + (1 - two))
        return by_decision, two * 0.20 + (1 - two) * 0.02

    by_decision, by_scenario = risks(0.15)
    assert by_decision == pytest.approx(0.067, abs=5e-4)
    assert by_scenario == pytest.approx(0.047)
    # One decision per group errs with the risk by scenario. Read as a bound by decision, its certificates are wrong
    # more often than delta allows; as what they are, they are right.
    assert certified(240, by_scenario) == pytest.approx(0.120, abs=5e-4)
    assert certified(480, by_scenario) == pytest.approx(0.136, abs=5e-4)
    # Where the risk by scenario is at or above the limit, certificates are as rare as claimed.
    assert risks(1 / 6)[1] == pytest.approx(ALPHA)
    for two in (1 / 6, 0.20, 0.30):
        for groups in (60, 120, 240, 480):
            assert certified(groups, risks(two)[1]) <= DELTA


@pytest.mark.parametrize("method", ["one_per_group_cp", "hoeffding_bentkus", "betting"])
@pytest.mark.parametrize("groups", [120, 175])
def test_unequal_groups_at_the_boundary(method: CertifiedMethod, groups: int) -> None:
    """The same mixture at a risk by scenario of exactly ALPHA: groups of five or ten decisions, wrong as a whole."""
    two = 1 / 6
    kinds = [(0, 5, 5), (5, 5, 5), (0, 10, 10), (10, 10, 10)]
    chance = np.array([(1 - two) * 0.98, (1 - two) * 0.02, two * 0.80, two * 0.20])
    wrong = chance[1] + chance[3]
    size = 0.0
    for errors in range(groups + 1):
        # Sizes do not matter to the p-value once a group is wholly right or wrong, so any split of them will do.
        numbers = [groups - errors, errors - errors // 2, 0, errors // 2]
        if p_of(method, kinds, numbers) > DELTA:
            break
        size += float(binom.pmf(errors, groups, wrong))
    assert wrong == pytest.approx(ALPHA)
    assert 0 < size <= DELTA


# One group in five accepts all four of its decisions and errs at 17%, the others accept one and err at 0.75%.
FULL, RISK_OF_FULL, RISK_OF_ONE, SIZE = 0.2, 0.17, 0.0075, 4


def test_picking_among_accepted_decisions_is_biased() -> None:
    accepted = FULL + (1 - FULL) / SIZE
    truth = (FULL * RISK_OF_FULL + (1 - FULL) / SIZE * RISK_OF_ONE) / accepted
    among_accepted = FULL * RISK_OF_FULL + (1 - FULL) * RISK_OF_ONE
    assert truth == pytest.approx(0.089, abs=5e-4)
    assert among_accepted == pytest.approx(0.040, abs=5e-4)
    # Every group accepts, so picking among accepted ones has 240 units of the wrong risk; the truth is 8.9%.
    assert certified(240, among_accepted) > 2 * DELTA
    among_presented = sum(binom.pmf(units, 240, accepted) * certified(units, truth) for units in range(241))
    assert among_presented < DELTA / 10


def test_the_pick_is_made_among_presented_decisions() -> None:
    groups = 4_000
    generator = np.random.default_rng(3)
    full = generator.random(groups) < FULL
    wrong = generator.random((groups, SIZE)) < np.where(full, RISK_OF_FULL, RISK_OF_ONE)[:, None]
    accepted = full[:, None] | (np.arange(SIZE) == generator.integers(SIZE, size=groups)[:, None])
    presented = PresentedGroups(_decisions(np.where(accepted, 0.9, 0.6), ~wrong), "salt")
    counts = presented.at(0.9)
    units = int(counts.picked_accepted.sum())
    share = counts.picked_wrong.sum() / units
    # The truth is 8.9%, and 4.0% among accepted ones; five standard errors are between them.
    assert abs(share - 0.089) < 3 * (0.089 * 0.911 / units) ** 0.5 < share - 0.045
    # What is picked does not depend on what is accepted.
    everything = presented.at(0.6)
    assert everything.picked_accepted.all()
    assert not (counts.picked_wrong & ~everything.picked_wrong).any()
    assert units == pytest.approx(groups * (FULL + (1 - FULL) / SIZE), rel=0.1)


def _decisions(top: np.ndarray, correct: np.ndarray) -> Decisions:
    """Decisions with the given top probabilities and outcomes, each of shape (groups, decisions of a group)."""
    number = np.arange(top.size)
    columns: dict[str, Any] = {column.name: np.zeros(top.size, dtype=np.bool_) for column in fields(Decisions)}
    columns |= {"top_probability": top.ravel(), "correct": correct.ravel(), "trial": np.ones(top.size)}
    columns |= {"group": (number // top.shape[1]).astype(np.str_), "case": number.astype(np.str_)}
    columns |= {"question": np.full(top.size, "q")}
    return Decisions(**columns)
