"""Records from elsewhere: journals, reports, and the plain rows format, read into the same records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, ValidationError

from decibench.cases.distribution import InvalidAnswer, check_distribution
from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import sha256_of
from decibench.cases.schema import Description, Model, Split, Text, check_content
from decibench.reports.documents import read_content
from decibench.reports.journal import Journal, SuiteRef, read_journal
from decibench.reports.protocol import DEFAULT_PROTOCOL, Protocol
from decibench.reports.record import MOST_TOKENS, Decision, Failure, Record, TokenUsage
from decibench.reports.report import CandidateRef, as_report, gate_point

UNKNOWN: Final = "unknown"
_LEVELS: Final = frozenset("0123456789")
_MOST_SECONDS: Final = 1e9
"""Some thirty years: beyond it a clock is broken, and sums of such figures stop being JSON."""
_MOST_PROBLEMS: Final = 10


@dataclass(frozen=True, slots=True)
class Source:
    """Records and what is known about them.

    ``threshold`` is the one a rows file was recorded with and ``gated`` whether it says so at all. ``grouped``
    tells whether rows of one scenario can be recognised; in a rows file without groups every case stands alone.
    ``complete`` is that of a report; a journal and a rows file do not say. ``probabilities`` is false where the
    candidate states choices alone.
    """

    kind: Literal["journal", "report", "rows"]
    records: list[Record]
    protocol: Protocol
    candidate_hash: str | None
    suite: SuiteRef | None
    complete: bool | None = None
    threshold: float | None = None
    gated: bool = False
    grouped: bool = True
    probabilities: bool = True


class RowsFile(Model):
    """The plain rows format: ``row_fields`` names the entries of each row; other fields are notes.

    Needed: case_id, question_id, expected, choice, probabilities. Known: unsafe_labels, type, group, family,
    variant, split, trial, latency_s, input_tokens, output_tokens, confidence, error. ``decimals`` is the rounding
    of the probabilities, ``threshold`` the gate the rows were recorded with. ``candidate`` tells who answered, in any
    fields; a gate can only be applied where that is known.
    """

    row_fields: list[str]
    rows: list[list[Any]]
    split: Split = "calibration"
    candidate: Annotated[dict[str, Any], AfterValidator(check_content)] = Field(default_factory=dict)
    decimals: Annotated[int, Field(ge=1, le=17)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None


class Row(Model):
    """One row by field name."""

    case_id: Text
    question_id: Text
    expected: Text
    choice: Description | None
    probabilities: dict[Text, Any] | None
    unsafe_labels: list[Text] = []
    type: Literal["choice", "noul", "score"] = "choice"
    group: Description | None = None
    family: Text = UNKNOWN
    variant: Text = UNKNOWN
    split: Split | None = None
    trial: Annotated[int, Field(ge=1)] = 1
    latency_s: Annotated[float, Field(ge=0, le=_MOST_SECONDS)] | None = None
    input_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)] | None = None
    output_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)] | None = None
    confidence: Annotated[float, Field(allow_inf_nan=False)] | None = None
    error: Description | None = None

    @property
    def item(self) -> tuple[str, str, int]:
        """What a file may answer once."""
        return (self.case_id, self.question_id, self.trial)


def read_source(path: Path) -> Source:
    """Read a journal (.jsonl), a report or a rows file; SuiteError says what is wrong and where."""
    try:
        if path.is_dir():
            raise SuiteError([Problem(str(path), "is a directory; name its report.json or journal.jsonl")])
        if path.suffix == ".jsonl":
            return _read_journal(read_journal(path))
    except OSError as error:
        raise SuiteError([Problem(str(path), f"cannot be read ({error.strerror})")]) from error
    raw = read_content(path)
    if isinstance(raw, dict) and str(raw.get("schema", "")).startswith("decibench."):
        report = as_report(raw, path)
        return Source(
            "report",
            report.records,
            report.protocol,
            report.candidate.hash,
            report.suite,
            complete=report.complete,
            threshold=point.threshold if (point := gate_point(report.gates, report.protocol)) else None,
            gated=point is not None,
            probabilities=report.candidate.states_probabilities,
        )
    return _read_rows(raw, str(path))


def _read_journal(journal: Journal) -> Source:
    load = journal.load
    who = CandidateRef(
        name=journal.header.candidate,
        hash=load.candidate_hash if load else None,
        identity=load.identity if load else {},
    )
    return Source(
        "journal",
        journal.current(),
        journal.header.protocol,
        who.hash,
        journal.header.suite,
        probabilities=who.states_probabilities,
    )


def _read_rows(raw: Any, name: str) -> Source:
    known = set(RowsFile.model_fields)
    try:
        if not isinstance(raw, dict) or not {"row_fields", "rows"} <= raw.keys():
            raise SuiteError(
                [Problem(name, "is neither a journal, a report, nor a rows file with row_fields and rows")]
            )
        file = RowsFile.model_validate({key: value for key, value in raw.items() if key in known})
    except ValidationError as error:
        raise SuiteError(problems_of(error, name)) from error
    problems = [Problem(name, message, None, "row_fields") for message in _check_fields(file.row_fields)]
    # Without usable names no row can be read.
    rows = [] if problems else _rows(file, name, problems)
    if problems:
        raise SuiteError(problems[:_MOST_PROBLEMS])
    if not rows:
        raise SuiteError([Problem(name, "holds no rows", None, "rows")])
    candidate_hash = sha256_of(file.candidate) if file.candidate else None
    return Source(
        "rows",
        [_record(row, file, candidate_hash) for row in rows],
        DEFAULT_PROTOCOL,
        candidate_hash,
        None,
        threshold=file.threshold,
        gated="threshold" in raw,
        grouped=all(row.group for row in rows),
    )


def _check_fields(names: list[str]) -> Iterator[str]:
    unknown = sorted(set(names) - set(Row.model_fields))
    if unknown:
        yield f"has unknown names {', '.join(unknown)}; known are {', '.join(Row.model_fields)}"
    twice = [field for field, number in Counter(names).items() if number > 1]
    if twice:
        yield f"names {', '.join(twice)} more than once; name each field once"


def _rows(file: RowsFile, name: str, problems: list[Problem]) -> list[Row]:
    """The rows of ``file``; what is wrong with them is added to ``problems``."""
    rows: list[Row] = []
    first: dict[tuple[str, str, int], int] = {}
    for index, values in enumerate(file.rows):
        place = f"rows[{index}]"
        if len(values) != len(file.row_fields):
            message = f"has {len(values)} entries, row_fields names {len(file.row_fields)}"
            problems.append(Problem(name, message, None, place))
            continue
        try:
            row = Row.model_validate(dict(zip(file.row_fields, values, strict=True)))
        except ValidationError as error:
            problems += problems_of(error, name, prefix=f"{place}.")
            continue
        rows.append(row)
        problems += [Problem(name, message, None, f"{place}.{field}") for field, message in _check_row(row)]
        known = first.setdefault(row.item, index)
        if known != index:
            message = f"answers the case, question and trial of rows[{known}] again; keep one, or number the trials"
            problems.append(Problem(name, message, None, place))
    return rows


def _check_row(row: Row) -> Iterator[tuple[str, str]]:
    """What must hold between the fields of one row."""
    if row.expected in row.unsafe_labels:
        yield "unsafe_labels", f"{row.expected!r} is the expected option; only wrong options can be unsafe"
    if row.type != "score":
        return
    if not {row.expected, *row.unsafe_labels} <= _LEVELS:
        yield "expected", "a score has its levels as options: write expected and unsafe labels as '0', '1', ..."
    levels = {str(level) for level in range(len(row.probabilities or ()))}
    if not levels <= _LEVELS or set(row.probabilities or ()) != levels:
        yield "probabilities", "the options of a score must be its levels '0', '1', ..., at most ten, none left out"


def _record(row: Row, file: RowsFile, candidate_hash: str | None) -> Record:
    return Record(
        case=row.case_id,
        group=row.group or row.case_id,
        family=row.family,
        variant=row.variant,
        role="core",
        split=row.split or file.split,
        trial=row.trial,
        request_hash=UNKNOWN,
        candidate_hash=candidate_hash,
        latency_s=row.latency_s,
        usage=TokenUsage(input_tokens=row.input_tokens, output_tokens=row.output_tokens),
        decisions=[_decision(row, file.decimals)],
    )


def _decision(row: Row, decimals: int | None) -> Decision:
    # What was asked is known from the row alone: an expected option without a probability is a missing one.
    options = list(dict.fromkeys([*(row.probabilities or ()), row.expected, *row.unsafe_labels]))
    asked: dict[str, Any] = {
        "question": row.question_id,
        "type": row.type,
        "options": options,
        "expected": row.expected,
        "unsafe": row.unsafe_labels,
    }
    if row.error is not None or row.probabilities is None:
        return Decision(**asked, failure=Failure(code=row.error or "no-answer", detail="recorded as failed"))
    try:
        checked = check_distribution(options, row.probabilities, row.choice, decimals=decimals)
    except InvalidAnswer as error:
        return Decision(**asked, failure=Failure(code=error.code, detail=error.detail))
    return Decision(
        **asked,
        choice=checked.choice,
        probabilities=checked.probabilities,
        raw_sum=checked.raw_sum,
        tie=checked.tie,
        confidence=row.confidence,
    )
