"""Decisions in which candidates disagree: which they are, in which order, and what the views leave of them."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from decibench.cases.schema import Case
from decibench.reports.pages.disagreements import Disagreements, disagreements
from decibench.reports.pages.view import View
from decibench.reports.report import Report

A = {"demo-000": [True, True, False], "demo-001": [False, True], "demo-002": [True]}
B = {"demo-000": [True, False, False], "demo-001": [True, True], "demo-002": [None]}
C = {"demo-000": [False, False, False], "demo-001": [True, True], "demo-002": [None]}

Named = Mapping[str, Report]


@pytest.fixture
def named(make_report: Any) -> Callable[..., Named]:
    def make(**outcomes: Mapping[str, Sequence[bool | None]]) -> Named:
        return {name: make_report(name, of, sure=0.9 - 0.1 * i) for i, (name, of) in enumerate(outcomes.items())}

    return make


def found_in(reports: Named, view: View = "full", **how: Any) -> Disagreements:
    found = disagreements(reports, "holdout", view=view, **how)
    assert found is not None
    return found


def content(found: Disagreements) -> dict[str, Any]:
    assert found.packed is not None
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found.packed)))
    return content


def test_rows_are_the_decisions_whose_choices_differ(named: Callable[..., Named]) -> None:
    found = found_in(named(a=A, b=B))
    rows = content(found)["rows"]
    assert {row["case"] for row in rows} == {"demo-000-irrelevant", "demo-001-original", "demo-002-original"}
    assert (found.decisions, found.found, found.scenarios, found.missing) == (6, 3, 3, 0)


def test_counts_say_who_is_right_where_who_is_wrong(named: Callable[..., Named]) -> None:
    counts = found_in(named(a=A, b=B, c=C)).counts
    assert list(counts.columns) == ["right", "a wrong", "b wrong", "c wrong"]
    assert [list(row) for row in counts.rows] == [
        ["a", "-", "2 in 2", "3 in 2"],
        ["b", "1 in 1", "-", "1 in 1"],
        ["c", "1 in 1", "0 in 0", "-"],
    ]


def test_the_widest_spread_comes_first_and_an_unknown_one_last(named: Callable[..., Named]) -> None:
    rows = content(found_in(named(a=A, b=B, c=C)))["rows"]
    spreads = {row["case"]: row["spread"] for row in rows}
    # The expected option gets 0.9 of a where it is right; 0.8 or 0.2 of b; 0.7 or 0.3 of c.
    assert spreads["demo-000-irrelevant"] == pytest.approx(0.7)
    assert spreads["demo-001-original"] == pytest.approx(0.7)
    assert spreads["demo-000-original"] == pytest.approx(0.6)
    assert spreads["demo-002-original"] is None
    assert [row["spread"] for row in rows] == [0.7, 0.7, 0.6, None]


def test_identical_candidates_never_disagree(named: Callable[..., Named]) -> None:
    found = found_in(named(a=A, b=A))
    assert [row["spread"] for row in content(found)["rows"]] == []
    assert (found.found, found.scenarios) == (0, 0)
    assert [list(row) for row in found.counts.rows] == [["a", "-", "0 in 0"], ["b", "0 in 0", "-"]]


def test_a_failed_answer_is_neither_right_nor_a_probability(named: Callable[..., Named]) -> None:
    failed = {group: [None] * len(of) for group, of in A.items()}
    found = found_in(named(a=A, b=failed))
    assert found.found == found.decisions == 6
    for row in content(found)["rows"]:
        assert row["spread"] is None
        assert row["answers"][1] == {"choice": None, "right": False, "probabilities": None, "failure": "timeout"}
    assert found.counts.rows[0][2] == "4 in 3"


def test_what_only_some_were_asked_is_counted_and_left_out(named: Callable[..., Named]) -> None:
    found = found_in(named(a=A, b={"demo-000": B["demo-000"]}))
    assert (found.decisions, found.missing, found.found) == (3, 3, 1)


def test_many_are_sampled_and_said_to_be(named: Callable[..., Named]) -> None:
    outcomes = {f"demo-{number:03}": [True] for number in range(30)}
    wrong = {group: [False] for group in outcomes}
    found = found_in(named(a=outcomes, b=wrong), most=10)
    rows = content(found)["rows"]
    assert len(rows) == 10
    assert found.sample == "10 of 30 disagreements, a seeded sample; every figure above is of all."
    assert found.counts.rows[0][2] == "30 in 30"
    again = found_in(named(a=outcomes, b=wrong), most=10)
    assert again.packed == found.packed
    assert {row["case"] for row in rows} != {f"demo-{number:03}-original" for number in range(10)}


def test_views_decide_what_is_there(named: Callable[..., Named], row: Callable[..., dict[str, Any]]) -> None:
    cases = [Case.model_validate(row("001", "holdout", state="A text of the case."))]
    reports = named(a=A, b=B)
    texts = content(found_in(reports, cases=cases))["texts"]
    assert texts["demo-001-original"]["state"] == "A text of the case."
    assert texts["demo-001-original"]["questions"]["way"]["descriptions"]["left"] == "Turn to the left side."
    assert content(found_in(reports, "no-states", cases=cases))["texts"] == {}
    aggregate = found_in(reports, "aggregate-only", cases=cases)
    assert aggregate.packed is None
    assert aggregate.found == 3


def test_one_candidate_has_nobody_to_disagree_with(named: Callable[..., Named]) -> None:
    assert disagreements(named(a=A), "holdout", view="full") is None
    assert disagreements(named(a=A, b=B), None, view="full") is None


def test_only_core_decisions_of_the_split_count(named: Callable[..., Named]) -> None:
    reports = dict(named(a=A, b=B))
    for name, report in reports.items():
        records = [
            record.model_copy(update={"role": "probe"} if record.variant == "irrelevant" else {})
            for record in report.records
        ]
        records = [r.model_copy(update={"split": "calibration"} if r.group == "demo-002" else {}) for r in records]
        reports[name] = report.model_copy(update={"records": records})
    found = found_in(reports)
    assert found.decisions == 3
    assert [row["case"] for row in content(found)["rows"]] == ["demo-001-original"]
