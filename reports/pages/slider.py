"""What the slider of a page needs: where it starts, the thresholds of gates, and what each stop says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from decibench.reports.pages.thresholds import Stop, Stops, issued_gates, nearest_threshold, threshold_stops
from decibench.reports.report import Report
from decibench.reports.tables.layout import share

FIGURES: Final = (
    "threshold",
    "accepted (coverage)",
    "wrong among accepted (selective risk)",
    "unsafe accepted (unsafe acceptance)",
    "fall back",
)
"""The names of what a stop says, in order."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider over ``stops`` that starts at the index ``start``; ``gates`` are indices by the name of the gate.

    ``data`` is for the script: the names of figures, and of each stop its texts, made as everywhere on the page, and
    the numbers that the chart draws.
    """

    stops: Stops
    start: int
    gates: dict[str, int]
    data: dict[str, Any]


def slider_of(report: Report) -> Slider | None:
    """The slider of ``report``; None where it has no stops."""
    found = threshold_stops(report)
    if found is None:
        return None
    places = {stop.threshold: index for index, stop in enumerate(found.stops)}
    return Slider(
        stops=found,
        start=places[_start(report, found)],
        gates={gate.name: places[gate.threshold] for gate in issued_gates(report)},
        data={"names": FIGURES, "stops": [_datum(stop, found.decisions) for stop in found.stops]},
    )


def _start(report: Report, found: Stops) -> float:
    """The primary gate's threshold, else the one that came nearest, else the first that accepts nothing, or the last.

    It is where the verdict points to.
    """
    primary = [gate.threshold for gate in issued_gates(report) if gate.primary]
    nearest = nearest_threshold(report)
    nothing = [stop.threshold for stop in found.stops if not stop.accepted]
    return [*primary, *([] if nearest is None else [nearest]), *nothing, found.stops[-1].threshold][0]


def _datum(stop: Stop, decisions: int) -> dict[str, Any]:
    return {
        "texts": [
            f"{stop.threshold:g}",
            f"{stop.accepted:,} of {decisions:,} ({share(stop.coverage)}), in {stop.scenarios:,} scenarios",
            f"{stop.errors:,} of {stop.accepted:,}: {share(stop.selective_risk)}{_spread(stop)}",
            _unsafe(stop),
            f"{stop.fallback:,} of {decisions:,} ({share(stop.fallback_share)})",
        ],
        "spoken": f"{stop.threshold:g}: accepts {stop.accepted:,} of {decisions:,}, {stop.errors:,} wrong",
        "coverage": stop.coverage,
        "selective_risk": stop.selective_risk,
        "certified": stop.certified,
        "mark": stop.mark,
    }


def _spread(stop: Stop) -> str:
    if stop.risk_low is None:
        return f" (no interval: {stop.risk_note})" if stop.accepted else ""
    return f" (95% interval {share(stop.risk_low)} to {share(stop.risk_high)}, pointwise)"


def _unsafe(stop: Stop) -> str:
    if not stop.unsafe_eligible:
        return "no decision has an unsafe option"
    accepted = f"{stop.unsafe_accepted:,} of {stop.unsafe_eligible:,} with an unsafe option"
    return f"{accepted} ({share(stop.unsafe_acceptance)})"
