"""Kept replies scored again, by the parser and the rules of now: nothing is asked, no key is needed."""

from __future__ import annotations

import importlib.metadata
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ConfigDict, ValidationError

from decibench.bench_tests.answers import costs_of, score_answer
from decibench.bench_tests.files import write_report_files
from decibench.bench_tests.guard import failure_from, try_call
from decibench.bench_tests.raw import RAW, KeptReply, key_of, read_raw
from decibench.candidates.adapter import Answer, Identity
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.refusals import refusal_of
from decibench.candidates.remote.wire import Wire, answer_in
from decibench.cases.distribution import Tolerances
from decibench.cases.door import UsageError
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import read_json
from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.request import request_of
from decibench.cases.schema import Case, Model
from decibench.gates.concluding import conclude
from decibench.gates.fitting import Gates, fit_gates, unfitted_gates
from decibench.gates.rules import chosen_rules, with_rules
from decibench.reports.documents import damage, read_document
from decibench.reports.journal import JOURNAL, Journal, JournalWriter, Load, read_journal
from decibench.reports.latency import Cost, Latency
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, Failure, Record, failed_decisions, failure_of
from decibench.reports.report import (
    REPORT,
    SCHEMA,
    CandidateRef,
    GateCheck,
    HoldoutLooks,
    Report,
    Scope,
    primary_gate,
)
from decibench.reports.table import decisions_of

UNCHANGED: Final = "unchanged"


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What scoring a candidate's kept replies again came to.

    ``kept`` of its ``records`` have replies that could be read again; the others stay as they are. ``changes`` counts
    the decisions of all records by what became of them.
    """

    name: str
    records: int
    kept: int
    changes: Mapping[str, int]
    report: Report

    def lines(self) -> Iterator[str]:
        """Sentences for the terminal."""
        others = "; the others stay as they were" if self.kept < self.records else ""
        yield f"{self.name}: {self.kept} of {self.records} records have kept replies{others}"
        changed = sum(self.changes.values()) - self.changes.get(UNCHANGED, 0)
        yield f"  {changed} of {sum(self.changes.values())} decisions changed"
        yield from (f"  {what}: {count}" for what, count in self.changes.items() if what != UNCHANGED)


class _Item(Model):
    model_config = ConfigDict(extra="ignore")

    case: str
    trial: int


class _Told(Model):
    """What a report says that its records do not tell."""

    model_config = ConfigDict(extra="ignore")

    environment: dict[str, str]
    complete: bool
    partial: bool
    incomplete_reasons: list[str]
    scope: Scope
    holdout_looks: HoldoutLooks
    latency: Latency
    cost: Cost
    records: list[_Item]


def folders_with_replies(source: Path) -> list[Path]:
    """The folders of candidates at ``source``, a run or one of them, whose replies were kept; UsageError if none."""
    found = [folder for folder in (source, *sorted(source.glob("*/"))) if (folder / RAW).is_file()]
    if not found:
        raise UsageError(f"{source}: holds no {RAW}; only what was run with --keep-raw can be scored again")
    return found


def suite_of(folder: Path, named: str | None) -> Suite:
    """The suite that the journal in ``folder`` was asked on: that of the same name, or the one that is ``named``.

    UsageError where it is another.
    """
    recorded = read_journal(folder / JOURNAL).header.suite
    suite = load_suite(find_suite(named or recorded.name))
    if suite.hash != recorded.hash:
        here = f"{suite.manifest.name} {suite.manifest.version} ({suite.hash[:12]})"
        was = f"{recorded.name} {recorded.version} ({recorded.hash[:12]})"
        raise UsageError(f"{folder}: was recorded on {was}, not on {here}; name that suite by --suite")
    return suite


def reparse(folder: Path, out: Path, suite: Suite) -> Reparsed:
    """Score the kept replies in ``folder`` again; journal and report that follow are written below ``out``.

    Latencies, tokens and attempts stay as measured, and so do the run's id and its looks at the holdout: the answers
    are the same. Raises SuiteError or UsageError where a file is missing or damaged.
    """
    before = read_journal(folder / JOURNAL)
    told = _told(read_document(folder / REPORT, SCHEMA), folder / REPORT)
    protocol = with_rules(DEFAULT_PROTOCOL, chosen_rules(before.header.protocol))
    readers = _readers(before, protocol.tolerances, folder)
    kept = read_raw(folder / RAW)
    records, read = [], 0
    for record in before.records:
        replies, reader = kept.get(key_of(record)), readers.get(record.candidate_hash or "")
        if replies is None or reader is None:
            records.append(record)
            continue
        read += 1
        records.append(reader.read(record, suite.by_id[record.case], replies))
    header = before.header.model_copy(update={"protocol": protocol})
    after = Journal(header, before.loads, records)
    place = out / before.header.candidate
    _write_journal(after, place)
    shutil.copyfile(folder / RAW, place / RAW)
    report, gates = _report(after, told, suite)
    report = write_report_files(report, gates[primary_gate(protocol)], place, cases=suite.cases)
    return Reparsed(before.header.candidate, len(records), read, _changes(before.records, records), report)


@dataclass(slots=True)
class _Reader:
    """Reads replies of one candidate; ``answering`` is the model behind an alias, as its first answer stated it."""

    wire: Wire
    identity: Identity
    tolerances: Tolerances
    answering: str | None = None

    def read(self, record: Record, case: Case, replies: Sequence[KeptReply]) -> Record:
        """``record`` with the decisions that its ``replies`` give now; as it is where they tell nothing of them."""
        last = replies[-1]
        if last.status != 200:
            refusal = refusal_of(last.status, _json_of(last))
            return _failed(record, case, failure_of(refusal.code, refusal.detail, fatal=refusal.fatal))
        contents = [content for reply in replies if (content := _json_of(reply)) is not None]
        if len(contents) < len(replies):
            refused = all(decision.failure is not None for decision in record.decisions)
            no_json = failure_of("invalid-json", "the reply is no strict JSON")
            return record if refused else _failed(record, case, no_json)
        request = request_of(case)
        bodies, _ = try_call(self.wire.bodies, request)
        if bodies is None or len(bodies) != len(contents):
            return record  # The reply to one of its bodies never came.
        answer, error = try_call(answer_in, self.wire, request, contents)
        decisions = None
        if answer is not None:
            decisions, error = try_call(self._score, case, answer)
        if decisions is None:
            assert error is not None
            return _failed(record, case, failure_from(error, "exception"))
        return record.model_copy(update={"decisions": decisions, "model": costs_of(answer).model})

    def _score(self, case: Case, answer: Answer) -> list[Decision]:
        decisions = score_answer(case, answer, self.identity, self.tolerances, answering=self.answering)
        self.answering = self.answering or answer.model
        return decisions


def _json_of(reply: KeptReply) -> Any:
    """The JSON value of a reply; None where it is no strict JSON."""
    try:
        return read_json(reply.text.encode())
    except ValueError:
        return None


def _failed(record: Record, case: Case, failure: Failure) -> Record:
    return record.model_copy(update={"decisions": failed_decisions(case, failure)})


def _readers(journal: Journal, tolerances: Tolerances, folder: Path) -> dict[str, _Reader]:
    """Readers by candidate hash, of what was asked over HTTP; the settings that were recorded hold no key."""
    readers = {}
    for load in journal.loads:
        entry = REGISTRY.get(load.adapter or "")
        if entry is None or not entry.remote:
            continue
        try:
            settings = entry.settings_model.model_validate(load.settings)
        except ValidationError as error:
            message = f"the settings of {load.adapter} that it names are no longer valid; run it again"
            raise SuiteError([Problem(str(folder / JOURNAL), message)]) from error
        readers[load.candidate_hash] = _Reader(entry.wire(settings), _identity(load), tolerances)
    return readers


def _identity(load: Load) -> Identity:
    return Identity(**{field.name: load.identity[field.name] for field in fields(Identity)})


def _write_journal(journal: Journal, out: Path) -> None:
    writer = JournalWriter(out / JOURNAL, journal.header, new=True)
    for load in journal.loads:
        writer.load(load.model_dump())
    for record in journal.records:
        writer.record(record.model_dump_json())
    writer.close()


def _changes(before: Sequence[Record], after: Sequence[Record]) -> Counter[str]:
    return Counter(
        _change(old, new)
        for was, now in zip(before, after, strict=True)
        for old, new in zip(was.decisions, now.decisions, strict=True)
    )


def _change(old: Decision, new: Decision) -> str:
    if old == new:
        return UNCHANGED
    if old.failure is not None:
        return "failed before, scored now" if new.failure is None else "failed for another reason"
    if new.failure is not None:
        return "scored before, failed now"
    return "another choice" if old.choice != new.choice else "the same choice by other figures"


def _told(content: dict[str, Any], path: Path) -> _Told:
    try:
        return _Told.model_validate(content)
    except ValidationError as error:
        raise SuiteError(damage(error, str(path), SCHEMA)) from error


def _report(journal: Journal, told: _Told, suite: Suite) -> tuple[Report, Gates]:
    """The report of ``journal``; what it does not tell stands in the report that was there before."""
    load, protocol = journal.load, journal.header.protocol
    assert load is not None  # A reply is kept of a candidate that was built.
    candidate = CandidateRef(name=journal.header.candidate, hash=load.candidate_hash, identity=load.identity)
    order = {(item.case, item.trial): place for place, item in enumerate(told.records)}
    current = [record for record in journal.current() if (record.case, record.trial) in order]
    records = sorted(current, key=lambda record: order[record.case, record.trial])
    decisions = decisions_of(records, protocol.log_loss_floor)
    gates = _gates(told, candidate, records, journal, suite)
    version = importlib.metadata.version("decibench")
    report = conclude(
        records,
        decisions,
        gates,
        protocol,
        candidate=candidate,
        loads=told.latency.loads,
        prices=told.cost.prices,
        run=journal.header.run,
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        suite=journal.header.suite,
        gate_check=GateCheck(passed=None, reason="the replies were scored again, and no gate was required"),
        environment=told.environment | {"scored_again_by": f"decibench {version}"},
        complete=told.complete,
        partial=told.partial,
        incomplete_reasons=told.incomplete_reasons,
        scope=told.scope,
        holdout_looks=told.holdout_looks,
    )
    return report, gates


def _gates(told: _Told, candidate: CandidateRef, records: Sequence[Record], journal: Journal, suite: Suite) -> Gates:
    protocol = journal.header.protocol
    if not told.complete:
        return unfitted_gates(protocol, "the run is partial or incomplete; a gate needs all of its scope")
    if "calibration" not in told.scope.splits and candidate.states_probabilities:
        return unfitted_gates(protocol, "the scope leaves calibration out, on which a gate is fitted")
    return fit_gates(
        records,
        protocol,
        candidate_hash=candidate.hash,
        suite_hash=suite.hash,
        probabilities=candidate.states_probabilities,
    )
