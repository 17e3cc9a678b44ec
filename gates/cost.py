"""The expected-cost gate: the threshold that was cheapest on calibration, and what it costs on holdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from decibench.cases.schema import Model
from decibench.gates.holdout import core_decisions
from decibench.gates.p_values.betting import bet
from decibench.reports.figure import Figure
from decibench.reports.protocol import CostMatrix, Level, Protocol
from decibench.reports.resampling import Interval
from decibench.reports.scenario_means import difference, figures_of, ratio
from decibench.reports.summary import accepted_by
from decibench.reports.table import Decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from decibench.reports.metrics.arrays import Floats

ALWAYS: Final = 0.0
"""The threshold that accepts everything that was answered."""
_SAME: Final = 1e-12
"""Mean costs closer than this differ by arithmetic."""


class CostPoint(Model):
    """What a threshold costs per decision on calibration, ``accepted`` of them acted on; null never accepts."""

    threshold: Annotated[float, Field(ge=0, le=1)] | None
    expected_cost: Annotated[float, Field(ge=0)]
    accepted: int


class Policy(Model):
    """What a policy costs per decision on holdout, ``accepted`` of them acted on."""

    expected_cost: Figure
    accepted: int


class CostDifference(Model):
    """The gate's expected cost less that of another policy on the same scenarios.

    ``most`` is the most by which the gate can cost more in a decision. An interval knows nothing of a rare dear error
    that was not seen; ``p`` does: it is the p-value of "not cheaper in the long run" by betting on the differences of
    scenarios, which are at most ``most``. ``cheaper`` is true where p <= delta and no part of the interval reaches 0.
    """

    difference: Figure
    most: float
    p: Annotated[float, Field(ge=0, le=1)]
    cheaper: bool
    sentence: str


class CostTest(Model):
    """The gate on ``scenarios`` of holdout beside always accepting and always falling back."""

    scenarios: int
    decisions: int
    gate: Policy
    always_accept: Policy
    always_fall_back: Policy
    against_accept: CostDifference
    against_fall_back: CostDifference


class CostGate(Model):
    """The threshold with the least expected cost on the core variants of calibration, trial 1.

    Costs are per presented decision and scenario-weighted: each decision of a scenario that presents m weighs 1 / m.
    What is not accepted, or failed, costs ``fallback``; an accepted unsafe answer ``unsafe``, another accepted wrong
    one ``wrong``, an accepted right one nothing; all in the unit of ``costs``. ``grid`` holds the candidates: 0,
    which always accepts, the thresholds of the protocol, and null, which never does. ``fitted`` is false where there
    was nothing to fit on; else ``threshold`` is the cheapest, ties to the larger, and null means: always fall back.
    ``holdout`` is null where it was not measured. The gate claims nothing about the share of errors.
    """

    costs: CostMatrix
    delta: Level
    fitted: bool
    threshold: Annotated[float, Field(ge=0, le=1)] | None
    scenarios: int
    grid: list[CostPoint]
    holdout: CostTest | None
    sentence: str


def fit_cost(decisions: Decisions, costs: CostMatrix, protocol: Protocol) -> CostGate:
    """Fit the gate on the calibration among ``decisions``, and measure it on their holdout."""
    calibration, holdout = core_decisions(decisions, "calibration"), core_decisions(decisions, "holdout")
    thresholds: list[float | None] = [*sorted({ALWAYS, *protocol.gate_grid}), None]
    grid = [_point(calibration, threshold, costs) for threshold in thresholds] if len(calibration) else []
    gate = CostGate(
        costs=costs,
        delta=protocol.delta,
        fitted=bool(grid),
        threshold=_cheapest(grid) if grid else None,
        scenarios=len(set(calibration.group.tolist())),
        grid=grid,
        holdout=None,
        sentence="",
    )
    if grid and len(holdout):
        gate = gate.model_copy(update={"holdout": _measured(holdout, gate.threshold, costs, protocol)})
    return gate.model_copy(update={"sentence": _sentence(gate)})


def decision_costs(decisions: Decisions, threshold: float | None, costs: CostMatrix) -> Floats:
    """What each decision costs where ``threshold`` decides, of shape (decisions,)."""
    import numpy as np

    wrong, unsafe, fallback = _prices(decisions, costs)
    acted = np.where(decisions.correct, 0.0, np.where(decisions.chose_unsafe, unsafe, wrong))
    return np.where(accepted_by(decisions, threshold), acted, fallback)


def _prices(decisions: Decisions, costs: CostMatrix) -> tuple[Floats, Floats, Floats]:
    """The costs wrong, unsafe and fallback of each decision, by its family."""
    import numpy as np

    rows = [costs.families.get(family, costs) for family in decisions.family.tolist()]
    wrong, unsafe, fallback = np.array([[row.wrong, row.unsafe, row.fallback] for row in rows]).T
    return wrong, unsafe, fallback


def _by_scenario(decisions: Decisions, values: Floats) -> Floats:
    """The mean of ``values`` (decisions,) in each scenario, of shape (scenarios,)."""
    import numpy as np

    _, code = np.unique(decisions.group, return_inverse=True)
    return np.bincount(code, weights=values) / np.bincount(code)


def _point(decisions: Decisions, threshold: float | None, costs: CostMatrix) -> CostPoint:
    return CostPoint(
        threshold=threshold,
        expected_cost=float(_by_scenario(decisions, decision_costs(decisions, threshold, costs)).mean()),
        accepted=int(accepted_by(decisions, threshold).sum()),
    )


def _cheapest(grid: Sequence[CostPoint]) -> float | None:
    """The cheapest threshold of an ascending ``grid``, ties to the larger."""
    best = grid[0]
    for point in grid[1:]:
        if point.expected_cost <= best.expected_cost + _SAME * max(1.0, best.expected_cost):
            best = point
    return best.threshold


def _measured(holdout: Decisions, threshold: float | None, costs: CostMatrix, protocol: Protocol) -> CostTest:
    import numpy as np

    thresholds = (threshold, ALWAYS, None)
    means = [_by_scenario(holdout, decision_costs(holdout, t, costs)) for t in thresholds]
    scenarios = means[0].size
    cost_of = [ratio(policy, len(thresholds)) for policy in range(len(thresholds))]
    statistics = [*cost_of, difference(cost_of[0], cost_of[1]), difference(cost_of[0], cost_of[2])]
    found = figures_of(np.arange(scenarios), np.stack([*means, np.ones(scenarios)], axis=1), statistics, protocol)
    policies = [
        Policy(expected_cost=cost, accepted=int(accepted_by(holdout, t).sum()))
        for t, cost in zip(thresholds, found, strict=False)
    ]
    wrong, unsafe, fallback = _prices(holdout, costs)
    dearest = np.maximum(wrong, np.where(holdout.has_unsafe, unsafe, 0.0))
    most_acting = max(0.0, float((dearest - fallback).max()))
    return CostTest(
        scenarios=scenarios,
        decisions=len(holdout),
        gate=policies[0],
        always_accept=policies[1],
        always_fall_back=policies[2],
        against_accept=_against(means[0] - means[1], found[3], float(fallback.max()), "always accepting", protocol),
        against_fall_back=_against(means[0] - means[2], found[4], most_acting, "always falling back", protocol),
    )


def _against(values: Floats, estimate: Figure, most: float, name: str, protocol: Protocol) -> CostDifference:
    """``values`` (scenarios,) are the gate's cost less that of the policy called ``name``."""
    p, spread = not_cheaper_p(values, most), estimate.interval
    assert estimate.value is not None  # There is a scenario.
    below = estimate.value < 0 and (spread is None or spread.high < 0)
    cheaper = below and p <= protocol.delta
    by = f"{estimate.value:+.4g} per decision{_between(spread, '+.4g')}"
    if not values.any():
        sentence = f"On this holdout it costs what {name} does, scenario by scenario."
    elif cheaper:
        sentence = f"It is cheaper than {name}: {by}."
    elif spread is not None and spread.low > 0:
        sentence = f"On this holdout it costs more than {name}: {by}."
    else:
        sentence = f"It is not shown to be cheaper than {name}: {by}."
        if below:
            sentence += (
                f" A decision may cost {most:.4g} more, and {values.size} scenarios cannot rule out that enough do "
                f"(p = {p:.2g}, at most {protocol.delta:g} is needed)."
            )
    return CostDifference(difference=estimate, most=most, p=p, cheaper=cheaper, sentence=sentence)


def _between(spread: Interval | None, form: str) -> str:
    return "" if spread is None else f" (95% interval {spread.low:{form}} to {spread.high:{form}})"


def not_cheaper_p(differences: Floats, most: float) -> float:
    """p-value of "the expected difference is at least 0" from ``differences`` (scenarios,) of at most ``most``.

    Betting against it, as for gates: every factor 1 - f d / ``most`` has a mean of at most 1 under the hypothesis, and
    none is negative (Waudby-Smith and Ramdas 2024). 0 to 1; 1 where there are no scenarios.

    >>> import numpy as np
    >>> round(not_cheaper_p(np.full(59, -1.0), 19.0), 5), not_cheaper_p(np.array([]), 19.0)
    (0.09976, 1.0)
    """
    import numpy as np

    if most <= 0:  # What never costs more is cheaper as soon as it once cost less.
        return 0.0 if (differences < 0).any() else 1.0
    return bet(np.minimum(differences / most, 1.0))


def _sentence(gate: CostGate) -> str:
    if not gate.fitted:
        return "Expected-cost gate: none, because there are no calibration decisions to fit it on."
    act = "never act, always fall back" if gate.threshold is None else f"act at a top probability of {gate.threshold:g}"
    chosen = f"Expected-cost gate: {act}{'' if gate.threshold is None else ' or more'}, the cheapest on calibration."
    test = gate.holdout
    if test is None:
        return f"{chosen} Not measured on holdout."
    own, accept, back = (p.expected_cost for p in (test.gate, test.always_accept, test.always_fall_back))
    return (
        f"{chosen} On holdout it costs {own.value:.4g} per decision{_between(own.interval, '.4g')}, always accepting "
        f"{accept.value:.4g}, always falling back {back.value:.4g}. {test.against_accept.sentence} "
        f"{test.against_fall_back.sentence}"
    )
