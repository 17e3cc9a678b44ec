"""The table of variant effects with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from decibench.cases.schema import Split
from decibench.reports.effects import Effect
from decibench.reports.tables.figures import FigureRow, figures_table, reported
from decibench.reports.tables.layout import Table, points, share


def effects_tables(effects: Mapping[Split, Mapping[str, Effect]]) -> Iterator[Table]:
    """Two rows per variant: what it does to accuracy, and how often another option is chosen."""
    for split, found in reported(effects).items():
        rows = [
            row
            for variant, effect in found.items()
            for row in (
                FigureRow([variant, effect.role, "accuracy, points"], effect.accuracy_difference, points),
                FigureRow([variant, effect.role, "flip_share"], effect.flip_share, share),
            )
        ]
        title = f"Variants less the original, by scenario, with 95% intervals ({split})"
        yield figures_table(title, ["variant", "role", "figure"], rows)
