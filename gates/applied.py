"""Gates applied: what frozen thresholds do on the holdout and under every variant, and the gate of least cost."""

from __future__ import annotations

from typing import Any, Final

from decibench.gates.cost import fit_cost
from decibench.gates.fitting import Gates
from decibench.gates.gate import CertifiedGate
from decibench.gates.holdout import holdout_test
from decibench.gates.transfer import gate_transfer
from decibench.reports.protocol import CertifiedMethod, Protocol
from decibench.reports.report import primary_gate
from decibench.reports.table import Decisions

_TESTED: Final = ("empirical", "certified", "joint")


def apply_gates(gates: Gates, decisions: Decisions, protocol: Protocol) -> dict[str, Any]:
    """What a report tells beside its ``gates``, as JSON, of the ``decisions`` of all splits, variants and trials.

    ``holdout_tests`` has a test of every threshold that was issued, by gate; ``transfer`` is the primary gate under
    every variant, null where it was not fitted or nothing of the holdout was asked; ``cost`` is null without costs.
    """
    tests = {}
    for name in _TESTED:
        gate = gates.get(name)
        if gate is not None and gate.threshold is not None:
            test = holdout_test(decisions, gate.threshold, protocol, _method(gates, name))
            if test is not None:
                tests[name] = test.model_dump(mode="json")
    primary = primary_gate(protocol)
    fitted = gates[primary].status not in ("not-fitted", "no-probabilities")
    transfer = gate_transfer(decisions, gates[primary].threshold, protocol, _method(gates, primary)) if fitted else None
    cost = fit_cost(decisions, protocol.costs, protocol) if protocol.costs and fitted else None
    return {
        "holdout_tests": tests,
        "transfer": transfer.model_dump(mode="json") if transfer else None,
        "cost": cost.model_dump(mode="json") if cost else None,
    }


def _method(gates: Gates, name: str) -> CertifiedMethod | None:
    gate = gates[name]
    return gate.method if isinstance(gate, CertifiedGate) and gate.method != "auto" else None
