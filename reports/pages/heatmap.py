"""Accuracy by family and variant as a coloured table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from decibench.cases.schema import Split
from decibench.reports.report import Report
from decibench.reports.summary import Metrics, SplitMetrics
from decibench.reports.tables.figures import last_reported
from decibench.reports.tables.layout import share

_Scenarios = Mapping[tuple[str | None, str], set[str]]
"""The scenarios by family and variant; None stands for all families together."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """Its text, and the share (0 to 1) that colours it; null where nothing was asked."""

    text: str
    share: float | None


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row and its cells, one per column."""

    name: str
    cells: Sequence[HeatCell]


@dataclass(frozen=True, slots=True)
class Heatmap:
    """A table whose cells are coloured by their share; ``sentence`` says how to read it."""

    title: str
    sentence: str
    columns: Sequence[str]
    rows: Sequence[HeatRow]


def heatmaps(report: Report) -> list[Heatmap]:
    """Core and attack variants of the last reported split in one, probes, whose accuracy is no merit, in another."""
    last = last_reported(report.metrics)
    if last is None:
        return []
    split, metrics = last
    scenarios = _scenarios(report, split)
    probes = [variant for variant, role in metrics.roles.items() if role == "probe"]
    others = [variant for variant in metrics.roles if variant not in probes]
    found = []
    if others:
        title = f"Accuracy by family and variant ({split})"
        found.append(_heatmap(title, _sentence(metrics, others), others, metrics, scenarios))
    if probes:
        sentence = (
            "Probes take something away or ask in another way: their accuracy is no merit, and stands in no headline "
            "and no gate. In brackets the scenarios of a cell."
        )
        found.append(_heatmap(f"Accuracy under probes ({split})", sentence, probes, metrics, scenarios))
    return found


def _scenarios(report: Report, split: Split) -> _Scenarios:
    found: defaultdict[tuple[str | None, str], set[str]] = defaultdict(set)
    for record in report.records:
        if record.split == split:
            found[record.family, record.variant].add(record.group)
            found[None, record.variant].add(record.group)
    return found


def _sentence(metrics: SplitMetrics, variants: Sequence[str]) -> str:
    attacks = [variant for variant in variants if metrics.roles[variant] == "attack"]
    attacked = f" {', '.join(attacks)} {'are attacks' if len(attacks) > 1 else 'is an attack'}." if attacks else ""
    return (
        f"All trials, failed decisions wrong; in brackets the scenarios of a cell.{attacked} Cells have no interval: "
        "with few scenarios they may differ by chance alone."
    )


def _heatmap(
    title: str, sentence: str, variants: Sequence[str], metrics: SplitMetrics, scenarios: _Scenarios
) -> Heatmap:
    by_row = [*metrics.by_family_variant.items(), (None, metrics.by_variant)]
    shown = [(family, cells) for family, cells in by_row if any(variant in cells for variant in variants)]
    return Heatmap(
        title=title,
        sentence=sentence,
        columns=variants,
        rows=[
            HeatRow(family or "all", [_cell(cells.get(v), len(scenarios.get((family, v), ()))) for v in variants])
            for family, cells in shown
        ],
    )


def _cell(metrics: Metrics | None, scenarios: int) -> HeatCell:
    if metrics is None or metrics.accuracy is None:
        return HeatCell("-", None)
    return HeatCell(f"{share(metrics.accuracy)} ({scenarios})", metrics.accuracy)
