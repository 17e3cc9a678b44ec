"""The protocol: the scoring rules that are frozen before anything is measured."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from decibench.cases.distribution import Tolerances
from decibench.cases.jsonio import sha256_of
from decibench.cases.schema import Model, Name

Estimand: TypeAlias = Literal["scenario-weighted", "any"]
CertifiedMethod: TypeAlias = Literal["one_per_group_cp", "group_any_cp", "hoeffding_bentkus", "betting", "gaffke"]
GateMethod: TypeAlias = Literal["empirical", "auto"] | CertifiedMethod
Level = Annotated[float, Field(gt=0, lt=1)]
Money = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class Costs(Model):
    """What one decision costs, in any one unit: acting on a wrong answer, on an unsafe one, and falling back."""

    wrong: Money
    unsafe: Money
    fallback: Money


class CostMatrix(Costs):
    """Costs of a decision, and of the families that differ from them."""

    families: dict[Name, Costs] = {}


class Protocol(Model):
    """Rules of answers, metrics, gates and intervals.

    ``warm_ups`` requests precede the measured ones. ``log_loss_floor`` is the least probability that enters the
    logarithm. The empirical gate accepts an error of at most ``max_error`` on at least ``min_accepted``
    calibration decisions, at a threshold of ``gate_grid``.

    ``gate_method`` names the primary gate: ``empirical``, or the certified one by its method, where ``auto`` is the
    method that the number of calibration scenarios gives. A certified gate bounds the ``estimand`` by ``alpha``, and
    with ``max_unsafe`` the probability that an unsafe option is accepted, each at confidence 1 - ``delta``.
    ``hash_salt`` picks the decision of a scenario that ``one_per_group_cp`` looks at. ``costs`` asks for the
    expected-cost gate.

    Intervals come from ``resamples`` group resamples, those of curves from ``curve_resamples``, drawn with ``seed``.
    A directional pair complies when it moves by more than ``direction_threshold``. ``risk_levels`` are those at which
    coverage is reported.
    """

    name: str = "default"
    version: str = "2"
    tolerances: Tolerances = Tolerances()
    warm_ups: Annotated[int, Field(ge=0)] = 3
    log_loss_floor: Level = 1e-15
    gate_grid: list[Annotated[float, Field(ge=0, le=1)]] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]
    max_error: Annotated[float, Field(ge=0, lt=1)] = 0.05
    min_accepted: Annotated[int, Field(ge=1)] = 10
    gate_method: GateMethod = "empirical"
    estimand: Estimand = "scenario-weighted"
    alpha: Level = 0.05
    delta: Level = 0.10
    max_unsafe: Level | None = None
    hash_salt: str = "decibench/1"
    costs: CostMatrix | None = None
    resamples: Annotated[int, Field(ge=100)] = 10_000
    curve_resamples: Annotated[int, Field(ge=100)] = 1_000
    seed: Annotated[int, Field(ge=0)] = 20_261_130
    primary_metric: Literal["macro_accuracy"] = "macro_accuracy"
    risk_levels: list[Level] = [0.01, 0.05, 0.10]
    direction_threshold: Annotated[float, Field(ge=0, lt=1)] = 0.02

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of all rules."""
        return sha256_of(self.model_dump())


DEFAULT_PROTOCOL: Final = Protocol()
