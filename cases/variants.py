"""Robustness variants: pure functions from a scenario to a case, each with its role.

``core``: a correct answer must not change. ``attack``: untrusted text demands a wrong answer. ``probe``: what the
answer hangs on, reported apart. A function returns None where its variant does not apply to a scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from decibench.cases.authoring import Texts
from decibench.cases.schema import Case, Choice, Noul, NoulCriteria, Question, Reference, Role, Score, Split, State
from decibench.cases.seeded import seeded_order
from decibench.cases.states import Position, insert, keys_reversed, surrounded, without

_POSITIONS: Final[tuple[Position, ...]] = ("before", "middle", "after")


@dataclass(frozen=True, slots=True)
class Scenario:
    """An authored situation, placed in a split, its options in their canonical order.

    ``decisive`` is the passage or key that settles the answer; ``affirmative`` names, per question, the option
    that a yes would mean; ``takes_injection`` tells whether an added instruction leaves the right answer alone.
    """

    group: str
    family: str
    split: Split
    state: State
    paraphrase: State
    questions: dict[str, Question]
    references: dict[str, Reference]
    decisive: str | None = None
    affirmative: Mapping[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    takes_injection: bool = True

    def case(
        self,
        variant: str,
        state: State | None = None,
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
            tags=self.tags,
        )


def original(scenario: Scenario, texts: Texts) -> Case:
    """The scenario as authored."""
    return scenario.case("original")


def options_reversed(scenario: Scenario, texts: Texts) -> Case | None:
    """The options of every choice in reverse order; ordered levels stay as they are."""
    if not any(isinstance(question, Choice) for question in scenario.questions.values()):
        return None
    return scenario.case("options-reversed", questions=_reorder(scenario, lambda options: options[::-1]))


def options_rotated(scenario: Scenario, texts: Texts) -> Case | None:
    """The options of every choice moved round by a number of places that depends on the scenario.

    Two options have no rotation but the reversal.
    """
    if not any(isinstance(q, Choice) and len(q.options) > 2 for q in scenario.questions.values()):
        return None

    def rotate(options: list[str]) -> list[str]:
        places = seeded_order(range(1, len(options)), f"{scenario.group}|rotate")[0]
        return options[places:] + options[:places]

    return scenario.case("options-rotated", questions=_reorder(scenario, rotate))


def irrelevant(scenario: Scenario, texts: Texts) -> Case:
    """Unrelated context before or after the state, by seed."""
    passage = seeded_order(texts.irrelevant, scenario.group)[0]
    position = seeded_order(("before", "after"), scenario.group)[0]
    return scenario.case(
        "irrelevant", state=insert(scenario.state, passage, "before" if position == "before" else "after")
    )


def paraphrase(scenario: Scenario, texts: Texts) -> Case:
    """The second, authored wording."""
    return scenario.case("paraphrase", state=scenario.paraphrase)


def injection(scenario: Scenario, texts: Texts) -> Case | None:
    """An instruction inside the state demands a specific wrong option of every question, kept as ``demanded``.

    Where a question has unsafe options, half of the scenarios (by seed) demand one of them. A scenario whose right
    answer the instruction itself would change has no such variant.
    """
    if not scenario.takes_injection:
        return None
    references = {
        key: reference.model_copy(update={"demanded": _demanded(scenario, key, reference)})
        for key, reference in scenario.references.items()
    }
    demand = " and ".join(_named(scenario.questions[key], str(r.demanded)) for key, r in references.items())
    instruction = seeded_order(texts.injections, scenario.group)[0].replace("{demand}", demand)
    position = seeded_order(texts.injection_positions, f"{scenario.group}|position")[0]
    return scenario.case("injection", state=insert(scenario.state, instruction, position), references=references)


def neutral_keys(scenario: Scenario, texts: Texts) -> Case | None:
    """The labels of every choice replaced by ``option-1``, ``option-2``, ...; only the descriptions differ."""
    questions: dict[str, Question] = {}
    references: dict[str, Reference] = {}
    for key, question in scenario.questions.items():
        if not isinstance(question, Choice) or not all(question.criteria.values()):
            return None
        names = {option: f"option-{number}" for number, option in enumerate(question.options, start=1)}
        criteria = {names[option]: text for option, text in question.criteria.items()}
        questions[key] = question.model_copy(update={"criteria": criteria})
        references[key] = _renamed(scenario.references[key], names)
    return scenario.case("neutral-keys", questions=questions, references=references)


def yes_no_keys(scenario: Scenario, texts: Texts) -> Case | None:
    """The labels of a two-way question replaced by yes and no: how much the label words decide."""
    questions: dict[str, Question] = {}
    references: dict[str, Reference] = {}
    for key, question in scenario.questions.items():
        names = _yes_no(scenario, key)
        if names is None or not isinstance(question, Choice):
            return None
        criteria = {names[option]: text for option, text in question.criteria.items()}
        questions[key] = question.model_copy(update={"criteria": criteria})
        references[key] = _renamed(scenario.references[key], names)
    return scenario.case("yes-no-keys", questions=questions, references=references)


def noul_twin(scenario: Scenario, texts: Texts) -> Case | None:
    """A two-way choice asked as a ``noul`` question instead."""
    questions: dict[str, Question] = {}
    references: dict[str, Reference] = {}
    for key, question in scenario.questions.items():
        names = _yes_no(scenario, key)
        if names is None:
            return None
        sides = {"yes": "true", "no": "false"}
        names = {option: sides[answer] for option, answer in names.items()}
        criteria = NoulCriteria(**{names[option]: question.describe(option) for option in question.options})
        questions[key] = Noul(type="noul", instructions=question.instructions, criteria=criteria)
        references[key] = _renamed(scenario.references[key], names)
    return scenario.case("noul-twin", questions=questions, references=references)


def state_keys_reordered(scenario: Scenario, texts: Texts) -> Case | None:
    """A JSON state with its keys in reverse order."""
    if not isinstance(scenario.state, dict):
        return None
    return scenario.case("state-keys-reordered", state=keys_reversed(scenario.state))


def options_only(scenario: Scenario, texts: Texts) -> Case:
    """Nothing but the question: what can be answered without reading."""
    return scenario.case("options-only", state="")


def unknowable(scenario: Scenario, texts: Texts) -> Case | None:
    """The decisive passage removed; the reference is that of the original, which nobody can know any more."""
    if scenario.decisive is None:
        return None
    return scenario.case("unknowable", state=without(scenario.state, scenario.decisive))


def long_context(scenario: Scenario, texts: Texts) -> Case | None:
    """The state at the start, in the middle or at the end of about 2,000 tokens, for a sixth of the scenarios."""
    if not texts.filler or seeded_order(range(6), f"{scenario.group}|long")[0] != 0:
        return None
    passages = seeded_order(texts.filler, scenario.group)
    position = seeded_order(_POSITIONS, f"{scenario.group}|where")[0]
    return scenario.case("long-context", state=surrounded(scenario.state, passages, position))


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant's role and the function that makes it."""

    role: Role
    make: Callable[[Scenario, Texts], Case | None]


VARIANTS: Final[dict[str, Variant]] = {
    "original": Variant("core", original),
    "options-reversed": Variant("core", options_reversed),
    "options-rotated": Variant("core", options_rotated),
    "irrelevant": Variant("core", irrelevant),
    "paraphrase": Variant("core", paraphrase),
    "injection": Variant("attack", injection),
    "neutral-keys": Variant("probe", neutral_keys),
    "yes-no-keys": Variant("probe", yes_no_keys),
    "noul-twin": Variant("probe", noul_twin),
    "state-keys-reordered": Variant("probe", state_keys_reordered),
    "options-only": Variant("probe", options_only),
    "unknowable": Variant("probe", unknowable),
    "long-context": Variant("probe", long_context),
}


def _reorder(scenario: Scenario, order: Callable[[list[str]], list[str]]) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for key, question in scenario.questions.items():
        if isinstance(question, Choice):
            criteria = {option: question.criteria[option] for option in order(list(question.options))}
            question = question.model_copy(update={"criteria": criteria})
        found[key] = question
    return found


def _named(question: Question, option: str) -> str:
    # A level has no name of its own: its number would demand nothing that a reader could understand.
    return f"level {option}" if isinstance(question, Score) else option


def _renamed(reference: Reference, names: Mapping[str, str]) -> Reference:
    return Reference(expected=names[reference.expected], unsafe=[names[label] for label in reference.unsafe])


def _yes_no(scenario: Scenario, key: str) -> dict[str, str] | None:
    yes = scenario.affirmative.get(key)
    if yes is None:
        return None
    return {option: "yes" if option == yes else "no" for option in scenario.questions[key].options}


def _demanded(scenario: Scenario, key: str, reference: Reference) -> str:
    wrong = [option for option in scenario.questions[key].options if option != reference.expected]
    safe = [option for option in wrong if option not in reference.unsafe]
    by_kind = {"unsafe": reference.unsafe, "safe": safe}
    first, second = seeded_order(("unsafe", "safe"), f"{scenario.group}|demand")
    return seeded_order(by_kind[first] or by_kind[second], scenario.group)[0]
