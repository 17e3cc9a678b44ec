"""Records from elsewhere: journals, reports, and the plain rows format, read into the same records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from decibench.cases.distribution import InvalidAnswer, check_distribution
from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import read_json, sha256_of
from decibench.cases.schema import Model, Split
from decibench.reports.journal import SuiteRef, read_journal
from decibench.reports.protocol import DEFAULT_PROTOCOL, Protocol
from decibench.reports.record import Decision, Failure, Record, TokenUsage
from decibench.reports.report import gate_point, read_report

UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Source:
    """Records and what is known about them.

    ``threshold`` is the one a rows file was recorded with and ``gated`` whether it says so at all. ``grouped``
    tells whether rows of one scenario can be recognised; in a rows file without groups every case stands alone.
    ``complete`` is that of a report; a journal and a rows file do not say.
    """

    kind: Literal["journal", "report", "rows"]
    records: list[Record]
    protocol: Protocol
    candidate_hash: str | None
    suite: SuiteRef | None
    grouped: bool = True
    complete: bool | None = None
    threshold: float | None = None
    gated: bool = False


class RowsFile(Model):
    """The plain rows format: ``row_fields`` names the entries of each row; other fields are notes.

    Needed: case_id, question_id, expected, choice, probabilities. Known: unsafe_labels, type, group, family,
    variant, split, trial, latency_s, input_tokens, output_tokens, confidence, error. ``decimals`` is the rounding
    of the probabilities, ``threshold`` the gate the rows were recorded with.
    """

    row_fields: list[str]
    rows: list[list[Any]]
    split: Split = "calibration"
    candidate: dict[str, Any] = Field(default_factory=dict)
    decimals: int | None = None
    threshold: float | None = None


class Row(Model):
    """One row by field name."""

    case_id: str
    question_id: str
    expected: str
    choice: str | None
    probabilities: dict[str, Any] | None
    unsafe_labels: list[str] = []
    type: Literal["choice", "noul", "score"] = "choice"
    group: str | None = None
    family: str = UNKNOWN
    variant: str = UNKNOWN
    split: Split | None = None
    trial: int = 1
    latency_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    confidence: float | None = None
    error: str | None = None


def read_source(path: Path) -> Source:
    """Read a journal (.jsonl), a report or a rows file; SuiteError says what is wrong and where."""
    if path.is_dir():
        raise SuiteError([Problem(str(path), "is a directory; name its report.json or journal.jsonl")])
    try:
        if path.suffix == ".jsonl":
            journal = read_journal(path)
            load = journal.load
            hash_ = load.candidate_hash if load else None
            return Source("journal", journal.current(), journal.header.protocol, hash_, journal.header.suite)
        raw = read_json(path.read_bytes())
    except OSError as error:
        raise SuiteError([Problem(str(path), f"cannot be read ({error.strerror})")]) from error
    except ValueError as error:
        raise SuiteError([Problem(str(path), f"is not JSON: {error}")]) from error
    if isinstance(raw, dict) and str(raw.get("schema", "")).startswith("decibench.report/"):
        report = read_report(path)
        return Source(
            "report",
            report.records,
            report.protocol,
            report.candidate.hash,
            report.suite,
            complete=report.complete,
            threshold=point.threshold if (point := gate_point(report.gates)) else None,
            gated=point is not None,
        )
    return _read_rows(raw, str(path))


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
    unknown = sorted(set(file.row_fields) - set(Row.model_fields))
    problems: list[Problem] = []
    if unknown:
        fields = ", ".join(Row.model_fields)
        problems.append(
            Problem(name, f"has unknown names {', '.join(unknown)}; known are {fields}", None, "row_fields")
        )
    candidate_hash = sha256_of(file.candidate) if file.candidate else None
    records: list[Record] = []
    for index, values in enumerate(file.rows if not problems else []):
        if len(values) != len(file.row_fields):
            message = f"has {len(values)} entries, row_fields names {len(file.row_fields)}"
            problems.append(Problem(name, message, None, f"rows[{index}]"))
            continue
        try:
            row = Row.model_validate(dict(zip(file.row_fields, values, strict=True)))
            records.append(_record(row, file, candidate_hash))
        except ValidationError as error:
            problems += problems_of(error, name, prefix=f"rows[{index}].")
    if problems:
        raise SuiteError(problems[:10])
    if not records:
        raise SuiteError([Problem(name, "holds no rows", None, "rows")])
    return Source(
        "rows",
        records,
        DEFAULT_PROTOCOL,
        candidate_hash,
        None,
        grouped="group" in file.row_fields,
        threshold=file.threshold,
        gated="threshold" in raw,
    )


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
