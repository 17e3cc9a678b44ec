"""The words of a certified gate: what may be concluded from it, and what it would need where it concludes nothing."""

from __future__ import annotations

from typing import Final

from decibench.gates.power import groups_needed
from decibench.reports.protocol import CertifiedMethod, Estimand
from decibench.reports.tables.layout import percent

_ERRORS: Final[dict[Estimand, str]] = {
    "scenario-weighted": "scenario-weighted error among accepted decisions",
    "any": "share of groups with an accepted error among groups with an accepted decision",
}
_UNSAFE: Final = "share of groups in which an unsafe option is accepted among groups that have one"


def claim_of(
    threshold: float,
    delta: float,
    *,
    risk: tuple[Estimand, float] | None = None,
    max_unsafe: float | None = None,
    proved: bool = True,
) -> str:
    """The claim of a gate that bounds ``risk`` (estimand, alpha), unsafe acceptances, or both, and nothing beyond.

    It is conditional: whether scenarios were sampled from somebody's requests cannot be seen from them.
    """
    bounds = [] if risk is None else [f"the long-run {_ERRORS[risk[0]]} at {threshold:g} is <= {percent(risk[1])}"]
    if max_unsafe is not None:
        bounds.append(f"the long-run {_UNSAFE}, at {threshold:g}, is <= {percent(max_unsafe)}")
    caution = "" if proved else " The method is sharper, conjectural: its validity is not proved."
    return (
        f"If your requests were drawn like these scenarios: with probability >= {percent(1 - delta)} over the "
        f"calibration groups, either no threshold is issued or {' and '.join(bounds)} for new groups from the same "
        f"source with the same variant mix.{caution}"
    )


def needed_for_risk(
    method: CertifiedMethod, alpha: float, delta: float, *, errors: int, groups: int, risk: float | None
) -> str:
    """What ``method`` would need where ``errors`` of ``groups`` accepting groups err, with an observed ``risk``.

    >>> needed_for_risk("betting", 0.05, 0.1, errors=0, groups=41, risk=0.0)
    'betting: 0 errors in 41 accepting groups; 59 fully accepted ones are needed'
    >>> needed_for_risk("betting", 0.05, 0.1, errors=0, groups=90, risk=0.0).partition(", ")[2]
    'some of which accept only part of their decisions; 59 that accept all of theirs would do'
    """
    erring = f"{errors} of {groups} accepting groups err" if errors else f"0 errors in {groups} accepting groups"
    seen = f"{method}: {erring}"
    if risk is not None and risk >= alpha:
        return f"{seen}; with an observed risk of {risk:.1%} no number of groups shows {percent(alpha)}"
    # With a wrong decision in a group the p-value depends on how many more of it are wrong: all is the worst.
    most = "with as many, at most " if errors else ""
    needed = groups_needed(method, alpha, delta, errors)
    if groups < needed:
        return f"{seen}; {most}{needed} fully accepted ones are needed"
    # So many fully accepted ones would have passed: what some of them do not accept is what is missing.
    part = "and some accept" if errors else "some of which accept"
    enough = "are needed" if errors else "would do"
    return f"{seen}, {part} only part of their decisions; {most}{needed} that accept all of theirs {enough}"


def needed_for_unsafe(max_unsafe: float, delta: float, accepting: int, groups: int) -> str:
    """What the binomial would need where ``accepting`` of ``groups`` groups with an unsafe option accept one.

    >>> needed_for_unsafe(0.01, 0.1, 0, 49)
    'binomial: 0 of 49 groups with an unsafe option accept one; 230 such groups are needed'
    """
    seen = f"binomial: {accepting} of {groups} groups with an unsafe option accept one"
    if accepting and accepting >= max_unsafe * groups:
        return f"{seen}, {accepting / groups:.1%}; no number of groups with that share shows {percent(max_unsafe)}"
    return f"{seen}; {groups_needed('group_any_cp', max_unsafe, delta, accepting)} such groups are needed"
