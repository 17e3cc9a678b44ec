"""Two questions about one state whose answers imply each other: do the probabilities know it?

Which options go together is not written here: it is learnt from the references of the suite, where the questions of
a scenario always agree. Where they do not, or too few scenarios show it, nothing is reported. A suite whose questions
agree by accident would be held to that accident; what was learnt stands in the report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.figure import Figure
from decibench.reports.metrics.complement_coherence import complement_gap, complement_pairing
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Record
from decibench.reports.scenario_means import figures_of, nested_weights, ratio

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats

Share = Annotated[float, Field(ge=0, le=1)]


class Complement(Model):
    """Coherence of the two ``questions`` of a family, where an answer to the first implies one to the second.

    ``implies`` gives, for each option of the first question, the option of the second that goes with it. ``gap`` is
    the mean of ``|P(option) + P(other than the implied one) - 1|`` (0 to 1) and ``contradiction_share`` the share of
    cases whose two choices do not go together; both are averaged over the cases of a scenario, then over scenarios.
    They are of the core variants; of ``variants`` that are probes only where no core variant asks with these options.
    ``dropped`` cases had a failed answer. ``tie_share`` is the share of cases with a tie on either question, and
    ``accuracy`` that of each question: to be coherent is not to be right.
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
    tie_share: Share
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
    import numpy as np

    core = [record for record in records if record.role == "core"] or list(records)
    valid = [record for record in core if not record.failed]
    if not valid:
        return None
    option = next(iter(implies))
    first = [record.decisions[0] for record in valid]
    second = [record.decisions[1] for record in valid]
    gap = complement_gap(_probability(first, option), _probability(second, implies[option]))
    contradicts = np.array([implies[str(a.choice)] != b.choice for a, b in zip(first, second, strict=True)])
    names = sorted({record.group for record in valid})
    codes = {name: code for code, name in enumerate(names)}
    group = np.array([codes[record.group] for record in valid])
    weight = nested_weights(group, group)
    columns = np.stack([weight * gap, weight * contradicts, weight], axis=1)
    gap_figure, contradiction = figures_of(group, columns, [ratio(0, 2), ratio(1, 2, counts=True)], protocol)
    return Complement(
        family=form.family,
        questions=list(form.questions),
        implies=dict(implies),
        variants=list(dict.fromkeys(record.variant for record in valid)),
        scenarios=len(names),
        cases=len(valid),
        dropped=len(core) - len(valid),
        gap=gap_figure,
        contradiction_share=contradiction,
        tie_share=sum(a.tie or b.tie for a, b in zip(first, second, strict=True)) / len(valid),
        accuracy={
            question: sum(d.choice == d.expected for d in decisions) / len(valid)
            for question, decisions in zip(form.questions, (first, second), strict=True)
        },
    )


def _probability(decisions: Sequence[Decision], option: str) -> Floats:
    import numpy as np

    return np.array([(decision.probabilities or {})[option] for decision in decisions])
