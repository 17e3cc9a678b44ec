"""What a process may spend: set aside before a request, corrected after it, refused in time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from decibench.candidates.adapter import CandidateError, Usage
from decibench.candidates.remote.budget import Budget, Spending
from decibench.candidates.remote.prices import MOST_ADDED_TOKENS, Price

DOLLAR = Price(1e6, 0.0, None, "a dollar a token")
"""A price at which dollars are tokens."""

BODY = 500
MOST = BODY + MOST_ADDED_TOKENS


def refusal(spending: Spending) -> CandidateError:
    with pytest.raises(CandidateError) as refused:
        spending.reserve(BODY)
    return refused.value


def test_a_request_is_refused_before_it_could_go_beyond_the_limit() -> None:
    spending = Spending(Budget(2 * MOST), DOLLAR, None)
    assert spending.reserve(BODY) == MOST
    assert spending.reserve(BODY) == MOST
    error = refusal(spending)
    assert (error.code, error.fatal) == ("budget-spent", True)
    assert "--max-usd" in error.detail


@pytest.mark.parametrize(
    ("usage", "spent"),
    [
        pytest.param(Usage(200, 5), 200, id="stated"),
        pytest.param(Usage(MOST + 100, 5), MOST + 100, id="more-than-was-set-aside"),
        pytest.param(Usage(None, 5), MOST, id="input-unknown"),
        pytest.param(Usage(), MOST, id="refused"),
    ],
)
def test_what_was_spent_takes_the_place_of_what_was_set_aside(usage: Usage, spent: float) -> None:
    for limit, fits in ((spent + MOST, True), (spent + MOST - 1, False)):
        spending = Spending(Budget(max(limit, MOST)), DOLLAR, None)
        spending.settle(spending.reserve(BODY), usage)
        if fits:
            spending.reserve(BODY)
        else:
            refusal(spending)


def test_what_was_never_sent_costs_nothing() -> None:
    spending = Spending(Budget(MOST), DOLLAR, None)
    for _ in range(3):
        spending.settle(spending.reserve(BODY), Usage(0, 0, 0))


def test_output_is_set_aside_at_its_most() -> None:
    price = Price(1e6, 2e6, 3e6, "cached input is dearest")
    assert Spending(Budget(1e9), price, 50).reserve(BODY) == 3 * MOST + 2 * 50


@pytest.mark.parametrize(
    "spending",
    [
        pytest.param(Spending(Budget(1e9), None, None), id="no-price"),
        pytest.param(Spending(Budget(1e9), Price(1.0, 1.0, None, ""), None), id="endless-output"),
    ],
)
def test_what_can_cost_anything_is_not_asked_under_a_limit(spending: Spending) -> None:
    assert refusal(spending).fatal


def test_without_a_limit_no_price_is_needed() -> None:
    spending = Spending(Budget(), None, None)
    spending.settle(spending.reserve(BODY), Usage(100))


def test_candidates_and_threads_share_one_budget() -> None:
    budget = Budget(100 * MOST)
    spenders = [Spending(budget, DOLLAR, None), Spending(budget, DOLLAR, 10)]
    together = threading.Barrier(16)

    def spend(number: int) -> int:
        together.wait()
        let_through = 0
        for turn in range(50):
            try:
                spenders[(number + turn) % 2].reserve(BODY)
            except CandidateError:
                break
            let_through += 1
        return let_through

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(spend, range(16))) == 100
