"""The empirical gate: the grid threshold with the largest coverage whose observed calibration error is small.

It describes the decisions it was fitted on and proves nothing about others: no bound comes with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from decibench.cases.jsonio import sha256_of
from decibench.gates.gate import Gate, GridPoint
from decibench.reports.metrics.selective_risk import selective_risk
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.summary import accepted_by
from decibench.reports.table import Decisions, decisions_of

_SAME: Final = 1e-12
"""Top probabilities closer than this differ by arithmetic, not by what the model said."""


def calibration_of(records: Sequence[Record]) -> list[Record]:
    """The records a gate may be fitted on: core variants of calibration, trial 1."""
    return [r for r in records if r.split == "calibration" and r.role == "core" and r.trial == 1]


def fit_empirical(
    records: Sequence[Record],
    protocol: Protocol,
    *,
    candidate_hash: str | None,
    suite_hash: str | None,
) -> Gate:
    """Fit the gate on ``records``, all of which count.

    Among the thresholds of ``protocol.gate_grid`` that accept at least ``min_accepted`` decisions with an error of
    at most ``max_error`` it takes the one with the largest coverage, ties to the smaller threshold. Failed
    decisions on calibration refuse the gate: what the model would have done there is not known.
    """
    decisions = decisions_of(records, protocol.log_loss_floor)
    gate = Gate(
        status="not-fitted",
        reason="there are no calibration decisions to fit it on",
        max_error=protocol.max_error,
        min_accepted=protocol.min_accepted,
        decisions=len(decisions),
        candidate_hash=candidate_hash,
        protocol_hash=protocol.hash,
        suite_hash=suite_hash,
        calibration_hash=_hash(records),
        groups=list(dict.fromkeys(record.group for record in records)),
    )
    if not len(decisions):
        return gate
    failed = int((~decisions.valid).sum())
    if failed:
        reason = f"{failed} of {len(decisions)} calibration decisions failed; run them again (--retry-failed)"
        return gate.model_copy(update={"status": "refused", "reason": reason})
    grid = [_point(decisions, threshold, protocol) for threshold in protocol.gate_grid]
    best = max((p for p in grid if p.qualifies), key=lambda p: (p.accepted, -p.threshold), default=None)
    levels = sorted(set(decisions.top_probability.tolist()))
    return gate.model_copy(
        update={
            "status": "fitted" if best else "none-qualifies",
            "reason": _reason(best, grid, protocol, len(decisions), levels[-1]),
            "threshold": best.threshold if best else None,
            "grid": grid,
            "highest_top_probability": levels[-1],
            "distinct_top_probabilities": len(levels),
            "resolution": min((b - a for a, b in itertools.pairwise(levels) if b - a > _SAME), default=None),
        }
    )


def not_fitted(protocol: Protocol, reason: str) -> Gate:
    """The gate of a run that gave nothing to fit on."""
    return Gate(
        status="not-fitted",
        reason=reason,
        max_error=protocol.max_error,
        min_accepted=protocol.min_accepted,
        protocol_hash=protocol.hash,
    )


def _point(decisions: Decisions, threshold: float, protocol: Protocol) -> GridPoint:
    accepted = accepted_by(decisions, threshold)
    number = int(accepted.sum())
    error = selective_risk(accepted, decisions.correct)
    return GridPoint(
        threshold=threshold,
        accepted=number,
        errors=int((accepted & ~decisions.correct).sum()),
        error=error,
        coverage=number / len(decisions),
        qualifies=error is not None and error <= protocol.max_error and number >= protocol.min_accepted,
    )


def _reason(
    best: GridPoint | None, grid: Sequence[GridPoint], protocol: Protocol, decisions: int, highest: float
) -> str:
    if best is not None:
        return (
            f"accepts {best.accepted} of {decisions} calibration decisions with {best.errors} wrong "
            f"({best.error:.1%}, limit {protocol.max_error:.1%})"
        )
    enough = [point for point in grid if point.accepted >= protocol.min_accepted]
    needed = f"an error of at most {protocol.max_error:.1%} on at least {protocol.min_accepted} accepted decisions"
    if not enough:
        return (
            f"no threshold has {needed}: the lowest, {grid[0].threshold:g}, accepts {grid[0].accepted} of {decisions}; "
            f"the highest top probability is {highest:.3g}"
        )
    nearest = min(enough, key=lambda point: (point.errors / point.accepted, -point.accepted))
    return (
        f"no threshold has {needed}; the nearest, {nearest.threshold:g}, accepts {nearest.accepted} of {decisions} "
        f"with {nearest.errors} wrong ({nearest.errors / nearest.accepted:.1%})"
    )


def _hash(records: Sequence[Record]) -> str:
    """What was decided and what was right, without the times: the same decisions, the same hash."""
    return sha256_of(
        sorted(
            (r.case, r.trial, [(d.question, d.expected, d.unsafe, d.choice, d.probabilities) for d in r.decisions])
            for r in records
        )
    )
