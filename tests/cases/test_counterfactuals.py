"""Links between a case and the one it changes: what they must hold to, and that no model sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.__main__ import main
from decibench.cases.errors import SuiteError
from decibench.cases.loading import find_suite, load_suite
from decibench.cases.request import request_hash
from decibench.cases.schema import Case

Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]
Refusal = Callable[[Path, str], str]

LINK = {"of": "demo-one-original", "question": "way", "option": "left", "direction": "up"}


def linked(row: Row, group: str = "one", variant: str = "paraphrase", **more: Any) -> dict[str, Any]:
    link = LINK | more.pop("link", {})
    return row(group, variant=variant, **({"state": "Left is free."} | more), counterfactual=link)


def test_a_link_is_loaded_and_a_case_without_one_has_none(row: Row, handmade: Handmade) -> None:
    suite = load_suite(handmade(row("one"), linked(row)))
    plain, changed = suite.cases
    assert plain.counterfactual is None
    assert changed.counterfactual is not None
    assert changed.counterfactual.model_dump() == LINK


def test_a_link_changes_neither_the_request_nor_its_hash(row: Row) -> None:
    bare = {key: value for key, value in linked(row).items() if key != "counterfactual"}
    assert request_hash(Case.model_validate(linked(row))) == request_hash(Case.model_validate(bare))


def test_two_scenarios_can_be_linked_and_several_cases_to_the_same_one(row: Row, handmade: Handmade) -> None:
    rows = [linked(row, "two", "original"), row("one"), linked(row, "three", "original", link={"direction": "down"})]
    assert len(load_suite(handmade(*rows)).cases) == 3


def test_the_case_a_link_names_may_stand_in_another_file(row: Row, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(linked(row)) + "\n", "utf-8")
    (tmp_path / "b.jsonl").write_text(json.dumps(row("one")) + "\n", "utf-8")
    assert main(["freeze", str(tmp_path), "--name", "mine"]) == 0
    assert main(["validate", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"of": "demo-none-original"}, "of", "demo-none-original is no case of the suite; name the id of one"),
        ({"of": "demo-one-paraphrase"}, "of", "is the case itself; name the case that this one changes"),
        ({"question": "where"}, "question", "no question where; name one that both cases ask"),
        ({"option": "up"}, "option", "'up' is no option of the question way in "),
        ({"direction": "sideways"}, "direction", "must be 'up' or 'down'"),
        ({"of": ""}, "of", "use lower-case letters, digits and hyphens"),
        ({"strength": 1}, "strength", "is not a known field; remove it"),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(
    row: Row, handmade: Handmade, changes: dict[str, Any], field: str, sentence: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(handmade(row("one"), linked(row, link=changes)))
    # A line that cannot be read makes the counts of the manifest wrong too.
    told = [str(problem) for problem in caught.value.problems if problem.file == "cases.jsonl"]
    assert all(problem.startswith(f"cases.jsonl, line 2, field counterfactual.{field}: ") for problem in told)
    assert any(sentence in problem for problem in told), told


@pytest.mark.parametrize("missing", ["of", "question", "option", "direction"])
def test_every_part_of_a_link_is_needed(row: Row, handmade: Handmade, refusal: Refusal, missing: str) -> None:
    link = {key: value for key, value in LINK.items() if key != missing}
    folder = handmade(row("one"), row("one", variant="paraphrase", state="Left is free.", counterfactual=link))
    assert "is missing; add it" in refusal(folder, f"cases.jsonl, line 2, field counterfactual.{missing}")


def test_a_pair_must_not_straddle_splits_or_families(row: Row, handmade: Handmade) -> None:
    other = linked(row, "two", "original", split="holdout", family="other")
    with pytest.raises(SuiteError) as caught:
        load_suite(handmade(row("one"), other))
    place = "cases.jsonl, line 2, field counterfactual.of: demo-one-original on line 1 of cases.jsonl is of the"
    assert [str(problem) for problem in caught.value.problems] == [
        f"{place} split calibration, this case of holdout; both must be of one split",
        f"{place} family demo, this case of other; both must be of one family",
    ]


def test_links_make_no_chain(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    last = linked(row, "two", "original", state="Right is shut.", link={"of": "demo-one-paraphrase"})
    sentence = refusal(handmade(row("one"), linked(row), last), "cases.jsonl, line 3, field counterfactual.of")
    assert "demo-one-paraphrase on line 2 of cases.jsonl is itself a counterfactual, of demo-one-original" in sentence
    assert "name a case without a link" in sentence


def test_two_cases_that_ask_the_same_are_no_counterfactual(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    same = linked(row, state="Which way?")
    sentence = refusal(handmade(row("one"), same), "cases.jsonl, line 2, field counterfactual.of")
    assert "asks exactly the same; change the state or a question" in sentence


def test_the_option_must_be_one_of_both_cases(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    asked = {
        "way": {"type": "choice", "instructions": "Which way?", "criteria": {"up": "Go up.", "right": "Go right."}}
    }
    base = row("one", questions=asked, expected="right")
    sentence = refusal(handmade(base, linked(row)), "cases.jsonl, line 2, field counterfactual.option")
    assert "'left' is no option of the question way in demo-one-original on line 1 of cases.jsonl" in sentence


def test_a_faulty_link_is_not_frozen(row: Row, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(linked(row)) + "\n", "utf-8")
    assert main(["freeze", str(tmp_path), "--name", "mine"]) == 4
    assert "a.jsonl, line 1, field counterfactual.of: demo-one-original is no case" in capsys.readouterr().err
    assert not (tmp_path / "manifest.json").exists()


@pytest.mark.parametrize("name", ["decisions-v0", "decisions-v1"])
def test_the_shipped_suites_stay_what_they_were(name: str) -> None:
    path = find_suite(name)
    assert b"counterfactual" not in (path / "cases.jsonl").read_bytes()
    assert all(case.counterfactual is None for case in load_suite(path).cases)
