"""Selective prediction: what risk is left when only the more confident decisions are acted on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.figure import CHOSEN_HERE, Figure, bare_figure, figure_of
from decibench.reports.metrics.augrc import augrc
from decibench.reports.metrics.aurc import aurc
from decibench.reports.metrics.coverage_at_risk import coverage_at_risk
from decibench.reports.metrics.eaurc import eaurc
from decibench.reports.metrics.risk_coverage import risk_coverage
from decibench.reports.protocol import Protocol
from decibench.reports.resampling import GroupBootstrap
from decibench.reports.summary import Share
from decibench.reports.table import Decisions

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats

POINTS: Final = 200
"""Most points of a curve in a report; figures come from all of them."""

LEVELS: Final = 2_000
"""Most thresholds that a resample tells apart. Beyond it neighbours are accepted together, each step less than a
thousandth of all decisions, which moves an area far less than its interval is wide; observed figures use them all."""

_AREAS: Final = (aurc, eaurc, augrc)


class CurvePoint(Model):
    """What a threshold accepts: ``coverage``, and the ``selective_risk`` of it.

    ``low`` and ``high`` bound the risk at this threshold, pointwise and not for the whole curve; null where scenarios
    do not vary enough to give a bound. ``groups`` are the scenarios with an accepted decision. ``threshold`` is null at
    full coverage where decisions failed: none accepts those.
    """

    threshold: Share | None
    coverage: Share
    selective_risk: Share
    low: Share | None
    high: Share | None
    groups: int


class CoverageAtRisk(Model):
    """Coverage at an observed risk of at most ``risk_level``: figures of one sample, which certify nothing.

    ``threshold`` is the one of all on calibration that accepts most at such a risk, null where none does or calibration
    was not measured. The other figures say what it does on this split; on calibration itself they have no interval.
    """

    risk_level: float
    threshold: Share | None
    accepted: int | None
    errors: int | None
    coverage: Figure | None
    selective_risk: Figure | None


class Selective(Model):
    """Selective prediction on the core decisions of a split, all trials, ranked by top probability.

    A failed decision is an error of the least confidence: it stays in every denominator, and no threshold accepts it.
    ``aurc``, ``eaurc`` and ``augrc`` are better when lower; equal confidences are accepted together. ``curve`` runs
    from the highest threshold to full coverage, at most ``POINTS`` points about evenly spaced in coverage.
    """

    decisions: int
    failed: int
    aurc: Figure
    eaurc: Figure
    augrc: Figure
    at_risk: list[CoverageAtRisk]
    curve: list[CurvePoint]


def selective_of(decisions: Decisions, protocol: Protocol) -> dict[Split, Selective]:
    """Selective prediction on every split whose core decisions state probabilities; nothing else ranks them.

    Coverage at risk is by thresholds of calibration.
    """
    core = decisions.where(decisions.role == "core")
    parts = {split: core.where(core.split == split) for split in SPLITS}
    curves = {split: _Curve(part) for split, part in parts.items() if part.stated.any()}
    calibration = curves.get("calibration")
    thresholds = {level: calibration.best(level) if calibration else None for level in protocol.risk_levels}
    return {split: _measure(c, thresholds, protocol, split == "calibration") for split, c in curves.items()}


class _Curve:
    """The curve of a split; an index into it is the number of thresholds, from the highest down, that accept."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.counts = risk_coverage(decisions.top_probability, decisions.correct)

    def threshold(self, index: int) -> float | None:
        """The threshold at ``index``; None where failed decisions are counted."""
        value = float(self.counts.thresholds[index - 1])
        return None if math.isnan(value) else value

    def reach(self, threshold: float) -> int:
        """Index of what ``threshold`` accepts."""
        return int((self.counts.thresholds >= threshold).sum())

    def best(self, level: float) -> float | None:
        """The threshold that accepts most at a risk of at most ``level``."""
        import numpy as np

        offered = slice(1, 1 + int((~np.isnan(self.counts.thresholds)).sum()))
        index = coverage_at_risk(self.counts.accepted[offered], self.counts.errors[offered], level)
        return None if index is None else self.threshold(index + 1)

    def spaced(self, most: int) -> list[int]:
        """At most ``most`` indices about evenly spaced in coverage, from the first threshold to full coverage."""
        import numpy as np

        accepted = self.counts.accepted
        if accepted.size <= most + 1:
            return list(range(1, accepted.size))
        wanted = np.linspace(1 / most, 1, most) * accepted[-1] - 0.5
        return sorted(set(np.searchsorted(accepted, wanted).tolist()))


class _Resampled:
    """Resamples of a curve: its areas, and coverage and risk at the looked-up ``indices``."""

    def __init__(self, curve: _Curve, indices: Sequence[int], protocol: Protocol) -> None:
        import numpy as np

        d = curve.decisions
        self.curve = curve
        self.bootstrap = GroupBootstrap(d.group, d.trial, resamples=protocol.curve_resamples, seed=protocol.seed)
        self._column = {index: column for column, index in enumerate(indices)}
        blocks = list(self._blocks(list(indices)))
        self._areas, self._coverage, self._risk = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        # A scenario joins where its most confident decision does.
        self._joins = np.full(self.bootstrap.groups, d.valid.size)
        np.minimum.at(self._joins, self.bootstrap.group_code, curve.counts.level)

    def _blocks(self, indices: list[int]) -> Iterator[tuple[Floats, Floats, Floats]]:
        import numpy as np
        from scipy.sparse import csr_array

        kept = np.array(sorted({0, *indices, *self.curve.spaced(LEVELS)}))
        level = np.searchsorted(kept, self.curve.counts.level + 1)
        shape = (kept.size, self.bootstrap.cells)
        wrong = ~self.curve.decisions.correct
        size_of = csr_array((np.ones(level.size), (level, self.bootstrap.cell)), shape=shape)
        wrong_of = csr_array((wrong.astype(np.float64), (level, self.bootstrap.cell)), shape=shape)
        columns = np.searchsorted(kept, indices)
        for weights in self.bootstrap.weights():
            drawn = np.ascontiguousarray(weights.T)
            accepted, errors = (np.cumsum((cells @ drawn).T, axis=1) for cells in (size_of, wrong_of))
            areas = np.stack([area(accepted, errors) for area in _AREAS], axis=1)
            yield (
                areas,
                _divide(accepted[:, columns], accepted[:, -1:]),
                _divide(errors[:, columns], accepted[:, columns]),
            )

    def areas(self) -> Iterator[Figure]:
        """Each area under the observed curve."""
        counts = self.curve.counts
        for area, samples in zip(_AREAS, self._areas.T, strict=True):
            yield figure_of(area(counts.accepted, counts.errors).item(), samples, self.bootstrap.groups)

    def coverage(self, index: int) -> Figure:
        """Share of all decisions that is accepted."""
        accepted = self.curve.counts.accepted
        samples = self._coverage[:, self._column[index]]
        return figure_of(float(accepted[index] / accepted[-1]), samples, self.bootstrap.groups, counts=True)

    def risk(self, index: int) -> Figure:
        """Share of wrong among the accepted decisions."""
        accepted = float(self.curve.counts.accepted[index])
        observed = float(self.curve.counts.errors[index]) / accepted if accepted else None
        groups = int((self._joins < index).sum())
        return figure_of(observed, self._risk[:, self._column[index]], groups, counts=True)


def _measure(curve: _Curve, thresholds: Mapping[float, float | None], protocol: Protocol, chosen: bool) -> Selective:
    """``chosen`` where the thresholds were chosen on these very decisions."""
    reach = {level: curve.reach(t) for level, t in thresholds.items() if t is not None}
    shown = curve.spaced(POINTS)
    resampled = _Resampled(curve, sorted({*shown, *reach.values()}), protocol)
    areas = list(resampled.areas())
    return Selective(
        decisions=len(curve.decisions),
        failed=int((~curve.decisions.valid).sum()),
        aurc=areas[0],
        eaurc=areas[1],
        augrc=areas[2],
        at_risk=[_at_risk(curve, resampled, level, t, chosen) for level, t in thresholds.items()],
        curve=[_point(curve, resampled, index) for index in shown],
    )


def _point(curve: _Curve, resampled: _Resampled, index: int) -> CurvePoint:
    risk = resampled.risk(index)
    assert risk.value is not None
    return CurvePoint(
        threshold=curve.threshold(index),
        coverage=float(curve.counts.accepted[index] / curve.counts.accepted[-1]),
        selective_risk=risk.value,
        low=risk.interval.low if risk.interval else None,
        high=risk.interval.high if risk.interval else None,
        groups=risk.groups,
    )


def _at_risk(
    curve: _Curve, resampled: _Resampled, level: float, threshold: float | None, chosen: bool
) -> CoverageAtRisk:
    if threshold is None:
        return CoverageAtRisk(
            risk_level=level, threshold=None, accepted=None, errors=None, coverage=None, selective_risk=None
        )
    index = curve.reach(threshold)
    figures = resampled.coverage(index), resampled.risk(index)
    coverage, risk = (bare_figure(f.value, f.groups, CHOSEN_HERE) for f in figures) if chosen else figures
    return CoverageAtRisk(
        risk_level=level,
        threshold=threshold,
        accepted=int(curve.counts.accepted[index]),
        errors=int(curve.counts.errors[index]),
        coverage=coverage,
        selective_risk=risk,
    )


def _divide(above: Floats, below: Floats) -> Floats:
    import numpy as np

    ratio: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return ratio
