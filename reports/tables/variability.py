"""The tables of run-to-run variance, and what it says in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from decibench.cases.schema import Split
from decibench.reports.tables.figures import FigureRow, figures_table, reported
from decibench.reports.tables.layout import Table, number, share
from decibench.reports.variability import Variability


def variability_tables(variability: Mapping[Split, Variability]) -> Iterator[Table]:
    """Accuracy by trial, and what changed between trials; nothing of trials that are identical."""
    for split, found in reported(variability).items():
        if found.identical:
            continue
        columns = ["core decisions", *(f"trial {t}" for t in found.accuracy.by_trial), "lowest", "highest", "deviation"]
        rows = [
            [name, *map(share, spread.by_trial.values()), share(spread.low), share(spread.high),
             share(spread.standard_deviation)]
            for name, spread in (("macro_accuracy", found.macro_accuracy), ("accuracy", found.accuracy))
        ]  # fmt: skip
        yield Table(f"Trials ({split})", columns, rows)
        changes = [
            FigureRow(["changed_choice"], found.changed_choice),
            FigureRow(["changed_answer"], found.changed_answer),
            FigureRow(["retest_variation"], found.retest_variation, number),
        ]
        yield figures_table(f"Between trials ({split}; 95% intervals over scenarios)", ["figure"], changes)


def variability_sentences(variability: Mapping[Split, Variability]) -> Iterator[str]:
    """What repeated trials tell about each split; identical ones tell nothing."""
    if variability and all(found.identical for found in variability.values()):
        trials = max(found.trials for found in variability.values())
        yield f"The {trials} trials are identical: they add no information about the model and do not multiply n."
        return
    for split, found in variability.items():
        if found.identical:
            yield f"The {found.trials} trials on {split} are identical."
        else:
            yield (
                f"Between the {found.trials} trials on {split}, {share(found.changed_choice.value)} of "
                f"{found.decisions} decisions change their choice; macro accuracy runs from "
                f"{share(found.macro_accuracy.low)} to {share(found.macro_accuracy.high)}."
            )
        if found.left_out:
            yield f"Decisions on {split} that were not asked in every trial and are left out here: {found.left_out}."
