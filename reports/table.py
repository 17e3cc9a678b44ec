"""Decisions as columns: what metrics, gates and comparisons compute on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from decibench.reports.metrics.brier_score import brier_score
from decibench.reports.metrics.log_loss import log_loss
from decibench.reports.record import Decision, Record

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints, Texts


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """One entry per decision in every column, in the order of the records.

    ``top_option`` has the highest probability, ties to the first id, so that no order of options decides; it is the
    choice where no probabilities are stated, and empty where a decision failed. ``tags`` are joined, each as
    ``|key=value|``. Float columns are NaN where a decision failed, and those of probabilities where it states none;
    ``level_distance`` also where it is not a ``score`` question. ``lenient`` decisions failed and could be read
    leniently, ``lenient_correct`` ones rightly.
    """

    case: Texts
    group: Texts
    family: Texts
    variant: Texts
    role: Texts
    split: Texts
    question: Texts
    trial: Floats
    expected: Texts
    choice: Texts
    top_option: Texts
    valid: Bools
    correct: Bools
    tie: Bools
    top_probability: Floats
    expected_probability: Floats
    brier: Floats
    log_loss: Floats
    level_distance: Floats
    has_unsafe: Bools
    chose_unsafe: Bools
    has_demand: Bools
    chose_demanded: Bools
    tags: Texts
    lenient: Bools
    lenient_correct: Bools

    def __len__(self) -> int:
        return int(self.valid.size)

    @property
    def stated(self) -> Bools:
        """Which decisions state probabilities: valid ones, but those of a model that states choices only."""
        import numpy as np

        return cast("Bools", ~np.isnan(self.top_probability))

    def where(self, rows: Bools | Ints) -> Decisions:
        """The decisions for which the mask ``rows`` is True, or those at the places ``rows``, in their order."""
        return Decisions(**{column.name: getattr(self, column.name)[rows] for column in fields(self)})


def decisions_of(records: Iterable[Record], log_loss_floor: float) -> Decisions:
    """Lay out the decisions of ``records`` as columns."""
    import numpy as np

    rows = [_row(record, decision, log_loss_floor) for record in records for decision in record.decisions]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields(Decisions))
    kinds = {"Texts": np.str_, "Bools": np.bool_, "Floats": np.float64}
    arrays: dict[str, Any] = {
        column.name: np.array(values, dtype=kinds[str(column.type)])
        for column, values in zip(fields(Decisions), columns, strict=True)
    }
    return Decisions(**arrays)


def _row(record: Record, decision: Decision, floor: float) -> tuple[str | bool | float, ...]:
    choice, probabilities, expected = decision.choice, decision.probabilities, decision.expected
    top = p_expected = brier = loss = distance = math.nan
    top_option = choice or ""
    if probabilities is not None:
        top = max(probabilities.values())
        top_option = min(option for option, p in probabilities.items() if p == top)
        p_expected = probabilities[expected]
        brier = brier_score(probabilities, expected)
        loss = log_loss(probabilities, expected, floor)
    if decision.type == "score" and choice is not None:
        distance = float(abs(int(choice) - int(expected)))
    return (
        record.case,
        record.group,
        record.family,
        record.variant,
        record.role,
        record.split,
        decision.question,
        float(record.trial),
        expected,
        choice or "",
        top_option,
        decision.failure is None,
        choice == expected,
        decision.tie,
        top,
        p_expected,
        brier,
        loss,
        distance,
        bool(decision.unsafe),
        choice in decision.unsafe,
        decision.demanded is not None,
        choice is not None and choice == decision.demanded,
        "".join(f"|{key}={value}|" for key, value in record.tags.items()),
        decision.lenient_choice is not None,
        decision.lenient_choice == expected,
    )
