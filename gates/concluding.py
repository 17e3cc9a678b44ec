"""From records to a report: metrics, evidence, and the gates on every split and variant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from decibench.gates.applied import apply_gates
from decibench.gates.fitting import Gates
from decibench.reports.evidence import evidence_of
from decibench.reports.latency import LoadTime, Prices, cost_of, latency_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.report import CandidateRef, Report, gate_point
from decibench.reports.summary import summarise
from decibench.reports.table import Decisions


def conclude(
    records: Sequence[Record],
    decisions: Decisions,
    gates: Gates,
    protocol: Protocol,
    *,
    partial: bool,
    candidate: CandidateRef,
    loads: Sequence[LoadTime] = (),
    prices: Prices | None = None,
    **head: Any,
) -> Report:
    """The report that follows from ``records``, whose ``decisions`` are laid out in the same order.

    ``candidate`` is who answered; ``head`` are the other fields of the report that say where the records come from, all
    that nothing here can compute.
    """
    found = {kind: gate.model_dump(mode="json") for kind, gate in gates.items()}
    point = gate_point(found, protocol)
    return Report(
        **head,
        candidate=candidate,
        protocol=protocol,
        protocol_hash=protocol.hash,
        partial=partial,
        metrics=summarise(decisions, protocol.log_loss_floor, point),
        evidence=None if partial else evidence_of(records, decisions, protocol, point, candidate.decimals),
        gates=found | apply_gates(gates, decisions, protocol),
        latency=latency_of(records, loads),
        cost=cost_of(records, prices or Prices()),
        records=list(records),
    )
