"""Variants that change options: rotation, reversal, neutral keys, yes and no, a statement instead of a choice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from decibench.cases.authoring import Texts
from decibench.cases.schema import Case, Choice, Noul, Question, Reference, Score
from decibench.cases.variants import VARIANTS, Scenario

TEXTS = Texts(irrelevant=["The lift is out of order."], injections=["Answer {demand}."])
SCALE = Score(type="score", instructions="How far?", criteria=["near", "far", "very far"])


def choice(*options: str, bare: bool = False) -> Choice:
    criteria = {option: None if bare else f"Text of {option}." for option in options}
    return Choice(type="choice", instructions="Which?", criteria=criteria)


def scenario(question: Question, expected: str, group: str = "demo-one", **changes: Any) -> Scenario:
    parts: dict[str, Any] = {
        "group": group,
        "family": "demo",
        "split": "holdout",
        "state": "A state.",
        "paraphrase": "In other words.",
        "questions": {"q": question},
        "references": {"q": Reference(expected=expected)},
    }
    return Scenario(**(parts | changes))


def made(variant: str, of: Scenario) -> Case:
    case = VARIANTS[variant].make(of, TEXTS)
    assert case is not None, f"{variant} does not apply"
    return case


def absent(variant: str, of: Scenario) -> bool:
    return VARIANTS[variant].make(of, TEXTS) is None


@pytest.mark.parametrize("number", [3, 4, 8, 20])
def test_a_rotation_moves_every_option_round_and_is_neither_the_original_nor_the_reversal(number: int) -> None:
    names = [f"o{n}" for n in range(number)]
    for n in range(30):
        case = made("options-rotated", scenario(choice(*names), "o1", f"demo-{n}"))
        order = list(case.questions["q"].options)
        places = order.index("o0")
        assert order == names[-places:] + names[:-places]
        assert order not in (names, names[::-1])
        assert all(case.questions["q"].describe(option) == f"Text of {option}." for option in names)
        assert case.references["q"].expected == "o1"


def test_scenarios_use_every_possible_rotation() -> None:
    found = Counter(
        made("options-rotated", scenario(choice("a", "b", "c", "d"), "a", f"demo-{n}")).questions["q"].options
        for n in range(300)
    )
    assert set(found) == {("b", "c", "d", "a"), ("c", "d", "a", "b"), ("d", "a", "b", "c")}
    assert min(found.values()) > 50


def test_two_options_scales_and_statements_are_not_rotated() -> None:
    assert absent("options-rotated", scenario(choice("a", "b"), "a"))
    assert absent("options-rotated", scenario(SCALE, "1"))
    assert absent("options-rotated", scenario(Noul(type="noul", instructions="It is open."), "true"))


def test_two_options_are_reversed_and_scales_and_statements_are_not() -> None:
    assert made("options-reversed", scenario(choice("a", "b"), "a")).questions["q"].options == ("b", "a")
    assert absent("options-reversed", scenario(SCALE, "1"))
    assert absent("options-reversed", scenario(Noul(type="noul", instructions="It is open."), "true"))


def test_neutral_keys_keep_descriptions_and_order_and_map_the_reference() -> None:
    reference = Reference(expected="b", unsafe=["c", "a"])
    case = made("neutral-keys", scenario(choice("c", "b", "a"), "b", references={"q": reference}))
    question = case.questions["q"]
    assert isinstance(question, Choice)
    assert list(question.criteria.items()) == [
        ("option-1", "Text of c."),
        ("option-2", "Text of b."),
        ("option-3", "Text of a."),
    ]
    assert (case.references["q"].expected, case.references["q"].unsafe) == ("option-2", ["option-1", "option-3"])
    assert case.state == "A state."


def test_neutral_keys_need_descriptions_of_a_choice() -> None:
    assert absent("neutral-keys", scenario(choice("a", "b", bare=True), "a"))
    assert absent("neutral-keys", scenario(SCALE, "1"))


@pytest.fixture(params=["must-block", "may-proceed"])
def policy(request: pytest.FixtureRequest) -> Scenario:
    """A two-way question whose yes means must-block, with either answer, and the other one unsafe."""
    unsafe = {"must-block": "may-proceed", "may-proceed": "must-block"}[request.param]
    return scenario(
        choice("may-proceed", "must-block"),
        request.param,
        affirmative={"q": "must-block"},
        references={"q": Reference(expected=request.param, unsafe=[unsafe])},
    )


def test_yes_means_the_affirmative_option_and_order_and_texts_stay(policy: Scenario) -> None:
    case = made("yes-no-keys", policy)
    question, reference = case.questions["q"], case.references["q"]
    assert isinstance(question, Choice)
    assert list(question.criteria.items()) == [("no", "Text of may-proceed."), ("yes", "Text of must-block.")]
    answer = {"must-block": ("yes", ["no"]), "may-proceed": ("no", ["yes"])}
    assert (reference.expected, reference.unsafe) == answer[policy.references["q"].expected]


def test_the_statement_holds_where_the_affirmative_option_is_right(policy: Scenario) -> None:
    case = made("noul-twin", policy)
    question, reference = case.questions["q"], case.references["q"]
    assert question.to_wire() == {
        "type": "noul",
        "instructions": "Which?",
        "criteria": {"true": "Text of must-block.", "false": "Text of may-proceed."},
    }
    answer = {"must-block": ("true", ["false"]), "may-proceed": ("false", ["true"])}
    assert (reference.expected, reference.unsafe) == answer[policy.references["q"].expected]


def test_without_an_affirmative_option_for_every_question_there_are_no_twins(policy: Scenario) -> None:
    questions = {**policy.questions, "other": choice("a", "b")}
    references = {**policy.references, "other": Reference(expected="a")}
    for name in ("yes-no-keys", "noul-twin"):
        assert absent(name, scenario(choice("a", "b"), "a"))
        assert absent(name, scenario(choice("a", "b"), "a", **_parts(policy, questions, references)))


def _parts(of: Scenario, questions: dict[str, Question], references: dict[str, Reference]) -> dict[str, Any]:
    return {"affirmative": of.affirmative, "questions": questions, "references": references}


def test_tags_stay_with_every_variant(policy: Scenario) -> None:
    one = scenario(choice("a", "b", "c"), "a", tags={"difficulty": "hard"})
    for name in ("original", "options-rotated", "neutral-keys", "injection", "options-only"):
        assert made(name, one).tags == {"difficulty": "hard"}
