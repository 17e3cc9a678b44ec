"""The same decisions of several systems side by side, and the quantities in which the systems are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from decibench.reports.summary import Metrics, accepted_by
from decibench.reports.table import Decisions

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints

Kind: TypeAlias = Literal["primary", "descriptive"]


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Decisions of every system in one order: row i of each is the same question of the same case and trial.

    ``missing`` core decisions were not put to every system; ``valid`` tells which rows are valid for all.
    """

    systems: Sequence[Decisions]
    valid: Bools
    missing: int

    @property
    def asked(self) -> Decisions:
        """What was asked: the columns that the systems share."""
        return self.systems[0]

    @property
    def decisions(self) -> int:
        """Core decisions of any system, a trial of a question counting as one."""
        return int((self.asked.role == "core").sum()) + self.missing

    @property
    def dropped(self) -> int:
        """Core decisions that are not valid for every system."""
        return int((~self.valid[self.asked.role == "core"]).sum()) + self.missing


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """What the systems are compared in: a mean of ratios over scenarios that weigh the same.

    ``rows`` are the decisions it is about and ``dropped`` how many more there were, not valid for every system.
    ``numerators`` and ``denominators`` have the shape (decisions, systems); only ``rows`` of them count.
    ``by_family`` averages within families first. ``counts`` tells that the numerators are 0 or 1 and the denominators
    1, for which an exact test exists.
    """

    name: str
    kind: Kind
    rows: Bools
    dropped: int
    numerators: Floats
    denominators: Floats
    by_family: bool = False
    counts: bool = False


def align(tables: Sequence[Decisions]) -> Aligned:
    """Bring ``tables`` into the order of the first, keeping the decisions that all of them have."""
    import numpy as np

    places = []
    for d in tables:
        keys = zip(d.case.tolist(), d.question.tolist(), d.trial.tolist(), (d.role == "core").tolist(), strict=True)
        places.append({key: row for row, key in enumerate(keys)})
    common = [key for key in places[0] if all(key in rows for rows in places)]
    order = [np.array([rows[key] for key in common], dtype=np.int64) for rows in places]
    systems = [table.where(rows) for table, rows in zip(tables, order, strict=True)]
    core_of_any = {key for rows in places for key in rows if key[-1]}
    return Aligned(
        systems=systems,
        valid=np.logical_and.reduce([system.valid for system in systems]),
        missing=len(core_of_any) - int((systems[0].role == "core").sum()),
    )


def quantities_of(aligned: Aligned, gates: Sequence[Metrics], primary: str) -> Iterator[Quantity]:
    """The metrics, of which ``primary`` names the primary one, and the flips under every variant that is no probe.

    ``gates`` holds metrics of each system, which say where its gate stands; what an absent gate accepts is not known.
    """
    import numpy as np

    asked, systems = aligned.asked, aligned.systems
    core = asked.role == "core"
    right = _columns([d.correct for d in systems])
    every = np.ones(right.shape)

    def about(name: str, mask: Bools, numerators: Floats, denominators: Floats, **how: bool) -> Quantity:
        kind: Kind = "primary" if name == primary else "descriptive"
        rows = mask & aligned.valid
        dropped = int(mask.sum()) - int(rows.sum()) + aligned.missing
        return Quantity(name, kind, rows, dropped, numerators, denominators, **how)

    yield about("macro_accuracy", core, right, every, by_family=True, counts=True)
    yield about("accuracy", core, right, every, counts=True)
    # What states no probabilities has no score; nothing over nothing is none, where 0 would be the best of all.
    stated = _columns([d.stated for d in systems])
    yield about("brier_score", core, _columns([d.brier for d in systems]), stated)
    yield about("log_loss", core, _columns([d.log_loss for d in systems]), stated)
    accepted = _columns([accepted_by(d, gate.threshold) for d, gate in zip(systems, gates, strict=True)])
    gated = every * [float(gate.gated) for gate in gates]
    unsafe = _columns([d.chose_unsafe for d in systems])
    yield about("coverage", core, accepted, gated)
    yield about("selective_risk", core, accepted * (1 - right), accepted)
    yield about("unsafe_acceptance", core & asked.has_unsafe, accepted * unsafe, gated)
    for variant in dict.fromkeys(asked.variant[asked.role != "probe"].tolist()):
        if variant != "original":
            yield _flips(aligned, variant)


def _flips(aligned: Aligned, variant: str) -> Quantity:
    """Decisions under ``variant`` whose top option differs from that on the original of the same scenario and trial."""
    import numpy as np

    asked = aligned.asked
    keys = list(zip(asked.group.tolist(), asked.question.tolist(), asked.trial.tolist(), strict=True))
    originals = {keys[row]: row for row in (asked.variant == "original").nonzero()[0].tolist()}
    base: Ints = np.array([originals.get(key, -1) for key in keys], dtype=np.int64)
    pairs = (asked.variant == variant) & (base >= 0)
    rows = pairs & aligned.valid & aligned.valid[base]
    flipped = _columns([d.top_option != d.top_option[base] for d in aligned.systems])
    dropped = int(pairs.sum()) - int(rows.sum())
    return Quantity(
        f"flips under {variant}", "descriptive", rows, dropped, flipped, np.ones(flipped.shape), counts=True
    )


def _columns(values: Sequence[Bools | Floats]) -> Floats:
    import numpy as np

    return np.stack([np.nan_to_num(column.astype(np.float64)) for column in values], axis=1)
