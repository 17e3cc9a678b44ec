"""Decisions by scenario group: what every certified gate counts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from decibench.reports.summary import accepted_by
from decibench.reports.table import Decisions

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Counts at one threshold, each of shape (groups,): ``errors`` among ``accepted`` among ``presented`` decisions.

    ``picked_accepted`` and ``picked_wrong`` tell of the one decision that the hash picked in each group:
    whether it is accepted, and whether it is accepted and wrong.
    """

    errors: Ints
    accepted: Ints
    presented: Ints
    picked_accepted: Bools
    picked_wrong: Bools

    @property
    def accepting(self) -> int:
        """Groups with an accepted decision."""
        return int((self.accepted > 0).sum())

    @property
    def picked(self) -> int:
        """Groups whose picked decision is accepted."""
        return int(self.picked_accepted.sum())

    @property
    def failing(self) -> int:
        """Groups with an accepted error."""
        return int((self.errors > 0).sum())


class PresentedGroups:
    """The groups of ``decisions``, all of which were presented; ``salt`` decides which one of a group is picked.

    The pick is made before acceptance is looked at, by the least SHA-256 of salt, case, question and trial: picking
    among accepted ones would weigh the hard cases of a group less.
    """

    def __init__(self, decisions: Decisions, salt: str) -> None:
        import numpy as np

        self._decisions = decisions
        self.names, self._code = np.unique(decisions.group, return_inverse=True)
        self._picked = _pick(decisions, self._code, salt)
        self._presented = self._count(np.ones(len(decisions), dtype=np.bool_))

    def __len__(self) -> int:
        return int(self.names.size)

    def at(self, threshold: float | None) -> GroupCounts:
        """Counts where decisions with at least ``threshold`` on the top probability are accepted; None accepts none."""
        accepted = accepted_by(self._decisions, threshold)
        wrong = accepted & ~self._decisions.correct
        return GroupCounts(
            errors=self._count(wrong),
            accepted=self._count(accepted),
            presented=self._presented,
            picked_accepted=accepted[self._picked],
            picked_wrong=wrong[self._picked],
        )

    def with_any(self, marked: Bools) -> int:
        """How many groups hold a decision for which ``marked``, of shape (decisions,), is True."""
        return int((self._count(marked) > 0).sum())

    def _count(self, marked: Bools) -> Ints:
        import numpy as np

        return np.bincount(self._code[marked], minlength=len(self)).astype(np.int64)


def _pick(decisions: Decisions, code: Ints, salt: str) -> Ints:
    import numpy as np

    keys = [
        hashlib.sha256(f"{salt}|{case}|{question}|{trial:g}".encode()).digest()
        for case, question, trial in zip(
            decisions.case.tolist(), decisions.question.tolist(), decisions.trial.tolist(), strict=True
        )
    ]
    first: dict[int, int] = {}
    for index in sorted(range(len(keys)), key=keys.__getitem__):
        first.setdefault(int(code[index]), index)
    return np.array([first[group] for group in range(len(first))], dtype=np.int64)
