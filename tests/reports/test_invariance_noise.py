"""The retest floor: what moves between trials of the same request, and what a form adds to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from decibench.reports.differences import differences
from decibench.reports.invariance.summary import Invariance, invariance_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.tables.invariance import invariance_tables

Model: TypeAlias = Callable[[int, str, int], Sequence[float]]
PROTOCOL = Protocol(resamples=1_000)
OPTIONS = ["a", "b", "c", "d"]
ORDERS = {"original": OPTIONS, "options-reversed": OPTIONS[::-1], "options-rotated": ["b", "c", "d", "a"]}
NOTE = "the retest noise is unknown: run with --trials 2"


def ask(model: Model, trials: int, scenarios: int = 40) -> list[Record]:
    """Records of ``scenarios`` in three orders; the model gives probabilities of a, b, c and d, in this order."""
    found = []
    for trial, number, (variant, options) in itertools.product(range(1, trials + 1), range(scenarios), ORDERS.items()):
        by_option = dict(zip(OPTIONS, model(number, variant, trial), strict=True))
        probabilities = {option: float(by_option[option]) for option in options}
        choice = max(probabilities, key=lambda option: probabilities[option])
        decision = _decision(options, choice=choice, probabilities=probabilities, raw_sum=1.0)
        found.append(_record(number, variant, trial, decision))
    return found


def _decision(options: list[str], **more: object) -> Decision:
    fields = {"question": "q", "type": "choice", "options": options, "expected": "a"}
    return Decision.model_validate(fields | more)


def _record(number: int, variant: str, trial: int, decision: Decision) -> Record:
    return Record(
        case=f"demo-{number:03}-{variant}",
        group=f"demo-{number:03}",
        family="demo",
        variant=variant,
        role="core",
        split="holdout",
        trial=trial,
        request_hash="r",
        candidate_hash="c",
        latency_s=0.1,
        decisions=[decision],
    )


def sampled(seed: int) -> Model:
    """Ten samples of one distribution per scenario, whatever the order: nothing but noise."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet([1.0] * 4, size=1_000)
    return lambda number, variant, trial: (rng.multinomial(10, truth[number]) / 10).tolist()


def turned(number: int, variant: str, trial: int) -> list[float]:
    """Deterministic, and another distribution in every order."""
    first = {"original": 0.7, "options-reversed": 0.5, "options-rotated": 0.1}[variant]
    return [first, 0.9 - first, 0.06, 0.04]


def found_of(records: list[Record]) -> Invariance:
    return invariance_of(records, PROTOCOL)["holdout"]


def test_one_trial_tells_nothing_of_noise_and_the_report_says_so() -> None:
    found = found_of(ask(turned, 1))
    effect = found.option_orders
    assert (found.retest, found.retest_note) == (None, NOTE)
    assert effect is not None
    assert (effect.retest, effect.excess_total_variation, effect.excess_flip_share) == (None, None, None)
    table = next(invariance_tables({"holdout": found}))
    assert NOTE in table.title
    assert {row[0]: row[1] for row in table.rows}["excess_total_variation"] == "-"


def test_identical_trials_have_no_noise_and_add_no_certainty() -> None:
    def some(number: int, variant: str, trial: int) -> list[float]:
        return turned(number, variant if number % 3 else "original", trial)

    once, thrice = found_of(ask(some, 1)), found_of(ask(some, 3))
    assert once.option_orders is not None
    assert thrice.option_orders is not None
    assert thrice.retest is not None
    assert thrice.retest_note is None
    assert (thrice.retest.total_variation.value, thrice.retest.flip_share.value) == (0.0, 0.0)
    # Three trials of 40 scenarios are 40 scenarios.
    for figure in ("total_variation", "flip_share"):
        one, three = getattr(once.option_orders, figure), getattr(thrice.option_orders, figure)
        excess = getattr(thrice.option_orders, f"excess_{figure}")
        for other in (three, excess):
            assert other.value == pytest.approx(one.value, abs=1e-12)
            assert other.interval.low == pytest.approx(one.interval.low, abs=1e-12)
            assert other.interval.high == pytest.approx(one.interval.high, abs=1e-12)


def test_mere_noise_has_no_excess_however_large_it_is() -> None:
    found = found_of(ask(sampled(1), 2, scenarios=200))
    effect = found.option_orders
    assert effect is not None
    assert effect.retest is not None
    assert effect.total_variation.value == pytest.approx(0.24, abs=0.06)
    assert effect.flip_share.value == pytest.approx(0.3, abs=0.1)
    for excess in (effect.excess_total_variation, effect.excess_flip_share):
        assert excess is not None
        assert excess.interval is not None
        assert excess.interval.low < 0 < excess.interval.high
    assert found.retest is not None
    # Each floor sums the same scenarios in an order of its own.
    first, second = (floor.total_variation.model_dump(mode="json") for floor in (effect.retest, found.retest))
    assert list(differences(first, second)) == []


def test_an_effect_of_order_stands_out_of_the_noise() -> None:
    noisy = sampled(2)

    def model(number: int, variant: str, trial: int) -> list[float]:
        pairs = zip(noisy(number, variant, trial), turned(number, variant, trial), strict=True)
        return [(p + q) / 2 for p, q in pairs]

    effect = found_of(ask(model, 2, scenarios=200)).option_orders
    assert effect is not None
    assert effect.excess_total_variation is not None
    assert effect.excess_total_variation.interval is not None
    assert effect.excess_total_variation.interval.low > 0


@pytest.mark.parametrize("trials", [2, 5])
def test_the_floor_is_the_mean_distance_of_all_pairs_of_trials(trials: int) -> None:
    records = ask(sampled(3), trials)
    found = found_of(records).retest
    assert found is not None
    by_case: dict[str, list[list[float]]] = {}
    for record in records:
        given = record.decisions[0].probabilities
        assert given is not None
        by_case.setdefault(record.case, []).append([given[option] for option in OPTIONS])
    expected = np.mean([pdist(rows, "cityblock").mean() / 2 for rows in by_case.values()])
    assert found.total_variation.value == pytest.approx(float(expected), abs=1e-12)
    tops = [[int(np.argmax(row)) for row in rows] for rows in by_case.values()]
    flips = [np.mean([a != b for a, b in itertools.combinations(top, 2)]) for top in tops]
    assert found.flip_share.value == pytest.approx(float(np.mean(flips)), abs=1e-12)
    assert found.pairs == len(by_case) * trials * (trials - 1) // 2


def test_orders_are_compared_within_a_trial() -> None:
    def drifting(number: int, variant: str, trial: int) -> list[float]:
        return [0.9, 0.1, 0.0, 0.0] if trial == 1 else [0.1, 0.9, 0.0, 0.0]

    effect = found_of(ask(drifting, 2)).option_orders
    assert effect is not None
    assert (effect.total_variation.value, effect.flip_share.value) == (0.0, 0.0)
    assert effect.retest is not None
    assert effect.retest.total_variation.value == pytest.approx(0.8)
    assert effect.retest.flip_share.value == 1


def test_a_failed_trial_is_no_rerun() -> None:
    records = ask(turned, 2)
    failure = Failure(code="timeout", detail="took too long")
    lost = [
        record.model_copy(update={"decisions": [_decision(record.decisions[0].options, failure=failure)]})
        if record.trial == 2
        else record
        for record in records
    ]
    found = found_of(lost)
    assert (found.retest, found.retest_note) == (None, "the retest noise is unknown: no request was answered twice")
    assert found.option_orders is not None
    assert (found.option_orders.pairs, found.option_orders.dropped) == (120, 120)
