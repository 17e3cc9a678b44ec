"""The protocol: the scoring rules that are frozen before anything is measured."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from decibench.cases.distribution import Tolerances
from decibench.cases.jsonio import sha256_of
from decibench.cases.schema import Model


class Protocol(Model):
    """Rules of answers, metrics and the primary gate.

    ``warm_ups`` requests precede the measured ones. ``log_loss_floor`` is the least probability that enters the
    logarithm. The empirical gate accepts an error of at most ``max_error`` on at least ``min_accepted``
    calibration decisions, at a threshold of ``gate_grid``.
    """

    name: str = "default"
    version: str = "1"
    tolerances: Tolerances = Tolerances()
    warm_ups: Annotated[int, Field(ge=0)] = 3
    log_loss_floor: Annotated[float, Field(gt=0, lt=1)] = 1e-15
    gate_grid: list[Annotated[float, Field(ge=0, le=1)]] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]
    max_error: Annotated[float, Field(ge=0, lt=1)] = 0.05
    min_accepted: Annotated[int, Field(ge=1)] = 10

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of all rules."""
        return sha256_of(self.model_dump())


DEFAULT_PROTOCOL: Final = Protocol()
