"""Records to fit gates on, and decisions to measure them on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from decibench.reports.record import Record
from decibench.reports.table import Decisions, decisions_of

Said = tuple[float, str]
"""A top probability, and what it was on: ``right``, ``wrong``, ``unsafe`` or ``failed``."""
Scenarios = Callable[..., list[Record]]


@pytest.fixture
def scenarios() -> Scenarios:
    """Make ``number`` scenarios of a split, each with the same decisions; all but failed ones have an unsafe option.

    ``scenarios(3, [(0.9, "right"), (0.7, "wrong")], start=10)`` makes scenarios 10 to 12 of two variants each.
    With ``safe=True`` no option is unsafe.
    """
    return _scenarios


def _scenarios(
    number: int, said: Sequence[Said], *, split: str = "calibration", start: int = 0, safe: bool = False
) -> list[Record]:
    return [
        _record(f"{split}-{start + scenario}", variant, top, what, split, safe)
        for scenario in range(number)
        for variant, (top, what) in enumerate(said)
    ]


def _record(group: str, variant: int, top: float, what: str, split: str, safe: bool) -> Record:
    decision: dict[str, Any] = {
        "question": "q",
        "type": "choice",
        "options": ["good", "bad", "worse"],
        "expected": "good",
        "unsafe": [] if safe else ["worse"],
    }
    if what == "failed":
        decision["failure"] = {"code": "timeout", "detail": "took too long"}
    else:
        chosen = {"right": "good", "wrong": "bad", "unsafe": "worse"}[what]
        rest = (1 - top) / 2
        decision["choice"] = chosen
        decision["probabilities"] = {option: top if option == chosen else rest for option in ("good", "bad", "worse")}
        decision["raw_sum"] = 1.0
    return Record.model_validate(
        {
            "case": f"{group}-{variant}",
            "group": group,
            "family": "demo",
            "variant": f"v{variant}",
            "role": "core",
            "split": split,
            "trial": 1,
            "request_hash": "r",
            "candidate_hash": "h",
            "latency_s": 0.1,
            "decisions": [decision],
        }
    )


@pytest.fixture
def table() -> Callable[[Iterable[dict[str, Any]]], Decisions]:
    """Lay out rows as decisions between ``right`` and ``wrong``, one record each.

    A row may set group, family, variant, role, split, trial, question; ``top``, the top probability, None where the
    decision failed; ``right``; ``unsafe``, whether the wrong option is unsafe; ``demanded``, whether it is demanded.
    """
    return lambda rows: decisions_of([_row(**row) for row in rows], 1e-15)


def _row(
    *,
    group: str = "g",
    top: float | None = 0.9,
    right: bool = True,
    unsafe: bool = False,
    demanded: bool = False,
    question: str = "q",
    **more: Any,
) -> Record:
    choice, other = ("right", "wrong") if right else ("wrong", "right")
    answer: dict[str, Any] = {"failure": {"code": "timeout", "detail": "no answer"}}
    if top is not None:
        answer = {"choice": choice, "probabilities": {choice: top, other: 1 - top}, "raw_sum": 1.0}
    fields = {"family": "demo", "variant": "original", "role": "core", "split": "holdout", "trial": 1} | more
    return Record.model_validate(
        {
            "case": f"{group}-{fields['variant']}-{question}",
            "group": group,
            "request_hash": "r",
            "candidate_hash": "h",
            "latency_s": 0.1,
            "decisions": [
                {
                    "question": question,
                    "type": "choice",
                    "options": ["right", "wrong"],
                    "expected": "right",
                    "unsafe": ["wrong"] if unsafe else [],
                    "demanded": "wrong" if demanded else None,
                    **answer,
                }
            ],
            **fields,
        }
    )
