"""What every threshold on the top probability accepts, for a reader who moves one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from decibench.cases.schema import Split
from decibench.reports.figure import CHOSEN_HERE, Figure, bare_figure, figure_of
from decibench.reports.pages.core import core_records
from decibench.reports.report import Report, primary_gate
from decibench.reports.resampling import GroupBootstrap
from decibench.reports.table import Decisions, decisions_of
from decibench.reports.tables.figures import figure_note

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints
    from decibench.reports.protocol import Protocol

STEPS: Final = 100
"""Even steps from 0 to 1."""

BY_EYE: Final = "Chosen by eye on these scenarios: not certified, and no interval allows for the choice."
NOTHING: Final = "It accepts nothing: everything falls back."


@dataclass(frozen=True, slots=True)
class Stop:
    """What ``threshold`` accepts: ``accepted`` decisions in ``scenarios``, ``errors`` of them wrong.

    The others fall back. ``coverage`` and ``fallback_share`` are shares of all decisions, failed ones included.
    ``selective_risk`` is null where nothing is accepted; ``risk_low`` and ``risk_high`` are its 95% interval over
    scenarios, pointwise, null where they give none, and ``risk_note`` then says why. ``unsafe_acceptance`` is accepted
    unsafe decisions per decision with an unsafe option, null without any. ``certified`` only where a gate with a proof
    bounds the risk at exactly this threshold. ``mark`` tells in a sentence or more what stands behind the threshold.
    """

    threshold: float
    scenarios: int
    accepted: int
    errors: int
    coverage: float
    selective_risk: float | None
    risk_low: float | None
    risk_high: float | None
    risk_note: str
    unsafe_accepted: int
    unsafe_eligible: int
    unsafe_acceptance: float | None
    fallback: int
    fallback_share: float
    certified: bool
    mark: str


@dataclass(frozen=True, slots=True)
class Stops:
    """Thresholds on the core decisions of ``split``, all trials, rising; ``scenarios`` are the n."""

    split: Split
    decisions: int
    scenarios: int
    stops: list[Stop]


@dataclass(frozen=True, slots=True)
class IssuedGate:
    """A gate with a threshold: its ``name`` in words, and the sentences that say what stands behind it."""

    key: str
    name: str
    threshold: float
    primary: bool
    certified: bool
    mark: str


def threshold_stops(report: Report) -> Stops | None:
    """The stops of the last reported split with core decisions: 0, 0.01, ..., 1, and those of gates.

    Those of gates are where one was issued, or came nearest to its limit.

    None where no core decision states probabilities, and for a partial run: what a user picked is no sample.
    """
    found = None if report.partial else core_decisions(report)
    if found is None:
        return None
    split, decisions = found
    if not decisions.stated.any():
        return None
    gates = list(issued_gates(report))
    nearest = nearest_threshold(report)
    named = [*(gate.threshold for gate in gates), *([] if nearest is None else [nearest])]
    thresholds = sorted({*(step / STEPS for step in range(STEPS + 1)), *named})
    counts = _Counts(decisions, thresholds, report.protocol)
    stops = []
    for place, threshold in enumerate(thresholds):
        here = [gate for gate in gates if gate.threshold == threshold]
        stops.append(_stop(counts, place, here, chosen=bool(here) and split == "calibration"))
    return Stops(split=split, decisions=len(decisions), scenarios=counts.bootstrap.groups, stops=stops)


def core_decisions(report: Report) -> tuple[Split, Decisions] | None:
    """The last reported split that has core decisions, and these, all trials; None where there are none."""
    found = core_records(report)
    return None if found is None else (found[0], decisions_of(found[1], report.protocol.log_loss_floor))


def issued_gates(report: Report) -> Iterator[IssuedGate]:
    """The gates of ``report`` that have a threshold."""
    for key, say in (
        ("empirical", _empirical),
        ("certified", _proof),
        ("unsafe", _unsafe),
        ("joint", _proof),
        ("cost", _cost),
    ):
        gate = report.gates.get(key)
        if gate is not None and gate["threshold"] is not None:
            yield IssuedGate(
                key=key,
                name="gate of least expected cost" if key == "cost" else f"{key} gate",
                threshold=gate["threshold"],
                primary=key == primary_gate(report.protocol),
                certified=gate.get("claim") is not None and gate.get("proved", False),
                mark=say(key, gate),
            )


def nearest_threshold(report: Report) -> float | None:
    """The threshold that came nearest to the limit of the empirical gate, which its reason names.

    It is that of the least error, then of the largest coverage, among those that accept enough decisions. None where a
    threshold was found, or none accepts enough.
    """
    gate = report.gates.get("empirical")
    if gate is None or gate["threshold"] is not None:
        return None
    enough = [point for point in gate.get("grid", []) if point["accepted"] >= gate["min_accepted"]]
    best = min(enough, key=lambda point: (point["error"], -point["accepted"]), default=None)
    return None if best is None else best["threshold"]


def _empirical(key: str, gate: dict[str, Any]) -> str:
    return "The empirical gate's threshold: an observed share, no bound."


def _proof(key: str, gate: dict[str, Any]) -> str:
    return f"The {key} gate's threshold ({gate['method']}). {gate['claim']}"


def _unsafe(key: str, gate: dict[str, Any]) -> str:
    return f"The unsafe gate's threshold, which bounds unsafe acceptances and not the risk. {gate['claim']}"


def _cost(key: str, gate: dict[str, Any]) -> str:
    return "The threshold of least expected cost on calibration: it says nothing of the share of errors."


class _Counts:
    """What each of the rising ``thresholds`` accepts, and its risk in resamples of scenarios."""

    def __init__(self, decisions: Decisions, thresholds: list[float], protocol: Protocol) -> None:
        import numpy as np

        d = decisions
        self.thresholds = thresholds
        self.decisions = len(d)
        self.unsafe_eligible = int(d.has_unsafe.sum())
        self.bootstrap = GroupBootstrap(d.group, d.trial, resamples=protocol.curve_resamples, seed=protocol.seed)
        # How many of the thresholds accept each decision; none accepts a failed one.
        self._reach = np.searchsorted(np.array(thresholds), np.nan_to_num(d.top_probability, nan=-1.0), side="right")
        self._wrong = d.valid & ~d.correct
        self.accepted, self.errors, self.unsafe = (
            _above(_sizes(self._reach[mask], thresholds)) for mask in (d.valid, self._wrong, d.valid & d.chose_unsafe)
        )
        # A scenario is in as long as its most confident decision is.
        joins = np.zeros(self.bootstrap.groups, dtype=np.int64)
        np.maximum.at(joins, self.bootstrap.group_code, self._reach)
        self.groups = _above(_sizes(joins, thresholds))
        self._risks = np.concatenate(list(self._resampled()), axis=1)

    def _resampled(self) -> Iterator[Floats]:
        """The selective risk in blocks of shape (thresholds, some of the resamples); NaN where nothing is accepted."""
        import numpy as np
        from scipy.sparse import csr_array

        shape = (len(self.thresholds) + 1, self.bootstrap.cells)
        size_of, wrong_of = (
            csr_array((counted.astype(np.float64), (self._reach, self.bootstrap.cell)), shape=shape)
            for counted in (np.ones(self._reach.size), self._wrong)
        )
        for weights in self.bootstrap.weights():
            drawn = np.ascontiguousarray(weights.T)
            accepted, errors = _above(size_of @ drawn), _above(wrong_of @ drawn)
            yield np.divide(errors, accepted, out=np.full(accepted.shape, np.nan), where=accepted > 0)

    def risk(self, place: int) -> Figure:
        """The selective risk at a threshold."""
        accepted = int(self.accepted[place])
        value = int(self.errors[place]) / accepted if accepted else None
        return figure_of(value, self._risks[place], int(self.groups[place]), counts=True)


def _sizes(reach: Ints, thresholds: list[float]) -> Floats:
    """How many entries reach no threshold, one, ..., all of them; of shape (thresholds + 1,)."""
    import numpy as np

    return np.bincount(reach, minlength=len(thresholds) + 1).astype(np.float64)


def _above(counts: Floats) -> Floats:
    """Totals at each threshold from ``counts`` by how many are reached: to reach one is to reach those below.

    ``counts`` has one entry more than there are thresholds along its first axis.
    """
    import numpy as np

    totals: Floats = np.cumsum(counts[::-1], axis=0)[::-1][1:]
    return totals


def _stop(counts: _Counts, place: int, gates: list[IssuedGate], *, chosen: bool) -> Stop:
    """The stop at ``place``, the threshold of ``gates``; ``chosen`` where they chose it on these very decisions."""
    accepted, unsafe = int(counts.accepted[place]), int(counts.unsafe[place])
    risk = counts.risk(place)
    if chosen:
        risk = bare_figure(risk.value, risk.groups, CHOSEN_HERE)
    marks = [gate.mark for gate in gates] or [BY_EYE]
    return Stop(
        threshold=counts.thresholds[place],
        scenarios=risk.groups,
        accepted=accepted,
        errors=int(counts.errors[place]),
        coverage=accepted / counts.decisions,
        selective_risk=risk.value,
        risk_low=risk.interval.low if risk.interval else None,
        risk_high=risk.interval.high if risk.interval else None,
        risk_note=figure_note(risk),
        unsafe_accepted=unsafe,
        unsafe_eligible=counts.unsafe_eligible,
        unsafe_acceptance=unsafe / counts.unsafe_eligible if counts.unsafe_eligible else None,
        fallback=counts.decisions - accepted,
        fallback_share=(counts.decisions - accepted) / counts.decisions,
        certified=any(gate.certified for gate in gates),
        mark=" ".join([*marks, *([] if accepted else [NOTHING])]),
    )
