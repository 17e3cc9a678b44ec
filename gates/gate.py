"""A gate: a threshold on the top-option probability with everything that ties it to what it was fitted on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from decibench.cases.door import UsageError
from decibench.cases.errors import SuiteError, problems_of
from decibench.cases.jsonio import read_json
from decibench.cases.schema import Model
from decibench.reports.record import Record

GATE: Final = "gate.json"


class GridPoint(Model):
    """What a threshold does on calibration; ``error`` is null where it accepts nothing."""

    threshold: float
    accepted: int
    errors: int
    error: float | None
    coverage: float
    qualifies: bool


class Gate(Model):
    """A fitted gate.

    ``status`` is ``fitted`` (``threshold`` is set), ``none-qualifies`` (null: accepts nothing), ``refused``
    (calibration has failed decisions; null) or ``not-fitted`` (the run gave nothing to fit on). ``resolution`` is
    the smallest step between two of the ``distinct_top_probabilities`` on calibration; no threshold above
    ``highest_top_probability`` can accept anything. ``groups`` are the scenarios it was fitted on, or the cases
    where the records do not tell scenarios; null where it was fitted on nothing.
    """

    schema_: Annotated[Literal["decibench.gate/1"], Field(alias="schema")] = "decibench.gate/1"
    method: Literal["empirical"] = "empirical"
    status: Literal["fitted", "none-qualifies", "refused", "not-fitted"]
    reason: str
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    max_error: float
    min_accepted: int
    decisions: int = 0
    grid: list[GridPoint] = []
    highest_top_probability: float | None = None
    distinct_top_probabilities: int = 0
    resolution: float | None = None
    candidate_hash: str | None = None
    protocol_hash: str
    suite_hash: str | None = None
    calibration_hash: str | None = None
    groups: list[str] | None = None


def check_usable(gate: Gate) -> None:
    """Raise UsageError where no gate came of the fitting."""
    if gate.status in ("refused", "not-fitted"):
        raise UsageError(f"the gate cannot be applied: {gate.reason}")


def check_applies(
    gate: Gate,
    records: list[Record],
    *,
    candidate_hash: str | None,
    protocol_hash: str,
    suite_hash: str | None,
) -> None:
    """Raise UsageError where ``gate`` does not belong to these records.

    It must come from the same candidate, protocol and suite, and from other scenarios than those it is applied to.
    """
    check_usable(gate)
    if gate.candidate_hash is None or candidate_hash is None:
        which = "the gate" if gate.candidate_hash is None else "the file it is applied to"
        raise UsageError(
            f"{which} does not say which candidate answered, and a threshold does not carry over to another one; "
            "name the candidate in the rows file (field candidate), and fit the gate on such a file"
        )
    for what, own, other in (
        ("candidate", gate.candidate_hash, candidate_hash),
        ("protocol", gate.protocol_hash, protocol_hash),
        ("suite", gate.suite_hash, suite_hash),
    ):
        if own != other:
            raise UsageError(
                f"the gate was fitted for another {what} ({_short(own)}, here {_short(other)}); "
                "a threshold does not carry over: fit it again on this one's calibration"
            )
    shared = sorted(set(gate.groups or ()) & {record.group for record in records})
    if shared:
        shown = ", ".join(shared[:3]) + (", ..." if len(shared) > 3 else "")
        raise UsageError(
            f"{len(shared)} scenarios ({shown}) are among those the gate was fitted on; "
            "apply it to others, such as the holdout"
        )


def read_gate(path: Path) -> Gate:
    """Read a gate file; SuiteError or UsageError says what is wrong."""
    try:
        return Gate.model_validate(read_json(path.read_bytes()))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise SuiteError(problems_of(error, str(path))) from error
    except ValueError as error:
        raise UsageError(f"{path}: is not JSON: {error}") from error


def write_gate(gate: Gate, path: Path) -> None:
    """Write ``gate`` as indented JSON."""
    path.write_text(json.dumps(gate.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n", "utf-8")


def _short(value: str | None) -> str:
    return value[:12] if value else "unknown"
