"""Failed decisions that a lenient reading could have read: counted beside, and in no other figure."""

from __future__ import annotations

from typing import Any

import pytest

from decibench.reports.markdown import summary_markdown
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.summary import summarise
from decibench.reports.table import decisions_of

FLOOR = 1e-15


def read_leniently(report: Report, *choices: str | None) -> Report:
    """``report`` with what a lenient reading finds in its failed decisions, in order."""
    found = iter(choices)
    records = [_lenient(record, found) if record.failed else record for record in report.records]
    return report.model_copy(
        update={"records": records, "metrics": summarise(decisions_of(records, FLOOR), FLOOR)},
    )


def _lenient(record: Record, found: Any) -> Record:
    (decision,) = record.decisions
    return record.model_copy(update={"decisions": [decision.model_copy(update={"lenient_choice": next(found)})]})


@pytest.fixture
def report(make_report: Any) -> Report:
    """Ten decisions on five scenarios: five right, two wrong, three failed."""
    rights = {"a-1": [True, True], "a-2": [True, None], "a-3": [False, None], "a-4": [True, True], "a-5": [False, None]}
    made: Report = make_report("one", rights)
    return made


def test_counts_stand_beside_the_strict_figures(report: Report) -> None:
    found = read_leniently(report, "left", "right", None).metrics["holdout"].overall
    assert (found.failed, found.lenient_readable, found.lenient_correct) == (3, 2, 1)
    assert (found.accuracy, found.lenient_accuracy) == (0.5, 0.6)
    strict = report.metrics["holdout"].overall
    assert (found.macro_accuracy, found.validity, found.brier_score, found.log_loss) == (
        *(strict.macro_accuracy, strict.validity, strict.brier_score, strict.log_loss),
    )


def test_a_summary_tells_what_a_lenient_reading_would_make_of_it(report: Report) -> None:
    text = summary_markdown(read_leniently(report, "left", "right", None))
    assert (
        "Of 3 failed core decisions on holdout a lenient reading finds a choice in 2, 1 of them right: accuracy would "
        "be 60.0% in place of 50.0%. They count as failed everywhere else."
    ) in text
    assert "| lenient_accuracy | 60.0% |" in text
    assert "macro accuracy 50.0%" in text


def test_nothing_is_said_where_nothing_could_be_read(report: Report) -> None:
    assert report.metrics["holdout"].overall.lenient_accuracy is None
    assert "lenient" not in summary_markdown(report)
