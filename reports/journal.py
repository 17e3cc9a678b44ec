"""Journals: the records of one candidate, appended as they arrive, so that a killed run loses nothing finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any, Final, Literal

from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import canonical_json, read_json
from decibench.cases.schema import Model
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from pydantic import Field, ValidationError

JOURNAL: Final = "journal.jsonl"


class SuiteRef(Model):
    """Which suite was asked."""

    name: str
    version: str
    hash: str


class Header(Model):
    """First line of a journal: what is asked, of whom, by which rules. ``run`` is a random id of the run."""

    schema_: Annotated[Literal["decibench.journal/1"], Field(alias="schema")] = "decibench.journal/1"
    run: str
    candidate: str
    suite: SuiteRef
    protocol: Protocol


class Load(Model):
    """A candidate was built: who it says it is, and what that took in seconds, apart from the measured requests."""

    identity: dict[str, Any]
    candidate_hash: str
    worker: str
    load_s: float
    first_probe_s: float | None
    warm_ups_s: list[float]


@dataclass
class Journal:
    """The contents of a journal: its header, the loads, and all records in order of arrival."""

    header: Header
    loads: list[Load] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def load(self) -> Load | None:
        """The candidate that was built last: the one a report is about."""
        return self.loads[-1] if self.loads else None

    def current(self) -> list[Record]:
        """The records that count: of the last identity, the last attempt of each item, by first arrival."""
        wanted = self.load.candidate_hash if self.load else None
        latest: dict[tuple[str, int], Record] = {}
        for record in self.records:
            if record.candidate_hash in (wanted, None):
                latest[record.case, record.trial] = record
        return list(latest.values())


class JournalWriter:
    """Appends lines to a journal and flushes each one."""

    def __init__(self, path: Path, header: Header) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = path.open("a", encoding="utf-8")
        if self._file.tell() == 0:
            self._write("run", header.model_dump())

    def record(self, record: dict[str, Any]) -> None:
        """Append one record."""
        self._write("record", record)

    def load(self, load: dict[str, Any]) -> None:
        """Append what building the candidate took."""
        self._write("load", load)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, kind: str, content: dict[str, Any]) -> None:
        self._file.write(canonical_json({"kind": kind, **content}) + "\n")
        self._file.flush()


def read_journal(path: Path) -> Journal:
    """Read a journal. A last line without its end, as a killed run leaves it, is not a record and is left out.

    Raises SuiteError naming the line of anything else that cannot be read.
    """
    data = path.read_bytes()
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    journal: Journal | None = None
    for number, line in enumerate(lines, start=1):
        try:
            content = read_json(line)
            kind = content.pop("kind", None)
            if kind == "run" and journal is None:
                journal = Journal(Header.model_validate(content))
            elif kind == "load" and journal is not None:
                journal.loads.append(Load.model_validate(content))
            elif kind == "record" and journal is not None:
                journal.records.append(Record.model_validate(content))
            else:
                raise ValueError(f"unexpected kind {kind!r}; a journal is one run line, then load and record lines")
        except ValidationError as error:
            raise SuiteError(problems_of(error, str(path), number)) from error
        except (ValueError, AttributeError) as error:
            message = f"is not a journal line ({error}); restore the file or start a new run"
            raise SuiteError([Problem(str(path), message, number)]) from error
    if journal is None:
        raise SuiteError([Problem(str(path), "holds no complete line; start a new run")])
    return journal


def drop_torn_line(path: Path) -> None:
    """Cut a last line without its end, so that the next append starts a line of its own."""
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end != len(data):
        with path.open("r+b") as file:
            file.truncate(end)
