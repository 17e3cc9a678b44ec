"""What must hold between fields and between cases: ids, groups, splits and references."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.loading import load_suite

Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]
Refusal = Callable[[Path, str], str]


def reference(**fields: Any) -> dict[str, Any]:
    return {"references": {"way": {"expected": "left"} | fields}}


def test_a_duplicate_id_is_refused_with_both_lines(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    sentence = refusal(handmade(row("one"), row("two"), row("one")), "cases.jsonl, line 3, field id")
    assert "demo-one-original is already used on line 1 of cases.jsonl; rename one" in sentence


def test_a_group_in_two_splits_is_refused_with_both_lines(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    folder = handmade(row("one", "calibration"), row("two", "holdout"), row("one", "holdout", "paraphrase"))
    sentence = refusal(folder, "cases.jsonl, line 3, field split")
    assert "group demo-one is in calibration on line 1 of cases.jsonl" in sentence
    assert "all variants of a scenario belong to one split" in sentence


def test_an_id_that_is_not_group_and_variant_is_refused_with_the_right_one(
    row: Row, handmade: Handmade, refusal: Refusal
) -> None:
    sentence = refusal(handmade(row("one") | {"id": "demo-one"}), "cases.jsonl, line 1, field id")
    assert "demo-one-original" in sentence


def test_a_group_outside_its_family_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    folder = handmade(row("one") | {"family": "other"})
    assert "must start with the family: other-..." in refusal(folder, "cases.jsonl, line 1, field group")


def test_a_group_of_two_families_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    first = row("x-one", family="demo")
    second = first | {"id": "demo-x-one-paraphrase", "variant": "paraphrase", "family": "demo-x"}
    sentence = refusal(handmade(first, second), "cases.jsonl, line 2, field family")
    assert "group demo-x-one is of family demo elsewhere" in sentence


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("expected", reference(expected="up")),
        ("unsafe", reference(unsafe=["up"])),
        ("demanded", reference(demanded="up")),
    ],
)
def test_a_reference_to_an_unknown_option_is_refused_with_the_options(
    row: Row, handmade: Handmade, refusal: Refusal, field: str, change: dict[str, Any]
) -> None:
    sentence = refusal(handmade(row("one"), row("two") | change), f"cases.jsonl, line 2, field references.way.{field}")
    assert "'up' is not an option of the question (left, right); name one of them" in sentence


def test_of_many_options_the_first_are_shown(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    question = {"type": "choice", "instructions": "?", "criteria": {f"option-{n}": None for n in range(200)}}
    case = row("one") | {"questions": {"way": question}} | reference(expected="up")
    sentence = refusal(handmade(case), "cases.jsonl, line 1, field references.way.expected")
    assert "option-0, option-1," in sentence
    assert len(sentence) < 300


def test_the_level_of_a_score_beyond_its_scale_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    question = {"type": "score", "instructions": "How far?", "criteria": ["near", "far"]}
    case = row("one") | {"questions": {"way": question}} | reference(expected="2")
    assert "(0, 1)" in refusal(handmade(case), "cases.jsonl, line 1, field references.way.expected")


@pytest.mark.parametrize("field", ["unsafe", "demanded"])
def test_the_expected_option_can_be_neither_unsafe_nor_demanded(
    row: Row, handmade: Handmade, refusal: Refusal, field: str
) -> None:
    change = reference(unsafe=["left"]) if field == "unsafe" else reference(demanded="left")
    sentence = refusal(handmade(row("one") | change), f"cases.jsonl, line 1, field references.way.{field}")
    assert f"'left' is the expected option; only wrong options can be {field}" in sentence


def test_an_unsafe_option_named_twice_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    folder = handmade(row("one") | reference(unsafe=["right", "right"]))
    assert "name it once" in refusal(folder, "cases.jsonl, line 1, field references.way.unsafe")


def test_a_question_without_a_reference_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    sentence = refusal(handmade(row("one") | {"references": {}}), "cases.jsonl, line 1, field references")
    assert "has no reference for the question way; add one" in sentence


def test_a_reference_without_a_question_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    references = {"way": {"expected": "left"}, "speed": {"expected": "slow"}}
    folder = handmade(row("one") | {"references": references})
    sentence = refusal(folder, "cases.jsonl, line 1, field references.speed")
    assert "refers to a question the case does not ask; remove it" in sentence


def test_unsafe_and_demanded_options_that_are_wrong_ones_load(row: Row, handmade: Handmade) -> None:
    folder = handmade(row("one") | reference(unsafe=["right"], demanded="right"))
    loaded = load_suite(folder).cases[0].references["way"]
    assert (loaded.expected, loaded.unsafe, loaded.demanded) == ("left", ["right"], "right")
