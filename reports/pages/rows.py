"""The decisions of a report as rows that a page carries: packed, flagged, and with the texts of their cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from decibench.cases.schema import Case
from decibench.cases.seeded import seeded_order
from decibench.reports.pages.packing import case_texts, packed
from decibench.reports.pages.view import View
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.report import Report, gate_point

MOST_ROWS: Final = 10_000
"""More decisions than this are sampled: a browser sorts and searches so many at once."""

CONFIDENT: Final = 0.9
"""From this top probability on an error is confident where no gate accepts anything."""

Key = tuple[str, str, int]
"""Scenario, question and trial: what an original shares with its variants."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What the table of decisions needs.

    ``packed`` is base64 of gzip of JSON: ``{"rows": [...], "texts": {case: ...}}``. ``confident`` says which errors
    count as confident; None where no probabilities are stated, so that none can be. ``sample`` says how many of the
    decisions are here; empty where all are.
    """

    shown: int
    confident: str | None
    sample: str
    packed: str


def rows_of(report: Report, *, view: View, cases: Sequence[Case]) -> Rows | None:
    """The rows of ``report``; None where ``view`` has none, or nothing was measured.

    With more than ``MOST_ROWS`` decisions the rows are of a seeded sample of whole cases.
    """
    if view == "aggregate-only" or not report.records:
        return None
    total = sum(len(record.decisions) for record in report.records)
    records = report.records if total <= MOST_ROWS else _sampled(report)
    threshold, confident = _confidence(report)
    originals = _originals(report.records)
    rows = [
        _row(record, decision, threshold, originals.get((record.group, decision.question, record.trial)), view)
        for record in records
        for decision in record.decisions
    ]
    named = {record.case for record in records}
    texts = {case.id: case_texts(case) for case in cases if view == "full" and case.id in named}
    sample = (
        f"{len(rows):,} of {total:,} decisions, a seeded sample; every figure above is of all."
        if total > MOST_ROWS
        else ""
    )
    said = confident if report.candidate.states_probabilities else None
    return Rows(len(rows), said, sample, packed({"rows": rows, "texts": texts}))


def _sampled(report: Report) -> list[Record]:
    sizes: dict[str, int] = {}
    for record in report.records:
        sizes[record.case] = sizes.get(record.case, 0) + len(record.decisions)
    taken: set[str] = set()
    room = MOST_ROWS
    for case in seeded_order(sizes, f"{report.protocol.seed}|rows"):
        room -= sizes[case]
        if room < 0:
            break
        taken.add(case)
    return [record for record in report.records if record.case in taken]


def _confidence(report: Report) -> tuple[float, str]:
    """From which top probability on an error is confident, and the sentence that says so."""
    point = gate_point(report.gates, report.protocol)
    if point is not None and point.threshold is not None:
        rule = f"a wrong answer that the primary gate accepts, at a top probability of {point.threshold:g} or more"
        return point.threshold, rule
    lacking = "there is no gate" if point is None else "the gate accepts nothing"
    return CONFIDENT, f"a wrong answer with a top probability of {CONFIDENT:g} or more ({lacking})"


def _originals(records: Sequence[Record]) -> dict[Key, Decision]:
    return {
        (record.group, decision.question, record.trial): decision
        for record in records
        if record.variant == "original"
        for decision in record.decisions
    }


def _row(record: Record, decision: Decision, threshold: float, original: Decision | None, view: View) -> dict[str, Any]:
    probabilities = decision.probabilities
    top = None if probabilities is None else max(probabilities.values())
    return {
        "case": record.case,
        "family": record.family,
        "variant": record.variant,
        "split": record.split,
        "trial": record.trial,
        "question": decision.question,
        "options": decision.options,
        "expected": decision.expected,
        "unsafe": decision.unsafe,
        "demanded": decision.demanded,
        "choice": decision.choice,
        "probabilities": None if probabilities is None else [round(probabilities[o], 6) for o in decision.options],
        "top": None if top is None else round(top, 6),
        "raw_sum": decision.raw_sum,
        "latency_s": record.latency_s,
        "failure": None if decision.failure is None else _failed(decision.failure, view),
        "flags": list(_flags(decision, top, threshold, original)),
    }


def _failed(failure: Failure, view: View) -> str:
    # The detail may be a candidate's own text, which may quote a state.
    return f"{failure.code}: {failure.detail}" if view == "full" else failure.code


def _flags(decision: Decision, top: float | None, threshold: float, original: Decision | None) -> Iterator[str]:
    if decision.failure is not None:
        yield "failed"
        return
    if decision.choice != decision.expected:
        yield "wrong"
        if top is not None and top >= threshold:
            yield "confident"
    if decision.choice in decision.unsafe:
        yield "unsafe"
    if decision.tie:
        yield "tie"
    if original is not None and _flipped(decision, original):
        yield "flipped"


def _flipped(decision: Decision, original: Decision) -> bool:
    # Options of other names cannot be compared by name.
    comparable = original.choice is not None and set(original.options) == set(decision.options)
    return comparable and original.choice != decision.choice
