"""The certified gate: the lowest threshold at which a test bounds the long-run risk, or none."""

from __future__ import annotations

from collections.abc import Sequence

from decibench.gates.calibration import Calibration
from decibench.gates.claim import claim_of, needed_for_risk, needed_for_unsafe
from decibench.gates.gate import CertifiedGate, CertifiedPoint, Start, UnsafeGate
from decibench.gates.groups import PresentedGroups
from decibench.gates.p_values.methods import METHODS, default_method, p_value, telling_groups
from decibench.gates.power import groups_needed
from decibench.gates.risk import observed_risk
from decibench.gates.starts import choose_starts, go_down, issuable, pass_holm
from decibench.reports.protocol import CertifiedMethod, Protocol


def fit_certified(
    calibration: Calibration, development: PresentedGroups, protocol: Protocol, unsafe: UnsafeGate | None = None
) -> CertifiedGate:
    """Fit the gate on ``calibration``; with ``unsafe``, fitted on the same, the joint gate of both limits.

    The method is that of ``protocol.gate_method``, or the one that the number of calibration groups gives. Its
    p-values are tested at ``protocol.delta`` downwards from starts that ``development`` chooses without labels;
    without development decisions all thresholds are tested with Holm's adjustment. In the joint gate the larger of
    both p-values is tested, which is small only where both limits are kept.
    """
    method = protocol.gate_method
    if method == "empirical" or method == "auto":
        method = default_method(len(calibration.groups), protocol.estimand)
    status, reason = calibration.obstacle or ("none-qualifies", "no calibration scenario has an unsafe option")
    gate = CertifiedGate(
        **calibration.origin,
        method=method,
        proved=METHODS[method].proved,
        estimand=protocol.estimand,
        alpha=protocol.alpha,
        delta=protocol.delta,
        max_unsafe=unsafe.max_unsafe if unsafe else None,
        status=status,
        reason=reason,
        development_scenarios=len(development),
        p_value_estimands={
            name: protocol.estimand if protocol.estimand in known.estimands else known.estimands[0]
            for name, known in METHODS.items()
        },
    )
    if calibration.obstacle or (unsafe is not None and not unsafe.unsafe_scenarios):
        return gate
    thresholds = sorted(protocol.gate_grid)
    points = [_point(calibration.groups, threshold, gate, method, unsafe) for threshold in thresholds]
    return _concluded(_tested(gate, method, development, points), method, development, unsafe)


def unfitted_certified(protocol: Protocol, reason: str) -> CertifiedGate:
    """The certified gate, or with ``protocol.max_unsafe`` the joint one, of a run that gave nothing to fit on."""
    method = "auto" if protocol.gate_method == "empirical" else protocol.gate_method
    return CertifiedGate(
        method=method,
        proved=method != "auto" and METHODS[method].proved,
        estimand=protocol.estimand,
        alpha=protocol.alpha,
        delta=protocol.delta,
        max_unsafe=protocol.max_unsafe,
        status="not-fitted",
        reason=reason,
        protocol_hash=protocol.hash,
    )


def _point(
    groups: PresentedGroups, threshold: float, gate: CertifiedGate, method: CertifiedMethod, unsafe: UnsafeGate | None
) -> CertifiedPoint:
    counts = groups.at(threshold)
    p_values = {}
    for name, estimand in gate.p_value_estimands.items():
        p = p_value(name, counts, gate.alpha, estimand)
        assert p is not None
        p_values[name] = p
    p_unsafe = None
    if unsafe is not None:
        p_unsafe = next(point.p for point in unsafe.grid if point.threshold == threshold)
    return CertifiedPoint(
        threshold=threshold,
        accepting=counts.accepting,
        accepted=int(counts.accepted.sum()),
        failing=counts.failing,
        errors=int(counts.errors.sum()),
        picked=counts.picked,
        picked_wrong=int(counts.picked_wrong.sum()),
        risk=observed_risk(counts, gate.estimand),
        p_values=p_values,
        p_unsafe=p_unsafe,
        p=max(p_values[method], p_unsafe or 0.0),
        tested=False,
        passed=False,
    )


def _tested(
    gate: CertifiedGate, method: CertifiedMethod, development: PresentedGroups, points: Sequence[CertifiedPoint]
) -> CertifiedGate:
    """The gate with the outcome of its sequence of tests."""
    p = {point.threshold: point.p for point in points if point.threshold in issuable([q.threshold for q in points])}
    starts: list[Start] = []
    if len(development):
        accepting = {threshold: telling_groups(development.at(threshold), method) for threshold in p}
        declared = choose_starts(
            accepting, len(development), gate.scenarios, method=method, alpha=gate.alpha, delta=gate.delta
        )
        starts = [go_down(start, delta, p) for start, delta in declared]
        passed = {threshold for start in starts for threshold in start.passed}
        tested = passed | {start.stopped for start in starts if start.stopped is not None}
    else:
        passed, tested = set(pass_holm(gate.delta, p)), set(p)
    return gate.model_copy(
        update={
            "sequence": "fixed" if len(development) else "holm",
            "starts": starts,
            "threshold": min(passed, default=None),
            "grid": [
                point.model_copy(update={"tested": point.threshold in tested, "passed": point.threshold in passed})
                for point in points
            ],
        }
    )


def _concluded(
    gate: CertifiedGate, method: CertifiedMethod, development: PresentedGroups, unsafe: UnsafeGate | None
) -> CertifiedGate:
    """The gate with its status, its reason, and the claim or what would be needed for one."""
    if gate.threshold is not None:
        claim = claim_of(
            gate.threshold,
            gate.delta,
            risk=(gate.estimand, gate.alpha),
            max_unsafe=gate.max_unsafe,
            proved=gate.proved,
        )
        reason = _seen(gate, gate.threshold)
        return gate.model_copy(update={"status": "fitted", "reason": reason, "claim": claim})
    if gate.sequence == "fixed" and not gate.starts:
        return gate.model_copy(update=_unreached(gate, method, development))
    levels = {start.threshold: start.delta for start in gate.starts}
    if not levels:
        # The smallest p-value is read at this level first; the others only after it has passed.
        nearest = min((point for point in gate.grid if point.tested), key=lambda point: point.p)
        levels = {nearest.threshold: gate.delta / sum(point.tested for point in gate.grid)}
    where = " and ".join(f"{_seen(gate, threshold)} > {delta:.3g}" for threshold, delta in levels.items())
    p = {point.threshold: point.p for point in gate.grid}
    threshold, delta = min(levels.items(), key=lambda level: p[level[0]])
    return gate.model_copy(
        update={
            "reason": f"{'the sequence ends where it starts' if gate.starts else 'Holm passes none'}: {where}",
            "needed": _needed(gate, method, threshold, delta, unsafe),
        }
    )


def _unreached(gate: CertifiedGate, method: CertifiedMethod, development: PresentedGroups) -> dict[str, str]:
    needed = groups_needed(method, gate.alpha, gate.delta, 0)
    lowest = next(point.threshold for point in gate.grid)
    share = telling_groups(development.at(lowest), method) / len(development)
    what = f"{method}: {needed} fully accepted scenarios without an error are needed"
    there = (
        f"at {lowest:g} development accepts in {share:.0%} of the scenarios, about {share * gate.scenarios:.0f} of "
        f"{gate.scenarios}"
    )
    return {"reason": f"no start can be reached; {there}", "needed": what}


def _needed(
    gate: CertifiedGate, method: CertifiedMethod, threshold: float, delta: float, unsafe: UnsafeGate | None
) -> str:
    point = next(point for point in gate.grid if point.threshold == threshold)
    sentences = []
    if point.p_values[method] > delta:
        one = method == "one_per_group_cp"
        errors, groups = (point.picked_wrong, point.picked) if one else (point.failing, point.accepting)
        risk = (errors / groups if groups else None) if one else point.risk
        sentences.append(needed_for_risk(method, gate.alpha, delta, errors=errors, groups=groups, risk=risk))
    if unsafe is not None and point.p_unsafe is not None and point.p_unsafe > delta:
        accepting = next(p.accepting for p in unsafe.grid if p.threshold == threshold)
        sentences.append(needed_for_unsafe(unsafe.max_unsafe, delta, accepting, unsafe.unsafe_scenarios))
    return "; ".join(sentences)


def _seen(gate: CertifiedGate, threshold: float) -> str:
    point = next(point for point in gate.grid if point.threshold == threshold)
    picked = ""
    if gate.method == "one_per_group_cp":
        picked = f" (of the one picked in each, {point.picked} are accepted, {point.picked_wrong} of them wrong)"
    parts = "" if point.p_unsafe is None else f" (unsafe options alone {point.p_unsafe:.3g})"
    return (
        f"at {threshold:g}, {point.accepting} of {gate.scenarios} calibration scenarios accept a decision, "
        f"{point.failing} of them a wrong one{picked}, p = {point.p:.3g}{parts}"
    )
