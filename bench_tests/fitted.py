"""The gates of a complete run."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from decibench.gates.fitting import Gates, fit_gates, unfitted_gates
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.report import CandidateRef


def fitted_gates(
    candidate: CandidateRef, records: Sequence[Record], protocol: Protocol, *, suite_hash: str, splits: Collection[str]
) -> Gates:
    """The gates fitted on ``records``, all of a scope with ``splits``; unfitted where calibration is none of them."""
    if "calibration" not in splits and candidate.states_probabilities:
        return unfitted_gates(protocol, "the scope leaves calibration out, on which a gate is fitted")
    return fit_gates(
        records,
        protocol,
        candidate_hash=candidate.hash,
        suite_hash=suite_hash,
        probabilities=candidate.states_probabilities,
    )
