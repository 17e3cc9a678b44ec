"""Whether a required gate held where it was applied."""

from __future__ import annotations

from decibench.gates.gate import Gate
from decibench.reports.report import GateCheck
from decibench.reports.summary import Metrics


def check_holdout(gate: Gate, metrics: Metrics) -> GateCheck:
    """Check ``metrics``, taken at the gate's threshold: it must accept something, with an error within its limit.

    This compares observed figures; it proves nothing about decisions that were not made.
    """
    if gate.threshold is None:
        return GateCheck(passed=False, reason=f"the gate has no threshold and accepts nothing: {gate.reason}")
    if not metrics.accepted or metrics.selective_risk is None:
        return GateCheck(
            passed=False, reason=f"threshold {gate.threshold:g} accepts none of {metrics.decisions} decisions"
        )
    observed = (
        f"threshold {gate.threshold:g} accepts {metrics.accepted} of {metrics.decisions} decisions with "
        f"{metrics.accepted_errors} wrong ({metrics.selective_risk:.1%}, limit {gate.max_error:.1%})"
    )
    return GateCheck(passed=metrics.selective_risk <= gate.max_error, reason=observed)
