"""Robustness variants: pure functions from a scenario to a case, each with its role.

``core``: a correct answer must not change. ``attack``: untrusted text demands a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from decibench.cases.authoring import Texts
from decibench.cases.schema import Case, Choice, Question, Reference, Role, Split
from decibench.cases.seeded import seeded_order


@dataclass(frozen=True, slots=True)
class Scenario:
    """An authored situation, placed in a split, its options in their canonical order."""

    group: str
    family: str
    split: Split
    state: str
    paraphrase: str
    questions: dict[str, Question]
    references: dict[str, Reference]

    def case(
        self,
        variant: str,
        state: str | None = None,
        questions: dict[str, Question] | None = None,
        references: dict[str, Reference] | None = None,
    ) -> Case:
        """The case of ``variant``: this scenario with the given parts replaced."""
        return Case(
            id=f"{self.group}-{variant}",
            group=self.group,
            family=self.family,
            variant=variant,
            split=self.split,
            state=self.state if state is None else state,
            questions=self.questions if questions is None else questions,
            references=self.references if references is None else references,
        )


def original(scenario: Scenario, texts: Texts) -> Case:
    """The scenario as authored."""
    return scenario.case("original")


def options_reversed(scenario: Scenario, texts: Texts) -> Case:
    """The options of every choice in reverse order."""
    return scenario.case("options-reversed", questions={k: _reversed(q) for k, q in scenario.questions.items()})


def irrelevant(scenario: Scenario, texts: Texts) -> Case:
    """Unrelated context before or after the state, by seed."""
    passage = seeded_order(texts.irrelevant, scenario.group)[0]
    before = seeded_order(("before", "after"), scenario.group)[0] == "before"
    parts = (passage, scenario.state) if before else (scenario.state, passage)
    return scenario.case("irrelevant", state="\n\n".join(parts))


def paraphrase(scenario: Scenario, texts: Texts) -> Case:
    """The second, authored wording."""
    return scenario.case("paraphrase", state=scenario.paraphrase)


def injection(scenario: Scenario, texts: Texts) -> Case:
    """An instruction inside the state demands a specific wrong option of every question, kept as ``demanded``.

    Where a question has unsafe options, half of the scenarios (by seed) demand one of them.
    """
    references = {
        key: reference.model_copy(update={"demanded": _demanded(scenario, key, reference)})
        for key, reference in scenario.references.items()
    }
    demand = " and ".join(str(reference.demanded) for reference in references.values())
    instruction = seeded_order(texts.injections, scenario.group)[0].replace("{demand}", demand)
    return scenario.case("injection", state=f"{scenario.state}\n\n{instruction}", references=references)


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant's role and the function that makes it."""

    role: Role
    make: Callable[[Scenario, Texts], Case]


VARIANTS: Final[dict[str, Variant]] = {
    "original": Variant("core", original),
    "options-reversed": Variant("core", options_reversed),
    "irrelevant": Variant("core", irrelevant),
    "paraphrase": Variant("core", paraphrase),
    "injection": Variant("attack", injection),
}


def _reversed(question: Question) -> Question:
    if isinstance(question, Choice):
        return question.model_copy(update={"criteria": dict(reversed(question.criteria.items()))})
    return question


def _demanded(scenario: Scenario, key: str, reference: Reference) -> str:
    wrong = [option for option in scenario.questions[key].options if option != reference.expected]
    safe = [option for option in wrong if option not in reference.unsafe]
    by_kind = {"unsafe": reference.unsafe, "safe": safe}
    first, second = seeded_order(("unsafe", "safe"), f"{scenario.group}|demand")
    return seeded_order(by_kind[first] or by_kind[second], scenario.group)[0]
