"""The controller of a session: journals what arrives, stops where it must, and concludes at the end."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from functools import cached_property
from typing import Any

import pytest

from decibench.bench_tests.console import console_of
from decibench.bench_tests.guard import raised_in
from decibench.bench_tests.junit import add_properties
from decibench.bench_tests.progress import Progress
from decibench.bench_tests.recorder import ATTRIBUTE, Recorder, item_id
from decibench.candidates.config import CandidateSpec
from decibench.candidates.remote.settings import RemoteSettings
from decibench.cases.door import Exit
from decibench.reports.report import Report

_STATUS = {
    "correct": ("passed", ".", "PASSED"),
    "missed": ("missed", "m", ("MISSED", {"yellow": True})),
}


class Controller:
    """Hooks of the one process that writes: the session itself, or the controller under xdist."""

    def __init__(self, config: pytest.Config, recorder: Recorder, blessed: Mapping[str, Report]) -> None:
        self._config = config
        self._recorder = recorder
        self._blessed = blessed
        self._progress: Progress | None = None
        self._finished: Any = None
        self._session: pytest.Session | None = None
        self._refusal: str | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember the session that a fatal record has to stop."""
        self._session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the selection; under xdist the controller's own session has none."""
        self._refusal = self._recorder.collect([item.nodeid for item in session.items])
        if self._refusal is not None:
            raise pytest.UsageError(self._refusal)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """Note the selection that a worker reports."""
        refusal = self._recorder.collect(ids)
        if refusal is not None:
            # Raised here, the sentence would drown in the traceback of an internal error.
            self._refusal = refusal
            self._stop(refusal)

    def pytest_report_collectionfinish(self) -> list[str]:
        """Say what will be asked and where it is written."""
        recorder, plan = self._recorder, self._recorder.plan
        if not recorder.collected or self._config.option.collectonly:
            return []
        recorder.claim()
        manifest = plan.suite.manifest
        return [
            f"decibench: {manifest.name} {manifest.version}, {len(recorder.collected)} of "
            f"{len(plan.scope) * len(plan.specs) * plan.options.trials} items, "
            + ", ".join(f"{spec.name} {_place(spec)}" for spec in plan.specs),
            f"decibench: writing to {recorder.run_dir}",
        ]

    def pytest_report_teststatus(self, report: pytest.TestReport | pytest.CollectReport) -> Any:
        """Count wrong answers as missed; leave the letters out where the progress line stands."""
        content = getattr(report, ATTRIBUTE, None)
        if content is None:
            return None
        if not report.passed:
            return (report.outcome, "", "") if self._live else None
        category, letter, word = _STATUS[content["outcome"]]
        return (category, "", "") if self._live else (category, letter, word)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Journal at once, show progress, stop the session on a fatal record."""
        recorder = self._recorder
        before = recorder.counts.total()
        record = recorder.receive(report)
        if record is not None:
            candidate = recorder.plan.by_id[item_id(report.nodeid)].candidate
            add_properties(self._config, recorder.plan.options, report, candidate, record)
        if recorder.counts.total() > before and self._live:
            self._show(report)
        if recorder.fatal:
            self._stop(recorder.fatal)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, object, object]:
        """Write reports, also where another plugin cannot write its own file: what was measured was paid for."""
        try:
            return (yield)
        finally:
            self._conclude(session, exitstatus)

    def _conclude(self, session: pytest.Session, exitstatus: int) -> None:
        """Write reports and set the exit status, by precedence 4, 2, 11, 1, 10."""
        if self._refusal is not None:
            session.exitstatus = Exit.USAGE
            return
        options = self._recorder.plan.options
        required = options.gate is not None or options.require_gate or options.fail_on_regression
        # Where nothing was asked, there is nothing to say but that what was required was not checked.
        if self._config.option.collectonly or not (self._recorder.collected or required):
            return
        chosen_stop = bool(session.shouldfail)
        finished = self._finished = self._finish(chosen_stop)
        status = int(exitstatus)
        if chosen_stop and status == Exit.INTERRUPTED and self._recorder.fatal is None:
            status = session.exitstatus = Exit.FAILED  # What -x ends in without xdist, which interrupts the session.
        if finished.exit == Exit.USAGE:
            session.exitstatus = Exit.USAGE
        elif status in (Exit.COMPLETE, Exit.FAILED, Exit.NOTHING_COLLECTED):
            if finished.exit == Exit.INCOMPLETE:
                session.exitstatus = Exit.INCOMPLETE
            elif status == Exit.COMPLETE:
                session.exitstatus = finished.exit

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the reports of the run, and in any case who was not run."""
        if self._finished is None:
            self._say_not_run(terminalreporter)
            return
        from decibench.reports.regression import REGRESSION
        from decibench.reports.tables.regression import regression_counts
        from decibench.reports.terminal import print_comparison, print_report

        terminalreporter.section("decibench")
        console = console_of(terminalreporter)
        rows = self._recorder.plan.options.view != "aggregate-only"
        for report in self._finished.reports:
            print_report(console, report, rows=rows, regression=self._finished.regressions.get(report.candidate.name))
        if self._finished.comparison is not None:
            print_comparison(console, self._finished.comparison)
        self._say_not_run(terminalreporter)
        for error in self._finished.errors:
            terminalreporter.write_line(f"ERROR: {error}", red=True)
        if self._finished.warning is not None:
            terminalreporter.write_line(f"WARNING: {self._finished.warning}", yellow=True)
        if self._finished.unchecked is not None:
            terminalreporter.write_line(f"INCOMPLETE: {self._finished.unchecked}", red=True)
        for report in self._finished.reports:
            if report.gate_check.passed is False:
                terminalreporter.write_line(f"GATE FAILED: {report.gate_check.reason}", red=True)
        if self._recorder.plan.options.fail_on_regression:
            for name, regression in self._finished.regressions.items():
                if regression.passed is False:
                    counts = regression_counts(regression)
                    terminalreporter.write_line(f"REGRESSION: {name}: {counts}; {name}/{REGRESSION}", red=True)
        if self._recorder.fatal:
            terminalreporter.write_line(f"STOPPED: {self._recorder.fatal}", red=True)
        if self._recorder.plan.options.resume is not None:
            kept, items = self._recorder.kept, len(self._recorder.collected)
            terminalreporter.write_line(f"decibench: {kept} of {items} items had their record from before")
        if self._finished.reports:
            terminalreporter.write_line(f"decibench: reports in {self._recorder.run_dir}")

    def _say_not_run(self, terminalreporter: Any) -> None:
        """One sentence per candidate that lacks something; rich is not imported where none does."""
        for name, what in self._recorder.plan.not_run.items():
            console = console_of(terminalreporter)
            console.print(f"NOT RUN: {name}: {what}", style="yellow", markup=False, highlight=False)

    def _finish(self, chosen_stop: bool) -> Any:
        from decibench.bench_tests.finish import Finished, finish

        recorder = self._recorder
        try:
            return finish(recorder.plan, recorder, self._blessed, chosen_stop=chosen_stop)
        except Exception as error:  # The last resort: a traceback would hide that the journals are there.
            message = f"{recorder.run_dir}: no report could be made ({raised_in(error)}); the journals are kept"
            return Finished((), None, Exit.USAGE, [message])

    def _stop(self, reason: str) -> None:
        if self._session is None or self._session.shouldstop:
            return
        self._session.shouldstop = reason
        # Under xdist the session's own flag is not read; the scheduler plugin has one of the same name.
        scheduler: Any = self._config.pluginmanager.get_plugin("dsession")
        if scheduler is not None:
            scheduler.shouldstop = reason

    @cached_property
    def _live(self) -> bool:
        """True where a line can be rewritten: a terminal in pytest's default verbosity."""
        return sys.stdout.isatty() and self._config.getoption("verbose", 0) == 0

    def _show(self, report: pytest.TestReport) -> None:
        if self._progress is None:
            reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
            if reporter is None:
                return
            total = len(self._recorder.collected)
            self._progress = Progress(total, lambda line: reporter.rewrite(line, erase=True))
        item = self._recorder.plan.by_id[item_id(report.nodeid)]
        self._progress.update(self._recorder.counts, item.candidate)


def _place(spec: CandidateSpec) -> str:
    """Where a candidate answers: on a device of this machine, or at a host and port."""
    return f"at {spec.settings.host}" if isinstance(spec.settings, RemoteSettings) else f"on {spec.device}"
