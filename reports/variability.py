"""Run-to-run variance: what changes when the same requests are asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import TYPE_CHECKING

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.figure import Figure, figure_of
from decibench.reports.metrics.macro_accuracy import macro_accuracy
from decibench.reports.metrics.mean import mean
from decibench.reports.metrics.retest_variation import retest_variation
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Record
from decibench.reports.resampling import GroupBootstrap
from decibench.reports.summary import Share

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats


class Spread(Model):
    """A figure of every trial, in their order: its range, and its standard deviation over trials (n - 1)."""

    by_trial: dict[str, Share]
    low: Share
    high: Share
    standard_deviation: float


class Variability(Model):
    """Trials of the same core decisions against each other.

    Only ``decisions`` that were asked in every trial count, so that trials compare like with like; ``left_out`` were
    not. ``changed_choice`` is the share of them whose choice is not the same in all trials, ``changed_answer`` of those
    whose choice or distribution differs in any way; a failure differs from an answer. ``retest_variation`` is the mean
    total variation between the answers of two trials to one request, over decisions answered at least twice; without a
    value where no decision states probabilities. ``identical`` trials are one trial told several times.
    """

    trials: int
    decisions: int
    left_out: int
    identical: bool
    accuracy: Spread
    macro_accuracy: Spread
    changed_choice: Figure
    changed_answer: Figure
    retest_variation: Figure


@dataclass(frozen=True, slots=True)
class _Repeated:
    """One decision and its answers, one per trial."""

    group: str
    family: str
    answers: Sequence[Decision]

    @property
    def changed_choice(self) -> bool:
        """True when the trials do not all choose the same."""
        return any(a.choice != self.answers[0].choice for a in self.answers)

    @property
    def changed_answer(self) -> bool:
        """True when the trials do not all give the same choice and distribution."""
        first = self.answers[0]
        return self.changed_choice or any(a.probabilities != first.probabilities for a in self.answers)

    def variation(self) -> float | None:
        """Mean total variation between the answers; None where fewer than two trials have one."""
        import numpy as np

        given = [a.probabilities for a in self.answers if a.probabilities is not None]
        if not self.changed_answer and len(given) > 1:
            return 0.0
        return retest_variation(np.array([[p[option] for option in given[0]] for p in given]))


def variability_of(records: Sequence[Record], protocol: Protocol) -> dict[Split, Variability] | None:
    """What differs between trials on every split with core decisions asked in each; None with fewer than two trials."""
    trials = sorted({record.trial for record in records})
    if len(trials) < 2:
        return None
    found: dict[Split, Variability] = {}
    for split in SPLITS:
        asked = _asked([r for r in records if r.split == split and r.role == "core"])
        repeated = [r for r in asked if len(r.answers) == len(trials)]
        if repeated:
            found[split] = _compare(repeated, trials, len(asked) - len(repeated), protocol)
    return found


def _asked(records: Sequence[Record]) -> list[_Repeated]:
    """The decisions of ``records``, each with its answers in the order of the trials."""
    found: dict[tuple[str, str, str], dict[int, tuple[Record, Decision]]] = {}
    for record in sorted(records, key=lambda r: r.trial):
        for decision in record.decisions:
            answers = found.setdefault((record.case, record.request_hash, decision.question), {})
            answers[record.trial] = (record, decision)
    firsts = ((next(iter(answers.values()))[0], answers) for answers in found.values())
    return [_Repeated(r.group, r.family, [d for _, d in answers.values()]) for r, answers in firsts]


def _compare(repeated: Sequence[_Repeated], trials: Sequence[int], left_out: int, protocol: Protocol) -> Variability:
    import numpy as np

    correct = np.array([[a.choice == a.expected for a in r.answers] for r in repeated]).T
    family = np.array([r.family for r in repeated])
    accuracy = {str(t): mean(right) or 0.0 for t, right in zip(trials, correct, strict=True)}
    macro = {str(t): macro_accuracy(right, family) or 0.0 for t, right in zip(trials, correct, strict=True)}
    choice, answer, variation = _changes(repeated, protocol)
    return Variability(
        trials=len(trials),
        decisions=len(repeated),
        left_out=left_out,
        identical=not any(r.changed_answer for r in repeated),
        accuracy=_spread(accuracy),
        macro_accuracy=_spread(macro),
        changed_choice=choice,
        changed_answer=answer,
        retest_variation=variation,
    )


def _spread(by_trial: dict[str, float]) -> Spread:
    values = list(by_trial.values())
    return Spread(by_trial=by_trial, low=min(values), high=max(values), standard_deviation=stdev(values))


def _changes(repeated: Sequence[_Repeated], protocol: Protocol) -> Iterator[Figure]:
    """Changed choices, changed answers and retest variation, with intervals over scenarios: trials are inside them."""
    import numpy as np

    variation = np.array([r.variation() for r in repeated], dtype=np.float64)
    all_of_them, known = np.ones(len(repeated), dtype=np.bool_), ~np.isnan(variation)
    parts: dict[str, tuple[Bools | Floats, Bools]] = {
        "changed_choice": (np.array([r.changed_choice for r in repeated]), all_of_them),
        "changed_answer": (np.array([r.changed_answer for r in repeated]), all_of_them),
        "retest_variation": (variation, known),
    }
    groups = np.array([r.group for r in repeated])
    bootstrap = GroupBootstrap(groups, np.ones(len(repeated)), resamples=protocol.resamples, seed=protocol.seed)
    for name, samples in bootstrap.means(parts).items():
        values, mask = parts[name]
        yield figure_of(mean(values[mask]), samples, bootstrap.groups_in(mask), counts=name != "retest_variation")
