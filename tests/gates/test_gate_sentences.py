"""What a report says of its gates: which one decides, and no two sentences that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from decibench.gates.concluding import conclude
from decibench.gates.fitting import fit_gates
from decibench.gates.rules import with_rules
from decibench.reports.journal import SuiteRef
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.report import CandidateRef, GateCheck, HoldoutLooks, Report, Scope
from decibench.reports.table import decisions_of
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.overview import decision_line
from decibench.reports.tables.sections import leading_sections

if TYPE_CHECKING:
    from tests.gates.conftest import Scenarios

NOT_BOUNDS = "These are observed shares, not bounds on other requests."


def concluded(records: list[Record], trials: int = 1, **rules: Any) -> Report:
    """The report of ``records`` with every gate fitted on them."""
    protocol = with_rules(Protocol(resamples=100), rules)
    return conclude(
        records,
        decisions_of(records, protocol.log_loss_floor),
        fit_gates(records, protocol, candidate_hash="h", suite_hash="s"),
        protocol,
        partial=False,
        run="0",
        created="2026-12-01T00:00:00Z",
        suite=SuiteRef(name="tiny", version="1", hash="s"),
        candidate=CandidateRef(name="one", hash="h", identity={}),
        environment={},
        complete=True,
        incomplete_reasons=[],
        scope=Scope(
            splits=["calibration", "holdout"],
            families=["demo"],
            variants=["v0"],
            trials=trials,
            expected=len(records),
            collected=len(records),
            measured=len(records),
            missing=[],
            retried=0,
            set_aside=0,
        ),
        holdout_looks=HoldoutLooks(family="one", number=1, this_candidate=1, this_family=1, all_candidates=1),
        gate_check=GateCheck(passed=None, reason="no gate was required"),
    )


def few(scenarios: Scenarios) -> list[Record]:
    """Twenty calibration scenarios, right and sure: enough for the empirical gate, not for a certified one."""
    return scenarios(20, [(0.97, "right")]) + scenarios(9, [(0.97, "right")], split="holdout")


def test_a_gate_that_does_not_decide_is_told_as_one(scenarios: Scenarios) -> None:
    report = concluded(few(scenarios), gate_method="auto")
    assert decision_line(report) == "Act on nothing: the certified gate issues no threshold."
    certified, empirical = gate_sentences(report)
    assert certified.startswith("Certified gate (one_per_group_cp), primary: null, everything falls back.")
    assert empirical.startswith(
        "Empirical gate (not the one that decides): would accept from 0.5 on; it accepts 20 of 20 calibration"
    )
    assert " act at " not in empirical


def test_a_certified_gate_beside_an_empirical_one_does_not_decide_either(scenarios: Scenarios) -> None:
    surely = [(0.97, "right")]
    records = scenarios(80, surely) + scenarios(20, surely, split="development") + scenarios(9, surely, split="holdout")
    fitted = list(gate_sentences(concluded(records, min_accepted=81)))
    assert fitted[0].startswith("Empirical gate, primary: null, everything falls back.")
    assert fitted[1].startswith(
        "Certified gate (one_per_group_cp, not the one that decides): would accept from 0.5 on. At 0.5, 80 of 80"
    )
    null = list(gate_sentences(concluded(few(scenarios))))
    assert null[0].startswith("Empirical gate, primary: act at a top probability of 0.5 or more;")
    assert null[1].startswith("Certified gate (one_per_group_cp, not the one that decides): null. Holm passes none:")
    assert "everything falls back" not in null[1]


def test_observed_shares_are_called_no_bounds_only_where_none_follows(scenarios: Scenarios) -> None:
    report = concluded(few(scenarios))
    (test,) = (s for section in leading_sections(report) for s in section.sentences if "in the long run" in s)
    assert test.startswith("Empirical gate: Fitting claims nothing; the holdout tests the frozen threshold. On holdout")
    assert not [sentence for sentence in gate_sentences(report) if NOT_BOUNDS in sentence]
    beside = concluded(few(scenarios), gate_method="auto")
    assert not [sentence for sentence in gate_sentences(beside) if NOT_BOUNDS in sentence]
    untested = concluded(scenarios(20, [(0.97, "right")]))
    assert NOT_BOUNDS in next(iter(gate_sentences(untested)))
    nothing = concluded(scenarios(20, [(0.97, "right")]) + scenarios(9, [(0.4, "right")], split="holdout"))
    assert NOT_BOUNDS in next(iter(gate_sentences(nothing)))


def test_counts_of_all_trials_and_of_the_first_are_told_apart(scenarios: Scenarios) -> None:
    once = few(scenarios)
    twice = once + [record.model_copy(update={"trial": 2}) for record in once]
    report = concluded(twice, trials=2)
    assert "on holdout 9 of 9 are accepted, 0 of them wrong (trial 1)" in decision_line(report)
    assert " On holdout, 2 trials together, it accepts 18 of 18 " in next(iter(gate_sentences(report)))
    tests = [s for section in leading_sections(report) for s in section.sentences if "frozen" in s]
    assert "On holdout (trial 1) 0.5 accepts 9 of 9 decisions" in tests[0]
    assert " On holdout it accepts 9 of 9 " in next(iter(gate_sentences(concluded(once))))
