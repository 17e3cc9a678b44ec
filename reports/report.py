"""The report of one candidate: a versioned schema, sealed by a hash, whose figures must follow from its records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from reprlib import repr as shorten
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import canonical_json
from decibench.cases.schema import Model, Split
from decibench.cases.writing import write_text
from decibench.reports.differences import differences
from decibench.reports.documents import MOST_PROBLEMS, check_schema, damage, read_content
from decibench.reports.evidence import Evidence, evidence_of
from decibench.reports.journal import SuiteRef
from decibench.reports.latency import Cost, Latency, cost_of, latency_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.stated import check_stated
from decibench.reports.summary import GatePoint, SplitMetrics, summarise
from decibench.reports.table import decisions_of

REPORT: Final = "report.json"
SCHEMA: Final = "decibench.report/3"


class CandidateRef(Model):
    """Who answered: the name in this run, the candidate hash, and the identity behind it."""

    name: str
    hash: str | None
    identity: dict[str, Any]

    @property
    def decimals(self) -> int | None:
        """The rounding of probabilities that the identity declares; None where it declares none."""
        decimals: int | None = self.identity.get("decimals")
        return decimals

    @property
    def states_probabilities(self) -> bool:
        """False where the identity declares choices alone: nothing that rests on probabilities exists then."""
        return self.identity.get("probability_readout") is not False

    @property
    def remote(self) -> bool:
        """Whether the identity says that another machine, or a server, answers: latencies then hold a network."""
        return self.identity.get("device") == "remote"

    @property
    def asked_model(self) -> str | None:
        """The model that was asked for; None where the identity names none."""
        asked: str | None = self.identity.get("settings", {}).get("asked_model") or self.identity.get("model")
        return asked


class Scope(Model):
    """What was asked for and what of it was measured.

    ``expected`` items are in the declared scope, ``collected`` of them were selected, ``measured`` have a record.
    ``missing`` names up to ten collected items without one. ``retried`` counts failed records that were asked
    again, ``set_aside`` the records of an earlier candidate hash that do not count. ``interleaved`` tells whether the
    candidates of the run took turns case by case, or were asked one after the other.
    """

    splits: list[Split]
    families: list[str]
    variants: list[str]
    trials: int
    expected: int
    collected: int
    measured: int
    missing: list[str]
    retried: int
    set_aside: int
    interleaved: bool = False


class GateCheck(Model):
    """Whether the gate that the user required is there: a given one must hold on the holdout, a fitted one be issued.

    ``passed`` is null where none was required, or where it could not be checked; ``reason`` tells which.
    """

    passed: bool | None
    reason: str


class HoldoutLooks(Model):
    """How often the ledger of this place saw this suite's holdout scored, this run included where it did.

    ``family`` is what the candidate is a configuration of: an adapter, or a file of one's own. Looks are counted of
    this very configuration, of the family, and of all candidates; ``number`` is which look of the family this run is,
    in the order of the ledger, null where it is none. The counts are null where the ledger could not be read.
    """

    family: str
    number: int | None
    this_candidate: int | None
    this_family: int | None
    all_candidates: int | None


class Report(Model):
    """Everything one candidate's run says, and the records it follows from.

    ``complete`` is true when every item of the declared scope was measured; ``partial`` when only a chosen subset
    was selected, which is reported but never gated, and without ``evidence``: what a user picked is no sample.
    ``incomplete_reasons`` says what is missing. ``seal`` is the
    SHA-256 of everything else here: it detects accidental change and proves neither a machine nor a date.
    """

    schema_: Annotated[Literal["decibench.report/3"], Field(alias="schema")] = SCHEMA
    run: str
    created: str
    suite: SuiteRef
    candidate: CandidateRef
    protocol: Protocol
    protocol_hash: str
    environment: dict[str, str]
    complete: bool
    partial: bool
    incomplete_reasons: list[str]
    scope: Scope
    holdout_looks: HoldoutLooks
    metrics: dict[Split, SplitMetrics]
    evidence: Evidence | None
    gates: dict[str, Any]
    gate_check: GateCheck
    latency: Latency
    cost: Cost
    records: list[Record]
    seal: str = ""

    @property
    def answered_by(self) -> list[str]:
        """The models that said they gave answers that were scored, each once; empty where none was named."""
        return list(dict.fromkeys(record.model for record in self.records if record.model and record.scored))


def primary_gate(protocol: Protocol) -> Literal["empirical", "certified", "joint"]:
    """Which gate decides under ``protocol``: coverage, selective risk and unsafe acceptance are those of it."""
    if protocol.gate_method == "empirical":
        return "empirical"
    return "certified" if protocol.max_unsafe is None else "joint"


def gate_point(gates: dict[str, Any], protocol: Protocol) -> GatePoint | None:
    """Where the primary gate of a report stands; None where no gate was fitted or applied, or none can be."""
    primary = gates.get(primary_gate(protocol))
    if primary is None or primary.get("status") in ("not-fitted", "no-probabilities"):
        return None
    return GatePoint(threshold=primary["threshold"])


def write_report(report: Report, path: Path) -> Report:
    """Seal ``report`` and write it as JSON, one record per line, replacing the file in one step."""
    records = [canonical_json(record.model_dump(mode="json")) for record in report.records]
    raw = report.model_dump(mode="json", exclude={"records", "seal"})
    seal = _seal(raw, records)
    head = json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    body = ",\n".join(records)
    write_text(path, f'{head},\n "records": [\n{body}\n ],\n "seal": "{seal}"\n}}\n')
    return report.model_copy(update={"seal": seal})


def read_report(path: Path) -> Report:
    """Read a report; SuiteError where it is none, of another schema, or where it was cut off, edited or damaged."""
    return as_report(read_content(path), path)


def as_report(raw: Any, path: Path) -> Report:
    """The report in the JSON value ``raw`` of the file ``path``; SuiteError as in ``read_report``."""
    check_schema(raw, SCHEMA, str(path))
    try:
        report = Report.model_validate(raw)
        check_stated(report.gates, primary_gate(report.protocol), report.candidate.identity)
    except ValidationError as error:
        raise SuiteError(damage(error, str(path), SCHEMA)) from error
    problems = [Problem(str(path), message, None, field) for field, message in _doubts(report, raw)]
    if problems:
        raise SuiteError(problems[:MOST_PROBLEMS])
    return report


def is_sealed(raw: dict[str, Any]) -> bool:
    """Whether the JSON value of a report states the hash of its content; its figures are not looked at."""
    try:
        return bool(_seal(raw, map(canonical_json, raw["records"])) == raw["seal"])
    except (LookupError, TypeError, ValueError):
        return False


def _doubts(report: Report, raw: dict[str, Any]) -> Iterator[tuple[str | None, str]]:
    """The fields of a report that cannot be trusted, each with a sentence; a figure says more than the seal."""
    try:
        found = list(_contradictions(report))
        matches = is_sealed(raw)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # What no run writes, such as an expected answer that is none of the options.
        yield None, "its figures cannot be computed anew from its records and gates; it was edited or damaged"
        return
    for field, stated, computed in found:
        yield field, f"says {shorten(stated)}, its records give {shorten(computed)}; it was edited or damaged"
    if not found and not matches:
        yield "seal", "does not match the content: the file was edited or damaged; restore it"


def _contradictions(report: Report) -> list[tuple[str, object, object]]:
    floor, point = report.protocol.log_loss_floor, gate_point(report.gates, report.protocol)
    decisions = decisions_of(report.records, floor)
    computed = {
        "metrics": {
            split: metrics.model_dump(mode="json") for split, metrics in summarise(decisions, floor, point).items()
        },
        "evidence": None
        if report.partial
        else evidence_of(report.records, decisions, report.protocol, point, report.candidate.decimals).model_dump(
            mode="json"
        ),
        "latency": latency_of(report.records, report.latency.loads).model_dump(mode="json"),
        "cost": cost_of(report.records, report.cost.prices).model_dump(mode="json"),
        "protocol_hash": report.protocol.hash,
    }
    stated = report.model_dump(mode="json", include=set(computed))
    return list(differences(stated, computed))


def _seal(raw: dict[str, Any], records: Iterable[str]) -> str:
    """SHA-256 (hex) over everything but the seal: ``raw`` without its records, then each record as canonical JSON."""
    rest = {key: value for key, value in raw.items() if key not in ("records", "seal")}
    digest = sha256(canonical_json(rest).encode())
    for record in records:
        digest.update(b"\n" + record.encode())
    return digest.hexdigest()
