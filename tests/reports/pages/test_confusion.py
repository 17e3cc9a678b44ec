"""Confusions against scikit-learn and counting by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from decibench.reports.pages.confusion import confusions
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.report import Report
from decibench.reports.summary import summarise
from decibench.reports.table import decisions_of


def answered(number: int, expected: str, choice: str | None, options: Sequence[str], **more: Any) -> Record:
    answer: dict[str, Any] = {"failure": Failure(code="timeout", detail="too late")}
    if choice is not None:
        answer = {"choice": choice, "probabilities": {o: float(o == choice) for o in options}}
    fields: dict[str, Any] = {
        "case": f"c{number}",
        "group": f"g{number}",
        "family": "demo",
        "variant": "original",
        "role": "core",
        "split": "holdout",
        "trial": 1,
        "request_hash": "r",
        "candidate_hash": "h",
        "latency_s": 0.1,
        "decisions": [Decision(question="q", type="choice", options=list(options), expected=expected, **answer)],
    }
    return Record(**(fields | more))


def report_on(make_report: Any, records: Sequence[Record]) -> Report:
    head: Report = make_report("demo", {"demo-1": [True]})
    metrics = summarise(decisions_of(records, 1e-15), 1e-15)
    return head.model_copy(update={"records": list(records), "metrics": metrics})


def drawn(options: Sequence[str], n: int = 300, seed: int = 0) -> list[Record]:
    rng = np.random.default_rng(seed)
    return [
        answered(k, str(rng.choice(options)), str(rng.choice(options)), options, group=f"g{k % 50}") for k in range(n)
    ]


def test_the_matrix_is_that_of_scikit_learn(make_report: Any) -> None:
    options = ["a", "b", "c", "d"]
    records = drawn(options)
    (found,) = confusions(report_on(make_report, records))
    expected, chosen = zip(*((d.expected, d.choice) for r in records for d in r.decisions), strict=True)
    assert (found.family, found.question) == ("demo", "q")
    assert found.matrix is not None
    assert list(found.matrix.columns) == ["expected", *options]
    assert [row[0] for row in found.matrix.rows] == options
    counts = [[int(cell) for cell in row[1:]] for row in found.matrix.rows]
    assert counts == confusion_matrix(expected, chosen, labels=options).tolist()


def test_failed_decisions_have_a_column_and_every_decision_is_in_a_row(make_report: Any) -> None:
    options = ["a", "b"]
    failed = [answered(900 + k, "a", None, options) for k in range(7)]
    (found,) = confusions(report_on(make_report, [*drawn(options), *failed]))
    assert found.matrix is not None
    assert list(found.matrix.columns) == ["expected", "a", "b", "(failed)"]
    assert [row[-1] for row in found.matrix.rows] == ["7", "0"]
    assert sum(int(cell) for row in found.matrix.rows for cell in row[1:]) == 307
    assert ["a", "(failed)", "7", "7"] in [list(row) for row in found.pairs.rows]


def test_an_option_that_is_chosen_but_never_expected_has_a_column_and_no_row(make_report: Any) -> None:
    (found,) = confusions(report_on(make_report, [answered(1, "b", "c", ["a", "b", "c"])]))
    assert found.matrix is not None
    assert list(found.matrix.columns) == ["expected", "b", "c"]
    assert [list(row) for row in found.matrix.rows] == [["b", "0", "1"]]


def test_twelve_options_have_a_matrix_and_thirteen_have_none(make_report: Any) -> None:
    for count, shown in ((12, True), (13, False)):
        options = [f"o{k:02}" for k in range(count)]
        records = [answered(k, option, option, options) for k, option in enumerate(options)]
        (found,) = confusions(report_on(make_report, records))
        assert (found.matrix is not None) is shown


def test_the_ten_commonest_wrong_pairs_come_with_their_scenarios(make_report: Any) -> None:
    options = [f"o{k:02}" for k in range(15)]
    records = [
        answered(100 * k + n, options[0], options[k], options, group=f"g{k}-{n % 2}")
        for k in range(15)
        for n in range(k + 1)
    ]
    (found,) = confusions(report_on(make_report, records))
    rows = [list(row) for row in found.pairs.rows]
    assert rows == [["o00", options[k], str(k + 1), "2"] for k in range(14, 4, -1)]
    assert "10 of 14 pairs" in found.pairs.title


def test_levels_stand_in_the_order_of_their_size(make_report: Any) -> None:
    levels = [str(k) for k in range(12)]
    (found,) = confusions(report_on(make_report, [answered(int(k), k, k, levels) for k in levels]))
    assert found.matrix is not None
    assert list(found.matrix.columns) == ["expected", *levels]


def test_one_for_each_question_and_only_core_decisions_of_the_last_split(make_report: Any) -> None:
    options = ["a", "b"]
    core = [answered(1, "a", "b", options), answered(2, "a", "a", options, family="other")]
    rest = [
        answered(3, "a", "b", options, role="attack", variant="injection"),
        answered(4, "a", "b", options, role="probe", variant="unknowable"),
        answered(5, "a", "b", options, split="calibration"),
    ]
    found = confusions(report_on(make_report, [*core, *rest]))
    assert [(c.family, c.question) for c in found] == [("demo", "q"), ("other", "q")]
    assert [list(row) for row in found[0].pairs.rows] == [["a", "b", "1", "1"]]
    assert list(found[1].pairs.rows) == []
    assert confusions(report_on(make_report, rest[:2])) == []
