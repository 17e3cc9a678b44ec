"""Decisions laid out for pairing: which were asked of the same scenario, and their distributions end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

from decibench.reports.metrics.flip_share import flips
from decibench.reports.metrics.total_variation import total_variation
from decibench.reports.record import Record

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints, Texts

_Name = TypeVar("_Name", str, int, tuple[str, ...])


@dataclass(frozen=True, slots=True, eq=False)
class Askings:
    """One entry per decision in every column but the last two, in the order of the records.

    ``group`` numbers the scenarios in the order of their names, ``question`` the questions of each scenario, ``case``
    the questions of each case, ``trial`` the trials. ``labels`` is the same number for the same set of options.
    ``chosen_at`` is the place of the choice among the options as asked, ``chosen_id`` that among them sorted by id;
    both are -1 where a decision failed. Probabilities start at ``start`` in ``probability``, as asked; ``by_id`` says,
    beside them, at which place the first option id stands, the second, and so on. A decision that failed, or states
    no probabilities, has a size of 0.
    """

    group: Ints
    question: Ints
    case: Ints
    trial: Ints
    variant: Texts
    core: Bools
    is_choice: Bools
    valid: Bools
    correct: Bools
    tie: Bools
    labels: Ints
    options: Ints
    chosen_at: Ints
    chosen_id: Ints
    expected_at: Ints
    start: Ints
    size: Ints
    probability: Floats
    by_id: Ints

    @property
    def stated(self) -> bool:
        """Whether the decisions state probabilities."""
        return bool(self.probability.size)

    def matched(self, first: Bools, second: Bools) -> tuple[Ints, Ints]:
        """Entries of ``first`` and of ``second`` that asked the same question of a scenario in the same trial."""
        import numpy as np

        key = self.question * (self.trial.max(initial=0) + 1) + self.trial
        one, two = np.flatnonzero(first), np.flatnonzero(second)
        _, at, other = np.intersect1d(key[one], key[two], return_indices=True)
        return one[at], two[other]

    def repeated(self) -> Iterator[tuple[Ints, Ints]]:
        """Entries that asked the same question of the same case, each two once: next trials, next but one, ..."""
        import numpy as np

        order = np.lexsort((self.trial, self.case))
        case = self.case[order]
        trials = np.unique(case, return_counts=True)[1].max(initial=0)
        for lag in range(1, int(trials)):
            same = case[lag:] == case[:-lag]
            yield order[:-lag][same], order[lag:][same]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of decisions that can be compared: the entry of either side, their distance, and whether they flip.

    Without probabilities, distances are NaN, a flip is another choice, and nothing ties. ``dropped`` holds the first
    entries of pairs that cannot: one side failed, or was asked with other options.
    """

    first: Ints
    second: Ints
    distance: Floats
    flip: Bools
    tie: Bools
    dropped: Ints

    def among(self, entries: Bools) -> Pairs:
        """The pairs whose first entry is one of ``entries``."""
        kept = entries[self.first]
        return Pairs(
            self.first[kept],
            self.second[kept],
            self.distance[kept],
            self.flip[kept],
            self.tie[kept],
            self.dropped[entries[self.dropped]],
        )


def compare(askings: Askings, first: Ints, second: Ints, *, by_place: bool = False) -> Pairs:
    """Compare entries pair by pair, options mapped back by their ids; or ``by_place``, where the ids were replaced."""
    import numpy as np

    a = askings
    same = a.options[first] == a.options[second] if by_place else a.labels[first] == a.labels[second]
    usable = a.valid[first] & a.valid[second] & same
    i, j = first[usable], second[usable]
    if not a.stated:
        chosen = a.chosen_at if by_place else a.chosen_id
        unknown, no_tie = np.full(i.size, np.nan), np.zeros(i.size, dtype=np.bool_)
        return Pairs(i, j, unknown, chosen[i] != chosen[j], no_tie, first[~usable])
    sizes = a.size[i]
    starts = np.cumsum(sizes) - sizes
    within = np.arange(sizes.sum()) - np.repeat(starts, sizes)
    at, other = np.repeat(a.start[i], sizes), np.repeat(a.start[j], sizes)
    place = a.by_id[at + within]
    one = a.probability[at + place]
    two = a.probability[other + (place if by_place else a.by_id[other + within])]
    flip, tie = flips(one, two, starts)
    return Pairs(i, j, total_variation(one, two, starts), flip, tie, first[~usable])


def joined(parts: Sequence[Pairs]) -> Pairs:
    """All pairs of ``parts``, of which there is at least one."""
    import numpy as np

    return Pairs(
        **{column.name: np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Pairs)}
    )


def askings_of(records: Sequence[Record]) -> Askings:
    """Lay out the decisions of ``records``."""
    import numpy as np

    # Lists of tuples, one for each decision, would keep the garbage collector busy for longer than all the rest.
    owner = [record for record in records for _ in record.decisions]
    decisions = [decision for record in records for decision in record.decisions]
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    asked = [known.setdefault(options, options) for d in decisions for options in (tuple(d.options),)]
    order = {options: sorted(range(len(options)), key=options.__getitem__) for options in known}
    labels = {options: tuple(options[place] for place in places) for options, places in order.items()}
    size = np.array([len(d.probabilities or ()) for d in decisions], dtype=np.int64)
    group, question = _numbered([r.group for r in owner]), _numbered([d.question for d in decisions])
    questions = question.max(initial=0) + 1
    return Askings(
        group=group,
        question=group * questions + question,
        case=_numbered([r.case for r in owner]) * questions + question,
        trial=_numbered([r.trial for r in owner]),
        variant=np.array([r.variant for r in owner], dtype=np.str_),
        core=np.array([r.role == "core" for r in owner], dtype=np.bool_),
        is_choice=np.array([d.type == "choice" for d in decisions], dtype=np.bool_),
        valid=np.array([d.failure is None for d in decisions], dtype=np.bool_),
        correct=np.array([d.choice == d.expected for d in decisions], dtype=np.bool_),
        tie=np.array([d.tie for d in decisions], dtype=np.bool_),
        labels=_numbered([labels[options] for options in asked]),
        options=np.array([len(options) for options in asked], dtype=np.int64),
        chosen_at=np.array([-1 if d.choice is None else d.options.index(d.choice) for d in decisions], dtype=np.int64),
        chosen_id=np.array(
            [
                -1 if d.choice is None else labels[options].index(d.choice)
                for d, options in zip(decisions, asked, strict=True)
            ],
            dtype=np.int64,
        ),
        expected_at=np.array([d.options.index(d.expected) for d in decisions], dtype=np.int64),
        start=np.cumsum(size) - size,
        size=size,
        probability=np.array(
            [
                given[o]
                for d, options in zip(decisions, asked, strict=True)
                if (given := d.probabilities)
                for o in options
            ],
            dtype=np.float64,
        ),
        by_id=np.array(
            [place for d, options in zip(decisions, asked, strict=True) if d.probabilities for place in order[options]],
            dtype=np.int64,
        ),
    )


def _numbered(names: Sequence[_Name]) -> Ints:
    """A number for each name, in the order of the names."""
    import numpy as np

    number = {name: code for code, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], dtype=np.int64)
