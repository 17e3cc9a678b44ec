"""The empirical gate: what qualifies, what is chosen, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from decibench.cases.door import UsageError
from decibench.gates.calibration import calibration_of, make_calibration
from decibench.gates.check import check_holdout
from decibench.gates.empirical import fit_empirical
from decibench.gates.gate import EmpiricalGate, check_applies
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.table import decisions_of

PROTOCOL = Protocol()


def records(
    rows: Sequence[tuple[float, bool]],
    *,
    split: str = "calibration",
    start: int = 0,
    role: str = "core",
    trial: int = 1,
) -> list[Record]:
    """Two-way decisions with a top probability each, right or wrong."""
    return [
        Record.model_validate(
            {
                "case": f"c{start + number}",
                "group": f"g{start + number}",
                "family": "demo",
                "variant": "original",
                "role": role,
                "split": split,
                "trial": trial,
                "request_hash": "r",
                "candidate_hash": "h",
                "latency_s": 0.1,
                "decisions": [
                    {
                        "question": "q",
                        "type": "choice",
                        "options": ["a", "b"],
                        "expected": "a" if right else "b",
                        "choice": "a",
                        "probabilities": {"a": top, "b": 1 - top},
                        "raw_sum": 1.0,
                    }
                ],
            }
        )
        for number, (top, right) in enumerate(rows)
    ]


def fit(rows: Sequence[tuple[float, bool]], protocol: Protocol = PROTOCOL) -> EmpiricalGate:
    return fit_to(records(rows), protocol)


def fit_to(records: Sequence[Record], protocol: Protocol = PROTOCOL) -> EmpiricalGate:
    return fit_empirical(make_calibration(records, protocol, candidate_hash="h", suite_hash="s"), protocol)


def test_the_largest_coverage_wins_not_the_highest_threshold() -> None:
    # 0.9 accepts 20 without error, 0.8 accepts 40 with 2 errors (5.0%): both qualify, 0.8 covers more.
    rows = [(0.92, True)] * 20 + [(0.85, True)] * 18 + [(0.85, False)] * 2 + [(0.75, False)] * 10
    gate = fit(rows)
    assert gate.threshold == 0.8
    assert [point.threshold for point in gate.grid if point.qualifies] == [0.8, 0.9]
    assert (
        gate.reason == "accepts 40 of 50 calibration decisions, in 40 of 50 scenarios, with 2 wrong (5.0%, limit 5.0%)"
    )


def test_scenarios_are_told_apart_from_decisions() -> None:
    rows = [record.model_copy(update={"group": f"g{n % 4}"}) for n, record in enumerate(records([(0.97, True)] * 12))]
    gate = fit_to(rows)
    assert (gate.decisions, gate.scenarios, gate.grid[0].accepted, gate.grid[0].scenarios) == (12, 4, 12, 4)
    assert "accepts 12 of 12 calibration decisions, in 4 of 4 scenarios, with 0 wrong" in gate.reason


def test_a_gate_of_mostly_failed_decisions_is_refused_and_not_fitted_on_the_rest() -> None:
    asked = records([(0.99, True)] * 100)
    lost = Failure(code="timeout", detail="took too long")
    rows = [
        record.model_copy(
            update={
                "decisions": [Decision(question="q", type="choice", options=["a", "b"], expected="a", failure=lost)]
            }
        )
        for record in asked[:95]
    ] + asked[95:]
    gate = fit_to(rows)
    assert (gate.status, gate.threshold, gate.grid) == ("refused", None, [])
    assert "95 of 100 calibration decisions failed" in gate.reason


def test_equal_coverage_goes_to_the_smaller_threshold() -> None:
    assert fit([(0.97, True)] * 12).threshold == 0.5


def test_one_error_too_many_disqualifies() -> None:
    rows = [(0.92, True)] * 19 + [(0.92, False)] * 2
    assert fit(rows).threshold is None


@pytest.mark.parametrize(("number", "threshold"), [(9, None), (10, 0.5)])
def test_ten_accepted_decisions_are_needed(number: int, threshold: float | None) -> None:
    gate = fit([(1.0, True)] * number)
    assert gate.threshold == threshold
    if threshold is None:
        assert "at least 10 accepted" in gate.reason


def test_the_limits_are_those_of_the_protocol() -> None:
    rows = [(0.95, True)] * 4 + [(0.95, False)]
    assert fit(rows).threshold is None
    loose = PROTOCOL.model_copy(update={"max_error": 0.2, "min_accepted": 5})
    assert fit(rows, loose).threshold == 0.5


def test_a_certain_model_reaches_threshold_one() -> None:
    rows = [(1.0, True)] * 10 + [(0.995, False)] * 10
    assert fit(rows).threshold == 1.0


def test_failed_calibration_decisions_refuse_the_gate() -> None:
    rows = records([(0.99, True)] * 20)
    asked = rows[0].decisions[0]
    failure = Failure(code="timeout", detail="took too long")
    failed = Decision(question="q", type="choice", options=asked.options, expected="a", failure=failure)
    rows[0] = rows[0].model_copy(update={"decisions": [failed]})
    gate = fit_to(rows)
    assert (gate.status, gate.threshold) == ("refused", None)
    assert "1 of 20 calibration decisions failed" in gate.reason


def test_only_core_variants_of_calibration_in_the_first_trial_count() -> None:
    wanted = records([(0.9, True)])
    others = [
        *records([(0.9, True)], split="holdout"),
        *records([(0.9, True)], role="attack"),
        *records([(0.9, True)], role="probe"),
        *records([(0.9, True)], trial=2),
    ]
    assert calibration_of([*others, *wanted]) == wanted


def test_the_gate_names_its_groups_and_what_it_belongs_to() -> None:
    gate = fit([(0.97, True)] * 12)
    assert gate.groups == sorted(f"g{number}" for number in range(12))
    assert (gate.candidate_hash, gate.suite_hash, gate.protocol_hash) == ("h", "s", PROTOCOL.hash)
    assert gate.calibration_hash != fit([(0.96, True)] * 12).calibration_hash
    shuffled = fit_to(records([(0.97, True)] * 12)[::-1])
    assert gate.calibration_hash == shuffled.calibration_hash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidate_hash": "other"}, "another candidate"),
        ({"protocol_hash": "other"}, "another protocol"),
        ({"suite_hash": "other"}, "another suite"),
    ],
)
def test_a_gate_refuses_what_it_was_not_fitted_for(change: dict[str, str], words: str) -> None:
    hashes = {"candidate_hash": "h", "protocol_hash": PROTOCOL.hash, "suite_hash": "s"}
    gate = fit([(0.97, True)] * 12)
    holdout = records([(0.97, True)], split="holdout", start=100)
    check_applies(gate, holdout, **hashes)
    with pytest.raises(UsageError, match=words):
        check_applies(gate, holdout, **(hashes | change))


def test_a_gate_refuses_the_scenarios_it_was_fitted_on() -> None:
    gate = fit([(0.97, True)] * 12)
    with pytest.raises(UsageError, match=r"1 scenarios \(g11\) are among those"):
        check_applies(
            gate,
            records([(0.97, True)] * 2, split="holdout", start=11),
            candidate_hash="h",
            protocol_hash=PROTOCOL.hash,
            suite_hash="s",
        )


@pytest.mark.parametrize(
    ("rows", "passed", "words"),
    [
        ([(0.9, True)] * 20, True, "accepts 20 of 20"),
        ([(0.9, True)] * 18 + [(0.9, False)] * 2, False, "2 wrong"),
        ([(0.6, True)] * 20, False, "accepts none"),
    ],
)
def test_a_required_gate_must_accept_something_within_its_limit(
    rows: list[tuple[float, bool]], passed: bool, words: str
) -> None:
    gate = fit([(0.85, True)] * 12 + [(0.75, False)] * 12)
    assert gate.threshold == 0.8
    table = decisions_of(records(rows, split="holdout"), 1e-15)
    check = check_holdout(gate, table, PROTOCOL)
    assert check.passed is passed
    assert words in check.reason


def test_a_null_gate_never_passes() -> None:
    gate = fit([(0.85, False)] * 12)
    table = decisions_of(records([(0.9, True)] * 20), 1e-15)
    assert check_holdout(gate, table, PROTOCOL).passed is False
