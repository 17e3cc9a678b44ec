"""Seeded splits and option orders, as properties of any suite and not only of the shipped one."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decibench.cases.seeded import balanced_orders, seeded_order, stratified_split

ITEMS = st.lists(st.text("abcdefgh0123", min_size=1, max_size=6), min_size=1, max_size=40, unique=True)
SEEDS = st.text(max_size=5)
unhurried = settings(deadline=None)


@st.composite
def populations(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, int], str]:
    """Items with classes, and quotas that sum to their number."""
    classes = {item: draw(st.sampled_from("uvwxyz")) for item in draw(ITEMS)}
    names = [f"split-{n}" for n in range(draw(st.integers(1, 4)))]
    cuts = sorted(draw(st.lists(st.integers(0, len(classes)), min_size=len(names) - 1, max_size=len(names) - 1)))
    sizes = [high - low for low, high in zip([0, *cuts], [*cuts, len(classes)], strict=True)]
    return classes, dict(zip(names, sizes, strict=True)), draw(SEEDS)


@unhurried
@given(populations())
def test_every_item_is_assigned_once_and_every_quota_is_met_exactly(
    population: tuple[dict[str, str], dict[str, int], str],
) -> None:
    classes, quotas, seed = population
    assigned = stratified_split(classes, quotas, seed)
    assert assigned.keys() == classes.keys()
    found = Counter(assigned.values())
    assert {split: found[split] for split in quotas} == quotas


@unhurried
@given(populations(), st.randoms(use_true_random=False))
def test_splits_do_not_depend_on_the_order_of_the_items(
    population: tuple[dict[str, str], dict[str, int], str], random: Random
) -> None:
    classes, quotas, seed = population
    shuffled = list(classes.items())
    random.shuffle(shuffled)
    assert stratified_split(dict(shuffled), quotas, seed) == stratified_split(classes, quotas, seed)


@unhurried
@given(st.integers(1, 6), st.integers(1, 6), SEEDS)
def test_a_class_gets_its_share_of_every_split_where_it_divides(classes: int, times: int, seed: str) -> None:
    members = {f"{label}-{n}": label for label in "uvwxyz"[:classes] for n in range(12 * times)}
    quotas = {"development": 2 * times * classes, "calibration": 4 * times * classes, "holdout": 6 * times * classes}
    assigned = stratified_split(members, quotas, seed)
    found = Counter((members[item], split) for item, split in assigned.items())
    for label in "uvwxyz"[:classes]:
        assert [found[label, split] for split in quotas] == [2 * times, 4 * times, 6 * times]


@unhurried
@given(st.lists(st.integers(3, 9), min_size=2, max_size=4), SEEDS)
def test_a_class_with_enough_members_is_in_every_split_that_has_room(sizes: list[int], seed: str) -> None:
    classes = {f"{label}-{n}": label for label, size in zip("uvwx", sizes, strict=False) for n in range(size)}
    quotas = {"development": len(sizes), "calibration": len(sizes), "holdout": sum(sizes) - 2 * len(sizes)}
    assigned = stratified_split(classes, quotas, seed)
    for label in set(classes.values()):
        assert {split for item, split in assigned.items() if classes[item] == label} == set(quotas)


def test_more_classes_than_a_split_has_places_still_meet_the_quotas() -> None:
    classes = {f"{label}-{n}": label for label in "uvwx" for n in range(3)}
    assigned = stratified_split(classes, {"development": 1, "calibration": 1, "holdout": 10}, "seed")
    assert Counter(assigned.values()) == {"development": 1, "calibration": 1, "holdout": 10}


@pytest.mark.parametrize("quotas", [{"a": 2}, {"a": 2, "b": 2}, {}])
def test_quotas_that_do_not_sum_to_the_items_are_refused(quotas: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=rf"sum to {sum(quotas.values())}, there are 3 scenarios"):
        stratified_split({"x": "u", "y": "u", "z": "v"}, quotas, "seed")


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[str], dict[str, str], dict[str, str], str]:
    """Options, the expected one per item, the stratum per item, a seed."""
    options = draw(st.lists(st.text("klmno-", min_size=1, max_size=4), min_size=2, max_size=6, unique=True))
    items = draw(ITEMS)
    expected = {item: draw(st.sampled_from(options)) for item in items}
    strata = {item: draw(st.sampled_from(["development", "calibration", "holdout"])) for item in items}
    return options, expected, strata, draw(SEEDS)


@unhurried
@given(questions())
def test_every_order_holds_every_option_once_and_positions_are_even_within_each_stratum(
    question: tuple[list[str], dict[str, str], dict[str, str], str],
) -> None:
    options, expected, strata, seed = question
    orders = balanced_orders(dict.fromkeys(expected, options), expected, strata, seed)
    assert orders.keys() == expected.keys()
    assert all(sorted(order) == sorted(options) for order in orders.values())
    for stratum in set(strata.values()):
        members = [item for item in expected if strata[item] == stratum]
        found = Counter(orders[item].index(expected[item]) for item in members)
        assert {len(members) // len(options), -(-len(members) // len(options))} >= {
            found[position] for position in range(len(options))
        }


@unhurried
@given(questions(), st.randoms(use_true_random=False))
def test_orders_depend_neither_on_the_order_of_items_nor_on_that_of_options(
    question: tuple[list[str], dict[str, str], dict[str, str], str], random: Random
) -> None:
    options, expected, strata, seed = question
    items, other = list(expected.items()), list(options)
    random.shuffle(items)
    random.shuffle(other)
    shuffled = balanced_orders(dict.fromkeys(expected, other), dict(items), strata, seed)
    assert shuffled == balanced_orders(dict.fromkeys(expected, options), expected, strata, seed)


def test_items_may_have_options_of_their_own() -> None:
    options = {"one": ["a", "b"], "two": ["c", "d", "e"]}
    orders = balanced_orders(options, {"one": "b", "two": "c"}, dict.fromkeys(options, "holdout"), "seed")
    assert {item: sorted(order) for item, order in orders.items()} == options


@unhurried
@given(st.integers(2, 12), st.integers(13, 60), SEEDS)
def test_more_positions_than_items_are_used_once_each_and_far_apart(items: int, places: int, seed: str) -> None:
    expected = {f"item-{n}": "right" for n in range(items)}
    options = {item: ["right", *(f"wrong-{n}" for n in range(1, places))] for item in expected}
    orders = balanced_orders(options, expected, dict.fromkeys(expected, "holdout"), seed)
    used = sorted(order.index("right") for order in orders.values())
    gaps = [(b - a) % places for a, b in zip(used, [*used[1:], used[0]], strict=True)]
    assert {places // items, -(-places // items)} >= set(gaps)


def test_the_first_of_many_positions_is_right_no_more_often_than_another() -> None:
    expected = {f"item-{n}": "right" for n in range(1200)}
    options = {item: ["right", *(f"wrong-{n}" for n in range(1, 20))] for item in expected}
    strata = {item: f"stratum-{number // 4}" for number, item in enumerate(expected)}
    found = Counter(order.index("right") for order in balanced_orders(options, expected, strata, "seed").values())
    # 1200 items over 20 positions: 60 each, with a standard deviation below 8.
    assert all(20 < found[position] < 100 for position in range(20)), found


@unhurried
@given(ITEMS, SEEDS)
def test_a_seeded_order_is_a_permutation_that_repeats(items: list[str], seed: str) -> None:
    order = seeded_order(items, seed)
    assert sorted(order) == sorted(items)
    assert seeded_order(reversed(items), seed) == order


def test_another_seed_gives_another_order_and_another_split() -> None:
    items = {f"item-{n}": "u" for n in range(30)}
    assert seeded_order(items, "one") != seeded_order(items, "two")
    quotas = {"development": 10, "holdout": 20}
    assert stratified_split(items, quotas, "one") != stratified_split(items, quotas, "two")


def test_the_order_is_that_of_the_sha256_of_seed_and_item() -> None:
    # printf 's|a' | sha256sum, and so on: c 2f0a..., a 2fe5..., b b443..., d e0fb...
    assert seeded_order(["a", "b", "c", "d"], "s") == ["c", "a", "b", "d"]
