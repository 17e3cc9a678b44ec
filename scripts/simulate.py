"""What gates promise and what they do, on models whose true risk is known: violations and coverage as Markdown.

python scripts/simulate.py [--repetitions 2000] [--seed 20261130] [--rule "betting, .9" ...] [--slow 10]
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, logit, ndtr, ndtri

from decibench.gates.groups import GroupCounts
from decibench.gates.p_values.binomial import binomial_p
from decibench.gates.p_values.methods import METHODS, default_method, p_value, telling_groups
from decibench.gates.power import groups_needed
from decibench.gates.starts import choose_starts, go_down, issuable
from decibench.reports.protocol import DEFAULT_PROTOCOL, CertifiedMethod, Estimand

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints

ALPHA: Final = 0.05
DELTA: Final = 0.10
START: Final = 0.9
VARIANTS: Final = 4
GROUPS: Final = (60, 120, 240)
DEVELOPMENT: Final = 70
"""Groups of the development split, as many as the shipped suite has."""
GRID: Final = tuple(DEFAULT_PROTOCOL.gate_grid)
TESTABLE: Final = tuple(issuable(GRID))
JUMP: Final = 0.99
"""Where the error rate of world E jumps."""
_INFINITE: Final = 12.0


@dataclass(frozen=True)
class World:
    """A model and its questions: how confident it is, how often it errs at a confidence, and how alike in a group.

    ``error_rate`` maps top probabilities to error rates. The correlations are those of the normal variables behind the
    confidence and the errors of two decisions of one group.
    """

    name: str
    about: str
    mean: float
    sd: float
    error_rate: Callable[[Floats], Floats]
    error_correlation: float
    confidence_correlation: float = 0.6

    def draw(self, generator: np.random.Generator, groups: int) -> Sample:
        """``groups`` groups of ``VARIANTS`` decisions."""
        z = self.mean + self.sd * _correlated(generator, groups, self.confidence_correlation)
        top = 0.5 + 0.5 * expit(z)
        latent = _correlated(generator, groups, self.error_correlation)
        return Sample(top, latent < ndtri(self.error_rate(top)), generator.integers(VARIANTS, size=groups))

    def coverage(self, threshold: float) -> float:
        """Probability that a decision is accepted."""
        return float(ndtr(-self._least(threshold)))

    def risk(self, threshold: float, estimand: Estimand) -> float:
        """The true risk among accepted decisions; groups are of one size, so weighing by scenario changes nothing."""
        if estimand == "any":
            # No closed form; the standard error is at most 0.001.
            counts = self.draw(np.random.default_rng(0), 200_000).at(threshold)
            return counts.failing / counts.accepting

        def density(u: float) -> float:
            top = 0.5 + 0.5 * expit(np.array(self.mean + self.sd * u))
            return float(self.error_rate(top)) * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)

        edges = sorted({self._least(threshold), max(self._least(threshold), self._least(JUMP)), _INFINITE})
        wrong = sum(quad(density, *piece)[0] for piece in itertools.pairwise(edges))
        return float(wrong) / self.coverage(threshold)

    def _least(self, threshold: float) -> float:
        """The standard normal value that gives ``threshold``."""
        return float(max(-_INFINITE, (logit(2 * threshold - 1) - self.mean) / self.sd))


def _correlated(generator: np.random.Generator, groups: int, correlation: float) -> Floats:
    """Standard normal, of shape (groups, VARIANTS), two of a group with ``correlation``."""
    shared, own = generator.standard_normal((groups, 1)), generator.standard_normal((groups, VARIANTS))
    drawn: Floats = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    return drawn


WORLDS: Final = (
    World("A", "overconfident", 2.2, 1.6, lambda s: 0.5 * (2 * (1 - s)) ** 0.9 + 0.016, 0.95),
    World("B", "strong", 3.0, 1.5, lambda s: 0.16 * 2 * (1 - s) + 0.004, 0.6),
    World("C", "flat: 6% error at every confidence", 2.5, 1.5, lambda s: np.full_like(s, 0.06), 0.95),
    World("E", "bad tip", 2.2, 1.5, lambda s: np.where(s > JUMP, 0.08, 0.008 + 0.05 * (1 - s)), 0.95),
)


@dataclass(frozen=True)
class Sample:
    """Top probabilities and errors, each of shape (groups, VARIANTS), and the number of the decision picked."""

    top: Floats
    wrong: Bools
    picked: Ints

    def at(self, threshold: float) -> GroupCounts:
        """Counts where decisions with at least ``threshold`` are accepted."""
        accepted = self.top >= threshold
        wrong = accepted & self.wrong
        rows = np.arange(len(self.picked))
        return GroupCounts(
            errors=wrong.sum(axis=1),
            accepted=accepted.sum(axis=1),
            presented=np.full(len(self.picked), VARIANTS),
            picked_accepted=accepted[rows, self.picked],
            picked_wrong=wrong[rows, self.picked],
        )


class Trial:
    """A calibration sample, the development sample beside it, and what rules ask of them, worked out once."""

    def __init__(self, calibration: Sample, development: Sample) -> None:
        self.groups = len(calibration.picked)
        self.at = cache(calibration.at)
        self.p = cache(self._p)
        self.development = development

    def _p(self, method: CertifiedMethod, threshold: float) -> float:
        p = p_value(method, self.at(threshold), ALPHA, METHODS[method].estimands[0])
        assert p is not None
        return p


class PValues(Mapping[float, float]):
    """p-values by threshold, worked out when they are looked at: most sequences end where they start."""

    def __init__(self, p: Callable[[float], float]) -> None:
        self._p = p

    def __getitem__(self, threshold: float) -> float:
        return self._p(threshold)

    def __iter__(self) -> Iterator[float]:
        return iter(TESTABLE)

    def __len__(self) -> int:
        return len(TESTABLE)


Rule: TypeAlias = Callable[[Trial], float | None]


def empirical_grid(trial: Trial) -> float | None:
    """The naive rule: the threshold that covers most with an observed error of at most ALPHA."""
    for threshold in GRID:
        errors, accepted = _decisions(trial, threshold)
        if accepted >= DEFAULT_PROTOCOL.min_accepted and errors <= ALPHA * accepted:
            return threshold
    return None


def item_level(trial: Trial) -> float | None:
    """The exact binomial as if the decisions of a group were independent, from START downwards."""
    return _lowest([(START, DELTA)], lambda threshold: binomial_p(*_decisions(trial, threshold), ALPHA))


def item_level_high(trial: Trial) -> float | None:
    """The same from the highest threshold at which it could pass, as the accepted decisions tell."""
    needed = groups_needed("one_per_group_cp", ALPHA, DELTA, 0)
    possible = [threshold for threshold in GRID if _decisions(trial, threshold)[1] >= needed]
    found = None
    for threshold in reversed(possible):
        if binomial_p(*_decisions(trial, threshold), ALPHA) > DELTA:
            break
        found = threshold
    return found


def certified(method: CertifiedMethod) -> Rule:
    """``method`` from START downwards."""
    return lambda trial: _lowest([(START, DELTA)], lambda threshold: trial.p(method, threshold))


def certified_from_development(method: CertifiedMethod | None) -> Rule:
    """``method``, or the one that the number of groups gives, from the starts that the development groups give."""

    def decide(trial: Trial) -> float | None:
        chosen = method or default_method(trial.groups, "scenario-weighted")
        development = trial.development
        telling = {threshold: telling_groups(development.at(threshold), chosen) for threshold in TESTABLE}
        starts = choose_starts(telling, len(development.picked), trial.groups, method=chosen, alpha=ALPHA, delta=DELTA)
        return _lowest(starts, lambda threshold: trial.p(chosen, threshold))

    return decide


def _decisions(trial: Trial, threshold: float) -> tuple[int, int]:
    counts = trial.at(threshold)
    return int(counts.errors.sum()), int(counts.accepted.sum())


def _lowest(starts: Iterable[tuple[float, float]], p: Callable[[float], float]) -> float | None:
    passed = [threshold for start, delta in starts for threshold in go_down(start, delta, PValues(p)).passed]
    return min(passed, default=None)


RULES: Final[Mapping[str, Rule]] = {
    "empirical grid": empirical_grid,
    "item-level, .9": item_level,
    "item-level, highest": item_level_high,
    **{f"{method}, .9": certified(method) for method in METHODS},
    **{f"{method}, development": certified_from_development(method) for method in METHODS},
    "default, development": certified_from_development(None),
}
SLOW: Final = 10
"""gaffke inverts a characteristic function for every p-value; it sees one repetition in so many."""


@dataclass(frozen=True)
class Outcome:
    """Of ``repetitions``: how many thresholds were issued whose true risk is above ALPHA; the mean true coverage."""

    repetitions: int
    violations: int
    coverage: float

    @property
    def violation(self) -> float:
        """Share of violations."""
        return self.violations / self.repetitions

    def __str__(self) -> str:
        return f"{100 * self.violation:.1f} / {100 * self.coverage:.1f}"


def simulate(
    world: World, groups: int, repetitions: int, seed: int, rules: Iterable[str] = RULES, slow: int = SLOW
) -> dict[str, Outcome]:
    """What each of ``rules`` does on ``repetitions`` calibration samples of ``groups`` groups of ``world``."""
    generator = np.random.default_rng([seed, groups, ord(world.name)])
    issued: dict[str, list[float | None]] = {rule: [] for rule in rules}
    for repetition in range(repetitions):
        trial = Trial(world.draw(generator, groups), world.draw(generator, DEVELOPMENT))
        for rule, thresholds in issued.items():
            if not rule.startswith("gaffke") or repetition % slow == 0:
                thresholds.append(RULES[rule](trial))
    return {rule: _outcome(world, thresholds, _estimand(rule)) for rule, thresholds in issued.items()}


def _estimand(rule: str) -> Estimand:
    return "any" if rule.startswith("group_any_cp") else "scenario-weighted"


def _outcome(world: World, issued: Sequence[float | None], estimand: Estimand) -> Outcome:
    thresholds = Counter(threshold for threshold in issued if threshold is not None)
    above = [n for threshold, n in thresholds.items() if _violates(world, threshold, estimand)]
    covered = sum(n * world.coverage(threshold) for threshold, n in thresholds.items())
    return Outcome(repetitions=len(issued), violations=sum(above), coverage=covered / len(issued))


@cache
def _violates(world: World, threshold: float, estimand: Estimand) -> bool:
    return world.risk(threshold, estimand) > ALPHA


def tables(repetitions: int, seed: int, rules: Sequence[str], slow: int) -> Iterator[str]:
    """One Markdown table per world, a row per rule, as they are done."""
    yield f"{repetitions} repetitions, seed {seed}; `gaffke` sees one in {slow}. Violation % / mean coverage %."
    for world in WORLDS:
        risks = ", ".join(f"{100 * world.risk(t, 'scenario-weighted'):.2f}% at {t:g}" for t in (0.5, START))
        yield f"\n**{world.name}**, {world.about}; true risk {risks}.\n"
        yield "| rule | " + " | ".join(f"{groups} groups" for groups in GROUPS) + " |"
        yield "|---|" + "---:|" * len(GROUPS)
        columns = [simulate(world, groups, repetitions, seed, rules, slow) for groups in GROUPS]
        for rule in rules:
            yield f"| {rule} | " + " | ".join(str(column[rule]) for column in columns) + " |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=DEFAULT_PROTOCOL.seed)
    parser.add_argument("--rule", choices=RULES, action="append", help="repeatable (default: all)")
    parser.add_argument("--slow", type=int, default=SLOW, help="gaffke sees one repetition in so many (%(default)s)")
    options = parser.parse_args()
    if min(options.repetitions, options.slow) < 1:
        parser.error("--repetitions and --slow must be at least 1")
    for line in tables(options.repetitions, options.seed, options.rule or list(RULES), options.slow):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
