"""Reliability: accuracy by top probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from decibench.cases.schema import Model
from decibench.reports.figure import Figure, bare_figure, figure_of
from decibench.reports.metrics.bins import equal_width_bins
from decibench.reports.metrics.mean import mean
from decibench.reports.resampling import GroupBootstrap

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats

MIN_GROUPS: Final = 5
TOO_FEW: Final = f"fewer than {MIN_GROUPS} scenarios: their resamples are too few to give an interval"


class ReliabilityBin(Model):
    """One bin: valid decisions with a top probability from ``low`` to below ``high``; the last one includes 1.

    ``mean_top_probability`` is null in an empty bin. ``accuracy`` has a 95% interval over the scenarios of the bin,
    where there are at least five and they differ; the intervals hold one by one, not for all bins together.
    """

    low: float
    high: float
    decisions: int
    mean_top_probability: float | None
    accuracy: Figure


def reliability(
    top_probability: Floats, correct: Bools, bootstrap: GroupBootstrap, bins: int = 10
) -> list[ReliabilityBin]:
    """Accuracy in equal-width bins of the top probability, each with the interval that resampled groups give.

    ``bootstrap`` holds the groups and trials of the same decisions (Murphy and Winkler 1977).

    >>> import numpy as np
    >>> bootstrap = GroupBootstrap(np.array(["g1", "g2"]), np.ones(2), resamples=100, seed=1)
    >>> reliability(np.array([0.95, 0.85]), np.array([True, False]), bootstrap)[9].accuracy.value
    1.0
    """
    import numpy as np

    bin_of = equal_width_bins(top_probability, bins)
    member = bin_of[:, None] == np.arange(bins)
    right, all_ = np.split(bootstrap.resampled(np.hstack([member & correct[:, None], member]).astype(np.float64)), 2, 1)
    samples = np.divide(right, all_, out=np.full(all_.shape, np.nan), where=all_ > 0)
    return [
        ReliabilityBin(
            low=k / bins,
            high=(k + 1) / bins,
            decisions=int(member[:, k].sum()),
            mean_top_probability=mean(top_probability[member[:, k]]),
            accuracy=_accuracy(correct[member[:, k]], samples[:, k], bootstrap.groups_in(member[:, k])),
        )
        for k in range(bins)
    ]


def _accuracy(correct: Bools, samples: Floats, groups: int) -> Figure:
    if groups < MIN_GROUPS:
        return bare_figure(mean(correct), groups, TOO_FEW)
    return figure_of(mean(correct), samples, groups, counts=True)
