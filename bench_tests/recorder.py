"""The controller's side of a run: reports come in, records go to the journals, a fatal one stops the session."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from decibench.bench_tests.plan import Item, Plan, journal_path
from decibench.cases.door import UsageError
from decibench.cases.request import request_hash
from decibench.reports.journal import Header, JournalWriter, drop_torn_line, is_started, read_journal
from decibench.reports.record import Failure, Record, failed_decisions

ATTRIBUTE: Final = "decibench"
"""Name of the attribute on a call report that carries an item's outcome between processes."""


def item_id(nodeid: str) -> str:
    """The parameter id of one of our items in a node id; empty for any other node."""
    head, bracket, tail = nodeid.partition("[")
    return tail[:-1] if bracket and head.endswith("::test_decision") else ""


@dataclass
class Recorder:
    """Journals of the run and what was collected and measured so far."""

    plan: Plan
    run_dir: Path
    collected: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    hashes: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    fatal: str | None = None
    _journals: dict[str, JournalWriter] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def collect(self, nodeids: list[str]) -> None:
        """Note which of our items were selected."""
        self.collected.update(id_ for nodeid in nodeids if (id_ := item_id(nodeid)) in self.plan.by_id)

    def receive(self, report: pytest.TestReport) -> None:
        """Journal what a report brings; synthesise a failed record where an item ended without one."""
        if report.passed and not hasattr(report, ATTRIBUTE):
            return
        item = self.plan.by_id.get(item_id(report.nodeid))
        if item is None:
            return
        try:
            self._receive(item, report)
        except OSError as error:
            # To go on would be to ask what cannot be kept.
            path = journal_path(self.run_dir, item.candidate)
            self.fatal = f"{path}: cannot be written ({error.strerror}); remedy it, then --resume {self.run_dir}"

    def close(self) -> None:
        """Close the journals."""
        for journal in self._journals.values():
            with contextlib.suppress(OSError):  # The failure to write has stopped the run already.
                journal.close()

    def _receive(self, item: Item, report: pytest.TestReport) -> None:
        content: dict[str, Any] | None = getattr(report, ATTRIBUTE, None)
        if content is not None:
            self._note_load(item.candidate, content["load"])
            if not content["resumed"]:
                self._journal(item.candidate).record(content["record"])
            self._count(item, content["outcome"])
            # The terminal keeps every report to the end; ten thousand records need not be kept with them.
            content["record"] = content["load"] = None
            if content["fatal"] is not None:
                self.fatal = f"{item.candidate} cannot go on: {content['fatal']}"
        elif report.failed and report.when != "teardown" and item.id not in self._seen:
            crashed = report.when not in ("setup", "call")
            self._journal(item.candidate).record(self._lost(item, crashed).model_dump_json())
            self._count(item, "failed")

    def _count(self, item: Item, outcome: str) -> None:
        self._seen.add(item.id)
        self.counts[outcome] += 1

    def _note_load(self, candidate: str, load: dict[str, Any] | None) -> None:
        if load is not None:
            self.hashes[candidate].add(load["candidate_hash"])
            self._journal(candidate).load(load)

    def _lost(self, item: Item, crashed: bool) -> Record:
        failure = (
            Failure(code="worker-crashed", detail="the process that asked this case died")
            if crashed
            else Failure(code="setup-failed", detail="the item ended before its case was asked")
        )
        case = item.case
        return Record(
            case=case.id,
            group=case.group,
            family=case.family,
            variant=case.variant,
            role=self.plan.suite.role(case),
            split=case.split,
            tags=case.tags,
            trial=item.trial,
            request_hash=request_hash(case),
            candidate_hash=min(self.hashes[item.candidate], default=None),
            latency_s=None,
            decisions=failed_decisions(case, failure),
        )

    def _journal(self, candidate: str) -> JournalWriter:
        if candidate not in self._journals:
            header = Header(
                run=uuid.uuid4().hex, candidate=candidate, suite=self.plan.suite_ref, protocol=self.plan.protocol
            )
            self._journals[candidate] = JournalWriter(journal_path(self.run_dir, candidate), header)
        return self._journals[candidate]


def choose_run_dir(plan: Plan) -> Path:
    """The directory of the run, checked: a fresh one, exactly ``--run-dir``, or the one to resume."""
    options = plan.options
    if options.resume is not None:
        _check_place("--resume", options.resume)
        _check_resume(plan, options.resume)
        return options.resume
    if options.run_dir is not None:
        _check_place("--run-dir", options.run_dir)
        if options.run_dir.exists() and any(options.run_dir.iterdir()):
            raise UsageError(
                f"--run-dir {options.run_dir}: is not an empty directory; go on with it by --resume, or name another"
            )
        return options.run_dir
    names = "-".join(spec.name for spec in plan.specs)
    base = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{names}"[:120]
    runs = options.home / "runs"
    return next(
        path for number in range(1, 1000) if not (path := runs / (base if number == 1 else f"{base}-{number}")).exists()
    )


def _check_place(option: str, path: Path) -> None:
    """A run must be able to write below ``path``, which need not be there yet."""
    try:
        there = next(place for place in (path, *path.parents) if place.exists())
        usable = there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot be used ({error.strerror}); name another directory") from error
    if not usable:
        raise UsageError(f"{option} {path}: {there} is no directory that can be written to; name another")


def _check_resume(plan: Plan, run: Path) -> None:
    paths = {spec.name: journal_path(run, spec.name) for spec in plan.specs}
    if not any(path.exists() for path in paths.values()):
        found = sorted(path.parent.name for path in run.glob("*/journal.jsonl"))
        there = f"it holds {', '.join(found)}" if found else "it holds no journal"
        raise UsageError(f"--resume {run}: no journal of {', '.join(paths)} there; {there}")
    for path in paths.values():
        if not path.exists():
            continue
        try:
            drop_torn_line(path)
        except OSError as error:
            raise UsageError(f"--resume {run}: {path} cannot be used ({error.strerror})") from error
        if not is_started(path):
            continue
        header = read_journal(path).header
        if header.suite != plan.suite_ref:
            raise UsageError(f"{path}: was recorded on another suite or version; start a new run")
        if header.protocol != plan.protocol:
            raise UsageError(f"{path}: was recorded under another protocol; repeat its --max-error and --min-accepted")
