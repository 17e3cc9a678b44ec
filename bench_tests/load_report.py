"""The load tests of a session: each written when it is measured, all printed at the end, and held to their gate."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from decibench.bench_tests.console import console_of
from decibench.bench_tests.identity import Snapshot
from decibench.bench_tests.load_grid import WARM_UPS
from decibench.bench_tests.options import Options
from decibench.bench_tests.recorder import Recorder
from decibench.candidates.remote.settings import RemoteSettings
from decibench.cases.door import Exit
from decibench.cases.load import QUESTIONS, REQUESTS
from decibench.cases.writing import write_text
from decibench.reports.load import LOAD, Arm, LoadReport, check_load, repeated_to_unique

LOAD_PLUGIN: Final = "decibench-load"
"""Name under which a session's ``LoadReports`` is registered, where ``--load`` is given."""


class LoadReports:
    """Hooks of the one process of a session with ``--load``."""

    def __init__(self, config: pytest.Config, recorder: Recorder) -> None:
        self._config = config
        self._recorder = recorder
        self._reports: list[LoadReport] = []

    def keep(self, report: LoadReport) -> None:
        """Keep ``report`` for the end of the session, and write it into the folder of its candidate; OSError passes."""
        self._reports.append(report)
        self._recorder.claim()
        folder = self._recorder.run_dir / report.candidate
        folder.mkdir(parents=True, exist_ok=True)
        content = report.model_dump(mode="json")
        write_text(folder / LOAD, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """End with 11 where a gate was not checked, with 10 where one failed and nothing worse happened."""
        try:
            return (yield)
        finally:
            status = int(session.exitstatus)
            if self._unchecked and status in (Exit.COMPLETE, Exit.FAILED, Exit.NOTHING_COLLECTED, Exit.GATE):
                session.exitstatus = Exit.INCOMPLETE
            elif self._failed and status == Exit.COMPLETE:
                session.exitstatus = Exit.GATE

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what was measured, and what became of the gate."""
        if not (self._reports or self._unchecked):
            return
        from decibench.reports.terminal import print_load

        terminalreporter.section("decibench: load")
        console = console_of(terminalreporter)
        for report in self._reports:
            print_load(console, report)
        for report in self._failed:
            terminalreporter.write_line(f"GATE FAILED: {report.candidate} under load: {report.gate.reason}", red=True)
        for name in self._unchecked:
            terminalreporter.write_line(
                f"INCOMPLETE: --load was asked for, and its gate (--max-tick-ms) not checked: {name} was not measured "
                "under load",
                red=True,
            )
        if self._reports:
            names = ", ".join(f"{report.candidate}/{LOAD}" for report in self._reports)
            terminalreporter.write_line(f"decibench: {names} in {self._recorder.run_dir}")

    @property
    def _failed(self) -> list[LoadReport]:
        return [report for report in self._reports if not report.gate.passed]

    @property
    def _unchecked(self) -> list[str]:
        """The candidates that were not measured."""
        plan = self._recorder.plan
        if self._config.option.collectonly:
            return []
        measured = {report.candidate for report in self._reports}
        return [name for name in (*(spec.name for spec in plan.specs), *plan.not_run) if name not in measured]


def load_report(
    candidate: str, settings: RemoteSettings, snapshot: Snapshot, options: Options, arms: Sequence[Arm]
) -> LoadReport:
    """The load test of ``candidate``, held to the gate of ``options``."""
    return LoadReport(
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        candidate=candidate,
        candidate_hash=snapshot.candidate_hash,
        identity=dict(snapshot.content),
        concurrency=options.concurrency,
        deadline_s=options.network.deadline_of(settings),
        retries=options.network.retries,
        requests_per_tick=REQUESTS,
        questions_per_request=QUESTIONS,
        warm_up_ticks=WARM_UPS,
        arms=list(arms),
        repeated_to_unique=repeated_to_unique(arms),
        gate=check_load(arms, options.max_tick_ms),
    )
