"""The decisions in which candidates disagree, and how often which of them is right alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from decibench.cases.schema import Case, Split
from decibench.cases.seeded import seeded_order
from decibench.reports.pages.packing import case_texts, packed
from decibench.reports.pages.view import View
from decibench.reports.record import Decision, Record
from decibench.reports.report import Report
from decibench.reports.tables.layout import Table

MOST_ROWS: Final = 5_000
"""More disagreements than this are sampled."""

_Key: TypeAlias = tuple[str, str, int]
"""Case, question and trial."""

_Answers: TypeAlias = "tuple[Record, Sequence[Decision]]"
"""What was asked, and the decision of each candidate."""


@dataclass(frozen=True, slots=True)
class Disagreements:
    """Core decisions of a split in which the choices differ, an answer and a failure included.

    ``decisions`` were put to every candidate, ``missing`` only to some. ``found`` of them are disagreements, from
    ``scenarios`` scenarios. ``counts`` tells how often one candidate is right where another is wrong. ``packed`` holds
    the rows and the texts of their cases, see `packing`; None where the view shows no single decision. ``sample`` says
    which part of the disagreements the rows are; empty where they are all.
    """

    decisions: int
    missing: int
    found: int
    scenarios: int
    counts: Table
    packed: str | None
    sample: str


def disagreements(
    reports: Mapping[str, Report], split: Split | None, *, view: View, cases: Sequence[Case] = (), most: int = MOST_ROWS
) -> Disagreements | None:
    """Disagreements on ``split`` of ``reports``, which are by name; None where fewer than two candidates share it.

    Rows stand in falling order of their spread: the largest difference between the probabilities that two candidates
    give the expected option. It is null, and last, where fewer than two of them stated any. With more than ``most``
    they are a seeded sample.
    """
    if split is None or len(reports) < 2:
        return None
    asked = [_asked(report, split) for report in reports.values()]
    shared = [key for key in asked[0] if all(key in answers for answers in asked)]
    together: dict[_Key, _Answers] = {key: (asked[0][key][0], [answers[key][1] for answers in asked]) for key in shared}
    differing = [key for key, (_, decisions) in together.items() if len({d.choice for d in decisions}) > 1]
    seed = next(iter(reports.values())).protocol.seed
    taken = differing if len(differing) <= most else seeded_order(differing, f"{seed}|disagreements")[:most]
    sample = f"{len(taken):,} of {len(differing):,} disagreements, a seeded sample; every figure above is of all."
    return Disagreements(
        decisions=len(shared),
        missing=len(set().union(*asked)) - len(shared),
        found=len(differing),
        scenarios=len({together[key][0].group for key in differing}),
        counts=_counts(list(reports), list(together.values())),
        packed=None
        if view == "aggregate-only"
        else _packed(list(reports), [together[key] for key in taken], view, cases),
        sample=sample if len(taken) < len(differing) else "",
    )


def _asked(report: Report, split: Split) -> dict[_Key, tuple[Record, Decision]]:
    return {
        (record.case, decision.question, record.trial): (record, decision)
        for record in report.records
        if record.split == split and record.role == "core"
        for decision in record.decisions
    }


def _counts(names: Sequence[str], answers: Sequence[_Answers]) -> Table:
    """Decisions that the candidate of the row has right and that of the column wrong, with their scenarios."""
    rows = [[row, *(_right_alone(answers, i, j) for j in range(len(names)))] for i, row in enumerate(names)]
    return Table(
        "Right where another is wrong: decisions, and scenarios", ["right", *(f"{n} wrong" for n in names)], rows
    )


def _right_alone(answers: Sequence[_Answers], first: int, second: int) -> str:
    if first == second:
        return "-"
    groups = [
        record.group for record, decisions in answers if _right(decisions[first]) and not _right(decisions[second])
    ]
    return f"{len(groups):,} in {len(set(groups)):,}"


def _right(decision: Decision) -> bool:
    return decision.choice == decision.expected


def _packed(names: Sequence[str], answers: Sequence[_Answers], view: View, cases: Sequence[Case]) -> str:
    rows = sorted((_row(record, decisions) for record, decisions in answers), key=_by_spread)
    named = {row["case"] for row in rows}
    texts = {case.id: case_texts(case) for case in cases if view == "full" and case.id in named}
    return packed({"candidates": names, "rows": rows, "texts": texts})


def _by_spread(row: Mapping[str, Any]) -> tuple[float, str, str, int]:
    spread = -1.0 if row["spread"] is None else row["spread"]
    return (-spread, row["case"], row["question"], row["trial"])


def _row(record: Record, decisions: Sequence[Decision]) -> dict[str, Any]:
    asked = decisions[0]
    given = [d.probabilities[d.expected] for d in decisions if d.probabilities is not None]
    return {
        "case": record.case,
        "family": record.family,
        "variant": record.variant,
        "trial": record.trial,
        "question": asked.question,
        "options": asked.options,
        "expected": asked.expected,
        "unsafe": asked.unsafe,
        "spread": round(max(given) - min(given), 6) if len(given) > 1 else None,
        "answers": [_answer(decision) for decision in decisions],
    }


def _answer(decision: Decision) -> dict[str, Any]:
    probabilities = decision.probabilities
    return {
        "choice": decision.choice,
        "right": _right(decision),
        "probabilities": None if probabilities is None else {o: round(p, 6) for o, p in probabilities.items()},
        "failure": None if decision.failure is None else decision.failure.code,
    }
