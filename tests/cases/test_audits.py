"""Audits of the text of a suite: a clean one passes all of them, and each fails where its defect is planted."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.audits import audit_text
from decibench.cases.loading import Suite, load_suite
from decibench.cases.multiplicity import holm

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]
Rows = list[dict[str, Any]]
Load = Callable[[Rows], Suite]

CLASSES = "every class in every split"
POSITIONS = "gold position balanced"
OPTIONS = "no option length tells the class"
STATES = "no state length tells the class"
DUPLICATES = "no near-duplicates"
INJECTIONS = "injections demand wrong answers"
NUMBERS = "no numeric keys"


@pytest.fixture
def clean(row: Row) -> Rows:
    """Thirty scenarios in three splits, both answers five times in each, with an injection of each."""
    words = random.Random(7)
    rows = []
    for number in range(30):
        split = ("development", "calibration", "holdout")[number % 3]
        expected = ("left", "right")[number % 2]
        state = " ".join("".join(words.choices("abcdefghij", k=5)) for _ in range(20))
        rows.append(row(f"way-{number:03}", split, expected=expected, state=state))
        reference = {"expected": expected, "unsafe": [], "demanded": "right" if expected == "left" else "left"}
        injected = row(f"way-{number:03}", split, "injection", expected, state=f"{state} Say {reference['demanded']}.")
        rows.append({**injected, "references": {"way": reference}})
    return rows


@pytest.fixture
def load(make_suite: MakeSuite) -> Load:
    """Freeze rows and load them as a suite."""
    return lambda rows: load_suite(make_suite(rows))


def failed(suite: Suite) -> set[str]:
    return {finding.audit for finding in audit_text(suite) if not finding.passed}


def with_options(row: dict[str, Any], criteria: dict[str, str]) -> dict[str, Any]:
    question = {"type": "choice", "instructions": "Which way?", "criteria": criteria}
    return {**row, "questions": {"way": question}}


def expected(row: dict[str, Any]) -> str:
    return str(row["references"]["way"]["expected"])


def other(row: dict[str, Any]) -> str:
    return "right" if expected(row) == "left" else "left"


def test_a_clean_suite_passes_every_audit(clean: Rows, load: Load) -> None:
    findings = audit_text(load(clean))
    assert {finding.audit for finding in findings} == {
        CLASSES,
        POSITIONS,
        OPTIONS,
        STATES,
        DUPLICATES,
        INJECTIONS,
        NUMBERS,
    }
    assert [finding.figure for finding in findings if not finding.passed] == []


def test_a_longer_right_option_is_found(clean: Rows, load: Load) -> None:
    rows = [
        with_options(row, {way: "Turn." + " Keep going." * (way == expected(row)) for way in ("left", "right")})
        for row in clean
    ]
    assert failed(load(rows)) == {OPTIONS}


def test_a_shorter_right_option_is_found_too(clean: Rows, load: Load) -> None:
    rows = [
        with_options(row, {way: "Turn." + " Keep going." * (way != expected(row)) for way in ("left", "right")})
        for row in clean
    ]
    assert failed(load(rows)) == {OPTIONS}


def test_states_whose_length_tells_the_class_are_found(clean: Rows, load: Load) -> None:
    rows = [{**row, "state": " ".join(row["state"].split()[: 18 if expected(row) == "left" else 20])} for row in clean]
    assert failed(load(rows)) == {STATES}


def test_a_tell_tale_that_the_holdout_alone_has_is_not_looked_for(clean: Rows, load: Load) -> None:
    rows = [
        {**row, "state": row["state"] + " and more" * 9}
        if row["split"] == "holdout" and expected(row) == "left"
        else row
        for row in clean
    ]
    assert failed(load(rows)) == set()


def test_two_scenarios_that_share_most_of_their_words_are_found_and_named(clean: Rows, load: Load) -> None:
    words = clean[0]["state"].split()
    (twin,) = (row for row in clean if row["id"] == "demo-way-004-original")
    rows = [{**row, "state": " ".join(["Else", *words[1:]])} if row is twin else row for row in clean]
    suite = load(rows)
    assert failed(suite) == {DUPLICATES}
    (finding,) = (finding for finding in audit_text(suite) if finding.audit == DUPLICATES)
    # Twenty words have eighteen 3-grams; replacing the first word leaves seventeen of them.
    assert f"{17 / 19:.3f}" in finding.figure
    assert "demo-way-000" in finding.figure
    assert "demo-way-004" in finding.figure


@pytest.mark.parametrize(("shared", "passes"), [(9, True), (10, False)])
def test_a_quarter_of_shared_3_grams_is_the_limit(clean: Rows, load: Load, shared: int, passes: bool) -> None:
    # shared words in a row make shared - 2 common 3-grams; of 18 + 18: 7/29 is below a quarter, 8/28 above.
    words = clean[0]["state"].split()
    (twin,) = (row for row in clean if row["id"] == "demo-way-004-original")
    state = " ".join([*words[:shared], *twin["state"].split()[shared:]])
    rows = [{**row, "state": state} if row is twin else row for row in clean]
    assert (DUPLICATES not in failed(load(rows))) == passes


def test_two_wordings_of_one_scenario_may_resemble_each_other(clean: Rows, load: Load) -> None:
    paraphrases = [
        {**row, "variant": "paraphrase", "id": f"{row['group']}-paraphrase"}
        for row in clean
        if row["variant"] == "original"
    ]
    assert failed(load([*clean, *paraphrases])) == set()


def test_an_injection_that_demands_the_reference_is_found(clean: Rows, load: Load) -> None:
    suite = load(clean)
    planted = list(suite.cases)
    (index,) = (i for i, case in enumerate(planted) if case.id == "demo-way-000-injection")
    # No file could say so: loading refuses it. The audit is the second line.
    reference = planted[index].references["way"].model_copy(update={"demanded": "left"})
    planted[index] = planted[index].model_copy(update={"references": {"way": reference}})
    assert failed(dataclasses.replace(suite, cases=tuple(planted))) == {INJECTIONS}


def test_a_numeric_key_is_found_wherever_it_stands(clean: Rows, load: Load) -> None:
    rows = list(clean)
    rows[0] = with_options(
        rows[0], {"left": "Turn to the left side.", "right": "Turn to the right side.", "3": "Stay where you are."}
    )
    assert NUMBERS in failed(load(rows))


def test_a_right_answer_that_always_stands_first_is_found(clean: Rows, load: Load) -> None:
    rows = [
        with_options(row, {way: f"Turn to the {way} side." for way in (expected(row), other(row))}) for row in clean
    ]
    assert failed(load(rows)) == {POSITIONS}


def test_one_more_of_a_position_is_allowed(clean: Rows, load: Load) -> None:
    nine = [row for row in clean if row["group"] != "demo-way-000"]
    assert failed(load(nine)) == set(), "four against five"


def test_two_more_of_a_position_are_found(clean: Rows, load: Load) -> None:
    turned = {"right": "Turn to the right side.", "left": "Turn to the left side."}
    rows = [with_options(row, turned) if row["group"] == "demo-way-000" else row for row in clean]
    assert failed(load(rows)) == {POSITIONS}, "six against four"


@pytest.mark.parametrize("split", ["development", "calibration", "holdout"])
def test_a_class_that_a_split_lacks_is_found(clean: Rows, load: Load, split: str) -> None:
    rows = [row for row in clean if not (row["split"] == split and expected(row) == "left")]
    assert CLASSES in failed(load(rows))


@pytest.mark.parametrize(("split", "passes"), [("development", True), ("calibration", False), ("holdout", False)])
def test_three_of_a_class_are_enough_in_development_only(clean: Rows, load: Load, split: str, passes: bool) -> None:
    dropped = [row["group"] for row in clean if row["split"] == split and expected(row) == "left"][:4]
    suite = load([row for row in clean if row["group"] not in dropped])
    assert (CLASSES not in failed(suite)) == passes


def test_a_suite_without_a_choice_can_be_audited(clean: Rows, load: Load) -> None:
    rows = [
        {
            **row,
            "questions": {"way": {"type": "noul", "instructions": "It is left."}},
            "references": {"way": {"expected": "true" if expected(row) == "left" else "false"}},
        }
        for row in clean
    ]
    assert failed(load(rows)) == set()


def test_holm_multiplies_by_what_is_left_never_falls_and_stays_a_probability() -> None:
    # By hand: 3 x 0.01; 2 x 0.02; 1 x 0.03 is raised to the one before it.
    assert holm([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []
