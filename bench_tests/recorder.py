"""The controller's side of a run: reports come in, records go to the journals, a fatal one stops the session."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from decibench.bench_tests.plan import Item, Plan, journal_path
from decibench.bench_tests.raw import RAW, RawWriter
from decibench.cases.door import UsageError
from decibench.cases.request import request_hash
from decibench.gates.rules import GATE_RULES, option_of
from decibench.reports.journal import Header, JournalWriter, Load, check_first_line, is_started, read_journal
from decibench.reports.record import Failure, Record, failed_decisions, record_of

ATTRIBUTE: Final = "decibench"
"""Name of the attribute on a call report that carries an item's outcome between processes."""

_OPTIONS: Final = {"deadline_s": "--deadline", "retries": "--retries"}
_OURS: Final = "test_decisions.py::test_decision"


def item_id(nodeid: str) -> str:
    """The parameter id of one of our items in a node id; empty for any other node."""
    head, bracket, tail = nodeid.partition("[")
    return tail[:-1] if bracket and head.endswith("::test_decision") else ""


@dataclass
class Recorder:
    """Journals of the run and what was collected and measured so far.

    ``kept`` items had their record already, in the run that this one goes on with.
    """

    plan: Plan
    run_dir: Path
    collected: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    hashes: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    fatal: str | None = None
    kept: int = 0
    _journals: dict[str, JournalWriter] = field(default_factory=dict)
    _raw: dict[str, RawWriter] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _claimed: bool = False

    @property
    def started(self) -> set[str]:
        """The candidates whose journals this run has written to."""
        return set(self._journals)

    def claim(self) -> None:
        """Make the directory of the run this run's own: another may have begun in the same second."""
        options = self.plan.options
        if self._claimed or options.run_dir is not None or options.resume is not None:
            return
        self._claimed = True
        # Where nothing can be made at all, the first record says so and stops the run.
        with contextlib.suppress(OSError):
            self.run_dir = _make_fresh(self.run_dir)

    def collect(self, nodeids: list[str]) -> str | None:
        """Note which of our items were selected; a sentence where one has an id that is not in the plan.

        What such an item measures could not be told from any other's, so that nothing may be run.
        """
        self.collected.update(id_ for nodeid in nodeids if (id_ := item_id(nodeid)) in self.plan.by_id)
        ours = (nodeid for nodeid in nodeids if nodeid.partition("[")[0].endswith(_OURS))
        renamed = next((nodeid for nodeid in ours if item_id(nodeid) not in self.plan.by_id), None)
        if renamed is None:
            return None
        return (
            f"{renamed}: the id of the item was changed by another plugin or a conftest.py, such as by a fixture with "
            "params that is used everywhere; run without that (-p no:NAME), and repeat cases by --trials"
        )

    def receive(self, report: pytest.TestReport) -> str | None:
        """Journal what a report brings; synthesise a failed record where an item ended without one.

        Returns the record as JSON; None where the report brings none.
        """
        if report.passed and not hasattr(report, ATTRIBUTE):
            return None
        item = self.plan.by_id.get(item_id(report.nodeid))
        if item is None:
            return None
        try:
            return self._receive(item, report)
        except OSError as error:
            # To go on would be to ask what cannot be kept.
            path = journal_path(self.run_dir, item.candidate)
            self.fatal = f"{path}: cannot be written ({error.strerror}); remedy it, then --resume {self.run_dir}"
            if isinstance(error, FileExistsError) and path.is_file():
                self.fatal = f"{path}: another run has begun to write there; name another directory by --run-dir"
            return None

    def close(self) -> None:
        """Close the journals and the files of kept replies."""
        files: list[JournalWriter | RawWriter] = [*self._journals.values(), *self._raw.values()]
        for file in files:
            with contextlib.suppress(OSError):  # The failure to write has stopped the run already.
                file.close()

    def _receive(self, item: Item, report: pytest.TestReport) -> str | None:
        content: dict[str, Any] | None = getattr(report, ATTRIBUTE, None)
        record: str | None = None
        if content is not None:
            record = None if content["unasked"] else content["record"]
            self._note_load(item.candidate, content["load"])
            if content["resumed"]:
                self.kept += 1
            elif record is not None:
                self._journal(item.candidate).record(record)
                self._keep(item.candidate, content)
            self._count(item, content["outcome"])
            # The terminal keeps every report to the end; ten thousand records need not be kept with them.
            content["record"] = content["load"] = content["raw"] = None
            if content["fatal"] is not None:
                remedy = f"remedy it, then --resume {self.run_dir} --retry-failed"
                if content["unasked"]:
                    remedy = f"allow as much again, or another amount, by --max-usd with --resume {self.run_dir}"
                self.fatal = f"{item.candidate} cannot go on: {content['fatal']}; {remedy}"
        elif report.failed and report.when != "teardown" and item.id not in self._seen:
            crashed = report.when not in ("setup", "call")
            record = self._lost(item, crashed).model_dump_json()
            self._journal(item.candidate).record(record)
            self._count(item, "failed")
        return record

    def _keep(self, candidate: str, content: Mapping[str, Any]) -> None:
        """Keep replies after their record: without it nothing tells what they are of."""
        if not content["raw"]:
            return
        if candidate not in self._raw:
            self._raw[candidate] = RawWriter(journal_path(self.run_dir, candidate).with_name(RAW))
        self._raw[candidate].keep(content["record"], content["raw"])

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
        return record_of(
            item.case,
            self.plan.suite.role(item.case),
            trial=item.trial,
            request_hash=request_hash(item.case),
            candidate_hash=min(self.hashes[item.candidate], default=None),
            decisions=failed_decisions(item.case, failure),
        )

    def _journal(self, candidate: str) -> JournalWriter:
        if candidate not in self._journals:
            self.claim()
            header = Header(
                run=uuid.uuid4().hex, candidate=candidate, suite=self.plan.suite_ref, protocol=self.plan.protocol
            )
            path, new = journal_path(self.run_dir, candidate), self.plan.options.resume is None
            self._journals[candidate] = JournalWriter(path, header, new=new)
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
    return options.home / "runs" / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{names}"[:120]


def _make_fresh(path: Path) -> Path:
    """Make ``path`` or, where that is taken, the first of ``path-2``, ``path-3``, ... that is not."""
    for place in (path, *(path.with_name(f"{path.name}-{number}") for number in range(2, 1000))):
        with contextlib.suppress(FileExistsError):
            place.mkdir(parents=True)
            return place
    return path


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
    for name, path in paths.items():
        if not path.exists():
            continue
        try:
            # Nothing is cut before the first record: what is no journal, or is only looked at, stays as it is.
            if not is_started(path):
                check_first_line(path)
                continue
        except OSError as error:
            raise UsageError(f"--resume {run}: {path} cannot be used ({error.strerror})") from error
        journal = read_journal(path)
        header = journal.header
        if header.suite != plan.suite_ref:
            raise UsageError(f"{path}: was recorded on another suite or version; start a new run")
        if header.protocol != plan.protocol:
            before, now = (rules.model_dump(mode="json") for rules in (header.protocol, plan.protocol))
            raise UsageError(f"{path}: was recorded under another protocol: {_changed(before, now)}")
        _check_terms(
            path,
            journal.load,
            plan.options.network.terms(plan.spec(name).settings),
            may_grow=plan.options.retry_failed,
        )


def _check_terms(path: Path, load: Load | None, now: Mapping[str, float | int], *, may_grow: bool) -> None:
    """UsageError where a remote candidate was asked with another deadline or other retries than ``now``.

    They ``may_grow`` where what failed is asked again: all that was answered would have been with more time, too.
    """
    told = {} if load is None else {name: getattr(load, name) for name in now}
    before = {name: value for name, value in told.items() if value is not None}
    if any(before[name] > now[name] or (before[name] < now[name] and not may_grow) for name in before):
        raise UsageError(f"{path}: which decisions fail hangs on deadline and retries: {_changed(before, now)}")


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What differs between the rules of two runs, by rule, and what to do."""
    rules = [rule for rule in before if before[rule] != now[rule]]
    named = {rule: _OPTIONS.get(rule) or (option_of(rule) if rule in GATE_RULES else rule) for rule in rules}
    listed = ", ".join(f"{name} was {before[rule]}, is {now[rule]}" for rule, name in named.items())
    return f"{listed}; repeat the options of that run, or start a new one"
