"""The tables of selective prediction; the curve itself stands in the report file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from decibench.cases.schema import Split
from decibench.reports.selective import CoverageAtRisk, Selective
from decibench.reports.tables.figures import FigureRow, bracket, figures_table, reported
from decibench.reports.tables.layout import Table, number, share


def selective_tables(selective: Mapping[Split, Selective]) -> Iterator[Table]:
    """Areas under the curve of each split, and what coverage a risk allowed on calibration and then on holdout."""
    rows = [
        FigureRow([f"{name} ({split})"], getattr(found, name), number)
        for split, found in reported(selective).items()
        for name in ("aurc", "eaurc", "augrc")
    ]
    if rows:
        title = "Selective prediction (core, ranked by top probability; lower is better; 95% intervals over scenarios)"
        yield figures_table(title, ["area"], rows)
    if "calibration" in selective:
        yield _at_risk(selective)


def _at_risk(selective: Mapping[Split, Selective]) -> Table:
    splits = list(reported(selective))
    columns = ["risk at most", "threshold"]
    columns += [f"{split} {what}" for split in splits for what in ("accepted", "coverage", "risk")]
    rows = []
    for level in selective["calibration"].at_risk:
        cells = [share(level.risk_level), "none" if level.threshold is None else f"{level.threshold:.4g}"]
        for split in splits:
            (here,) = (a for a in selective[split].at_risk if a.risk_level == level.risk_level)
            cells += _measured(here)
        rows.append(cells)
    return Table("Coverage at a risk observed on calibration, then measured on holdout; not certified", columns, rows)


def _measured(at: CoverageAtRisk) -> list[str]:
    if at.coverage is None or at.selective_risk is None:
        return ["-", "-", "-"]
    return [str(at.accepted), bracket(at.coverage), bracket(at.selective_risk)]
