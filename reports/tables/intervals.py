"""The tables of the headline figures with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from decibench.cases.schema import Split
from decibench.reports.intervals import Intervals
from decibench.reports.tables.figures import FigureRow, figures_table, reported
from decibench.reports.tables.layout import Table, number, share

_FORMS: Final[Mapping[str, Callable[[float | None], str]]] = {
    "macro_accuracy": share,
    "accuracy": share,
    "brier_score": number,
    "log_loss": number,
    "coverage": share,
    "selective_risk": share,
    "unsafe_acceptance": share,
    "attack_success": share,
}


def intervals_tables(intervals: Mapping[Split, Intervals]) -> Iterator[Table]:
    """One table per split, a row per figure; accuracies stand beside what guessing would reach."""
    for split, found in reported(intervals).items():
        chance = {"macro_accuracy": share(found.chance_accuracy)}
        rows = [
            FigureRow([name, chance.get(name, "")], figure, form)
            for name, form in _FORMS.items()
            if (figure := getattr(found, name)) is not None
        ]
        rows += [
            FigureRow([f"accuracy {name}", share(family.chance_accuracy)], family.accuracy)
            for name, family in found.by_family.items()
        ]
        title = f"Figures with 95% intervals over scenarios ({split}, core; attack_success: attack)"
        yield figures_table(title, ["figure", "chance"], rows)


def chance_sentence(split: Split, found: Intervals) -> str:
    """Whether macro accuracy can be told from guessing."""
    figure, chance = found.macro_accuracy, share(found.chance_accuracy)
    subject = f"Macro accuracy on {split} is {share(figure.value)}"
    if figure.interval is None:
        return f"{subject}, where guessing reaches {chance}: {figure.no_interval}."
    spread = f"95% interval {share(figure.interval.low)} to {share(figure.interval.high)}, {found.groups} scenarios"
    verdict = "the interval lies above" if found.above_chance else "the interval does not lie above"
    return f"{subject} ({spread}); {verdict} the {chance} that guessing among the options reaches."
