"""What a developer reads when an item fails: the case, the distribution as bars where one is stated, the choice."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.bench_tests.plan import Item
from decibench.cases.show import what_the_model_sees
from decibench.reports.record import Decision, Record

_WIDTH = 40


def failure_text(item: Item, record: Record) -> str:
    """One line per distinct reason; no state and no response, for this ends up in logs."""
    reasons = dict.fromkeys(
        f"{decision.failure.code}: {decision.failure.detail}" for decision in record.decisions if decision.failure
    )
    return f"{item.candidate} failed on {item.case.id}: " + "; ".join(reasons)


def unasked_text(record: Record) -> str:
    """Why a case was not asked."""
    return "not asked: " + "; ".join(dict.fromkeys(d.failure.detail for d in record.decisions if d.failure))


def miss_text(item: Item, record: Record) -> str:
    """State, questions and options as the model saw them, then what it answered, question by question."""
    lines = [f"{item.candidate} missed {item.case.id} ({item.case.split})", "", *what_the_model_sees(item.case)]
    for decision in record.decisions:
        lines += ["", *_answer(decision)]
    return "\n".join(lines)


def _answer(decision: Decision) -> Iterator[str]:
    verdict = "right" if decision.choice == decision.expected else "MISSED"
    if decision.choice in decision.unsafe:
        verdict += ", unsafe"
    yield (
        f"Answer {decision.question}: {verdict}. Expected {decision.expected}, chose {decision.choice}."
        + (" The top is a tie." if decision.tie else "")
    )
    width = max(map(len, decision.options))
    probabilities = decision.probabilities
    if probabilities is None:
        yield from (f"  {option:<{width}}  {_marks(decision, option)}".rstrip() for option in decision.options)
        return
    for option, value in sorted(probabilities.items(), key=lambda pair: -pair[1]):
        bar = "#" * round(value * _WIDTH)
        yield f"  {option:<{width}}  {value:6.4f} |{bar:<{_WIDTH}}| {_marks(decision, option)}".rstrip()


def _marks(decision: Decision, option: str) -> str:
    marks = {
        "expected": option == decision.expected,
        "chosen": option == decision.choice,
        "unsafe": option in decision.unsafe,
        "demanded": option == decision.demanded,
    }
    return ", ".join(name for name, holds in marks.items() if holds)
