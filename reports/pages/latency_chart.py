"""The chart of request latency: the share of requests that took at most so long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from decibench.reports.latency import LatencyStats
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.theme import DASHES, PAINTS, inline, themed
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.tables.latency import latency_tables
from decibench.reports.tables.layout import millis

if TYPE_CHECKING:
    import altair as alt

    from decibench.reports.metrics.arrays import Floats

_HEIGHT: Final = 200
_POINTS: Final = 200
"""Most points of a line, its start included. A tenth of them lies in the slowest hundredth, which matters most."""
_TAIL: Final = 0.99
_LINES: Final = len(PAINTS) - 1
"""Most trials with a line each; one colour is left for retries."""
_SHORTEST: Final = 0.001
"""Milliseconds from which on a time is drawn as measured: a logarithmic axis has no 0."""

_Line = tuple[str, Sequence[float | None]]


def latency_chart(report: Report) -> Chart | None:
    """The distribution of latency by trial, and with retries where there were any; None where nothing was timed."""
    overall = report.latency.overall
    if overall is None:
        return None
    table, *_ = latency_tables(report.latency)
    return Chart(
        key="latency",
        title="Request latency",
        sentence=_sentence(report, overall),
        spec=_spec(list(_lines(report.records))),
        table=table,
    )


def _sentence(report: Report, overall: LatencyStats) -> str:
    latency = report.latency
    said = [
        f"Of {overall.requests:,} timed requests half took at most {millis(overall.p50_s)} ms, 95% at most "
        f"{millis(overall.p95_s)} ms and 99% at most {millis(overall.p99_s)} ms."
    ]
    if len(latency.by_trial) > 1:
        medians = ", ".join(f"{trial}: {millis(stats.p50_s)}" for trial, stats in latency.by_trial.items())
        said.append(f"Medians by trial, in ms: {medians}.")
    if len(latency.by_trial) > _LINES:
        said.append(f"All trials are one line, as there are more than {_LINES}.")
    again = sum(bool(record.earlier) for record in report.records)
    if again and latency.with_retries is not None:
        said.append(
            f"Asked again after a failure: {again:,}; with all attempts and the waits between them half took at most "
            f"{millis(latency.with_retries.p50_s)} ms and 99% at most {millis(latency.with_retries.p99_s)} ms."
        )
    if overall.untimed:
        said.append(f"Never timed, and not in it: {overall.untimed:,}.")
    failed = sum(record.failed and record.latency_s is not None for record in report.records)
    said.append(f"All splits and variants are in it, and failed requests ({failed:,}); warm-ups are not.")
    return " ".join(said)


def _lines(records: Sequence[Record]) -> Iterator[_Line]:
    """The name and the seconds of every line: trials, or all of them where there are many, and then retries."""
    trials = sorted({record.trial for record in records})
    if len(trials) > _LINES:
        yield "all trials", [record.latency_s for record in records]
    else:
        for trial in trials:
            yield f"trial {trial}", [record.latency_s for record in records if record.trial == trial]
    if any(record.earlier for record in records):
        name = "all attempts" if len(trials) == 1 else "all trials, all attempts"
        yield name, [record.with_retries_s for record in records]


def _spec(lines: Sequence[_Line]) -> dict[str, Any]:
    import altair as alt

    names = [name for name, _ in lines]
    legend = None if len(names) == 1 else alt.Undefined
    drawn = (
        alt.Chart(inline([datum for name, seconds in lines for datum in _points(name, seconds)]))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(
            x=alt.X("ms:Q", title="milliseconds (log)", scale=alt.Scale(type="log", nice=False), axis=_axis()),
            y=alt.Y(
                "share:Q",
                title="share of requests",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            color=alt.Color("series:N", sort=names, scale=_scale(names, PAINTS), legend=legend),
            strokeDash=alt.StrokeDash("series:N", sort=names, scale=_scale(names, DASHES), legend=legend),
            order="share:Q",
            tooltip=[
                alt.Tooltip("series:N"),
                alt.Tooltip("ms:Q", title="at most, ms", format=".3~g"),
                alt.Tooltip("share:Q", title="share of requests", format=".1%"),
            ],
        )
    )
    return themed(drawn.properties(width="container", height=_HEIGHT))


def _axis() -> alt.Axis:
    import altair as alt

    return alt.Axis(format="~g", labelOverlap=True, tickCount=6)


def _scale(names: Sequence[str], looks: Sequence[Any]) -> alt.Scale:
    import altair as alt

    # Retries always look alike, however many trials there are.
    found = [looks[-1] if name.endswith("attempts") else looks[place] for place, name in enumerate(names)]
    return alt.Scale(domain=list(names), range=found)


def _points(name: str, seconds: Sequence[float | None]) -> Iterator[dict[str, Any]]:
    """The steps of the empirical distribution, thinned to ``_POINTS``: each is a time that was measured."""
    import numpy as np

    known = 1000 * np.sort([value for value in seconds if value is not None])
    if not known.size:
        return
    ranks = _ranks(known.size)
    yield {"series": name, "ms": _drawn(known[0]), "share": 0}
    for at, ms in zip(ranks.tolist(), known[(ranks - 1).astype(np.int64)].tolist(), strict=True):
        yield {"series": name, "ms": _drawn(ms), "share": round(at / known.size, 5)}


def _drawn(ms: float) -> float:
    return float(f"{max(ms, _SHORTEST):.4g}")


def _ranks(n: int) -> Floats:
    """Ranks (from 1) drawn of ``n`` sorted times: all of few, else evenly spaced, closer in the tail; the last too."""
    import numpy as np

    most, tail = _POINTS - 1, _POINTS // 10
    if n <= most:
        return np.arange(1.0, n + 1)
    shares = np.concatenate([np.linspace(0, _TAIL, most - tail), np.linspace(_TAIL, 1, tail + 1)[1:]])
    return np.unique(np.maximum(1, np.ceil(shares * n)))
