"""The files that a run writes for one candidate, beside its journal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from decibench.bench_tests.plan import Plan
from decibench.bench_tests.storage import BENCHMARK, write_benchmark
from decibench.cases.schema import Case
from decibench.cases.writing import write_text
from decibench.gates.gate import GATE, Gate, write_gate
from decibench.reports.decision_table import TABLE_FORMATS, TableFormat, write_decision_table
from decibench.reports.markdown import SUMMARY, summary_markdown
from decibench.reports.pages.page import PAGE, report_page
from decibench.reports.pages.view import View
from decibench.reports.regression import REGRESSION, Regression
from decibench.reports.report import REPORT, Report, write_report


def write_files(plan: Plan, report: Report, gate: Gate, regression: Regression | None, folder: Path) -> Report:
    """Write everything about ``report`` as the options of ``plan`` say; it comes back sealed."""
    options = plan.options
    return write_report_files(
        report,
        gate,
        folder,
        cases=plan.suite.cases,
        regression=regression,
        view=options.view,
        tables=options.report_formats,
    )


def write_report_files(
    report: Report,
    gate: Gate,
    folder: Path,
    *,
    cases: Sequence[Case],
    regression: Regression | None = None,
    view: View = "full",
    tables: Collection[TableFormat] = (),
) -> Report:
    """Write everything about ``report``, which comes back sealed; what matters most is written first.

    ``tables`` are the formats in which the decisions are written as a table; older tables of other formats go.
    """
    sealed = write_report(report, folder / REPORT)
    write_gate(gate, folder / GATE)
    if regression is None:
        (folder / REGRESSION).unlink(missing_ok=True)  # Of an earlier report, where the run is resumed without it.
    else:
        listed = regression if view != "aggregate-only" else regression.model_copy(update={"changes": []})
        write_text(folder / REGRESSION, listed.model_dump_json(indent=1) + "\n")
    summary = summary_markdown(sealed, rows=view != "aggregate-only", regression=regression)
    write_text(folder / SUMMARY, summary)
    write_benchmark(sealed, folder / BENCHMARK)
    for suffix in TABLE_FORMATS:
        table = folder / f"decisions.{suffix}"
        if suffix in tables:
            write_decision_table(sealed, table)
        else:
            table.unlink(missing_ok=True)
    page = report_page(sealed, view=view, cases=cases, regression=regression)
    write_text(folder / PAGE, page)
    return sealed
