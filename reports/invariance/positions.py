"""Where choices stand among the options, beside where the right answers stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from decibench.cases.schema import Model
from decibench.reports.figure import Figure
from decibench.reports.invariance.askings import Askings
from decibench.reports.invariance.order_effects import ORDERS
from decibench.reports.metrics.position_rate import position_rate
from decibench.reports.protocol import Protocol
from decibench.reports.scenario_means import difference, figures_of, ratio

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools

LEAST_SCENARIOS: Final = 20


class PositionRates(Model):
    """Choices by position, among valid answers to ``choice`` questions with ``options`` options, in all orders asked.

    ``chosen`` and ``reference`` are the shares of decisions whose choice and whose right answer stand at the first,
    second, ... position, and ``excess`` the first less the second. ``largest`` is the position, counted from 1, with
    the largest excess; it is picked after looking, and its interval does not allow for that. ``tie_share`` is the
    share of decisions whose choice was one of several with the same probability; null where none are stated.

    No retest is taken off. A distance grows with noise of any direction, but this excess has a sign: noise that brings
    as many choices to a position as it takes away leaves it where it is on average, and the spread that it adds is in
    the interval, as every scenario is asked with noise of its own. Noise that brings more is a preference, to be shown.
    """

    options: int
    scenarios: int
    decisions: int
    tie_share: Annotated[float, Field(ge=0, le=1)] | None
    chosen: list[Figure]
    reference: list[float]
    excess: list[Figure]
    largest: int


def position_rates(askings: Askings, protocol: Protocol) -> list[PositionRates]:
    """One entry per number of options that at least 20 scenarios have, fewest options first.

    There is a figure per position, as along a curve: intervals come from ``curve_resamples``.
    """
    import numpy as np

    a, rules = askings, protocol.model_copy(update={"resamples": protocol.curve_resamples})
    asked = a.is_choice & a.valid & np.isin(a.variant, ORDERS)
    found = []
    for options in np.unique(a.options[asked]).tolist():
        these = asked & (a.options == options)
        if np.unique(a.group[these]).size >= LEAST_SCENARIOS:
            found.append(_rates(a, these, options, rules))
    return found


def _rates(a: Askings, these: Bools, options: int, protocol: Protocol) -> PositionRates:
    import numpy as np

    chosen_at, expected_at = a.chosen_at[these], a.expected_at[these]
    rate, reference = position_rate(chosen_at, options), position_rate(expected_at, options)
    assert rate is not None
    assert reference is not None
    places = np.arange(options)
    columns = np.concatenate(
        [chosen_at[:, None] == places, expected_at[:, None] == places, np.ones((chosen_at.size, 1))], axis=1
    ).astype(np.float64)
    chosen = [ratio(place, 2 * options, counts=True) for place in range(options)]
    excess = [difference(share, ratio(options + place, 2 * options)) for place, share in enumerate(chosen)]
    figures = figures_of(a.group[these], columns, [*chosen, *excess], protocol)
    return PositionRates(
        options=options,
        scenarios=int(np.unique(a.group[these]).size),
        decisions=int(chosen_at.size),
        tie_share=float(a.tie[these].mean()) if a.stated else None,
        chosen=figures[:options],
        reference=reference.tolist(),
        excess=figures[options:],
        largest=1 + int(np.argmax(rate - reference)),
    )
