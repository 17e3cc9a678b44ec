"""Choices by position, and two questions whose answers imply each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from decibench.reports.invariance.complements import Complement
from decibench.reports.invariance.positions import PositionRates
from decibench.reports.invariance.summary import invariance_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.tables.invariance import invariance_tables

PROTOCOL = Protocol(resamples=2_000)
OPTIONS = ["a", "b", "c"]


def decision(options: list[str], weights: list[float], expected: str, **more: Any) -> Decision:
    probabilities = {option: w / sum(weights) for option, w in zip(options, weights, strict=True)}
    fields: dict[str, Any] = {
        "question": "q",
        "type": "choice",
        "options": options,
        "expected": expected,
        "choice": options[weights.index(max(weights))],
        "probabilities": probabilities,
        "raw_sum": 1.0,
        "tie": weights.count(max(weights)) > 1,
    }
    return Decision.model_validate(fields | more)


def failed(given: Decision) -> Decision:
    nothing = {"choice": None, "probabilities": None, "raw_sum": None, "tie": False}
    return given.model_copy(update=nothing | {"failure": Failure(code="timeout", detail="took too long")})


def record(number: int, decisions: list[Decision], variant: str = "original", **more: Any) -> Record:
    fields: dict[str, Any] = {
        "case": f"demo-{number:03}-{variant}",
        "group": f"demo-{number:03}",
        "family": "demo",
        "variant": variant,
        "role": "core",
        "split": "holdout",
        "trial": 1,
        "request_hash": "r",
        "candidate_hash": "c",
        "latency_s": 0.1,
        "decisions": decisions,
    }
    return Record.model_validate(fields | more)


def positions(records: list[Record]) -> list[PositionRates]:
    return invariance_of(records, PROTOCOL)["holdout"].positions


def complements(records: list[Record]) -> list[Complement]:
    return invariance_of(records, PROTOCOL)["holdout"].complements


def in_both_orders(scenarios: int, weights: Callable[[int], list[float]], count: int = 3) -> list[Record]:
    """Each scenario in two orders, right answers at every place in turn."""
    options = [chr(ord("a") + place) for place in range(count)]
    return [
        record(number, [decision(asked, weights(number), options[number % count])], variant)
        for number in range(scenarios)
        for variant, asked in (("original", options), ("options-reversed", options[::-1]))
    ]


def test_a_preference_for_a_place_shows_as_an_excess_over_where_the_right_answers_stand() -> None:
    records = in_both_orders(30, lambda number: [1, 1, 3] if number % 2 else [1, 3, 1])
    (found,) = positions(records)
    assert (found.options, found.scenarios, found.decisions) == (3, 30, 60)
    assert [figure.value for figure in found.chosen] == pytest.approx([0, 0.5, 0.5])
    assert found.reference == pytest.approx([1 / 3] * 3)
    assert [figure.value for figure in found.excess] == pytest.approx([-1 / 3, 1 / 6, 1 / 6])
    assert found.largest in (2, 3)
    values = np.array([float(number % 2 == 0) for number in range(30)])
    reference = bootstrap((values,), np.mean, n_resamples=2_000, method="percentile", random_state=1)
    assert found.chosen[1].interval is not None
    assert found.chosen[1].interval.low == pytest.approx(reference.confidence_interval.low, abs=0.04)
    assert found.chosen[1].interval.high == pytest.approx(reference.confidence_interval.high, abs=0.04)


def test_a_model_that_follows_the_labels_has_no_place_it_prefers() -> None:
    records = [
        record(number, [decision(asked, [float(option == "a") for option in asked], "a")], variant)
        for number in range(20)
        for variant, asked in (("original", OPTIONS), ("options-reversed", OPTIONS[::-1]))
    ]
    (found,) = positions(records)
    assert [figure.value for figure in found.chosen] == found.reference == [0.5, 0, 0.5]
    assert [figure.value for figure in found.excess] == [0, 0, 0]


def test_fewer_than_twenty_scenarios_say_nothing_of_a_number_of_options() -> None:
    records = in_both_orders(20, lambda number: [3, 1, 1]) + [
        later.model_copy(update={"group": f"more-{later.group}", "case": f"more-{later.case}"})
        for later in in_both_orders(19, lambda number: [1, 1, 1, 2, 1], 5)
    ]
    assert [found.options for found in positions(records)] == [3]


def test_failed_answers_other_variants_and_ordered_levels_do_not_count() -> None:
    records = in_both_orders(25, lambda number: [3, 1, 1])
    level = decision(["0", "1", "2"], [1, 1, 3], "1", type="score", question="level")
    more = [
        record(100, [failed(decision(OPTIONS, [1, 1, 3], "a"))]),
        record(101, [decision(OPTIONS, [1, 1, 3], "a")], "paraphrase"),
        *(record(number, [level]) for number in range(200, 225)),
    ]
    assert positions(records + more) == positions(records)


def test_ties_are_told_where_they_decide_the_place() -> None:
    (found,) = positions(in_both_orders(20, lambda number: [1, 1, 1]))
    assert (found.tie_share, found.largest, found.chosen[0].value) == (1.0, 1, 1.0)


def test_noise_that_prefers_no_place_is_in_the_interval_of_the_excess() -> None:
    rng = np.random.default_rng(7)
    drawn = {number: rng.permutation([3.0, 1.0, 1.0]).tolist() for number in range(120)}
    (found,) = positions(in_both_orders(120, drawn.__getitem__))
    for figure in found.excess:
        assert figure.interval is not None
        assert figure.interval.low < 0 < figure.interval.high


def policy(number: int, within: float, block: float, *, role: str = "core", **more: Any) -> Record:
    """Two questions about one policy, the probability of each affirmative given; every second scenario breaks it."""
    breaks = number % 2 == 0
    first = decision(["in", "out"], [within, 1 - within], "out" if breaks else "in", question="compliance")
    second = decision(["go", "stop"], [1 - block, block], "stop" if breaks else "go", question="violation")
    return record(number, [first, second], role=role, **more)


def test_probabilities_that_make_one_are_coherent_whatever_they_are() -> None:
    # Only the references, not these answers, tell what goes together.
    (found,) = complements([policy(number, within, 1 - within) for number, within in enumerate([0.25, 0.75, 0.5] * 10)])
    assert found.questions == ["compliance", "violation"]
    assert found.implies == {"in": "go", "out": "stop"}
    assert found.gap.value == pytest.approx(0, abs=1e-12)
    assert (found.scenarios, found.cases, found.dropped, found.variants) == (30, 30, 0, ["original"])


def test_the_gap_and_the_contradictions_are_means_over_scenarios() -> None:
    answers = {number: (0.9, 0.7) if number < 6 else (0.8, 0.1) for number in range(24)}
    records = [policy(number, *given) for number, given in answers.items()]
    # A second variant of a scenario shares its weight.
    records.append(policy(0, 0.5, 0.5 + 2**-10, variant="paraphrase"))
    (found,) = complements(records)
    gaps = {number: abs(within + block - 1) for number, (within, block) in answers.items()}
    gaps[0] = (gaps[0] + 2**-10) / 2
    assert found.gap.value == pytest.approx(sum(gaps.values()) / 24)
    # Within the policy and to be blocked: six scenarios, and in the paraphrase too.
    assert found.contradiction_share.value == pytest.approx(6 / 24)
    assert found.accuracy == {"compliance": pytest.approx(12 / 25), "violation": pytest.approx(13 / 25)}
    assert found.gap.interval is not None
    values = np.array(list(gaps.values()))
    reference = bootstrap((values,), np.mean, n_resamples=2_000, method="percentile", random_state=1)
    assert found.gap.interval.low == pytest.approx(reference.confidence_interval.low, abs=0.02)
    assert found.gap.interval.high == pytest.approx(reference.confidence_interval.high, abs=0.02)


def test_a_model_that_answers_alike_in_every_trial_has_no_floor_and_all_of_its_gap_is_excess() -> None:
    once = [policy(number, 0.75, 0.5 if number % 3 else 0.75) for number in range(24)]
    (found,) = complements([again(one, trial) for one in once for trial in (1, 2, 3)])
    assert found.retest_gap is not None
    assert found.retest_contradiction_share is not None
    assert (found.retest_gap.value, found.retest_contradiction_share.value) == (0, 0)
    assert found.excess_gap == found.gap
    assert found.excess_contradiction_share is not None
    assert found.excess_contradiction_share.value == found.contradiction_share.value == pytest.approx(1 / 3)
    # Trials add no scenario and no certainty.
    (alone,) = complements(once)
    assert alone.gap.interval is not None
    assert found.gap.interval is not None
    assert found.gap.interval.low == pytest.approx(alone.gap.interval.low)


def test_without_a_second_answer_the_noise_of_a_gap_is_unknown() -> None:
    once = [policy(number, 0.75, 0.5) for number in range(24)]
    second = [again(one, 2) for one in once]
    lost = [one.model_copy(update={"decisions": [failed(d) for d in one.decisions]}) for one in second]
    for records in (once, once + lost):
        (found,) = complements(records)
        assert found.retest_gap is found.retest_contradiction_share is None
        assert found.excess_gap is found.excess_contradiction_share is None
        assert not any("retest" in name or "excess" in name for name in cells(records))
    assert cells(once + second)["retest_gap"] == "0.0000"


def test_a_gap_of_noise_alone_is_no_more_than_its_floor() -> None:
    # Both questions are answered from ten samples of the same coin.
    rng = np.random.default_rng(8)
    drawn = rng.binomial(10, 0.5, size=(200, 2, 2)) / 10
    (found,) = complements(
        [policy(number, *drawn[number, trial].tolist(), trial=trial + 1) for number in range(200) for trial in (0, 1)]
    )
    assert found.gap.value == pytest.approx(np.abs(drawn[..., 0] + drawn[..., 1] - 1).mean())
    assert found.gap.value is not None
    assert found.gap.value > 0.15
    assert found.retest_gap is not None
    assert found.retest_gap.value == pytest.approx(np.abs(drawn[:, 0] - drawn[:, 1]).mean())
    for excess in (found.excess_gap, found.excess_contradiction_share):
        assert excess is not None
        assert excess.interval is not None
        assert excess.interval.low < 0 < excess.interval.high


def test_a_floor_is_averaged_over_the_trials_of_a_case_before_cases_and_scenarios() -> None:
    records = [policy(number, 0.75, 0.25) for number in range(1, 24)]
    records += [policy(0, within, 0.25, trial=trial) for trial, within in enumerate((0.5, 0.75, 1.0), start=1)]
    records += [policy(0, 0.25, block, variant="paraphrase", trial=trial) for trial, block in ((1, 0.25), (2, 0.75))]
    (found,) = complements(records)
    assert found.retest_gap is not None
    # Of one scenario alone: three pairs of trials of one case, one of the other, of either question.
    assert found.retest_gap.value == pytest.approx(((0.25 + 0.25 + 0.5) / 3 / 2 + 0.5 / 2) / 2)
    assert found.gap.value == pytest.approx(((0.25 + 0 + 0.25) / 3 + (0.5 + 0) / 2) / 2 / 24)


def again(asked: Record, trial: int) -> Record:
    return asked.model_copy(update={"trial": trial})


def cells(records: list[Record]) -> dict[str, str]:
    """The first column of figures of the table on questions that imply each other."""
    table = list(invariance_tables(invariance_of(records, PROTOCOL)))[-1]
    return {row[0]: row[1] for row in table.rows}


def test_a_failed_answer_drops_its_case() -> None:
    records = [policy(number, 0.75, 0.5) for number in range(24)]
    first, second = records[3].decisions
    records[3] = record(3, [first, failed(second)])
    (found,) = complements(records)
    assert (found.cases, found.dropped) == (23, 1)


def test_probes_are_left_out_but_where_they_ask_with_options_of_their_own() -> None:
    core = [policy(number, 0.75, 0.25) for number in range(24)]
    probes = [policy(number, 0.75, 0.75, role="probe", variant="unknowable") for number in range(24)]
    renamed = [_yes_no(policy(number, 0.75, 0.5, role="probe", variant="yes-no-keys")) for number in range(24)]
    plain, yes_no = complements([*probes, *core, *renamed])
    assert (plain.variants, plain.gap.value) == (["original"], 0)
    assert (yes_no.variants, yes_no.implies) == (["yes-no-keys"], {"no": "yes", "yes": "no"})
    assert yes_no.gap.value == pytest.approx(0.25)
    titles = [table.title for table in invariance_tables(invariance_of([*core, *renamed], PROTOCOL))]
    assert titles == ["The position chosen most beyond its right answers (holdout; intervals do not allow for having "
                      "picked it)", "Two questions whose answers imply each other (holdout)"]  # fmt: skip


def _yes_no(asked: Record) -> Record:
    names = {"in": "yes", "out": "no", "stop": "yes", "go": "no"}
    decisions = [
        d.model_copy(
            update={
                "options": [names[option] for option in d.options],
                "expected": names[d.expected],
                "choice": names[str(d.choice)],
                "probabilities": {names[option]: p for option, p in (d.probabilities or {}).items()},
            }
        )
        for d in asked.decisions
    ]
    return asked.model_copy(update={"decisions": decisions})


def test_what_goes_together_is_learnt_from_all_splits_and_told_of_each() -> None:
    records = [policy(number, 0.75, 0.5, split="holdout" if number < 4 else "calibration") for number in range(24)]
    found = invariance_of(records, PROTOCOL)
    assert {split: [c.scenarios for c in part.complements] for split, part in found.items()} == {
        "calibration": [20],
        "holdout": [4],
    }


def test_questions_that_do_not_imply_each_other_are_not_held_to_it() -> None:
    free = []
    for number, (one, two) in enumerate(list(itertools.product(["in", "out"], ["go", "stop"])) * 10):
        first = decision(["in", "out"], [1, 2], one, question="compliance")
        free.append(record(number, [first, decision(["go", "stop"], [1, 2], two, question="violation")]))
    assert complements(free) == []
    # Nor three questions, nor three options, nor one.
    three = [policy(number, 0.5, 0.5) for number in range(24)]
    third = decision(OPTIONS, [1, 1, 1], "a", question="third")
    assert complements([r.model_copy(update={"decisions": [*r.decisions, third]}) for r in three]) == []
    assert complements([r.model_copy(update={"decisions": [r.decisions[0], third]}) for r in three]) == []
    assert complements([r.model_copy(update={"decisions": r.decisions[:1]}) for r in three]) == []
