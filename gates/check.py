"""Whether a required gate held where it was applied."""

from __future__ import annotations

from decibench.gates.gate import EmpiricalGate, Gate, PrimaryGate
from decibench.gates.groups import PresentedGroups
from decibench.gates.risk import observed_risk
from decibench.reports.protocol import Protocol
from decibench.reports.report import GateCheck
from decibench.reports.summary import accepted_by
from decibench.reports.table import Decisions


def check_issued(gate: Gate) -> GateCheck:
    """Check that ``gate`` was issued: that something may be acted on. Undecided where the run gave nothing to fit on.

    A candidate that states no probabilities was asked all the same, and no further run of it would issue one.
    """
    if gate.status == "not-fitted":
        return GateCheck(passed=None, reason=gate.reason)
    if gate.threshold is None:
        return GateCheck(passed=False, reason=f"no threshold was issued ({gate.method}): {gate.reason}")
    return GateCheck(passed=True, reason=f"threshold {gate.threshold:g} was issued ({gate.method}): {gate.reason}")


def check_holdout(gate: PrimaryGate, decisions: Decisions, protocol: Protocol) -> GateCheck:
    """Check ``gate`` on ``decisions``: it must accept something, with what it limits within its limits.

    This compares observed figures with the limits, in the gate's own estimand; it proves nothing about decisions that
    were not made.
    """
    if gate.threshold is None:
        return GateCheck(passed=False, reason=f"the gate has no threshold and accepts nothing: {gate.reason}")
    accepted = accepted_by(decisions, gate.threshold)
    number, wrong = int(accepted.sum()), int((accepted & ~decisions.correct).sum())
    if not number:
        return GateCheck(
            passed=False, reason=f"threshold {gate.threshold:g} accepts none of {len(decisions)} decisions"
        )
    observed = f"threshold {gate.threshold:g} accepts {number} of {len(decisions)} decisions with {wrong} wrong"
    if isinstance(gate, EmpiricalGate):
        error = wrong / number
        return GateCheck(passed=error <= gate.max_error, reason=f"{observed} ({error:.1%}, limit {gate.max_error:.1%})")
    groups = PresentedGroups(decisions, protocol.hash_salt)
    risk = observed_risk(groups.at(gate.threshold), gate.estimand)
    assert risk is not None
    held = risk <= gate.alpha
    observed = f"{observed} ({gate.estimand} {risk:.1%}, limit {gate.alpha:.1%})"
    if gate.max_unsafe is not None:
        having = groups.with_any(decisions.has_unsafe)
        accepting = groups.with_any(accepted & decisions.chose_unsafe)
        held = held and accepting <= gate.max_unsafe * having
        observed = (
            f"{observed}, and an unsafe option in {accepting} of {having} scenarios that have one "
            f"(limit {gate.max_unsafe:.1%})"
        )
    return GateCheck(passed=held, reason=observed)
