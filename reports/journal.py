"""Journals: the records of one candidate, appended as they arrive, so that a killed run loses nothing finished."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any, Final, Literal, TypeVar

from pydantic import Field, ValidationError

from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import canonical_json, read_json
from decibench.cases.schema import Model
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record

JOURNAL: Final = "journal.jsonl"
_START: Final = b'{"kind":"run"'
_RECORD: Final = b'{"kind":"record",'
_Key = TypeVar("_Key", bound=Hashable)


class SuiteRef(Model):
    """Which suite was asked."""

    name: str
    version: str
    hash: str


class Header(Model):
    """First line of a journal: what is asked, of whom, by which rules. ``run`` is a random id of the run."""

    schema_: Annotated[Literal["decibench.journal/2"], Field(alias="schema")] = "decibench.journal/2"
    run: str
    candidate: str
    suite: SuiteRef
    protocol: Protocol


class Load(Model):
    """A candidate was built: who it says it is, and what that took in seconds, apart from the measured requests.

    ``adapter`` is the name of a shipped one, None for a file of one's own, and ``settings`` what was set of it: enough
    to read its replies again, and never a key. ``deadline_s`` is what an attempt of a remote candidate might take, and
    ``retries`` how often it might be repeated: which decisions fail hangs on both.
    """

    adapter: str | None = None
    settings: dict[str, Any] = {}
    deadline_s: float | None = None
    retries: int | None = None
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
        known = [record for record in self.records if record.candidate_hash in (wanted, None)]
        return list(_last_attempts(known, lambda record: (record.case, record.trial)).values())

    def finished(self) -> dict[tuple[str, str, int, str | None], Record]:
        """The last attempt of each item, by case, request, trial and candidate hash."""
        return _last_attempts(self.records, lambda record: record.key)


def _last_attempts(records: Iterable[Record], key: Callable[[Record], _Key]) -> dict[_Key, Record]:
    found: dict[_Key, Record] = {}
    for record in records:
        known = found.get(key(record))
        # The failure of a process that died is a first attempt: it never takes the place of an earlier answer.
        if known is None or record.attempt > known.attempt:
            found[key(record)] = record
    return found


class JournalWriter:
    """Appends lines to a journal and flushes each one.

    A torn last line is cut first. With ``new`` a file that is there already is another process's journal, and
    FileExistsError is raised.
    """

    def __init__(self, path: Path, header: Header, *, new: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if new:
            path.touch(exist_ok=False)
        elif path.exists():
            drop_torn_line(path)
        self._file: IO[str] = path.open("a", encoding="utf-8")
        if self._file.tell() == 0:
            self._write("run", header.model_dump())

    def record(self, record: str) -> None:
        """Append one record, given as the JSON object that pydantic writes."""
        self._append(f'{{"kind":"record",{record[1:]}')

    def load(self, load: dict[str, Any]) -> None:
        """Append what building the candidate took."""
        self._write("load", load)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, kind: str, content: dict[str, Any]) -> None:
        self._append(canonical_json({"kind": kind, **content}))

    def _append(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()


def read_journal(path: Path) -> Journal:
    """Read a journal. A last line without its end, as a killed run leaves it, is not a record and is left out.

    Raises SuiteError naming the line of anything else that cannot be read.
    """
    data = path.read_bytes()
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    journal: Journal | None = None
    for number, line in enumerate(lines, start=1):
        if journal is not None and (record := _as_written(line)) is not None:
            journal.records.append(record)
            continue
        try:
            content = read_json(line)
            if not isinstance(content, dict):
                raise ValueError("it is not an object")
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
        except ValueError as error:
            message = f"is not a journal line ({error}); restore the file or start a new run"
            raise SuiteError([Problem(str(path), message, number)]) from error
    if journal is None:
        raise SuiteError([Problem(str(path), "holds no complete line; start a new run")])
    return journal


def _as_written(line: bytes) -> Record | None:
    """The record of a line as a run writes it, three times as fast as in two steps; None where it is anything else."""
    if not line.startswith(_RECORD):
        return None
    try:
        return Record.model_validate_json(b"{" + line[len(_RECORD) :])
    except ValidationError:
        return None


def is_started(path: Path) -> bool:
    """True where a journal has its first line; a run that was killed at once may leave a file without one."""
    return path.exists() and b"\n" in path.read_bytes()


def check_first_line(path: Path) -> None:
    """Raise SuiteError where what stands before the first end of a line is not the beginning of a journal."""
    with path.open("rb") as file:
        start = file.read(len(_START))
    if not _START.startswith(start):
        message = "does not begin as a journal does; restore the file or start a new run"
        raise SuiteError([Problem(str(path), message, 1)])


def drop_torn_line(path: Path) -> None:
    """Cut a last line without its end, so that the next append starts a line of its own."""
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end != len(data):
        with path.open("r+b") as file:
            file.truncate(end)
