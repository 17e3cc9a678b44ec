"""Which option was chosen in place of which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from decibench.cases.schema import Split
from decibench.reports.pages.core import core_records
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.tables.layout import Table

MOST_OPTIONS: Final = 12
"""Most options of a matrix."""
MOST_PAIRS: Final = 10
"""Most wrong pairs in a list."""

FAILED: Final = "(failed)"
"""What stands for the choice of a failed decision."""

_Answers = Mapping[tuple[str, str | None], Sequence[str]]
"""The scenario of every decision by expected and chosen option; a failed decision chose None."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """One question of a family.

    ``matrix`` counts decisions, expected options in rows and chosen ones in columns, failed ones in a column of their
    own; null where more than ``MOST_OPTIONS`` occur. ``pairs`` are the commonest wrong pairs.
    """

    family: str
    question: str
    matrix: Table | None
    pairs: Table


def confusions(report: Report) -> list[Confusion]:
    """Core decisions of the last reported split that has some, all trials, by question in the order of the suite."""
    found = core_records(report)
    if found is None:
        return []
    split, records = found
    return [_confusion(split, family, question, answers) for (family, question), answers in _answers(records).items()]


def _answers(records: Sequence[Record]) -> Mapping[tuple[str, str], _Answers]:
    found: defaultdict[tuple[str, str], defaultdict[tuple[str, str | None], list[str]]]
    found = defaultdict(lambda: defaultdict(list))
    for record in records:
        for decision in record.decisions:
            found[record.family, decision.question][decision.expected, decision.choice].append(record.group)
    return found


def _confusion(split: Split, family: str, question: str, answers: _Answers) -> Confusion:
    options = _ordered({option for pair in answers for option in pair if option is not None})
    what = f"{family}/{question} ({split}, core)"
    return Confusion(
        family=family,
        question=question,
        matrix=_matrix(what, options, answers) if len(options) <= MOST_OPTIONS else None,
        pairs=_pairs(what, answers),
    )


def _ordered(options: Collection[str]) -> list[str]:
    """Levels by size, other options by name."""
    return sorted(sorted(options), key=len) if all(map(str.isdecimal, options)) else sorted(options)


def _matrix(what: str, options: Sequence[str], answers: _Answers) -> Table:
    chosen = [*options, None] if any(choice is None for _, choice in answers) else options
    rows = [
        [expected, *(str(len(answers.get((expected, choice), ()))) for choice in chosen)]
        for expected in options
        if any(pair[0] == expected for pair in answers)
    ]
    columns = ["expected", *map(_written, chosen)]
    return Table(f"Decisions by expected and chosen option: {what}", columns, rows)


def _pairs(what: str, answers: _Answers) -> Table:
    wrong = {pair: groups for pair, groups in answers.items() if pair[0] != pair[1]}
    rows = [
        [expected, _written(choice), str(len(groups)), str(len(set(groups)))]
        for (expected, choice), groups in sorted(wrong.items(), key=_rank)[:MOST_PAIRS]
    ]
    extent = f", {len(rows)} of {len(wrong)} pairs" if len(rows) < len(wrong) else ""
    title = f"Commonest wrong answers: {what}{extent}"
    return Table(title, ["expected", "chosen", "decisions", "scenarios"], rows)


def _rank(answer: tuple[tuple[str, str | None], Sequence[str]]) -> tuple[int, int, str, str]:
    """The most decisions first, then the most scenarios, then by name."""
    (expected, choice), groups = answer
    return -len(groups), -len(set(groups)), expected, _written(choice)


def _written(choice: str | None) -> str:
    return FAILED if choice is None else choice
