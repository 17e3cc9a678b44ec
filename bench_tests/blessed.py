"""The reports that ``--against`` names, read and checked before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from decibench.bench_tests.plan import Plan
from decibench.cases.door import UsageError
from decibench.cases.errors import SuiteError
from decibench.reports.comparisons.gathering import Entry, gather
from decibench.reports.journal import SuiteRef
from decibench.reports.report import Report

_SHORT = 12
"""Letters of a hash that tell two suites apart."""


def read_blessed(plan: Plan) -> Mapping[str, Report]:
    """The blessed report of every candidate of ``plan``, by its name; empty without ``--against``.

    A single report stands for a single candidate, whatever either is called. UsageError where a report is missing,
    damaged, not complete or of another suite, or where the run would write among the reports.
    """
    against = plan.options.against
    if against is None:
        return {}
    try:
        entries = gather([against])
    except OSError as error:
        remedy = "name a report, the folder of a candidate, or that of a run"
        raise UsageError(f"--against {against}: cannot be read ({error.strerror}); {remedy}") from error
    except SuiteError as error:
        raise UsageError(f"--against {error}") from error
    _check_apart(plan, against, entries)
    names = [spec.name for spec in plan.specs]
    if len(names) == len(entries) == 1:
        return {names[0]: _usable(plan, entries[0])}
    return {name: _usable(plan, _named(name, entries, against)) for name in names}


def _check_apart(plan: Plan, against: Path, entries: Sequence[Entry]) -> None:
    """The run must not write into what is blessed, nor be resumed over it."""
    options = plan.options
    writes_to = (options.run_dir or options.resume or options.home / "runs").resolve()
    inside = against.is_dir() and writes_to.is_relative_to(against.resolve())
    over = options.resume is not None and any(Path(e.place).resolve().is_relative_to(writes_to) for e in entries)
    if inside or over:
        raise UsageError(
            f"--against {against}: the run would write there ({writes_to}); name another directory by --run-dir, or "
            "copy what is blessed to a place of its own"
        )


def _named(name: str, entries: Sequence[Entry], against: Path) -> Entry:
    found = [entry for entry in entries if entry.name == name]
    if not found:
        there = ", ".join(dict.fromkeys(entry.name for entry in entries))
        raise UsageError(
            f"--against {against}: no report of {name}; it holds {there}. To compare candidates of two names, run one "
            "and name one report"
        )
    if len(found) > 1:
        places = ", ".join(entry.place for entry in found)
        raise UsageError(f"--against {against}: holds several reports of {name} ({places}); name the one that counts")
    return found[0]


def _usable(plan: Plan, entry: Entry) -> Report:
    place, report = f"--against {entry.place}", entry.report
    if report is None or not report.complete:
        extent = "not run to its end" if report is None else "partial" if report.partial else "incomplete"
        raise UsageError(f"{place}: {entry.name} is {extent} there; compare with a complete run")
    if report.suite != plan.suite_ref:
        raise UsageError(
            f"{place}: is on {_suite(report.suite)}, this run on {_suite(plan.suite_ref)}; compare on one suite"
        )
    asked = {record.case for record in report.records}
    if not any(case.id in asked for case in plan.cases):
        raise UsageError(f"{place}: holds no case of this run's scope; widen --split, --family or --variant")
    return report


def _suite(suite: SuiteRef) -> str:
    return f"{suite.name} {suite.version} (hash {suite.hash[:_SHORT]})"
