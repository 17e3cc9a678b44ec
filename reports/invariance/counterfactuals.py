"""Linked cases: does a probability go the way it should when the case is changed?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from decibench.cases.schema import Counterfactual, Model
from decibench.reports.figure import Figure
from decibench.reports.metrics.directional import direction_outcomes
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.scenario_means import difference, figures_of, ratio

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Ints


class Directional(Model):
    """Directional counterfactual pairs: ``compliant`` by more than ``threshold``, or by more than it the wrong way.

    Shares are of pairs, each averaged over its trials. ``net`` is compliant less anti-compliant, which noise
    leaves at 0. ``clusters`` are what intervals resample: scenarios, joined where a pair links two. ``dropped``
    pairs have no trial in which both sides were asked and answered. ``retest_compliant`` is the share of reruns, pairs
    of trials of either case, that the same rule would call compliant though nothing but noise moved, and
    ``excess_compliant`` is what is left of ``compliant`` beyond it; both null without a second trial.
    """

    pairs: int
    clusters: int
    dropped: int
    threshold: float
    compliant: Figure
    anti_compliant: Figure
    net: Figure
    retest_compliant: Figure | None
    excess_compliant: Figure | None


@dataclass(frozen=True, slots=True)
class _Link:
    """A linked case and the one it refers to, each with the probability in question by trial."""

    groups: tuple[str, str]
    sign: int
    base: Mapping[int, float]
    changed: Mapping[int, float]

    @property
    def changes(self) -> list[float]:
        """The change within each trial, positive the expected way."""
        return [self.sign * (p - self.base[trial]) for trial, p in self.changed.items() if trial in self.base]

    @property
    def reruns(self) -> list[float]:
        """The change between any two trials of either case."""
        return [b - a for side in (self.base, self.changed) for a, b in combinations(side.values(), 2)]


def directional_of(records: Sequence[Record], protocol: Protocol) -> Directional | None:
    """How the linked cases among ``records`` moved; None where no pair has probabilities on both sides."""
    links = {record.case: record.counterfactual for record in records if record.counterfactual is not None}
    asked: dict[str, list[Record]] = {name: [] for case, link in links.items() for name in (case, link.of)}
    for record in records:
        if record.case in asked:
            asked[record.case].append(record)
    found = [_link(asked[case], link, asked[link.of]) for case, link in links.items()]
    answered = [link for link in found if link.changes]
    if not answered:
        return None
    return _directional(answered, len(found) - len(answered), protocol)


def _link(changed: Sequence[Record], link: Counterfactual, base: Sequence[Record]) -> _Link:
    """A case with its ``link``, from its trials and those of the case it refers to, which may not have been asked."""
    group = changed[0].group
    return _Link(
        groups=(group, base[0].group if base else group),
        sign=1 if link.direction == "up" else -1,
        base=_by_trial(base, link),
        changed=_by_trial(changed, link),
    )


def _by_trial(trials: Iterable[Record], link: Counterfactual) -> dict[int, float]:
    return {
        record.trial: decision.probabilities[link.option]
        for record in trials
        for decision in record.decisions
        if decision.question == link.question and decision.probabilities is not None
    }


def _directional(links: Sequence[_Link], dropped: int, protocol: Protocol) -> Directional:
    import numpy as np

    threshold = protocol.direction_threshold
    outcomes = [direction_outcomes(np.array(link.changes), threshold) for link in links]
    reruns = [direction_outcomes(np.array(link.reruns), threshold) for link in links]
    columns = np.array(
        [
            [(found == 1).mean(), (found == -1).mean(), 1, *_by_noise(again)]
            for found, again in zip(outcomes, reruns, strict=True)
        ],
        dtype=np.float64,
    )
    cluster = _clusters([link.groups for link in links])
    compliant, anti, retest = (ratio(*places, counts=True) for places in ((0, 2), (1, 2), (3, 4)))
    statistics = [compliant, anti, difference(compliant, anti)]
    retested = columns[:, 4].any()
    if retested:
        statistics += [retest, difference(compliant, retest)]
    figures = figures_of(cluster, columns, statistics, protocol)
    return Directional(
        pairs=len(links),
        clusters=int(np.unique(cluster).size),
        dropped=dropped,
        threshold=threshold,
        compliant=figures[0],
        anti_compliant=figures[1],
        net=figures[2],
        retest_compliant=figures[3] if retested else None,
        excess_compliant=figures[4] if retested else None,
    )


def _by_noise(outcomes: Ints) -> tuple[float, int]:
    """The share of reruns that would comply, and 1; both 0 without reruns.

    Nothing tells which of two reruns was first: a move that counts complies one way and not the other.
    """
    return (float((outcomes != 0).mean()) / 2, 1) if outcomes.size else (0.0, 0)


def _clusters(links: Sequence[tuple[str, str]]) -> Ints:
    """The cluster of every link: links that share a scenario, or are joined by others that do, are one."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names, codes = np.unique(np.array(links), return_inverse=True)
    first, second = codes.reshape(-1, 2).T
    graph = coo_array((np.ones(first.size), (first, second)), shape=(names.size, names.size))
    _, labels = connected_components(graph, directed=False)
    return np.asarray(labels[first], dtype=np.int64)
