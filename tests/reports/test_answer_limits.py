"""The limits of a legal answer, just inside and just outside."""

from __future__ import annotations

import pytest

from decibench.cases.distribution import InvalidAnswer, check_distribution, check_score

FOUR = ["a", "b", "c", "d"]


def code(
    options: list[str], probabilities: dict[str, float], choice: str | None = None, decimals: int | None = None
) -> str:
    try:
        check_distribution(options, probabilities, choice, decimals=decimals)
    except InvalidAnswer as error:
        return error.code
    return "scored"


@pytest.mark.parametrize(
    ("total", "decimals", "expected"),
    [
        (1.001, None, "scored"),
        (0.999, None, "scored"),
        (1.0011, None, "sum"),
        (0.9989, None, "sum"),
        # Four options rounded to two decimals may be off by 4 x 0.005.
        (1.02, 2, "scored"),
        (0.98, 2, "scored"),
        (1.0201, 2, "sum"),
        (0.9799, 2, "sum"),
        # Declared rounding never makes the rule stricter than without.
        (1.001, 9, "scored"),
    ],
)
def test_the_sum_may_be_off_by_the_declared_rounding(total: float, decimals: int | None, expected: str) -> None:
    probabilities = {"a": total - 0.6, "b": 0.2, "c": 0.2, "d": 0.2}
    assert code(FOUR, probabilities, decimals=decimals) == expected


@pytest.mark.parametrize(
    ("low", "expected"), [(0.34, "scored"), (0.3399, "scored"), (0.33989, "choice-not-top"), (0.33, "choice-not-top")]
)
def test_the_choice_may_be_a_ten_thousandth_below_the_maximum(low: float, expected: str) -> None:
    probabilities = {"a": 0.34, "b": low, "c": 1 - 0.34 - low}
    assert code(["a", "b", "c"], probabilities, "b") == expected


def test_every_four_decimal_pair_exactly_at_the_limit_is_scored() -> None:
    for top in range(3335, 5001):
        high, low = top / 10_000, (top - 1) / 10_000
        assert code(["a", "b", "c"], {"a": high, "b": low, "c": 1 - high - low}, "b") == "scored", top


@pytest.mark.parametrize(("score", "fine"), [(1.5, True), (1.52, True), (1.48, True), (1.521, False), (1.479, False)])
def test_a_score_may_be_off_by_two_hundredths(score: float, fine: bool) -> None:
    probabilities = {"0": 0.0, "1": 0.5, "2": 0.5}
    if fine:
        assert check_score(probabilities, score) == score
    else:
        with pytest.raises(InvalidAnswer, match="score-mismatch"):
            check_score(probabilities, score)


@pytest.mark.parametrize(
    ("levels", "decimals", "off", "fine"),
    [
        # Two decimals of ten levels: 0.02, and 0.005 for each step of 0 + 1 + ... + 9 and for the score itself.
        (10, 2, 0.25, True),
        (10, 2, 0.2501, False),
        (10, 4, 0.0223, True),
        (10, 4, 0.0224, False),
        (3, 2, 0.04, True),
        (3, 2, 0.0401, False),
        (10, None, 0.0201, False),
    ],
)
@pytest.mark.parametrize("side", [1, -1])
def test_a_score_may_also_be_off_by_the_declared_rounding(
    levels: int, decimals: int | None, off: float, fine: bool, side: int
) -> None:
    probabilities = {str(level): 1 / levels for level in range(levels)}
    score = (levels - 1) / 2 + side * off
    if fine:
        assert check_score(probabilities, score, decimals=decimals) == score
    else:
        with pytest.raises(InvalidAnswer, match="score-mismatch"):
            check_score(probabilities, score, decimals=decimals)
