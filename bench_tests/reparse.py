"""Kept replies scored again, by the parser and the rules of now: nothing is asked, no key is needed."""

from __future__ import annotations

import importlib.metadata
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import ConfigDict, ValidationError

from decibench.bench_tests.files import write_report_files
from decibench.bench_tests.fitted import fitted_gates
from decibench.bench_tests.raw import RAW, key_of, read_raw
from decibench.bench_tests.replies import readers_of
from decibench.cases.door import UsageError
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import sha256_of
from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.request import request_hash
from decibench.cases.schema import Model
from decibench.gates.concluding import conclude
from decibench.gates.fitting import Gates, unfitted_gates
from decibench.gates.gate import Gate
from decibench.gates.rules import chosen_rules, with_rules
from decibench.reports.documents import damage, read_document
from decibench.reports.journal import JOURNAL, Journal, JournalWriter, read_journal
from decibench.reports.latency import Cost, Latency
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, Record
from decibench.reports.report import (
    REPORT,
    SCHEMA,
    CandidateRef,
    GateCheck,
    HoldoutLooks,
    Report,
    Scope,
    is_sealed,
    primary_gate,
)
from decibench.reports.table import decisions_of

UNCHANGED: Final = "unchanged"


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What scoring the kept replies of a candidate in ``folder`` again came to, nothing of it written.

    ``kept`` of the records of ``journal`` have replies that could be read again; the others stay as they are.
    ``changes`` counts the decisions of all records by what became of them.
    """

    folder: Path
    suite: Suite
    journal: Journal
    kept: int
    strangers: int
    changes: Mapping[str, int]
    report: Report
    gate: Gate

    @property
    def name(self) -> str:
        """The candidate."""
        return self.journal.header.candidate

    def lines(self) -> Iterator[str]:
        """Sentences for the terminal."""
        records = len(self.journal.records)
        others = "; the others stay as they were" if self.kept < records else ""
        yield f"{self.name}: {self.kept} of {records} records have kept replies{others}"
        if self.strangers:
            yield f"  {self.strangers} kept replies are of no record of the journal"
        changed = sum(self.changes.values()) - self.changes.get(UNCHANGED, 0)
        yield f"  {changed} of {sum(self.changes.values())} decisions changed"
        yield from (f"  {what}: {count}" for what, count in self.changes.items() if what != UNCHANGED)

    def write(self, out: Path) -> None:
        """Write the journal, the replies and the files of the report below ``out``; OSError passes."""
        place = out / self.name
        writer = JournalWriter(place / JOURNAL, self.journal.header, new=True)
        for load in self.journal.loads:
            writer.load(load.model_dump())
        for record in self.journal.records:
            writer.record(record.model_dump_json())
        writer.close()
        shutil.copyfile(self.folder / RAW, place / RAW)
        write_report_files(self.report, self.gate, place, cases=self.suite.cases)


class _Item(Model):
    model_config = ConfigDict(extra="ignore")

    case: str
    trial: int


class _Told(Model):
    """What a report says that its records do not tell."""

    model_config = ConfigDict(extra="ignore")

    run: str
    candidate: CandidateRef
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


def reparse(folder: Path, suite: Suite) -> Reparsed:
    """Score the kept replies in ``folder`` again, and make the report that follows.

    Latencies, tokens and attempts stay as measured, and so do the run's id and its looks at the holdout: the answers
    are the same. Raises SuiteError or UsageError where a file is missing or damaged.
    """
    before = read_journal(folder / JOURNAL)
    _check_journal(before, suite, folder / JOURNAL)
    told = _told(before, folder / REPORT)
    protocol = with_rules(DEFAULT_PROTOCOL, chosen_rules(before.header.protocol))
    readers = readers_of(before, protocol.tolerances, folder)
    kept = read_raw(folder / RAW)
    records, read = [], 0
    for record in before.records:
        replies, reader = kept.get(key_of(record)), readers.get(record.candidate_hash or "")
        if replies is None or reader is None:
            records.append(record)
            continue
        read += 1
        records.append(reader.read(record, suite.by_id[record.case], replies))
    strangers = len(kept.keys() - {key_of(record) for record in before.records})
    if kept and not read:
        raise SuiteError(
            [Problem(str(folder / RAW), "holds no reply to a request of the journal beside it; restore both")]
        )
    after = Journal(before.header.model_copy(update={"protocol": protocol}), before.loads, records)
    report, gates = _report(after, told, suite)
    if len(report.records) != len(told.records):
        message = f"has {len(report.records)} of the {len(told.records)} records of the report beside it; restore both"
        raise SuiteError([Problem(str(folder / JOURNAL), message)])
    changes = _changes(before.records, records)
    return Reparsed(folder, suite, after, read, strangers, changes, report, gates[primary_gate(protocol)])


def _check_journal(journal: Journal, suite: Suite, path: Path) -> None:
    """SuiteError where the journal was edited so that it names no folder, no candidate, or no case of the suite."""
    name = journal.header.candidate
    if Path(name).name != name or name in ("", ".", ".."):
        raise SuiteError([Problem(str(path), "names a candidate that can be no folder; restore the file", 1)])
    if not journal.loads or any(sha256_of(load.identity) != load.candidate_hash for load in journal.loads):
        raise SuiteError([Problem(str(path), "does not say who answered, or has been edited there; restore the file")])
    for record in journal.records:
        case = suite.by_id.get(record.case)
        if case is None or request_hash(case) != record.request_hash:
            message = f"tells of a request {record.case} that the suite does not hold; restore the file"
            raise SuiteError([Problem(str(path), message)])


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


def _told(journal: Journal, path: Path) -> _Told:
    """What the report at ``path`` says of the run of ``journal``; SuiteError where it is edited, or another's."""
    if not path.exists():
        raise SuiteError([Problem(str(path), "is not there: the run was not finished; go on with it by --resume RUN")])
    content = read_document(path, SCHEMA)
    try:
        told = _Told.model_validate(content)
    except ValidationError as error:
        raise SuiteError(damage(error, str(path), SCHEMA)) from error
    if not is_sealed(content):
        raise SuiteError([Problem(str(path), "was edited or damaged; restore it, or make it anew by --resume RUN")])
    if (told.run, told.candidate.name) != (journal.header.run, journal.header.candidate):
        raise SuiteError(
            [Problem(str(path), "is of another run or candidate than the journal beside it; restore both")]
        )
    return told


def _report(journal: Journal, told: _Told, suite: Suite) -> tuple[Report, Gates]:
    """The report of ``journal``; what it does not tell stands in the report that was there before."""
    load, protocol = journal.load, journal.header.protocol
    assert load is not None  # It was checked.
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
    return fitted_gates(candidate, records, protocol, suite_hash=suite.hash, splits=told.scope.splits)
