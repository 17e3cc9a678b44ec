"""All gates of one candidate, by name, and which of them were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from decibench.gates.calibration import calibration_of, core_of, make_calibration
from decibench.gates.certified import fit_certified, unfitted_certified
from decibench.gates.empirical import fit_empirical
from decibench.gates.gate import EmpiricalGate, Gate, sealed
from decibench.gates.groups import PresentedGroups
from decibench.gates.unsafe import fit_unsafe
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.report import primary_gate
from decibench.reports.table import decisions_of

Gates = Mapping[str, Gate]
"""Gates by name: ``empirical``, ``certified``, and with a limit on unsafe acceptances ``unsafe`` and ``joint``."""


def fit_gates(
    records: Sequence[Record],
    protocol: Protocol,
    *,
    candidate_hash: str | None,
    suite_hash: str | None,
    all_count: bool = False,
    grouped: bool = True,
    probabilities: bool = True,
) -> Gates:
    """Fit every gate of ``protocol`` on the core variants of calibration, trial 1, or on all ``records``.

    Development decides where certified tests start, and no more. Records that are not ``grouped`` by scenario give the
    empirical gate only: what is independent there is not known. ``probabilities`` is false where the candidate states
    none: no gate can be fitted then.
    """
    calibration = make_calibration(
        records if all_count else calibration_of(records),
        protocol,
        candidate_hash=candidate_hash,
        suite_hash=suite_hash,
        probabilities=probabilities,
    )
    gates: dict[str, Gate] = {"empirical": fit_empirical(calibration, protocol)}
    if not grouped:
        return _sealed(gates)
    development = PresentedGroups(
        decisions_of([] if all_count else core_of(records, "development"), protocol.log_loss_floor), protocol.hash_salt
    )
    gates["certified"] = fit_certified(calibration, development, protocol)
    if protocol.max_unsafe is not None:
        unsafe = gates["unsafe"] = fit_unsafe(calibration, protocol)
        gates["joint"] = fit_certified(calibration, development, protocol, unsafe)
    return _sealed(gates)


def unfitted_gates(protocol: Protocol, reason: str) -> Gates:
    """The empirical and the primary gate of a run that gave nothing to fit on."""
    empirical = EmpiricalGate(
        status="not-fitted",
        reason=reason,
        max_error=protocol.max_error,
        min_accepted=protocol.min_accepted,
        protocol_hash=protocol.hash,
    )
    gates: dict[str, Gate] = {"empirical": empirical}
    primary = primary_gate(protocol)
    if primary != "empirical":
        gates[primary] = unfitted_certified(protocol, reason)
    return _sealed(gates)


def _sealed(gates: Gates) -> Gates:
    return {name: sealed(gate) for name, gate in gates.items()}
