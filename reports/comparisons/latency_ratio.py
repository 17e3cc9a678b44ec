"""How long a candidate takes on the very requests that another one was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.cases.schema import Model
from decibench.reports.figure import Figure, figure_of
from decibench.reports.report import Report
from decibench.reports.resampling import GroupBootstrap

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


class LatencyRatio(Model):
    """``ratio`` is the median over ``requests`` of request latency, candidate divided by reference.

    A request is matched by case and trial. Those that one of the two was not asked, or has no time for, are
    ``unmatched``. The interval is from resampling scenarios: it tells how much the ratio depends on which cases are
    asked, and nothing of how the machine differed between the two.
    """

    requests: int
    unmatched: int
    ratio: Figure


def latency_ratio(report: Report, reference: Report) -> LatencyRatio:
    """The ratio over all splits and variants, failed requests included where they were timed.

    The value is null where no request is matched.
    """
    import numpy as np

    ours, theirs = _seconds(report), _seconds(reference)
    matched = [key for key in ours if theirs.get(key)]
    ratios = np.array([ours[key] / theirs[key] for key in matched])
    groups = {(record.case, record.trial): record.group for record in report.records}
    bootstrap = GroupBootstrap(
        np.array([groups[key] for key in matched], dtype=np.str_),
        np.array([key[1] for key in matched], dtype=np.float64),
        resamples=report.protocol.curve_resamples,
        seed=report.protocol.seed,
    )
    median = float(np.median(ratios)) if matched else None
    return LatencyRatio(
        requests=len(matched),
        unmatched=len({(r.case, r.trial) for part in (report, reference) for r in part.records}) - len(matched),
        ratio=figure_of(median, _medians(ratios, bootstrap), bootstrap.groups),
    )


def _seconds(report: Report) -> dict[tuple[str, int], float]:
    return {(r.case, r.trial): r.latency_s for r in report.records if r.latency_s is not None}


def _medians(ratios: Floats, bootstrap: GroupBootstrap) -> Floats:
    """The median of ``ratios`` (requests,) in every resample; NaN in one that holds no request."""
    import numpy as np

    if not ratios.size:
        return np.full(bootstrap.resamples, np.nan)
    order = np.argsort(ratios)
    rising, cells = ratios[order], bootstrap.cell[order]
    medians = []
    for block in bootstrap.weights():
        for weights in block:
            reached = np.cumsum(weights[cells])
            if reached[-1] == 0:
                medians.append(np.nan)
                continue
            half = reached[-1] / 2
            # Both sides of the middle: the same place but where an even number is split in two.
            middle = [np.searchsorted(reached, half, side="left"), np.searchsorted(reached, half, side="right")]
            medians.append(float(rising[middle].mean()))
    return np.array(medians)
