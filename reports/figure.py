"""A figure beside its interval, or beside the reason why there is none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from decibench.cases.schema import Model
from decibench.reports.metrics.zero_event_bound import zero_event_bound
from decibench.reports.resampling import Interval, interval

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats

NO_VARIATION: Final = "no variation between scenarios: the bootstrap gives no interval"
ONE_SCENARIO: Final = "one scenario: there is nothing to resample"
UNDEFINED: Final = "there is nothing to average"
MOSTLY_UNDEFINED: Final = "most resamples of scenarios leave nothing to average"
LONE_SCENARIO: Final = "a family has one scenario: how far its accuracy varies is unknown"
NOTHING_ACCEPTED: Final = "the gate is null and accepts nothing"
CHOSEN_HERE: Final = "the threshold was chosen on these scenarios"


class Figure(Model):
    """A figure and its 95% percentile interval from a bootstrap over scenario groups.

    ``groups`` are the scenarios that hold a decision the figure is about. ``interval`` is null where the data give
    none, and ``no_interval`` then says why. Where no decision, or every one, shows what a share counts,
    ``exceptions_below`` bounds the share of scenarios with any decision that differs: exact binomial over groups,
    one-sided, at 95% confidence.
    """

    value: float | None
    interval: Interval | None
    no_interval: str | None
    groups: int
    exceptions_below: Annotated[float, Field(ge=0, le=1)] | None = None


def figure_of(value: float | None, samples: Floats, groups: int, *, counts: bool = False) -> Figure:
    """The figure ``value`` whose resampled values are ``samples``; ``counts`` where it is a share of decisions.

    >>> import numpy as np
    >>> figure_of(0.0, np.zeros(1000), 59, counts=True).no_interval
    'no variation between scenarios: the bootstrap gives no interval'
    """
    found, reason = _interval(value, samples, groups)
    bound = zero_event_bound(groups) if counts and value in (0.0, 1.0) else None
    return Figure(value=value, interval=found, no_interval=reason, groups=groups, exceptions_below=bound)


def bare_figure(value: float | None, groups: int, reason: str) -> Figure:
    """A figure that must have no interval, for the ``reason``."""
    return Figure(value=value, interval=None, no_interval=UNDEFINED if value is None else reason, groups=groups)


def _interval(value: float | None, samples: Floats, groups: int) -> tuple[Interval | None, str | None]:
    if value is None:
        return None, UNDEFINED
    if groups < 2:
        return None, ONE_SCENARIO
    found = interval(samples)
    if found is None:
        return None, MOSTLY_UNDEFINED
    # Equal sums in another order differ in their last digits.
    if math.isclose(found.low, found.high, rel_tol=1e-9, abs_tol=1e-12):
        return None, NO_VARIATION
    return found, None
