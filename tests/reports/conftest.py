"""Reports made from outcomes, without a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import pytest

from decibench.gates.certified import unfitted_certified
from decibench.gates.concluding import conclude
from decibench.gates.fitting import fit_gates, unfitted_gates
from decibench.reports.evidence import evidence_of
from decibench.reports.journal import SuiteRef
from decibench.reports.latency import Prices, cost_of, latency_of
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.protocol import Protocol as Rules
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.report import CandidateRef, GateCheck, HoldoutLooks, Report, Scope, gate_point
from decibench.reports.summary import summarise
from decibench.reports.table import decisions_of

VARIANTS = ("original", "irrelevant", "paraphrase", "options-reversed")

Outcomes = Mapping[str, Sequence[bool | None]]


class MakeReport(Protocol):
    """A report of ``name`` from the outcomes of each scenario, one per variant in the order of ``VARIANTS``.

    An outcome is right, wrong or failed (None). A scenario's id begins with its family. A sequence of outcomes holds
    one per trial. ``sure`` is the top probability of every answer, or by scenario. ``changes`` replace fields of the
    report.
    """

    def __call__(
        self,
        name: str,
        outcomes: Outcomes | Sequence[Outcomes],
        *,
        sure: float | Mapping[str, float] = 0.8,
        rules: Rules = DEFAULT_PROTOCOL,
        gates: dict[str, Any] | None = None,
        **changes: Any,
    ) -> Report:
        """Make it."""
        ...


@pytest.fixture
def make_report() -> MakeReport:
    """Make reports on the holdout of one suite."""
    return _make


def _make(
    name: str,
    outcomes: Outcomes | Sequence[Outcomes],
    *,
    sure: float | Mapping[str, float] = 0.8,
    rules: Rules = DEFAULT_PROTOCOL,
    gates: dict[str, Any] | None = None,
    **changes: Any,
) -> Report:
    trials = [outcomes] if isinstance(outcomes, Mapping) else outcomes
    records = [
        _record(group, variant, trial, right, sure[group] if isinstance(sure, Mapping) else sure)
        for trial, of_trial in enumerate(trials, start=1)
        for group, rights in of_trial.items()
        for variant, right in zip(VARIANTS, rights, strict=False)
    ]
    gates = _stated(gates or {"empirical": {"status": "fitted", "threshold": 0.7}}, rules)
    scope = Scope(
        splits=["holdout"],
        families=sorted({record.family for record in records}),
        variants=list(dict.fromkeys(record.variant for record in records)),
        trials=len(trials),
        expected=len(records),
        collected=len(records),
        measured=len(records),
        missing=[],
        retried=0,
        set_aside=0,
    )
    decisions, point = decisions_of(records, rules.log_loss_floor), gate_point(gates, rules)
    report = Report(
        run="0",
        created="2026-12-01T00:00:00Z",
        suite=SuiteRef(name="tiny", version="1", hash="a" * 64),
        candidate=CandidateRef(name=name, hash="c" * 64, identity={"model": name, "revision": "1"}),
        protocol=rules,
        protocol_hash=rules.hash,
        environment={},
        complete=True,
        partial=False,
        incomplete_reasons=[],
        scope=scope,
        holdout_looks=HoldoutLooks(
            family=name, number=None, this_candidate=None, this_family=None, all_candidates=None
        ),
        metrics=summarise(decisions, rules.log_loss_floor, point),
        evidence=evidence_of(records, decisions, rules, point),
        gates=gates,
        gate_check=GateCheck(passed=None, reason="no gate was required"),
        latency=latency_of(records),
        cost=cost_of(records, Prices()),
        records=records,
    )
    return report.model_copy(update=changes | ({"evidence": None} if changes.get("partial") else {}))


@pytest.fixture(scope="session")
def choices_only() -> Callable[[Report], Report]:
    """Make the same report of a model that chose alike and states no probabilities."""
    return _choices_only


def _choices_only(report: Report) -> Report:
    records = [
        record.model_copy(update={"decisions": [_choice_of(decision) for decision in record.decisions]})
        for record in report.records
    ]
    kept = ("run", "created", "suite", "environment", "complete", "incomplete_reasons", "scope", "holdout_looks")
    candidate = report.candidate
    identity = candidate.identity | {"probability_readout": False}
    return conclude(
        records,
        decisions_of(records, report.protocol.log_loss_floor),
        fit_gates(
            records,
            report.protocol,
            candidate_hash=candidate.hash,
            suite_hash=report.suite.hash,
            probabilities=False,
        ),
        report.protocol,
        partial=report.partial,
        candidate=candidate.model_copy(update={"identity": identity}),
        gate_check=report.gate_check,
        **{name: getattr(report, name) for name in kept},
    )


def _choice_of(decision: Decision) -> Decision:
    return decision.model_copy(update={"probabilities": None, "raw_sum": None, "tie": False})


def _stated(gates: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """``gates`` with the fields that a run writes and a test did not ask for."""
    reason = "made for a test"
    unfitted = {name: gate.model_dump(mode="json") for name, gate in unfitted_gates(rules, reason).items()}
    certified = unfitted_certified(rules, reason).model_dump(mode="json")
    defaults = {"empirical": unfitted["empirical"], "certified": certified, "joint": certified}
    made = {name: defaults.get(name, {}) | gate for name, gate in gates.items()}
    return unfitted | {"holdout_tests": {}, "transfer": None, "cost": None} | made


def _record(group: str, variant: str, trial: int, right: bool | None, sure: float) -> Record:
    answer: dict[str, Any] = {"failure": Failure(code="timeout", detail="too late")}
    if right is not None:
        choice, other = ("left", "right") if right else ("right", "left")
        answer = {"choice": choice, "probabilities": {choice: sure, other: 1 - sure}}
    return Record(
        case=f"{group}-{variant}",
        group=group,
        family=group.partition("-")[0],
        variant=variant,
        role="core",
        split="holdout",
        trial=trial,
        request_hash="0",
        candidate_hash="c" * 64,
        latency_s=0.001,
        decisions=[Decision(question="way", type="choice", options=["left", "right"], expected="left", **answer)],
    )
