"""Warnings of ``lint``: a suite that loads and yet means less than it seems to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.lint import lint
from decibench.cases.loading import Suite, load_suite

Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]


def asked(criteria: dict[str, str | None], expected: str) -> dict[str, Any]:
    return {
        "questions": {"way": {"type": "choice", "instructions": "What is it?", "criteria": criteria}},
        "references": {"way": {"expected": expected}},
    }


def test_a_sound_suite_has_no_warnings(row: Row, handmade: Handmade) -> None:
    rows = [
        row(f"{split}-{answer}", split, state=f"{answer} in {split}", expected=answer)
        for split in ("development", "calibration", "holdout")
        for answer in ("left", "right")
    ]
    assert list(lint(load_suite(handmade(*rows)))) == []


def test_the_shipped_suite_has_no_warnings(shipped: Suite) -> None:
    assert list(lint(shipped)) == []


def test_numeric_keys_that_equal_the_content_of_the_right_answer_are_warned_of(row: Row, handmade: Handmade) -> None:
    folder = handmade(row("sum", state="What is 3 + 4?") | asked({"6": "6", "7": "7", "8": "8"}, "7"))
    [warning] = lint(load_suite(folder))
    assert "demo-sum-original, question way" in warning
    assert "the key 7 equals the content of the right answer" in warning
    assert "Use neutral or named keys." in warning


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ({"1": "6", "2": "7", "3": "8"}, "2"),
        ({"seven": "7", "eight": "8"}, "seven"),
        ({"7": "The number of days in a week.", "8": "The number of legs of a spider."}, "7"),
    ],
)
def test_neutral_numbers_and_named_keys_are_not_warned_of(
    row: Row, handmade: Handmade, criteria: dict[str, str | None], expected: str
) -> None:
    assert list(lint(load_suite(handmade(row("sum") | asked(criteria, expected))))) == []


def test_yes_no_keys_are_warned_of_once_per_question_with_their_number(row: Row, handmade: Handmade) -> None:
    rows = [row(f"n{n}", state=f"Case {n}") | asked({"Yes": "It is.", "No": "It is not."}, "Yes") for n in range(3)]
    [warning] = lint(load_suite(handmade(*rows)))
    assert "family demo, question way: 3 core cases have yes/no keys" in warning
    assert "Use keys that name the decision." in warning


def test_yes_no_keys_of_a_probe_are_what_it_is_for(row: Row, handmade: Handmade) -> None:
    probe = row("one", variant="yes-no-keys") | asked({"yes": "It is.", "no": "It is not."}, "yes")
    folder = handmade(probe, variants={"yes-no-keys": {"role": "probe", "cases": 1}})
    assert list(lint(load_suite(folder))) == []


def test_a_class_that_a_split_lacks_is_warned_of(row: Row, handmade: Handmade) -> None:
    folder = handmade(
        row("one", "calibration", state="1"),
        row("two", "calibration", state="2", expected="right"),
        row("three", "holdout", state="3"),
    )
    assert list(lint(load_suite(folder))) == ["family demo, question way: holdout has no case whose answer is right."]


def test_the_same_request_with_different_references_stays_two_cases_and_is_warned_of(
    row: Row, handmade: Handmade
) -> None:
    folder = handmade(row("one", expected="left"), row("two", expected="right"))
    suite = load_suite(folder)
    assert [(case.id, case.references["way"].expected) for case in suite.cases] == [
        ("demo-one-original", "left"),
        ("demo-two-original", "right"),
    ]
    [warning] = lint(suite)
    assert warning.startswith("demo-one-original, demo-two-original: the same request with different references")


def test_two_variants_of_one_scenario_with_the_same_request_and_different_references_are_warned_of(
    row: Row, handmade: Handmade
) -> None:
    folder = handmade(row("one", expected="left"), row("one", variant="paraphrase", expected="right"))
    [warning] = lint(load_suite(folder))
    assert "demo-one-original, demo-one-paraphrase: the same request with different references" in warning


def test_the_order_in_which_references_are_written_does_not_make_them_different(row: Row, handmade: Handmade) -> None:
    way = row("one")["questions"]["way"]
    references = {"way": {"expected": "left"}, "back": {"expected": "right"}}
    backwards = dict(reversed(references.items()))
    both = {"questions": {"way": way, "back": way}}
    folder = handmade(row("one") | both | {"references": references}, row("two") | both | {"references": backwards})
    assert list(lint(load_suite(folder))) == []


def test_the_same_request_in_two_splits_is_warned_of(row: Row, handmade: Handmade) -> None:
    folder = handmade(row("one", "calibration"), row("two", "holdout"))
    [warning] = lint(load_suite(folder))
    assert "the same request in several splits; the holdout is not independent" in warning


def test_another_order_of_options_is_another_request(row: Row, handmade: Handmade) -> None:
    forwards = asked({"left": "Left.", "right": "Right."}, "left")
    backwards = asked({"right": "Right.", "left": "Left."}, "left")
    folder = handmade(row("one", "calibration") | forwards, row("two", "holdout") | backwards)
    assert list(lint(load_suite(folder))) == []
