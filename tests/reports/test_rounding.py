"""The rounding that a candidate declares in the sensitivity of the log loss to its floor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from decibench.cases.errors import SuiteError
from decibench.reports.evidence import evidence_of
from decibench.reports.markdown import summary_markdown
from decibench.reports.report import Report, gate_point, read_report, write_report
from decibench.reports.table import decisions_of

Make: TypeAlias = Callable[[int | None], Report]


@pytest.fixture
def declared(make_report: Any) -> Make:
    """A report whose candidate declares these decimals; it is sure, and wrong twice in ten scenarios."""

    def make(decimals: int | None) -> Report:
        made: Report = make_report("one", {f"a-{n}": [n > 1, True] for n in range(10)}, sure=1.0)
        identity = made.candidate.identity | {"decimals": decimals}
        records, rules = made.records, made.protocol
        point = gate_point(made.gates, rules)
        evidence = evidence_of(records, decisions_of(records, rules.log_loss_floor), rules, point, decimals)
        candidate = made.candidate.model_copy(update={"identity": identity})
        return made.model_copy(update={"candidate": candidate, "evidence": evidence})

    return make


def floors(report: Report) -> dict[float, bool]:
    assert report.evidence is not None
    return {entry.floor: entry.rounding for entry in report.evidence.calibration["holdout"].log_loss_by_floor}


@pytest.mark.parametrize(
    ("decimals", "half_step", "count"),
    [(2, 0.005, 4), (4, 0.00005, 5), (1, 0.05, 5), (15, 5e-16, 5), (None, None, 4), (0, None, 4), (400, None, 4)],
)
def test_half_a_step_of_the_declared_rounding_is_tried_and_marked(
    declared: Make, decimals: int | None, half_step: float | None, count: int
) -> None:
    found = floors(declared(decimals))
    assert {1e-15, 1e-6, 1e-3, 0.005} <= set(found)
    assert [floor for floor, rounding in found.items() if rounding] == ([] if half_step is None else [half_step])
    assert len(found) == count
    assert list(found) == sorted(found)


def test_the_loss_at_that_floor_is_what_a_stated_zero_costs_there(declared: Make) -> None:
    report = declared(2)
    assert report.evidence is not None
    (entry,) = (e for e in report.evidence.calibration["holdout"].log_loss_by_floor if e.rounding)
    assert entry.log_loss == pytest.approx(2 / 20 * -math.log(0.005))


def test_a_summary_names_the_sensible_floor_and_none_without_a_declaration(declared: Make) -> None:
    text = summary_markdown(declared(4))
    assert "| log_loss at floor 5e-05 (rounding) |" in text
    assert "rounded to steps of 0.0001: of the floors of the log loss 5e-05, half a step, is the one that this" in text
    assert "(rounding)" not in summary_markdown(declared(None))


def test_it_follows_from_the_report_alone_when_that_is_read_again(declared: Make, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(declared(4), path)
    assert floors(read_report(path))[5e-5]
    raw = json.loads(path.read_text("utf-8"))
    raw["candidate"]["identity"]["decimals"] = 2
    path.write_text(json.dumps(raw), "utf-8")
    with pytest.raises(SuiteError, match="log_loss_by_floor"):
        read_report(path)


def test_a_summary_tells_how_far_sums_of_probabilities_are_off(make_report: Any) -> None:
    made: Report = make_report("one", {f"a-{n}": [True] for n in range(10)})
    sums = [0.97, 1.01, 1 + 2e-6, 1 + 5e-7, 1.0, 1.0, 1.0, 1.0, None, None]
    records = [
        record.model_copy(update={"decisions": [record.decisions[0].model_copy(update={"raw_sum": raw})]})
        for record, raw in zip(made.records, sums, strict=True)
    ]
    evidence = evidence_of(records, decisions_of(records, made.protocol.log_loss_floor), made.protocol)
    found = evidence.calibration["holdout"].sums
    assert (found.decisions, found.beyond) == (8, 3 / 8)
    assert found.largest == pytest.approx(0.03)
    text = summary_markdown(made.model_copy(update={"evidence": evidence}))
    assert "| sum_error, largest | 0.03 |" in text
    assert "| sum_error above 1e-06 | 37.5% |" in text
    assert "sum_error" not in summary_markdown(made)
