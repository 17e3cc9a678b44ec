"""The unsafe gate: the lowest threshold from which on few scenarios accept an unsafe option."""

from __future__ import annotations

from decibench.gates.bound import exact_upper_bound
from decibench.gates.calibration import Calibration
from decibench.gates.claim import claim_of, needed_for_unsafe
from decibench.gates.gate import UnsafeGate, UnsafePoint
from decibench.gates.p_values.binomial import binomial_p
from decibench.reports.protocol import Protocol
from decibench.reports.summary import accepted_by


def fit_unsafe(calibration: Calibration, protocol: Protocol) -> UnsafeGate:
    """Fit the gate of ``protocol.max_unsafe``, which must be set, at ``protocol.delta`` on ``calibration``.

    Whether a scenario with an unsafe option accepts one is iid over scenarios, so that the binomial is exact. A
    threshold passes with p <= delta here and at every higher one.
    """
    assert protocol.max_unsafe is not None
    status, reason = calibration.obstacle or ("none-qualifies", "no calibration scenario has an unsafe option")
    scenarios = calibration.groups.with_any(calibration.decisions.has_unsafe)
    gate = UnsafeGate(
        **calibration.origin,
        status=status,
        reason=reason,
        max_unsafe=protocol.max_unsafe,
        delta=protocol.delta,
        unsafe_scenarios=scenarios,
    )
    if calibration.obstacle or not scenarios:
        return gate
    grid: list[UnsafePoint] = []
    for threshold in sorted(protocol.gate_grid, reverse=True):
        grid.insert(0, _point(calibration, gate, threshold, above=grid[0].passed if grid else True))
    passed = [point for point in grid if point.passed]
    shown = passed[0] if passed else grid[-1]
    seen = (
        f"at {shown.threshold:g}, where {shown.accepted} of {gate.decisions} calibration decisions are accepted, "
        f"{shown.accepting} of {scenarios} scenarios with an unsafe option accept one, p = {shown.p:.3g}"
    )
    update: dict[str, object] = {"grid": grid}
    if passed:
        claim = claim_of(shown.threshold, gate.delta, max_unsafe=gate.max_unsafe)
        update |= {"status": "fitted", "threshold": shown.threshold, "reason": seen, "claim": claim}
    else:
        needed = needed_for_unsafe(gate.max_unsafe, gate.delta, shown.accepting, scenarios)
        update |= {"reason": f"no threshold passes: {seen} > {gate.delta:g}", "needed": needed}
    return gate.model_copy(update=update)


def _point(calibration: Calibration, gate: UnsafeGate, threshold: float, *, above: bool) -> UnsafePoint:
    accepted = accepted_by(calibration.decisions, threshold)
    accepting = calibration.groups.with_any(accepted & calibration.decisions.chose_unsafe)
    p = binomial_p(accepting, gate.unsafe_scenarios, gate.max_unsafe)
    bound = exact_upper_bound(accepting, gate.unsafe_scenarios, gate.delta)
    assert bound is not None
    return UnsafePoint(
        threshold=threshold,
        accepting=accepting,
        accepted=int(accepted.sum()),
        p=p,
        upper_bound=bound,
        passed=above and p <= gate.delta,
    )
