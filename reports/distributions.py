"""Distributions as flat arrays: the answers of many decisions end to end, whatever their numbers of options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from decibench.reports.metrics.temperature import softened
from decibench.reports.record import Decision, Record

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints, Texts

Entries: TypeAlias = Sequence[tuple[Record, Decision]]
"""Decisions with the records they belong to."""

_Name = TypeVar("_Name", str, tuple[str, str])


@dataclass(frozen=True, slots=True, eq=False)
class Distributions:
    """The distributions of valid decisions; the other columns have one entry per decision.

    ``probabilities`` (options of all decisions,) lie end to end; ``starts`` tells where each decision begins and
    ``references`` where its expected option is. ``group_codes`` number the groups, ``items`` the questions of a case:
    its trials share one.
    """

    group: Texts
    group_codes: Ints
    items: Ints
    trial: Floats
    correct: Bools
    probabilities: Floats
    starts: Ints
    references: Ints

    def __len__(self) -> int:
        return int(self.starts.size)

    @property
    def top_probability(self) -> Floats:
        """The largest probability of each decision."""
        import numpy as np

        return np.asarray(np.maximum.reduceat(self.probabilities, self.starts))

    @property
    def expected_probability(self) -> Floats:
        """The probability of each decision's expected option."""
        return self.probabilities[self.references]

    def brier_scores(self) -> Floats:
        """The multi-class Brier score of each decision."""
        import numpy as np

        squares = np.add.reduceat(self.probabilities**2, self.starts)
        # Of a nearly perfect answer rounding could leave less than nothing.
        return np.maximum(0.0, squares - 2 * self.expected_probability + 1)

    def log_losses(self, floor: float) -> Floats:
        """The log loss of each decision, in nats, probabilities raised to ``floor``."""
        import numpy as np

        return np.asarray(-np.log(np.maximum(floor, self.expected_probability)))

    def has_zero(self) -> Bools:
        """Whether any option of a decision has a probability of exactly 0."""
        import numpy as np

        return np.asarray(np.minimum.reduceat(self.probabilities, self.starts) == 0)

    def at_temperature(self, logs: Floats, temperature: float) -> Distributions:
        """The same decisions scaled by ``temperature``; ``logs`` are the relative logarithms of the probabilities."""
        return replace(self, probabilities=softened(logs, self.starts, temperature))


def distributions_of(answered: Entries) -> Distributions:
    """Lay out the distributions of ``answered``, of which there is at least one, all of them valid."""
    import numpy as np

    found = [(record, decision, decision.probabilities or {}) for record, decision in answered]
    sizes = np.array([len(probabilities) for *_, probabilities in found], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    places = np.array([list(probabilities).index(decision.expected) for _, decision, probabilities in found])
    return Distributions(
        group=np.array([record.group for record, *_ in found]),
        group_codes=_numbered(record.group for record, *_ in found),
        items=_numbered((record.case, decision.question) for record, decision, _ in found),
        trial=np.array([float(record.trial) for record, *_ in found]),
        correct=np.array([decision.choice == decision.expected for _, decision, _ in found]),
        probabilities=np.fromiter(
            chain.from_iterable(probabilities.values() for *_, probabilities in found),
            dtype=np.float64,
            count=int(sizes.sum()),
        ),
        starts=starts,
        references=starts + places,
    )


def _numbered(names: Iterable[_Name]) -> Ints:
    """The place of each name among the sorted ones: it does not depend on the order in which records arrived."""
    import numpy as np

    entries = list(names)
    place = {name: index for index, name in enumerate(sorted(set(entries)))}
    return np.array([place[name] for name in entries], dtype=np.int64)
