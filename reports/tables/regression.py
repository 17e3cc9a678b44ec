"""What a report says against a blessed one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from decibench.reports.regression import SHIFT, Answered, Change, Regression
from decibench.reports.tables.layout import Table, number

WORST_CHANGES: Final = 20


def regression_counts(regression: Regression) -> str:
    """How many of the compared decisions changed, and in which way; TV is total variation.

    Nothing compared is said to be nothing, never zero changes.
    """
    found = regression.overall
    if not found.compared:
        return "no decision could be compared"
    counts = [
        f"{found.newly_wrong} newly wrong",
        f"{found.newly_failed} newly failed",
        f"{found.newly_right} newly right",
        *([] if found.shifted is None else [f"{found.shifted} shifted by more than {SHIFT} TV"]),
    ]
    return f"{', '.join(counts)} of {found.compared} decisions"


def regression_sentences(regression: Regression) -> Iterator[str]:
    """What changed, what that says and does not say, and what could not be compared."""
    r, found = regression, regression.overall
    latency = r.latency_change
    timed = f"; request latency {_ratio(latency.p50)} times that then" if latency else ""
    timed += f" (p10 {_ratio(latency.p10)}, p90 {_ratio(latency.p90)})" if latency else ""
    blessed = f"blessed {r.blessed.candidate} of {r.blessed.created[:10]}"
    yield f"{r.candidate} against {blessed}: {regression_counts(r)}{timed}."
    if found.changed_while_wrong or found.newly_answered:
        yield (
            f"Wrong both times with another choice: {found.changed_while_wrong}. Failed then and wrong now: "
            f"{found.newly_answered}."
        )
    yield _verdict(r)
    if r.choices_only is not None:
        yield f"Only choices are compared: {r.choices_only}, so that no shift of a distribution can be seen."
    if r.asked_differently:
        yield f"{r.asked_differently} decisions were asked differently then, and are not compared."
    if r.not_asked_then or r.not_asked_now:
        yield f"Not compared: {r.not_asked_then} decisions not asked then, {r.not_asked_now} not asked now."
    yield from (f"{note}." for note in r.identity_notes)
    if found.compared:
        yield (
            "These are facts about two runs on the same cases; whether accuracy in general fell is asked by "
            "python -m decibench.reports compare --margin."
        )
    if latency:
        yield (
            "Latency is over requests answered both times, and no part of pass or fail: at another time a shared "
            "machine alone makes a difference."
        )


def regression_tables(regression: Regression) -> Iterator[Table]:
    """The decisions that changed, worst first, at most 20."""
    changes = regression.changes
    if changes:
        shown = min(len(changes), WORST_CHANGES)
        title = f"Changed decisions, worst first ({shown} of {regression.overall.changed}; * unsafe; shift in TV)"
        columns = ["case", "question", "change", "expected", "then", "now", "shift"]
        yield Table(title, columns, [_row(change) for change in changes[:WORST_CHANGES]])


def _verdict(regression: Regression) -> str:
    if regression.passed is None:
        return f"Not checked: {regression.reason}."
    changes = "newly wrong or newly failed"
    if regression.choices_only is None:
        changes = f"newly wrong, newly failed or shifted by more than {SHIFT} TV"
    if regression.passed:
        return f"Passed: no decision is {changes}."
    return (
        f"Not passed: decisions are {changes}. Where that is meant, this run's report is the one to compare with from "
        "now on."
    )


def _row(change: Change) -> list[str]:
    case = change.case + (f" t{change.trial}" if change.trial > 1 else "")
    kind = change.kind.replace("_", " ")
    sides = [_side(change.before), _side(change.now)]
    return [case, change.question, kind, change.expected, *sides, number(change.shift)]


def _side(answered: Answered) -> str:
    if answered.choice is None:
        return f"failed: {answered.failure}"
    chosen = f"{answered.choice}{'*' if answered.unsafe else ''}"
    stated = answered.probabilities.get(answered.choice)
    return chosen if stated is None else f"{chosen} {number(stated)}"


def _ratio(value: float) -> str:
    return f"{value:.2f}"
