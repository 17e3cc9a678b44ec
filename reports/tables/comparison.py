"""The tables of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from decibench.reports.comparison import Comparison
from decibench.reports.tables.layout import Table, count, number, share


def comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """Standings of the candidates; those that did not run have a column without figures."""
    formats: dict[str, Callable[[Any], str]] = {
        "macro_accuracy": share,
        "accuracy": share,
        "brier_score": number,
        "failed": str,
        "accepted": count,
        "coverage": share,
        "selective_risk": share,
        "unsafe_acceptance": share,
        "p50_s": lambda seconds: "-" if seconds is None else f"{seconds:.6f}",
    }
    standings = comparison.standings
    rows = [
        [name, *(form(getattr(s, name)) for s in standings), *("not run" for _ in comparison.not_run)]
        for name, form in formats.items()
    ]
    names = [*(s.candidate for s in standings), *comparison.not_run]
    yield Table(f"Candidates side by side ({comparison.split or 'no common split'})", ["metric", *names], rows)
    for what in ("family", "variant", "tag"):
        slices = [getattr(s, f"by_{what}") for s in standings]
        labels = dict.fromkeys(label for accuracies in slices for label in accuracies)
        if labels:
            missing = ["not run"] * len(comparison.not_run)
            rows = [[label, *(share(accuracies.get(label)) for accuracies in slices), *missing] for label in labels]
            yield Table(f"Accuracy by {what}", [what, *names], rows)
