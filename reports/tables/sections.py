"""The parts of a report beyond its metrics, each with its sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from decibench.reports.report import Report
from decibench.reports.tables.calibration import calibration_notes, calibration_tables
from decibench.reports.tables.cost import cost_tables
from decibench.reports.tables.effects import effects_tables
from decibench.reports.tables.figures import reported
from decibench.reports.tables.intervals import chance_sentence, intervals_tables
from decibench.reports.tables.invariance import invariance_tables
from decibench.reports.tables.layout import Table
from decibench.reports.tables.selective import selective_tables
from decibench.reports.tables.transfer import transfer_tables
from decibench.reports.tables.variability import variability_sentences, variability_tables


@dataclass(frozen=True, slots=True)
class Section:
    """A part with its title."""

    title: str
    sentences: Sequence[str]
    tables: Sequence[Table]


def leading_sections(report: Report) -> Iterator[Section]:
    """What a reader decides by: chance, the gate applied, its cost, what a repetition changes; nothing of a part."""
    evidence = report.evidence
    if evidence is None:
        return
    if evidence.intervals:
        split, intervals = list(evidence.intervals.items())[-1]
        yield Section("Against chance", [chance_sentence(split, intervals)], [])
    tests = [f"{name.capitalize()} gate: {test['sentence']}" for name, test in report.gates["holdout_tests"].items()]
    if tests:
        yield Section("Thresholds on holdout", tests, [])
    transfer, cost = report.gates["transfer"], report.gates["cost"]
    if transfer is not None:
        yield Section("Gate transfer", transfer["sentences"], list(transfer_tables(transfer)))
    if cost is not None:
        yield Section("Expected cost", [cost["sentence"]], list(cost_tables(cost)))
    if evidence.variability:
        sentences = list(variability_sentences(evidence.variability))
        yield Section("Trials", sentences, list(variability_tables(evidence.variability)))


def detailed_sections(report: Report) -> Iterator[Section]:
    """What a reader looks up."""
    evidence = report.evidence
    if evidence is None:
        return
    for title, sentences, tables in (
        ("Intervals", (), intervals_tables(evidence.intervals)),
        ("Calibration", calibration_notes(evidence.calibration), calibration_tables(evidence.calibration)),
        ("Selective prediction", (), selective_tables(evidence.selective)),
        ("Variant effects", (), effects_tables(evidence.effects)),
        ("Invariance", (), invariance_tables(reported(evidence.invariance))),
    ):
        section = Section(title, list(sentences), list(tables))
        if section.tables:
            yield section
