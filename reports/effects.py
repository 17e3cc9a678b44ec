"""Variant effects with intervals: what a variant of a scenario does to the answers, against its original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.figure import UNDEFINED, Figure, bare_figure
from decibench.reports.protocol import Protocol
from decibench.reports.scenario_means import figures_of, nested_weights, ratio
from decibench.reports.table import Decisions

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints, Texts

ORIGINAL: Final = "original"


class Effect(Model):
    """A core or attack variant against the original of the same scenario, question and trial.

    ``accuracy_difference`` (-1 to 1) is the accuracy of the variant less that of the original; failed decisions are
    wrong on either side. ``flip_share`` is the share of pairs whose top option differs, ties to the first option id, of
    those that are valid on both sides. Both are averaged over the trials of a question, the questions of a scenario,
    and scenarios, and have 95% intervals over scenarios. ``dropped`` of the ``pairs`` had a failed side.
    """

    role: Literal["core", "attack"]
    scenarios: int
    pairs: int
    dropped: int
    accuracy_difference: Figure
    flip_share: Figure


def effects_of(decisions: Decisions, protocol: Protocol) -> dict[Split, dict[str, Effect]]:
    """The effect of every core and attack variant on every split, in the order of the decisions.

    Probes have none: they may ask with other options, and their accuracy is no merit.
    """
    found: dict[Split, dict[str, Effect]] = {}
    for split in SPLITS:
        part = decisions.where((decisions.split == split) & (decisions.role != "probe"))
        keys = _keys(part)
        variants = [name for name in dict.fromkeys(part.variant.tolist()) if name != ORIGINAL]
        effects = {name: _effect(part, keys, name, protocol) for name in variants}
        paired = {name: effect for name, effect in effects.items() if effect is not None}
        if paired:
            found[split] = paired
    return found


def _keys(d: Decisions) -> Ints:
    """The same number for the same scenario, question and trial, of shape (decisions,)."""
    import numpy as np

    group, question = (np.unique(column, return_inverse=True)[1] for column in (d.group, d.question))
    trial = d.trial.astype(np.int64)
    keys: Ints = (group * (question.max(initial=0) + 1) + question) * (trial.max(initial=0) + 1) + trial
    return keys


def _effect(d: Decisions, keys: Ints, variant: str, protocol: Protocol) -> Effect | None:
    import numpy as np

    before, after = np.flatnonzero(d.variant == ORIGINAL), np.flatnonzero(d.variant == variant)
    _, at, other = np.intersect1d(keys[before], keys[after], return_indices=True)
    before, after = before[at], after[other]
    if not after.size:
        return None
    valid = d.valid[before] & d.valid[after]
    group = np.unique(d.group[after], return_inverse=True)[1]
    moved = d.correct[after].astype(np.float64) - d.correct[before]
    flipped = (d.top_option[before] != d.top_option[after])[valid].astype(np.float64)
    return Effect(
        role="attack" if d.role[after[0]] == "attack" else "core",
        scenarios=int(np.unique(group).size),
        pairs=int(after.size),
        dropped=int((~valid).sum()),
        accuracy_difference=_figure(group, d.question[after], moved, protocol),
        flip_share=_figure(group[valid], d.question[after][valid], flipped, protocol, counts=True),
    )


def _figure(group: Ints, question: Texts, values: Floats, protocol: Protocol, *, counts: bool = False) -> Figure:
    """The mean of ``values`` (pairs,) over trials, questions and scenarios."""
    import numpy as np

    if not values.size:
        return bare_figure(None, 0, UNDEFINED)
    codes = np.unique(question, return_inverse=True)[1]
    weights = nested_weights(group, group * (codes.max() + 1) + codes)
    (figure,) = figures_of(group, np.stack([values * weights, weights], axis=1), [ratio(0, 1, counts=counts)], protocol)
    return figure
