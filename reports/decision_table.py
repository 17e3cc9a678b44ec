"""The decisions of a report as a table for other tools: CSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from decibench.cases.jsonio import canonical_json
from decibench.cases.writing import replacing
from decibench.reports.report import Report, gate_point
from decibench.reports.summary import accepted_by
from decibench.reports.table import decisions_of

if TYPE_CHECKING:
    import pyarrow

TableFormat: TypeAlias = Literal["csv", "parquet"]
TABLE_FORMATS: Final[tuple[str, ...]] = get_args(TableFormat)

Kind: TypeAlias = Literal["text", "whole", "number", "flag", "distribution"]

COLUMNS: Final[Mapping[str, Kind]] = {
    "suite": "text",
    "candidate": "text",
    "case": "text",
    "group": "text",
    "family": "text",
    "variant": "text",
    "role": "text",
    "split": "text",
    "trial": "whole",
    "attempt": "whole",
    "question": "text",
    "type": "text",
    "expected": "text",
    "choice": "text",
    "outcome": "text",
    "failure": "text",
    "lenient_choice": "text",
    "tie": "flag",
    "top_option": "text",
    "top_probability": "number",
    "expected_probability": "number",
    "unsafe": "flag",
    "demanded": "flag",
    "accepted": "flag",
    "latency_s": "number",
    "earlier_s": "number",
    "input_tokens": "whole",
    "output_tokens": "whole",
    "cached_tokens": "whole",
    "raw_sum": "number",
    "confidence": "number",
    "score": "number",
    "probabilities": "distribution",
}
"""The columns in order. What is unknown or does not apply is null, never 0."""


def write_decision_table(report: Report, path: Path) -> None:
    """Write one row per decision to ``path``, whose suffix is the format: ``.csv`` or ``.parquet``.

    ``outcome`` is correct, missed or failed, and ``failure`` the code of why; a failed decision has null in all that
    only an answer has. ``lenient_choice`` is what a lenient reading of it would have found. ``tie`` tells that options
    share the maximum, of which ``top_option`` is the first by id; these and all that rests on probabilities are null
    where none are stated.
    ``unsafe`` tells whether an unsafe option was chosen, ``demanded`` whether the one that an injected text demands;
    both are null where the question has none. ``accepted`` tells whether the primary gate of the report acts on the
    decision; null where no gate was fitted. Seconds and tokens are those of the request, and stand on each of its
    questions; ``earlier_s`` is the sum over earlier attempts. ``probabilities`` are a JSON object in CSV and a list of
    option and probability in Parquet, in the order in which the options were asked.
    """
    rows = list(_rows(report))
    columns = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
    with replacing(path) as place:
        if path.suffix == ".parquet":
            _write_parquet(columns, place)
        else:
            _write_csv(columns, place)


def _rows(report: Report) -> Iterator[tuple[Any, ...]]:
    suite = f"{report.suite.name} {report.suite.version}"
    found = decisions_of(report.records, report.protocol.log_loss_floor)
    gate = gate_point(report.gates, report.protocol)
    accepted = [None] * len(found) if gate is None else accepted_by(found, gate.threshold).tolist()
    derived = zip(
        found.top_option.tolist(),
        map(_known, found.top_probability.tolist()),
        map(_known, found.expected_probability.tolist()),
        found.chose_unsafe.tolist(),
        found.chose_demanded.tolist(),
        accepted,
        strict=True,
    )
    for record in report.records:
        case = (record.case, record.group, record.family, record.variant, record.role, record.split)
        usage = record.usage
        request = (record.latency_s, record.earlier_s, usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        for d in record.decisions:
            top_option, top, p_expected, unsafe, demanded, acts = next(derived)
            valid = d.failure is None
            yield (
                *(suite, report.candidate.name, *case, record.trial, record.attempt),
                *(d.question, d.type, d.expected, d.choice),
                d.outcome,
                None if d.failure is None else d.failure.code,
                d.lenient_choice,
                *((None, None) if d.probabilities is None else (d.tie, top_option)),
                *(top, p_expected),
                unsafe if valid and d.unsafe else None,
                demanded if valid and d.demanded is not None else None,
                *(acts, *request, d.raw_sum, d.confidence, d.score, d.probabilities),
            )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _write_csv(columns: Mapping[str, list[Any]], path: Path) -> None:
    forms: dict[Kind, Callable[[Any], str | None]] = {"flag": _flag, "distribution": _json}
    cells = [map(forms[kind], columns[name]) if kind in forms else columns[name] for name, kind in COLUMNS.items()]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(zip(*cells, strict=True))


def _flag(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def _json(value: dict[str, float] | None) -> str | None:
    return None if value is None else canonical_json(value)


def _write_parquet(columns: Mapping[str, list[Any]], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    types = _types()
    entries = dict(columns)
    for name, kind in COLUMNS.items():
        if kind == "distribution":
            entries[name] = [None if value is None else _pairs(value) for value in columns[name]]
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    parquet.write_table(pyarrow.table(entries, schema=schema), path)


def _pairs(probabilities: dict[str, float]) -> list[dict[str, Any]]:
    return [{"option": option, "probability": p} for option, p in probabilities.items()]


def _types() -> dict[Kind, pyarrow.DataType]:
    import pyarrow as pa

    pair = pa.struct([("option", pa.string()), ("probability", pa.float64())])
    return {
        "text": pa.string(),
        "whole": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
        "distribution": pa.list_(pair),
    }
