"""The empirical gate: the grid threshold with the largest coverage whose observed calibration error is small.

It describes the decisions it was fitted on and proves nothing about others: no bound comes with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from decibench.gates.calibration import Calibration
from decibench.gates.gate import EmpiricalGate, GridPoint
from decibench.reports.protocol import Protocol

_SAME: Final = 1e-12
"""Top probabilities closer than this differ by arithmetic, not by what the model said."""


def fit_empirical(calibration: Calibration, protocol: Protocol) -> EmpiricalGate:
    """Fit the gate on ``calibration``.

    Among the thresholds of ``protocol.gate_grid`` that accept at least ``min_accepted`` decisions with an error of
    at most ``max_error`` it takes the one with the largest coverage, ties to the smaller threshold. Failed
    decisions on calibration refuse the gate.
    """
    status, reason = calibration.obstacle or ("none-qualifies", "")
    gate = EmpiricalGate(
        **calibration.origin,
        status=status,
        reason=reason,
        max_error=protocol.max_error,
        min_accepted=protocol.min_accepted,
    )
    if calibration.obstacle:
        return gate
    grid = [_point(calibration, threshold, protocol) for threshold in protocol.gate_grid]
    best = max((p for p in grid if p.qualifies), key=lambda p: (p.accepted, -p.threshold), default=None)
    levels = sorted(set(calibration.decisions.top_probability.tolist()))
    return gate.model_copy(
        update={
            "status": "fitted" if best else "none-qualifies",
            "reason": _found(best, gate) if best else _missed(grid, gate, levels[-1]),
            "threshold": best.threshold if best else None,
            "grid": grid,
            "highest_top_probability": levels[-1],
            "distinct_top_probabilities": len(levels),
            "resolution": min((b - a for a, b in itertools.pairwise(levels) if b - a > _SAME), default=None),
        }
    )


def _point(calibration: Calibration, threshold: float, protocol: Protocol) -> GridPoint:
    counts = calibration.groups.at(threshold)
    accepted, errors = int(counts.accepted.sum()), int(counts.errors.sum())
    error = errors / accepted if accepted else None
    return GridPoint(
        threshold=threshold,
        scenarios=counts.accepting,
        accepted=accepted,
        errors=errors,
        error=error,
        coverage=accepted / len(calibration.decisions),
        qualifies=error is not None and error <= protocol.max_error and accepted >= protocol.min_accepted,
    )


def _found(best: GridPoint, gate: EmpiricalGate) -> str:
    return (
        f"accepts {best.accepted} of {gate.decisions} calibration decisions, in {best.scenarios} of {gate.scenarios} "
        f"scenarios, with {best.errors} wrong ({best.error:.1%}, limit {gate.max_error:.1%})"
    )


def _missed(grid: Sequence[GridPoint], gate: EmpiricalGate, highest: float) -> str:
    enough = [point for point in grid if point.accepted >= gate.min_accepted]
    needed = f"an error of at most {gate.max_error:.1%} on at least {gate.min_accepted} accepted decisions"
    if not enough:
        return (
            f"no threshold has {needed}: the lowest, {grid[0].threshold:g}, accepts {grid[0].accepted} of "
            f"{gate.decisions}; the highest top probability is {highest:.3g}"
        )
    nearest = min(enough, key=lambda point: (point.errors / point.accepted, -point.accepted))
    return (
        f"no threshold has {needed}; the nearest, {nearest.threshold:g}, accepts {nearest.accepted} of "
        f"{gate.decisions}, in {nearest.scenarios} of {gate.scenarios} scenarios, with {nearest.errors} wrong "
        f"({nearest.errors / nearest.accepted:.1%})"
    )
