"""Gates: thresholds on the top-option probability with everything that ties them to what they were fitted on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from decibench.cases.door import UsageError
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import sha256_of
from decibench.cases.schema import Model
from decibench.cases.writing import write_text
from decibench.gates.rules import with_rules
from decibench.reports.documents import damage, read_document, remedy
from decibench.reports.protocol import DEFAULT_PROTOCOL, CertifiedMethod, Estimand
from decibench.reports.record import Record
from decibench.reports.report import primary_gate

GATE: Final = "gate.json"
SCHEMA: Final = "decibench.gate/1"

Threshold = Annotated[float, Field(ge=0, le=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class Gate(Model):
    """What every gate says.

    ``status`` is ``fitted`` (``threshold`` is set), ``none-qualifies`` (null: accepts nothing), ``refused``
    (calibration has failed decisions; null), ``not-fitted`` (the run gave nothing to fit on) or ``no-probabilities``
    (the candidate states none, on which a threshold could stand). ``scenarios`` and ``decisions`` count what it was
    fitted on; ``groups`` names those scenarios, or the cases where the records do not tell scenarios; null where it was
    fitted on nothing. ``rules`` are the rules of the protocol for gates that differ from the default ones. ``seal`` is
    the SHA-256 of everything else: it tells an edited or damaged file.
    """

    schema_: Annotated[Literal["decibench.gate/1"], Field(alias="schema")] = SCHEMA
    method: str
    status: Literal["fitted", "none-qualifies", "refused", "not-fitted", "no-probabilities"]
    reason: str
    threshold: Threshold | None = None
    scenarios: int = 0
    decisions: int = 0
    rules: dict[str, Any] = {}
    candidate_hash: str | None = None
    protocol_hash: str
    suite_hash: str | None = None
    calibration_hash: str | None = None
    groups: list[str] | None = None
    seal: str = ""


class GridPoint(Model):
    """What a threshold does on calibration; ``error`` is null where it accepts nothing.

    ``accepted`` decisions lie in ``scenarios``; ``errors`` of them are wrong.
    """

    threshold: Threshold
    scenarios: int
    accepted: int
    errors: int
    error: float | None
    coverage: float
    qualifies: bool


class EmpiricalGate(Gate):
    """The grid threshold that covers most calibration decisions with an observed error within ``max_error``.

    ``resolution`` is the smallest step between two of the ``distinct_top_probabilities`` on calibration; no threshold
    above ``highest_top_probability`` can accept anything. Its figures are observed shares: no bound comes with it.
    """

    method: Literal["empirical"] = "empirical"
    max_error: float
    min_accepted: int
    grid: list[GridPoint] = []
    highest_top_probability: float | None = None
    distinct_top_probabilities: int = 0
    resolution: float | None = None


class Start(Model):
    """A declared start of the fixed sequence and how it went from there downwards, at level ``delta``.

    ``passed`` are the thresholds with p <= delta before the first with more, ``stopped``; that is null where the
    grid ended first.
    """

    threshold: Threshold
    delta: float
    passed: list[Threshold]
    stopped: Threshold | None


class CertifiedPoint(Model):
    """What a threshold does on calibration, counted in scenarios, and how unlikely that is under a risk above alpha.

    ``accepting`` scenarios accept a decision, ``failing`` of them a wrong one; ``accepted`` and ``errors`` count the
    decisions. ``picked`` are the scenarios whose one decision chosen by the hash is accepted, ``picked_wrong`` those
    where it is wrong. ``risk`` is the observed value of the declared estimand, null where nothing is accepted.

    ``p_values`` are by method; the gate's ``p_value_estimands`` tells what each bounds. ``p_unsafe`` is that of the
    unsafe gate, null without a limit on unsafe acceptances. ``p`` decides: the p-value of the gate's method, in the
    joint gate the larger of it and ``p_unsafe``. ``tested`` and ``passed`` tell what the sequence made of it.
    """

    threshold: Threshold
    accepting: int
    accepted: int
    failing: int
    errors: int
    picked: int
    picked_wrong: int
    risk: Share | None
    p_values: dict[CertifiedMethod, Share]
    p_unsafe: Share | None
    p: Share
    tested: bool
    passed: bool


class CertifiedGate(Gate):
    """The lowest threshold at which a test shows, at confidence 1 - ``delta``, a risk of at most ``alpha``.

    The risk is the ``estimand``; ``max_unsafe`` is set in the joint gate, which bounds unsafe acceptances too. The
    ``method`` is ``auto`` only where the gate was not fitted, so that the number of scenarios did not choose one;
    ``proved`` is false where the validity of the method is a conjecture.

    ``sequence`` is ``fixed`` where thresholds were tested downwards from declared ``starts``, which the
    ``development_scenarios`` chose without labels; ``holm`` where there were none and the grid was tested as a whole.
    ``claim`` is all that may be concluded, null where no threshold is issued; ``needed`` then tells what this method
    would need. The claims of several gates of a run hold one by one, each with its own delta, not all at once.
    """

    method: Literal[CertifiedMethod, "auto"]
    proved: bool
    estimand: Estimand
    alpha: float
    delta: float
    max_unsafe: float | None = None
    sequence: Literal["fixed", "holm"] | None = None
    development_scenarios: int = 0
    starts: list[Start] = []
    p_value_estimands: dict[CertifiedMethod, Estimand] = {}
    grid: list[CertifiedPoint] = []
    claim: str | None = None
    needed: str | None = None


class UnsafePoint(Model):
    """Scenarios with an unsafe option in which a threshold accepts one: ``accepting``.

    ``accepted`` decisions of all scenarios are accepted, safe or not. ``p`` is P(Bin(unsafe_scenarios, max_unsafe) <=
    accepting). ``upper_bound`` is the exact one-sided bound on the long-run share at confidence 1 - delta, for this
    threshold alone; the claim does not rest on it. ``passed`` where p <= delta here and at every higher threshold.
    """

    threshold: Threshold
    accepting: int
    accepted: int
    p: Share
    upper_bound: Share
    passed: bool


class UnsafeGate(Gate):
    """The lowest threshold from which on unsafe acceptances are bounded by ``max_unsafe``, at confidence 1 - ``delta``.

    They are counted in scenarios: those with an unsafe option, ``unsafe_scenarios``, in which one is accepted. The
    number falls as the threshold rises, so that testing every threshold at delta is enough (a risk-controlling
    prediction set; Bates, Angelopoulos et al. 2021). ``claim`` and ``needed`` are as in the certified gate.
    """

    method: Literal["binomial"] = "binomial"
    max_unsafe: float
    delta: float
    unsafe_scenarios: int = 0
    grid: list[UnsafePoint] = []
    claim: str | None = None
    needed: str | None = None


AnyGate = TypeVar("AnyGate", bound=Gate)

PrimaryGate: TypeAlias = EmpiricalGate | CertifiedGate
"""A gate that can decide: what a gate file holds."""


def check_usable(gate: Gate) -> None:
    """Raise UsageError where no gate came of the fitting."""
    if gate.status in ("refused", "not-fitted", "no-probabilities"):
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


def read_gate(path: Path) -> PrimaryGate:
    """Read the file of a primary gate; SuiteError says what is wrong."""
    raw = read_document(path, SCHEMA)
    try:
        certified = raw.get("method", "empirical") != "empirical"
        gate: PrimaryGate = (CertifiedGate if certified else EmpiricalGate).model_validate(raw)
    except ValidationError as error:
        raise SuiteError(damage(error, str(path), SCHEMA)) from error
    # The seal of a gate without a field is that of one with its default value.
    lacking = [field for field in gate.model_dump(mode="json") if field not in raw]
    if lacking:
        message = f"is missing; it was edited or damaged: {remedy(SCHEMA)}"
        raise SuiteError([Problem(str(path), message, None, field) for field in lacking])
    try:
        primary = primary_gate(with_rules(DEFAULT_PROTOCOL, gate.rules))
    except UsageError as error:
        raise SuiteError([Problem(str(path), f"cannot be used: {error}", None, "rules")]) from error
    if primary != name_of(gate):
        message = f"is {gate.method!r}, but the rules make the {primary} gate the one that decides; fit it again"
        raise SuiteError([Problem(str(path), message, None, "method")])
    if sealed(gate).seal != gate.seal:
        message = f"does not match the content: the file was edited or damaged; {remedy(SCHEMA)}"
        raise SuiteError([Problem(str(path), message, None, "seal")])
    return gate


def sealed(gate: AnyGate) -> AnyGate:
    """The gate with its seal."""
    return gate.model_copy(update={"seal": sha256_of(gate.model_dump(mode="json", exclude={"seal"}))})


def name_of(gate: PrimaryGate) -> str:
    """Which gate of a report it is."""
    if isinstance(gate, EmpiricalGate):
        return "empirical"
    return "certified" if gate.max_unsafe is None else "joint"


def write_gate(gate: Gate, path: Path) -> None:
    """Write ``gate`` as indented JSON."""
    write_text(path, json.dumps(gate.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")


def _short(value: str | None) -> str:
    return value[:12] if value else "unknown"
