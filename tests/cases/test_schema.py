"""What a line of a suite may look like: exact types, known fields, and the limits of each question type."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.loading import load_suite

Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]
Refusal = Callable[[Path, str], str]

CHOICE = {"type": "choice", "instructions": "Which way?", "criteria": {"left": "Left.", "right": "Right."}}


def choice(**changes: Any) -> dict[str, Any]:
    return {"questions": {"way": CHOICE | changes}}


def asked(question: dict[str, Any], expected: str) -> dict[str, Any]:
    return {"questions": {"way": question}, "references": {"way": {"expected": expected}}}


def scale(levels: int) -> dict[str, Any]:
    return {"type": "score", "instructions": "How far?", "criteria": [f"level {n}" for n in range(levels)]}


def test_the_rows_used_here_load_when_nothing_is_wrong_with_them(row: Row, handmade: Handmade) -> None:
    suite = load_suite(handmade(row("one"), row("two", "holdout", expected="right")))
    assert [case.id for case in suite.cases] == ["demo-one-original", "demo-two-original"]
    assert suite.cases[1].references["way"].expected == "right"


WRONG_TYPES = [
    ("state", {"state": 5}, "must be a string, an object or a list"),
    ("state", {"state": None}, "must be a string, an object or a list"),
    ("split", {"split": "test"}, "must be 'development', 'calibration' or 'holdout'"),
    ("variant", {"variant": 1}, "must be a string"),
    ("id", {"id": "Demo One"}, "use lower-case letters, digits and hyphens"),
    ("id", {"id": "demo--one"}, "use lower-case letters, digits and hyphens"),
    ("questions", {"questions": {}}, "has 0 entries; at least 1 are needed"),
    ("questions", {"questions": []}, "must be an object"),
    ("questions.way", {"questions": {"way": "left or right"}}, "must be an object"),
    ("questions.way", choice(type="pick"), "has the unknown type 'pick'; use choice, noul or score"),
    ("questions.way.instructions", choice(instructions=None), "must be a string"),
    ("questions.way.instructions", choice(instructions=""), "must not be empty"),
    ("questions.way.criteria", choice(criteria=["left", "right"]), "must be an object"),
    ("questions.way.criteria.left", choice(criteria={"left": 1, "right": "R"}), "must be a string"),
    ("questions.way.hint", choice(hint="left"), "is not a known field; remove it or correct its spelling"),
    ("references", {"references": []}, "must be an object"),
    ("references.way", {"references": {"way": "left"}}, "must be an object"),
    ("references.way.expected", {"references": {"way": {"expected": True}}}, "must be a string"),
    ("references.way.expected", {"references": {"way": {}}}, "is missing; add it"),
    ("references.way.unsafe", {"references": {"way": {"expected": "left", "unsafe": "right"}}}, "must be a list"),
    ("references.way.note", {"references": {"way": {"expected": "left", "note": ""}}}, "is not a known field"),
    ("weight", {"weight": 2}, "is not a known field; remove it or correct its spelling"),
]


@pytest.mark.parametrize(("field", "change", "remedy"), WRONG_TYPES, ids=lambda value: str(value)[:40])
def test_a_wrong_or_unknown_field_is_refused_with_file_line_field_and_remedy(
    row: Row, handmade: Handmade, refusal: Refusal, field: str, change: dict[str, Any], remedy: str
) -> None:
    folder = handmade(row("good"), row("bad") | change)
    assert remedy in refusal(folder, f"cases.jsonl, line 2, field {field}")


@pytest.mark.parametrize("field", ["id", "group", "family", "variant", "split", "state", "questions", "references"])
def test_every_field_of_a_case_is_required(row: Row, handmade: Handmade, refusal: Refusal, field: str) -> None:
    broken = row("bad")
    del broken[field]
    folder = handmade(row("good"), json.dumps(broken))
    assert refusal(folder, f"cases.jsonl, line 2, field {field}").endswith("is missing; add it")


def test_a_question_without_a_type_is_told_which_types_there_are(
    row: Row, handmade: Handmade, refusal: Refusal
) -> None:
    folder = handmade(row("bad") | {"questions": {"way": {"instructions": "Which way?", "criteria": {}}}})
    sentence = refusal(folder, "cases.jsonl, line 1, field questions.way")
    assert 'needs a "type": choice, noul or score' in sentence


@pytest.mark.parametrize("name", ["choice", "noul", "score"])
def test_a_question_called_like_a_type_keeps_its_name_in_the_sentence(
    row: Row, handmade: Handmade, refusal: Refusal, name: str
) -> None:
    question = CHOICE | {"criteria": {"left": 1, "right": "R"}}
    folder = handmade(row("bad") | {"questions": {name: question}, "references": {name: {"expected": 1}}})
    refusal(folder, f"cases.jsonl, line 1, field questions.{name}.criteria.left")
    refusal(folder, f"cases.jsonl, line 1, field references.{name}.expected")


def test_a_choice_has_two_to_255_options(row: Row, handmade: Handmade) -> None:
    for number in (2, 255):
        question = CHOICE | {"criteria": {f"option-{n}": None for n in range(number)}}
        folder = handmade(row("good") | asked(question, "option-1"))
        assert len(load_suite(folder).cases[0].questions["way"].options) == number
        folder.rename(folder.with_name(f"with-{number}"))


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(0, "has 0 entries; at least 2"), (1, "has 1 entries; at least 2"), (256, "has too many entries; at most 255")],
)
def test_a_choice_of_fewer_or_more_options_is_refused(
    row: Row, handmade: Handmade, refusal: Refusal, number: int, remedy: str
) -> None:
    question = CHOICE | {"criteria": {f"option-{n}": None for n in range(number)}}
    folder = handmade(row("bad") | asked(question, "option-0"))
    assert remedy in refusal(folder, "cases.jsonl, line 1, field questions.way.criteria")


def test_a_score_has_two_to_ten_levels_and_its_options_are_their_indices(row: Row, handmade: Handmade) -> None:
    for number in (2, 10):
        folder = handmade(row("good") | asked(scale(number), str(number - 1)))
        question = load_suite(folder).cases[0].questions["way"]
        assert question.options == tuple("0123456789"[:number])
        assert question.describe(str(number - 1)) == f"level {number - 1}"
        folder.rename(folder.with_name(f"with-{number}"))


@pytest.mark.parametrize(
    ("levels", "remedy"), [(1, "has 1 entries; at least 2"), (11, "has too many entries; at most 10")]
)
def test_a_score_of_fewer_or_more_levels_is_refused(
    row: Row, handmade: Handmade, refusal: Refusal, levels: int, remedy: str
) -> None:
    folder = handmade(row("bad") | asked(scale(levels), "0"))
    assert remedy in refusal(folder, "cases.jsonl, line 1, field questions.way.criteria")


@pytest.mark.parametrize(
    ("criteria", "described"),
    [
        ({}, ("", "")),
        ({"criteria": {"true": "It holds."}}, ("It holds.", "")),
        ({"criteria": {"true": "It holds.", "false": "It does not."}}, ("It holds.", "It does not.")),
    ],
)
def test_a_noul_has_the_options_true_and_false_and_may_describe_them(
    row: Row, handmade: Handmade, criteria: dict[str, Any], described: tuple[str, str]
) -> None:
    question = {"type": "noul", "instructions": "It is open."} | criteria
    noul = load_suite(handmade(row("good") | asked(question, "false"))).cases[0].questions["way"]
    assert noul.options == ("true", "false")
    assert (noul.describe("true"), noul.describe("false")) == described


def test_a_noul_with_a_third_side_or_a_boolean_reference_is_refused(
    row: Row, handmade: Handmade, refusal: Refusal
) -> None:
    question = {"type": "noul", "instructions": "It is open.", "criteria": {"maybe": "Perhaps."}}
    boolean = {"type": "noul", "instructions": "It is open."}
    folder = handmade(
        row("one") | asked(question, "true"),
        row("two") | {"questions": {"way": boolean}, "references": {"way": {"expected": False}}},
    )
    assert "is not a known field" in refusal(folder, "cases.jsonl, line 1, field questions.way.criteria.maybe")
    assert "must be a string" in refusal(folder, "cases.jsonl, line 2, field references.way.expected")


@pytest.mark.parametrize("state", ["", "text", {}, {"room": [1, None, {"open": True}]}, [], ["a", 2.5]])
def test_a_state_is_text_or_json(row: Row, handmade: Handmade, state: Any) -> None:
    assert load_suite(handmade(row("good", state=state))).cases[0].state == state


@pytest.mark.parametrize(("lists", "allowed"), [(49, True), (50, False), (900, False)])
def test_a_state_nests_fifty_deep_and_no_deeper(
    row: Row, handmade: Handmade, refusal: Refusal, lists: int, allowed: bool
) -> None:
    state = json.loads('{"room": ' + "[" * lists + "]" * lists + "}")
    folder = handmade(row("one", state=state))
    if allowed:
        assert load_suite(folder).cases[0].state == state
    else:
        assert "nested more than 50 deep; flatten it" in refusal(folder, "cases.jsonl, line 1, field state")
