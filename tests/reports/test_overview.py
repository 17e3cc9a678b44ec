"""What a report says before its tables: failures wherever they are, known parts of a cost, and which trial and look."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from decibench.reports.comparisons.comparison import compare
from decibench.reports.latency import Prices, cost_of, latency_of
from decibench.reports.markdown import summary_markdown
from decibench.reports.record import EarlierAttempt, Failure, TokenUsage
from decibench.reports.report import HoldoutLooks, Report
from decibench.reports.tables.comparison import reports_table, standings_table
from decibench.reports.tables.overview import decision_line, notes, report_tables
from decibench.reports.tables.provenance import provenance

FIGURES = Path(__file__).parents[2] / "docs" / "figures.md"
OUTCOMES = {f"{family}-{i}": [True, i > 0, True] for family in ("a", "b") for i in range(3)}


def noted(report: Report, start: str) -> list[str]:
    """The notes that begin with, or contain, ``start``."""
    return [note for note in notes(report) if start in note]


def failing(report: Report, role: str, *codes: tuple[str, str]) -> Report:
    """The report with more records of ``role``, each failed: a code and the variant it failed under."""
    record = report.records[0]
    failed = [
        record.model_copy(
            update={
                "role": role,
                "variant": variant,
                "decisions": [
                    record.decisions[0].model_copy(
                        update={"choice": None, "probabilities": None, "failure": Failure(code=code, detail="secret")}
                    )
                ],
            }
        )
        for code, variant in codes
    ]
    return report.model_copy(update={"records": [*report.records, *failed]})


def test_failures_outside_core_are_told_with_their_codes_and_variants(make_report: Any) -> None:
    report = make_report("one", OUTCOMES)
    assert not noted(report, "failed")
    long = failing(report, "probe", *[("state-too-long", "long")] * 3)
    assert "0 failed)" in summary_markdown(long)
    note = "3 of 21 decisions failed, 3 of them outside core: state-too-long 3 (long 3)."
    assert noted(long, "failed") == [note]
    assert note in summary_markdown(long, rows=False)
    assert "secret" not in summary_markdown(long)


def test_failures_of_core_are_told_too_and_rare_codes_and_many_variants_are_counted(make_report: Any) -> None:
    report = make_report("one", {**OUTCOMES, "c-1": [None, True, None]})
    assert noted(report, "failed") == ["2 of 21 decisions failed: timeout 2 (original 1, paraphrase 1)."]
    many = [("down", f"v{i}") for i in range(4)] + [("late", "v0")] * 3 + [("odd", "v1"), ("zany", "v1")]
    assert noted(failing(report, "attack", *many), "failed") == [
        "11 of 30 decisions failed, 9 of them outside core: down 4 (in 4 variants), late 3 (v0 3), timeout 2 "
        "(original 1, paraphrase 1), other codes 2."
    ]


@pytest.mark.parametrize(
    ("usage", "seconds", "prices", "said"),
    [
        (None, 0.36, {"input": 1.0, "compute": 2.0}, "compute 0.003600 USD; input unknown, because tokens of some "
            "requests are unknown; no total."),
        (100, None, {"input": 2.5, "compute": 2.0}, "compute unknown, because times of some requests are unknown; "
            "input 0.004500 USD; no total."),
        (None, 0.36, {"input": 1.0}, "input unknown, because tokens of some requests are unknown."),
        (10**12, 0.36, {"input": 1e308}, "input unknown, because it is beyond all floats."),
        (100, 0.36, {"input": 2.5, "compute": 2.0}, "0.008100 USD."),
    ],
)  # fmt: skip
def test_the_known_part_of_a_cost_is_told_and_why_the_other_is_not(
    make_report: Any, usage: int | None, seconds: float | None, prices: dict[str, float], said: str
) -> None:
    report: Report = make_report("one", OUTCOMES)
    # One request decides what is known of all of them.
    records = [
        record.model_copy(
            update={
                "latency_s": seconds if i < 2 else 0.36,
                "usage": TokenUsage(input_tokens=usage if i < 2 else 100, output_tokens=1),
            }
        )
        for i, record in enumerate(report.records)
    ]
    cost = cost_of(
        records, Prices(input_usd_per_million=prices.get("input"), compute_usd_per_hour=prices.get("compute"))
    )
    found = report.model_copy(update={"records": records, "cost": cost, "latency": latency_of(records)})
    assert noted(found, "Cost") == [f"Cost of the measured requests: {said}"]


@pytest.mark.parametrize(
    ("models", "identity", "note"),
    [
        ([None], {"model": "m-1"}, []),
        (["m-1"], {"model": "m-1"}, ["Answered by m-1."]),
        (
            ["m-1-2026"],
            {"model": "m-1", "settings": {"asked_model": "m-1"}},
            ["Answered by m-1-2026; asked for was m-1."],
        ),
        (["m-2"], {"model": "m-2", "settings": {"asked_model": "m"}}, ["Answered by m-2; asked for was m."]),
        (["m-1", None, "m-2", "m-1"], {"model": "m-1"}, ["Answered by m-1, m-2; asked for was m-1."]),
    ],
)
def test_who_answered_is_told_and_that_it_is_another_than_was_asked(
    make_report: Any, models: list[str | None], identity: dict[str, Any], note: list[str]
) -> None:
    report: Report = make_report("one", {"a-0": [True] * len(models), "a-1": [None]})
    candidate = report.candidate.model_copy(update={"identity": identity})
    # What a model that failed called itself answers nothing.
    records = [
        record.model_copy(update={"model": model})
        for record, model in zip(report.records, [*models, "m-3"], strict=True)
    ]
    found = report.model_copy(update={"candidate": candidate, "records": records})
    assert noted(found, "Answered") == note
    answered = list(dict.fromkeys(model for model in models if model))
    assert dict(provenance(found)).get("answered by") == (", ".join(answered) or None)
    table = reports_table(
        compare([found, make_report("two", {"a-0": [True] * len(models), "a-1": [None]}, scope=found.scope)])
    )
    rows = {row[0]: list(row[1:]) for row in table.rows}
    assert rows.get("answered by") == ([", ".join(answered), "-"] if answered else None)


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        ("within", "Act at 0.7 or more: on holdout 32 of 160 are accepted, 1 of them wrong{trial}, and an error of at "
            "most 5% is confirmed{look}."),
        ("not-shown", "To act at 0.7 or more with an error of at most 5% is not confirmed: on holdout 32 of 160 are "
            "accepted, 1 of them wrong{trial}{look}."),
        ("nothing-accepted", "Act on nothing: at 0.7 or more none of 160 holdout decisions is accepted{trial}{look}."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("trials", [1, 2])
@pytest.mark.parametrize("look", [None, 1, 2])
def test_the_decision_tells_its_trial_and_a_later_look(
    make_report: Any, outcome: str, line: str, trials: int, look: int | None
) -> None:
    test = {
        "outcome": outcome,
        "risk": None if outcome == "nothing-accepted" else 0.03,
        "decisions": 160,
        "accepted": 32,
        "errors": 1,
        "alpha": 0.05,
        "proved": True,
        "unsafe": None,
    }
    gates = {"empirical": {"status": "fitted", "threshold": 0.7}, "holdout_tests": {"empirical": test}}
    looks = HoldoutLooks(family="one", number=look, this_candidate=None, this_family=None, all_candidates=None)
    report = make_report("one", [OUTCOMES] * trials, gates=gates, holdout_looks=looks)
    expected = line.format(
        trial=" (trial 1)" if trials > 1 else "", look=" (look 2 at this holdout)" if look == 2 else ""
    )
    assert decision_line(report) == expected


def test_every_figure_of_the_first_tables_is_explained(make_report: Any) -> None:
    report: Report = make_report("one", OUTCOMES)
    retried = [
        report.records[0].model_copy(update={"attempt": 2, "earlier": [EarlierAttempt(seconds=1.0, code="timeout")]}),
        *report.records[1:],
    ]
    found = report.model_copy(update={"latency": latency_of(retried)})
    tables = {table.title.partition(" (")[0]: table for table in report_tables(found)}
    printed = {row[0] for title in ("Overall", "Variants against the original") for row in tables[title].rows}
    assert {"unsafe_eligible", "zeros_on_reference", "agreement"} <= printed
    page = FIGURES.read_text("utf-8")
    explained = {
        name for cell in re.findall(r"^\| (.*?) \|", page, re.MULTILINE) for name in re.findall("`(.*?)`", cell)
    }
    assert not printed - explained
    latency = tables["Latency"]
    assert any("with retries" in row[0] for row in latency.rows)
    words = {*latency.columns[1:], "with_retries"}
    assert not [word for word in words if not re.search(rf"\b{word}\b", page.partition("## Latency")[2])]


def test_figures_side_by_side_tell_that_they_are_of_core_and_their_units(make_report: Any) -> None:
    one, two = make_report("one", OUTCOMES), make_report("two", OUTCOMES)
    # 1 ms a request at 3.6 USD an hour is a millionth of a dollar each.
    priced = two.model_copy(update={"cost": cost_of(two.records, Prices(compute_usd_per_hour=3.6))})
    table = standings_table(compare([one, priced]))
    assert table.title == "Candidates side by side (holdout, core)"
    rows = [list(row) for row in table.rows]
    assert ["request latency, p50", "1.00 ms", "1.00 ms"] in rows
    assert ["cost per 1,000 decisions, USD", "unknown", "0.001"] in rows
