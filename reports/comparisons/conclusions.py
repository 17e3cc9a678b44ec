"""The sentences that a comparison may say, and no others."""

from __future__ import annotations

from decibench.cases.schema import Model
from decibench.reports.comparisons.paired import LEVEL, PairedDifference

_SCORES = frozenset({"brier_score", "log_loss"})
"""Quantities that are no shares."""


def is_score(quantity: str) -> bool:
    """Whether a quantity is a score, and no share."""
    return quantity in _SCORES


class NonInferiority(Model):
    """Whether a candidate is worse than the reference by less than ``margin`` in the primary metric.

    ``lower_bound`` is the one-sided 95% bootstrap bound of candidate minus reference, not adjusted over candidates;
    null where no two groups differ. ``shown`` is true where it is above -margin; a missing bound shows nothing.
    """

    margin: float
    lower_bound: float | None
    shown: bool


def conclude(paired: PairedDifference, candidate: str, reference: str, quantity: str, *, may_claim: bool = True) -> str:
    """The one sentence the data support; ``may_claim`` is false where too many decisions were dropped."""
    figures = _figures(paired, quantity)
    if paired.adjusted_p is None:
        sentence = f"{quantity} of {candidate} and {reference}, descriptive: {figures}."
    elif not may_claim:
        return f"Nothing is concluded on {quantity} of {candidate} and {reference}, too much was dropped: {figures}."
    elif paired.supported:
        word = "higher" if paired.difference > 0 else "lower"
        return f"{candidate} is {word} than {reference} in {quantity}: {figures}."
    else:
        sentence = f"No difference in {quantity} between {candidate} and {reference} is shown: {figures}."
    detectable = undetected(paired)
    if detectable is not None:
        sentence += (
            f" A true difference of {_size(quantity, detectable)} would be found in 80% of such runs, tested alone."
        )
    return sentence


def conclude_margin(found: NonInferiority, candidate: str, reference: str, quantity: str) -> str:
    """Whether the candidate is no worse than the margin allows, as far as the data support it."""
    claim = f"Non-inferiority of {candidate} to {reference} with a margin of {_size(quantity, found.margin)}"
    if found.lower_bound is None:
        return f"{claim} is not shown: where no two scenarios differ, no bound follows."
    verb = "is shown" if found.shown else "is not shown"
    bound = gap(quantity, found.lower_bound)
    return f"{claim} {verb}: the one-sided 95% lower bound of the difference is {bound}, not adjusted over candidates."


def undetected(paired: PairedDifference) -> float | None:
    """The detectable difference, where the p-value that counts does not support the one observed."""
    p_value = paired.p_value if paired.adjusted_p is None else paired.adjusted_p
    return paired.detectable if p_value > LEVEL else None


def level(quantity: str, value: float) -> str:
    """A value of a quantity as it is printed: a share in percent, a score as a number.

    >>> level("accuracy", 0.5), level("log_loss", 0.5)
    ('50.0%', '0.5000')
    """
    return f"{value:.4f}" if is_score(quantity) else f"{value:.1%}"


def gap(quantity: str, value: float) -> str:
    """A difference in a quantity as it is printed: of shares in points, of scores as a number.

    >>> gap("accuracy", -0.05), gap("log_loss", 0.5)
    ('-5.0 points', '+0.5000')
    """
    return f"{value:+.4f}" if is_score(quantity) else f"{100 * value:+.1f} points"


def bare(quantity: str, value: float) -> str:
    """A difference without its unit, for a table whose title names it."""
    return gap(quantity, value).removesuffix(" points")


def spread(paired: PairedDifference, quantity: str) -> str:
    """The interval of a difference without its unit; a dash where there is none."""
    if paired.interval is None:
        return "-"
    return f"{bare(quantity, paired.interval.low)} to {bare(quantity, paired.interval.high)}"


def _size(quantity: str, value: float) -> str:
    return gap(quantity, value).removeprefix("+")


def _figures(paired: PairedDifference, quantity: str) -> str:
    first, second = level(quantity, paired.first), level(quantity, paired.second)
    if not paired.differing:
        return (
            f"the two never differ on these {paired.groups} scenarios ({second} by scenario), which bounds nothing for "
            "others"
        )
    p = f"unadjusted p = {paired.p_value:.2g}"
    if paired.adjusted_p is not None:
        p = f"adjusted p = {paired.adjusted_p:.2g}"
    interval = "no interval, because all scenarios differ alike"
    if paired.interval is not None:
        interval = f"95% interval {spread(paired, quantity)}, unadjusted"
    return f"{second} against {first} by scenario, {gap(quantity, paired.difference)} ({interval}; {p})"
