"""Kept replies: ``raw.jsonl`` beside a journal, one line per item whose replies are to be read again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated, Any, Final, TypeAlias

from pydantic import Field, ValidationError

from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import canonical_json, read_json
from decibench.cases.schema import Model
from decibench.reports.journal import drop_torn_line
from decibench.reports.record import Record

RAW: Final = "raw.jsonl"

RawKey: TypeAlias = tuple[str, int, int, str, str | None]
"""Case, trial, attempt, request hash and candidate hash."""


class KeptReply(Model):
    """A reply to one body of a request: its HTTP status and its text, which may repeat what was sent."""

    status: int
    text: str


class KeptReplies(Model):
    """The replies that a record was made of, named as the record is."""

    case: str
    trial: Annotated[int, Field(ge=1)]
    attempt: Annotated[int, Field(ge=1)]
    request_hash: str
    candidate_hash: str | None
    replies: Annotated[list[KeptReply], Field(min_length=1)]

    @property
    def key(self) -> RawKey:
        """What tells which record it belongs to."""
        return (self.case, self.trial, self.attempt, self.request_hash, self.candidate_hash)


def key_of(record: Record) -> RawKey:
    """What tells the replies of ``record`` from those of any other."""
    return (record.case, record.trial, record.attempt, record.request_hash, record.candidate_hash)


class RawWriter:
    """Appends the replies of one candidate and flushes each line. A torn last line is cut first."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            drop_torn_line(path)
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def keep(self, record: str, replies: Sequence[Mapping[str, Any]]) -> None:
        """Append the ``replies`` that ``record``, given as JSON, was made of."""
        content = json.loads(record)
        named = {name: content[name] for name in KeptReplies.model_fields if name != "replies"}
        self._file.write(canonical_json(named | {"replies": [dict(reply) for reply in replies]}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_raw(path: Path) -> dict[RawKey, list[KeptReply]]:
    """The kept replies by what names their record. A last line without its end is left out.

    Raises SuiteError naming the line of anything else that cannot be read.
    """
    data = path.read_bytes()
    found: dict[RawKey, list[KeptReply]] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            kept = KeptReplies.model_validate(read_json(line))
        except ValidationError as error:
            raise SuiteError(problems_of(error, str(path), number)) from error
        except ValueError as error:
            message = f"is not a line of kept replies ({error}); restore the file"
            raise SuiteError([Problem(str(path), message, number)]) from error
        found[kept.key] = kept.replies
    return found
