"""What a run's records support beyond its metrics: intervals, calibration, selective prediction, invariance, noise."""

from __future__ import annotations

from collections.abc import Sequence

from decibench.cases.schema import Model, Split
from decibench.reports.calibration import Calibration, calibration_of
from decibench.reports.effects import Effect, effects_of
from decibench.reports.intervals import Intervals, intervals_of
from decibench.reports.invariance.summary import Invariance, invariance_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.selective import Selective, selective_of
from decibench.reports.summary import GatePoint
from decibench.reports.table import Decisions
from decibench.reports.variability import Variability, variability_of


class Evidence(Model):
    """By split; ``variability`` is empty with a single trial, ``effects`` are by variant.

    ``calibration`` and ``selective`` are empty where no core decision states probabilities.
    """

    intervals: dict[Split, Intervals]
    calibration: dict[Split, Calibration]
    selective: dict[Split, Selective]
    invariance: dict[Split, Invariance]
    effects: dict[Split, dict[str, Effect]]
    variability: dict[Split, Variability]


def evidence_of(
    records: Sequence[Record],
    decisions: Decisions,
    protocol: Protocol,
    gate: GatePoint | None = None,
    decimals: int | None = None,
) -> Evidence:
    """The evidence in ``records``, whose ``decisions`` are laid out in the same order; ``gate`` is the primary one.

    ``decimals`` are those of the rounding that the candidate declares; None where it declares none.
    """
    return Evidence(
        intervals=intervals_of(records, decisions, protocol, gate),
        calibration=calibration_of(records, protocol, gate.threshold if gate else None, decimals),
        selective=selective_of(decisions, protocol),
        invariance=invariance_of(records, protocol),
        effects=effects_of(decisions, protocol),
        variability=variability_of(records, protocol) or {},
    )
