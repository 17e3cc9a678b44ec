"""What a report states and cannot be computed anew from its records: gates, and who answered.

Only what tables, pages and comparisons read of it is asked for; whoever wrote the report may state more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from decibench.cases.schema import Role, Text
from decibench.reports.figure import Figure

_Share = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    """Exact types; fields that nothing reads are let pass."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _Gate(_Part):
    status: Literal["fitted", "none-qualifies", "refused", "not-fitted", "no-probabilities"]
    method: str
    reason: Text
    threshold: _Share | None


class _EmpiricalPoint(_Part):
    threshold: float
    scenarios: int
    accepted: int
    errors: int
    error: float | None
    coverage: float
    qualifies: bool


class _EmpiricalGate(_Gate):
    min_accepted: int
    grid: list[_EmpiricalPoint]
    highest_top_probability: float | None
    distinct_top_probabilities: int
    resolution: float | None


class _Start(_Part):
    threshold: float
    delta: float


class _CertifiedPoint(_Part):
    threshold: float
    accepting: int
    failing: int
    p_values: dict[str, float]
    p: float
    tested: bool
    passed: bool


class _ClaimingGate(_Gate):
    claim: str | None
    needed: str | None


class _CertifiedGate(_ClaimingGate):
    proved: bool
    estimand: str
    alpha: float
    delta: float
    sequence: str | None
    starts: list[_Start]
    p_value_estimands: dict[str, str]
    grid: list[_CertifiedPoint]


class _UnsafePoint(_Part):
    threshold: float
    accepting: int
    p: float
    upper_bound: float
    passed: bool


class _UnsafeGate(_ClaimingGate):
    unsafe_scenarios: int
    max_unsafe: float
    grid: list[_UnsafePoint]


class _UnsafeTest(_Part):
    passed: bool | None


class _HoldoutTest(_Part):
    decisions: int
    accepted: int
    errors: int
    risk: float | None
    alpha: float
    outcome: str
    proved: bool
    unsafe: _UnsafeTest | None
    sentence: Text


class _AttackRate(_Part):
    hits: int
    decisions: int
    share: Figure
    hit_scenarios: int
    scenarios: int
    upper_bound: float


class _TransferRow(_Part):
    role: Role
    variant: str | None
    decisions: int
    scenarios: int
    accepted: int
    accepting_scenarios: int
    risk: float | None
    selective_risk: float | None
    upper_bound: float | None
    outcome: Literal["within", "above", "not-shown", "nothing-accepted"]
    coverage: Figure
    difference: Figure | None
    accepted_under_attack: _AttackRate | None
    attack_success: _AttackRate | None


class _Transfer(_Part):
    threshold: float | None
    method: str
    proved: bool
    estimand: str
    alpha: float
    delta: float
    rows: list[_TransferRow]
    sentences: list[str]


class _CostPoint(_Part):
    threshold: float | None
    accepted: int
    expected_cost: float


class _Policy(_Part):
    accepted: int
    expected_cost: Figure


class _CostDifference(_Part):
    difference: Figure
    cheaper: bool


class _CostTest(_Part):
    scenarios: int
    gate: _Policy
    always_accept: _Policy
    always_fall_back: _Policy
    against_accept: _CostDifference
    against_fall_back: _CostDifference


class _Cost(_Part):
    fitted: bool
    threshold: float | None
    scenarios: int
    grid: list[_CostPoint]
    holdout: _CostTest | None
    sentence: str


class _Gates(_Part):
    """Absent gates are those that the protocol does not ask for; the three after them are always stated."""

    empirical: _EmpiricalGate
    certified: _CertifiedGate = Field(default=None)  # type: ignore[assignment]
    unsafe: _UnsafeGate = Field(default=None)  # type: ignore[assignment]
    joint: _CertifiedGate = Field(default=None)  # type: ignore[assignment]
    holdout_tests: dict[str, _HoldoutTest]
    transfer: _Transfer | None
    cost: _Cost | None


class _Settings(_Part):
    asked_model: str | None = None


class _Identity(_Part):
    model: str | None = None
    revision: str | None = None
    decimals: int | None = None
    settings: _Settings = _Settings()
    probability_readout: bool = True


class _Candidate(_Part):
    identity: _Identity


class _Stated(_Part):
    candidate: _Candidate
    primary: str
    gates: _Gates

    @model_validator(mode="after")
    def _has_what_decides(self) -> Self:
        needed = {self.primary} | ({"joint"} if "unsafe" in self.gates.model_fields_set else set())
        lacking = sorted(needed - self.gates.model_fields_set)
        if lacking:
            raise ValueError(f"states no {lacking[0]} gate")
        return self


def check_stated(gates: Mapping[str, Any], primary: str, identity: Mapping[str, Any]) -> None:
    """Raise pydantic's ValidationError unless ``gates`` and ``identity`` of a report hold what is read of them.

    ``primary`` names the gate that decides, which must be among the gates.
    """
    _Stated.model_validate({"gates": gates, "primary": primary, "candidate": {"identity": identity}})
