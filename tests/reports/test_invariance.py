"""Option orders, neutral keys and state-key orders on the shipped suite, against plain loops over labels."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy.stats import bootstrap

from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.schema import Case
from decibench.cases.variants import VARIANTS
from decibench.reports.invariance.order_effects import NEUTRAL_KEYS, ORDERS, STATE_KEYS
from decibench.reports.invariance.summary import Invariance, invariance_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record, failed_decisions, open_decisions, record_of

Model: TypeAlias = Callable[[Case, str, list[str]], list[float]]
PROTOCOL = Protocol(resamples=200)
FINE = Protocol(resamples=2_000)


@cache
def suite() -> Suite:
    return load_suite(find_suite("decisions-v1"))


@cache
def answer(model: Model, split: str = "holdout") -> list[Record]:
    """The records of a model that gives weights to the options of a question, in the order in which they are asked."""
    found = []
    for case in suite().cases:
        if case.split != split:
            continue
        decisions = []
        for asked in open_decisions(case):
            weights = np.array(model(case, asked["question"], asked["options"]))
            p = (weights / weights.sum()).tolist()
            top = asked["options"][int(np.argmax(p))]
            probabilities = dict(zip(asked["options"], p, strict=True))
            tie = p.count(max(p)) > 1
            decisions.append(Decision(**asked, choice=top, probabilities=probabilities, raw_sum=1.0, tie=tie))
        role = suite().role(case)
        found.append(record_of(case, role, trial=1, request_hash="r", candidate_hash="c", decisions=decisions))
    return found


def seed_of(*parts: str) -> int:
    return sum(ord(character) * (index + 1) for index, character in enumerate("|".join(parts)))


def by_label(case: Case, question: str, options: list[str]) -> list[float]:
    """Looks at nothing but the labels of the options: blind to their order."""
    return [1 + seed_of(case.group, question, option) % 97 for option in options]


def by_place(case: Case, question: str, options: list[str]) -> list[float]:
    """Prefers what stands first, and the label a little."""
    return [w / (1 + place) ** 2 for place, w in enumerate(by_label(case, question, options))]


def even(case: Case, question: str, options: list[str]) -> list[float]:
    return [1.0] * len(options)


@cache
def holdout(model: Model) -> Invariance:
    return invariance_of(answer(model), PROTOCOL)["holdout"]


def plain_pairs(
    records: list[Record], variants: tuple[str, ...]
) -> Iterator[tuple[str, str, list[float], list[float]]]:
    """Group, question and both distributions of every pair of variants, by a plain search."""
    cases = {record.case: record for record in records}
    for record in records:
        for later in variants[variants.index(record.variant) + 1 :] if record.variant in variants else ():
            other = cases.get(f"{record.group}-{later}")
            for a, b in zip(record.decisions, other.decisions if other else (), strict=False):
                if a.type == "choice" and a.probabilities and b.probabilities:
                    ids = sorted(a.options)
                    aligned = dict(zip(a.options, b.options, strict=True)) if later == NEUTRAL_KEYS else {}
                    one = [a.probabilities[option] for option in ids]
                    two = [b.probabilities[aligned.get(option, option)] for option in ids]
                    yield record.group, a.question, one, two


def plain_means(records: list[Record], variants: tuple[str, ...]) -> tuple[dict[str, float], dict[str, float]]:
    """Total variation and flips of every scenario: means over the pairs of a question, then over questions."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for group, question, one, two in plain_pairs(records, variants):
        distance = sum(abs(p - q) for p, q in zip(one, two, strict=True)) / 2
        flip = float(one.index(max(one)) != two.index(max(two)))
        found.setdefault(group, {}).setdefault(question, []).append((distance, flip))
    means = [
        {g: statistics.fmean(statistics.fmean(pair[i] for pair in q) for q in qs.values()) for g, qs in found.items()}
        for i in (0, 1)
    ]
    return means[0], means[1]


def test_the_variants_compared_are_variants_of_the_suite() -> None:
    assert {*ORDERS, NEUTRAL_KEYS, STATE_KEYS} <= VARIANTS.keys()


@pytest.mark.parametrize(
    ("form", "variants"), [("option_orders", ORDERS), ("neutral_keys", ("original", NEUTRAL_KEYS))]
)
def test_figures_are_those_of_plain_loops_with_the_intervals_of_scipy(form: str, variants: tuple[str, ...]) -> None:
    records = answer(by_place)
    effect = getattr(invariance_of(records, FINE)["holdout"], form)
    for figure, expected in zip(
        (effect.total_variation, effect.flip_share), plain_means(records, variants), strict=True
    ):
        values = np.array(list(expected.values()))
        assert figure.value == pytest.approx(values.mean(), abs=1e-12)
        assert effect.scenarios == values.size
        reference = bootstrap((values,), np.mean, n_resamples=2_000, method="percentile", random_state=1)
        low, high = reference.confidence_interval
        assert figure.interval.low == pytest.approx(low, abs=0.15 * (high - low))
        assert figure.interval.high == pytest.approx(high, abs=0.15 * (high - low))
    assert effect.pairs == sum(1 for _ in plain_pairs(records, variants))
    assert effect.dropped == 0


def test_a_model_blind_to_order_does_not_move_and_its_accuracy_stands_beside_it() -> None:
    effect = holdout(by_label).option_orders
    assert effect is not None
    assert effect.total_variation.value == pytest.approx(0, abs=1e-15)
    assert effect.flip_share.value == 0
    # No scenario differs from another: nothing is known about how far others would.
    assert (effect.total_variation.interval, effect.flip_share.interval) == (None, None)
    assert effect.flip_share.no_interval == "no variation between scenarios: the bootstrap gives no interval"
    assert effect.flip_share.exceptions_below == pytest.approx(1 - 0.05 ** (1 / 150))
    assert list(effect.accuracy) == list(ORDERS)
    assert all(0.2 < accuracy < 0.45 for accuracy in effect.accuracy.values())


def test_an_even_model_is_invariant_by_ties_alone() -> None:
    found = holdout(even)
    for effect in (found.option_orders, found.neutral_keys):
        assert effect is not None
        assert (effect.total_variation.value, effect.flip_share.value, effect.tie_share) == (0.0, 0.0, 1.0)


def test_accuracies_are_those_of_the_variants() -> None:
    records = answer(by_place)
    effect = holdout(by_place).option_orders
    assert effect is not None
    for variant in ORDERS:
        with_orders = {record.group for record in records if record.variant == "options-reversed"}
        right = [
            d.choice == d.expected
            for record in records
            if record.variant == variant and record.group in with_orders
            for d in record.decisions
        ]
        assert effect.accuracy[variant] == pytest.approx(statistics.fmean(right))


def test_neutral_keys_are_mapped_by_place() -> None:
    def third(case: Case, question: str, options: list[str]) -> list[float]:
        return [3.0 if place == 1 else 1.0 for place in range(len(options))]

    found = holdout(third)
    assert found.neutral_keys is not None
    assert (found.neutral_keys.total_variation.value, found.neutral_keys.flip_share.value) == (0.0, 0.0)
    assert found.option_orders is not None
    assert found.option_orders.flip_share.value is not None
    assert found.option_orders.flip_share.value > 0.5


def test_state_keys_are_compared_where_there_are_any() -> None:
    def first_key(case: Case, question: str, options: list[str]) -> list[float]:
        key = next(iter(case.state)) if isinstance(case.state, dict) else ""
        return [1 + seed_of(key, option) % 7 for option in options]

    effect = holdout(first_key).state_key_orders
    assert effect is not None
    assert effect.scenarios == sum(c.variant == STATE_KEYS and c.split == "holdout" for c in suite().cases)
    assert effect.total_variation.value is not None
    assert effect.total_variation.value > 0


def test_a_pair_with_a_failed_side_is_dropped_and_counted() -> None:
    records = list(answer(by_place))
    lost = next(index for index, record in enumerate(records) if record.variant == "options-reversed")
    before = holdout(by_place).option_orders
    records[lost] = _failed(records[lost])
    after = invariance_of(records, PROTOCOL)["holdout"].option_orders
    assert before is not None
    assert after is not None
    # It was in a pair with the original and in one with the rotated order.
    assert (after.pairs, after.dropped) == (before.pairs - 2, 2)


def _failed(record: Record) -> Record:
    case = suite().by_id[record.case]
    failure = Failure(code="timeout", detail="took too long")
    return record.model_copy(update={"decisions": failed_decisions(case, failure)})


def test_what_no_variant_tells_is_left_out() -> None:
    records = [record for record in answer(even) if record.variant == "original"]
    found = invariance_of(records, PROTOCOL)["holdout"]
    assert (found.option_orders, found.neutral_keys, found.state_key_orders) == (None, None, None)
    assert invariance_of([], PROTOCOL) == {}


def test_every_split_is_told_by_itself() -> None:
    both = answer(even, "calibration") + answer(by_place)
    found = invariance_of(both, PROTOCOL)
    assert list(found) == ["calibration", "holdout"]
    assert _values(found["holdout"]) == _values(holdout(by_place))


def test_neither_the_order_of_records_nor_the_names_of_options_matter() -> None:
    records = answer(by_place)
    rng = np.random.default_rng(3)
    shuffled = [records[index] for index in rng.permutation(len(records)).tolist()]
    assert _values(invariance_of(shuffled, PROTOCOL)["holdout"]) == pytest.approx(_values(holdout(by_place)))
    renamed = [record.model_copy(update={"decisions": list(map(_renamed, record.decisions))}) for record in records]
    assert _values(invariance_of(renamed, PROTOCOL)["holdout"]) == pytest.approx(_values(holdout(by_place)))


def _renamed(decision: Decision) -> Decision:
    names = {option: f"z-{option}" for option in decision.options}
    assert decision.probabilities is not None
    assert decision.choice is not None
    return decision.model_copy(
        update={
            "options": list(names.values()),
            "expected": names[decision.expected],
            "choice": names[decision.choice],
            "probabilities": {names[option]: p for option, p in decision.probabilities.items()},
        }
    )


def _values(found: Invariance) -> Mapping[str, Any]:
    """All figures by their path."""

    def walk(path: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, dict | list):
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in entries:
                yield from walk(f"{path}.{key}", item)
        elif isinstance(value, int | float) or value is None:
            yield path, value

    forms = found.model_dump(include={"option_orders", "neutral_keys", "state_key_orders", "positions"})
    return dict(itertools.chain(walk("", forms)))
