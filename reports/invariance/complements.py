"""Two questions about one state whose answers imply each other: do the probabilities know it?

Which options go together is not written here: it is learnt from the references of the suite, where the questions of
a scenario always agree. Where they do not, or too few scenarios show it, nothing is reported. A suite whose questions
agree by accident would be held to that accident; what was learnt stands in the report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.figure import UNDEFINED, Figure, bare_figure
from decibench.reports.metrics.complement_coherence import complement_gap, complement_pairing
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Record
from decibench.reports.scenario_means import difference, figures_of, nested_weights, ratio

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints

_OWN: Final = (ratio(0, 2), ratio(1, 2, counts=True))
_NOISE: Final = (ratio(3, 5), ratio(4, 5, counts=True))

Share = Annotated[float, Field(ge=0, le=1)]


class Complement(Model):
    """Coherence of the two ``questions`` of a family, where an answer to the first implies one to the second.

    ``implies`` gives, for each option of the first question, the option of the second that goes with it. ``gap`` is
    the mean of ``|P(option) + P(other than the implied one) - 1|`` (0 to 1) and ``contradiction_share`` the share of
    cases whose two choices do not go together; both are averaged over the trials of a case, over the cases of a
    scenario, then over scenarios. They are of the core variants; of ``variants`` that are probes only where no core
    variant asks with these options.

    ``retest_gap`` and ``retest_contradiction_share`` are the noise floor: the same two figures between trials of one
    question in place of two questions, averaged over both. The excess is what is left beyond it; null without a second
    trial. Were the noise of the two questions independent, the expected excess of the gap would be half the energy
    distance between their answers (Szekely and Rizzo 2013): never below 0, and 0 only where both spread alike. Noise
    that moves both answers of a trial together lowers it.

    ``dropped`` cases had a failed answer. ``tie_share`` is the share of cases with a tie on either question, and
    ``accuracy`` that of each question: to be coherent is not to be right. Where no probabilities are stated the gaps
    have no value, and ``tie_share`` is null.
    """

    family: str
    questions: list[str]
    implies: dict[str, str]
    variants: list[str]
    scenarios: int
    cases: int
    dropped: int
    gap: Figure
    contradiction_share: Figure
    retest_gap: Figure | None
    retest_contradiction_share: Figure | None
    excess_gap: Figure | None
    excess_contradiction_share: Figure | None
    tie_share: Share | None
    accuracy: dict[str, Share]


@dataclass(frozen=True, slots=True)
class Form:
    """A family's two questions and the options they are asked with, in the order of their ids."""

    family: str
    questions: tuple[str, str]
    options: tuple[tuple[str, ...], tuple[str, ...]]


def complements_of(records: Iterable[Record], protocol: Protocol) -> dict[Split, list[Complement]]:
    """The coherence of every two questions that imply each other, by split; what goes together is learnt from all."""
    by_form: defaultdict[Form, list[Record]] = defaultdict(list)
    for record in records:
        if (form := _form(record)) is not None:
            by_form[form].append(record)
    found: defaultdict[Split, list[Complement]] = defaultdict(list)
    for form, asked in by_form.items():
        scenarios = {(record.group, *(decision.expected for decision in record.decisions)) for record in asked}
        implies = complement_pairing((first, second) for _, first, second in scenarios)
        for split in SPLITS if implies else ():
            part = [record for record in asked if record.split == split]
            if (complement := _complement(form, implies or {}, part, protocol)) is not None:
                found[split].append(complement)
    return found


def _form(record: Record) -> Form | None:
    if len(record.decisions) != 2 or any(len(decision.options) != 2 for decision in record.decisions):
        return None
    first, second = record.decisions
    options = (tuple(sorted(first.options)), tuple(sorted(second.options)))
    return Form(record.family, (first.question, second.question), options)


def _complement(
    form: Form, implies: Mapping[str, str], records: Sequence[Record], protocol: Protocol
) -> Complement | None:
    core = [record for record in records if record.role == "core"] or list(records)
    valid = [record for record in core if not record.failed]
    if not valid:
        return None
    first = [record.decisions[0] for record in valid]
    second = [record.decisions[1] for record in valid]
    option = next(iter(implies))
    answers = _answers(first, option), _answers(second, implies[option])
    stated = all(decision.probabilities is not None for decision in (*first, *second))
    figures = _figures(valid, answers, protocol)
    ties = sum(a.tie or b.tie for a, b in zip(first, second, strict=True)) / len(valid)
    return Complement(
        family=form.family,
        questions=list(form.questions),
        implies=dict(implies),
        variants=list(dict.fromkeys(record.variant for record in valid)),
        scenarios=len({record.group for record in valid}),
        cases=len(valid),
        dropped=len(core) - len(valid),
        **(figures if stated else figures | _without_value(figures)),
        tie_share=ties if stated else None,
        accuracy={
            question: sum(d.choice == d.expected for d in decisions) / len(valid)
            for question, decisions in zip(form.questions, (first, second), strict=True)
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """The answers to one question: the probability of an option, 0 where none is stated, and whether it was chosen."""

    probability: Floats
    chosen: Bools

    def at(self, entries: Ints) -> _Answers:
        return _Answers(self.probability[entries], self.chosen[entries])


def _answers(decisions: Sequence[Decision], option: str) -> _Answers:
    import numpy as np

    probability = [0.0 if decision.probabilities is None else decision.probabilities[option] for decision in decisions]
    return _Answers(np.array(probability), np.array([decision.choice == option for decision in decisions]))


def _figures(records: Sequence[Record], answers: tuple[_Answers, _Answers], protocol: Protocol) -> dict[str, Any]:
    """The figures of two questions, their noise floor and their excess, all from the same resamples."""
    import numpy as np

    names = ["gap", "contradiction_share"]
    group = np.unique([record.group for record in records], return_inverse=True)[1]
    case = np.unique([record.case for record in records], return_inverse=True)[1]
    own = _columns(nested_weights(group, case), *answers)
    one, two = _reruns(records)
    if not one.size:
        unknown = dict.fromkeys(f"{kind}_{name}" for kind in ("retest", "excess") for name in names)
        return dict(zip(names, figures_of(group, own, _OWN, protocol), strict=True)) | unknown
    weight = nested_weights(group[one], case[one])
    noise = np.add(*(_columns(weight, asked.at(one), asked.at(two)) for asked in answers))
    columns = np.block([[own, np.zeros_like(own)], [np.zeros_like(noise), noise]])
    excess = [difference(*both) for both in zip(_OWN, _NOISE, strict=True)]
    names += [f"{kind}_{name}" for kind in ("retest", "excess") for name in names]
    figures = figures_of(np.concatenate([group, group[one]]), columns, [*_OWN, *_NOISE, *excess], protocol)
    return dict(zip(names, figures, strict=True))


def _without_value(figures: Mapping[str, Figure | None]) -> dict[str, Figure]:
    """The gaps among ``figures``, none of which is known."""
    return {name: bare_figure(None, 0, UNDEFINED) for name, found in figures.items() if found and name.endswith("gap")}


def _columns(weight: Floats, first: _Answers, second: _Answers) -> Floats:
    """Gap, contradiction and weight of every entry: the sums of these three give the means over scenarios."""
    import numpy as np

    gap = complement_gap(first.probability, second.probability)
    return np.stack([weight * gap, weight * (first.chosen != second.chosen), weight], axis=1)


def _reruns(records: Sequence[Record]) -> Ints:
    """The entries of all pairs of trials of the same case, of shape (2, pairs)."""
    import numpy as np

    trials: defaultdict[str, list[int]] = defaultdict(list)
    for entry, record in enumerate(records):
        trials[record.case].append(entry)
    pairs = [pair for entries in trials.values() for pair in combinations(entries, 2)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T
