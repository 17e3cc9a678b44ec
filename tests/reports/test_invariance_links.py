"""Directional counterfactuals: pairs of linked cases, their clusters, trials and noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from decibench.cases.schema import Counterfactual
from decibench.reports.invariance.counterfactuals import Directional
from decibench.reports.invariance.summary import invariance_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.tables.invariance import invariance_tables

PROTOCOL = Protocol(resamples=2_000)


def record(case: str, group: str, p: float | None, trial: int = 1, **more: Any) -> Record:
    """An answer of ``p`` to the option yes; None failed."""
    asked: dict[str, Any] = {"question": "q", "type": "choice", "options": ["yes", "no"], "expected": "yes"}
    if p is None:
        decision = Decision(**asked, failure=Failure(code="timeout", detail="took too long"))
    else:
        choice = "yes" if p >= 0.5 else "no"
        decision = Decision(**asked, choice=choice, probabilities={"yes": p, "no": 1 - p}, raw_sum=1.0)
    fields: dict[str, Any] = {
        "case": case,
        "group": group,
        "family": "demo",
        "variant": "original",
        "role": "core",
        "split": "holdout",
        "trial": trial,
        "request_hash": "r",
        "candidate_hash": "c",
        "latency_s": 0.1,
        "decisions": [decision],
    }
    return Record.model_validate(fields | more)


def pair(
    number: int, before: float | None, after: float | None, direction: str = "up", trial: int = 1, group: str = "",
    base: str = "", option: str = "yes",
) -> list[Record]:  # fmt: skip
    """A case and the one it changes: by default two variants of one scenario."""
    group = group or f"g{number:03}"
    link = Counterfactual.model_validate(
        {"of": f"c{number}", "question": "q", "option": option, "direction": direction}
    )
    return [
        record(f"c{number}", base or group, before, trial),
        record(f"c{number}-changed", group, after, trial, counterfactual=link),
    ]


def joined(pairs: Sequence[list[Record]]) -> list[Record]:
    return [record for both in pairs for record in both]


def directional(records: list[Record], protocol: Protocol = PROTOCOL) -> Directional:
    found = invariance_of(records, protocol)["holdout"].directional
    assert found is not None
    return found


def shares(found: Directional) -> tuple[float | None, ...]:
    return found.compliant.value, found.anti_compliant.value, found.net.value


def test_compliant_anti_compliant_and_net_are_shares_of_pairs() -> None:
    moves = [(0.4, 0.6, "up"), (0.4, 0.6, "up"), (0.5, 0.51, "up"), (0.4, 0.6, "down"), (0.6, 0.4, "down")]
    found = directional(joined([pair(number, *move) for number, move in enumerate(moves)]))
    assert shares(found) == pytest.approx((3 / 5, 1 / 5, 2 / 5))
    assert (found.pairs, found.clusters, found.dropped, found.retest_compliant) == (5, 5, 0, None)
    assert found.excess_compliant is None


def test_another_option_of_the_question_can_be_named() -> None:
    assert shares(directional(pair(0, 0.4, 0.6, "down", option="no"))) == (1, 0, 1)
    assert shares(directional(pair(0, 0.4, 0.6, "up", option="no"))) == (0, 1, -1)


def test_the_threshold_is_that_of_the_protocol_and_a_change_of_exactly_it_is_none() -> None:
    records = pair(0, 0.50, 0.52)
    assert shares(directional(records)) == (0, 0, 0)
    assert shares(directional(records, Protocol(direction_threshold=0.01))) == (1, 0, 1)
    assert directional(records, Protocol(direction_threshold=0.01)).threshold == 0.01


def test_pairs_that_share_a_scenario_are_resampled_together() -> None:
    alone = joined([pair(number, 0.4, 0.6 if number % 2 else 0.2) for number in range(20)])
    assert directional(alone).clusters == 20
    # g000 with g001, g001 with g002, ...: a chain of links is one cluster, in which nothing can vary.
    chained = joined([pair(n, 0.4, 0.6 if n % 2 else 0.2, group=f"g{n:03}", base=f"g{n + 1:03}") for n in range(20)])
    found = directional(chained)
    assert found.clusters == 1
    assert (found.compliant.value, found.compliant.interval) == (0.5, None)
    # Two clusters: scenarios that are linked both ways count once.
    two = joined([pair(n, 0.4, 0.6, group=f"g{n % 2}", base=f"h{n % 2}") for n in range(6)])
    assert directional(two).clusters == 2


def test_intervals_are_those_of_scipy_on_pairs_of_scenarios_of_their_own() -> None:
    rng = np.random.default_rng(4)
    moves = rng.choice([0.2, 0.0, -0.2], p=[0.5, 0.3, 0.2], size=60)
    found = directional(joined([pair(number, 0.5, 0.5 + move) for number, move in enumerate(moves.tolist())]))
    for figure, values in (
        (found.compliant, moves > 0),
        (found.anti_compliant, moves < 0),
        (found.net, np.sign(moves)),
    ):
        reference = bootstrap((values.astype(float),), np.mean, n_resamples=5_000, method="percentile", random_state=1)
        assert figure.value == pytest.approx(values.mean())
        assert figure.interval is not None
        assert figure.interval.low == pytest.approx(reference.confidence_interval.low, abs=0.04)
        assert figure.interval.high == pytest.approx(reference.confidence_interval.high, abs=0.04)


def test_trials_are_averaged_within_a_pair() -> None:
    records = joined([pair(0, 0.4, after, trial=trial) for trial, after in enumerate([0.6, 0.6, 0.4, 0.2], start=1)])
    records += pair(1, 0.4, 0.6)
    found = directional(records)
    assert found.pairs == 2
    assert shares(found) == pytest.approx(((2 / 4 + 1) / 2, (1 / 4) / 2, (1 / 4 + 1) / 2))


def test_identical_reruns_would_never_comply() -> None:
    records = joined([pair(number, 0.4, 0.6, trial=trial) for trial in (1, 2) for number in range(5)])
    found = directional(records)
    assert found.retest_compliant is not None
    assert found.retest_compliant.value == 0
    assert found.excess_compliant is not None
    assert found.excess_compliant.value == found.compliant.value == 1
    (table,) = invariance_tables(invariance_of(records, PROTOCOL))
    assert list(table.rows[-1]) == ["excess_compliant, points", "+100.0"]


def test_noise_complies_as_often_as_it_does_not_and_the_reruns_tell_how_often() -> None:
    # Probabilities estimated from ten samples, and no effect at all.
    rng = np.random.default_rng(5)
    drawn = rng.binomial(10, 0.5, size=(300, 2, 2)) / 10
    records = joined(
        [
            pair(number, drawn[number, trial - 1, 0], drawn[number, trial - 1, 1], trial=trial)
            for number in range(300)
            for trial in (1, 2)
        ]
    )
    found = directional(records)
    assert found.compliant.value == pytest.approx(0.41, abs=0.06)
    assert found.net.interval is not None
    assert found.net.interval.low < 0 < found.net.interval.high
    assert found.retest_compliant is not None
    moved = np.concatenate([drawn[:, 0, :] - drawn[:, 1, :]]).ravel()
    assert found.retest_compliant.value == pytest.approx((np.abs(moved) > 0.02).mean() / 2)
    assert found.excess_compliant is not None
    assert found.excess_compliant.interval is not None
    assert found.excess_compliant.interval.low < 0 < found.excess_compliant.interval.high


def test_a_pair_without_an_answer_on_both_sides_is_dropped() -> None:
    records = joined([pair(0, 0.4, 0.6), pair(1, 0.4, None), pair(2, None, 0.6)]) + pair(3, 0.4, 0.6)[1:]
    found = directional(records)
    assert (found.pairs, found.dropped) == (1, 3)
    # Answered in different trials is not answered in both.
    apart = [*pair(0, 0.4, 0.6), *pair(1, 0.4, None, trial=1), *pair(1, None, 0.6, trial=2)]
    assert (directional(apart).pairs, directional(apart).dropped) == (1, 1)


def test_cases_without_links_have_no_such_figure_and_no_such_table() -> None:
    records = [record("c0", "g0", 0.4), record("c1", "g1", 0.6)]
    found = invariance_of(records, PROTOCOL)
    assert found["holdout"].directional is None
    assert list(invariance_tables(found)) == []


def test_neither_the_order_of_records_nor_that_of_scenarios_matters() -> None:
    rng = np.random.default_rng(6)
    records = joined([pair(number, rng.random(), rng.random(), base=f"g{number // 2:03}") for number in range(30)])
    assert directional(records[::-1]) == directional(records)


def test_the_table_shows_compliance_beside_its_opposite() -> None:
    found = invariance_of(joined([pair(number, 0.4, 0.6 if number else 0.2) for number in range(4)]), PROTOCOL)
    (table,) = invariance_tables(found)
    assert "4 pairs in 4 clusters, 0 dropped" in table.title
    cells = {row[0]: row[1] for row in table.rows}
    assert list(cells) == ["compliant", "anti_compliant", "net, points", "retest_compliant"]
    assert cells["compliant"].startswith("75.0% [")
    assert cells["anti_compliant"].startswith("25.0% [")
    assert cells["retest_compliant"] == "-"
