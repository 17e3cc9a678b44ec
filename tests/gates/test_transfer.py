"""A threshold under every variant: the rows, what they may conclude, and what injected demands achieve."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, bootstrap

from decibench.gates.transfer import Transfer, TransferRow, gate_transfer
from decibench.reports.protocol import Protocol
from decibench.reports.summary import GatePoint, summarise
from decibench.reports.table import Decisions
from decibench.reports.tables.layout import Table
from decibench.reports.tables.transfer import transfer_tables

Row = dict[str, Any]
MakeTable = Callable[[Iterable[Row]], Decisions]

PROTOCOL = Protocol(resamples=500)


def variant(name: str, right: int, wrong: int = 0, low: int = 0, *, role: str = "core", **more: Any) -> list[Row]:
    """One decision of each of the first scenarios: accepted and right, accepted and wrong, below the threshold."""
    kinds: list[Row] = [{}] * right + [{"right": False}] * wrong + [{"top": 0.5}] * low
    return [{"group": f"g{g:03}", "variant": name, "role": role, **kind, **more} for g, kind in enumerate(kinds)]


def transfer(decisions: Decisions, threshold: float | None = 0.8, protocol: Protocol = PROTOCOL) -> Transfer:
    """The threshold under all variants, which there must be."""
    found = gate_transfer(decisions, threshold, protocol, None)
    assert found is not None
    return found


def row_of(found: Transfer, name: str | None, role: str = "core") -> TransferRow:
    """The row of a variant, or of a role."""
    (row,) = (row for row in found.rows if row.variant == name and (name is not None or row.role == role))
    return row


@pytest.fixture
def mixed(table: MakeTable) -> Decisions:
    """Sixty scenarios: right on core, often wrong under injection, twelve of them in a probe."""
    return table(
        variant("original", 58, low=2)
        + variant("paraphrase", 57, wrong=1, low=2)
        + variant("injection", 30, wrong=20, low=6, role="attack", demanded=True)
        + variant("injection", 0, low=4, role="attack", question="q2")
        + variant("unknowable", 12, role="probe")
        + variant("original", 0, wrong=60, split="calibration")
        + variant("original", 0, wrong=60, trial=2)
    )


def test_every_role_and_variant_has_a_row_in_order(mixed: Decisions) -> None:
    assert [(row.role, row.variant) for row in transfer(mixed).rows] == [
        ("core", None),
        ("core", "original"),
        ("core", "paraphrase"),
        ("attack", None),
        ("attack", "injection"),
        ("probe", None),
        ("probe", "unknowable"),
    ]


def test_plain_figures_are_those_of_the_metrics(mixed: Decisions) -> None:
    trial_one = mixed.where(mixed.trial == 1)
    metrics = summarise(trial_one, 1e-15, GatePoint(threshold=0.8))["holdout"]
    slices = {None: metrics.overall} | dict(metrics.by_variant)
    for row in transfer(mixed).rows:
        known = slices[row.variant] if row.variant or row.role == "core" else getattr(metrics, row.role)
        assert (row.decisions, row.accepted, row.errors) == (known.decisions, known.accepted, known.accepted_errors)
        assert row.coverage.value == pytest.approx(known.coverage)
        assert row.selective_risk == pytest.approx(known.selective_risk)
        assert (row.attack_success and row.attack_success.share.value) == known.attack_success


def test_a_claim_on_core_says_nothing_of_other_variants(mixed: Decisions) -> None:
    found = transfer(mixed)
    outcomes = {row.variant: row.outcome for row in found.rows if row.variant}
    assert outcomes == {
        "original": "within",
        "paraphrase": "not-shown",
        "injection": "above",
        "unknowable": "not-shown",
    }
    assert "a claim on those says nothing of others" in found.sentences[0]
    assert "alone at 90% confidence, not all of them together" in found.sentences[0]
    assert "An error of at most 5% is confirmed under original." in found.sentences
    assert "An error above 5% is shown under injection." in found.sentences
    cannot_tell = next(sentence for sentence in found.sentences if "cannot tell" in sentence)
    assert "unknowable (12 accepting scenarios, upper bound 17.5%)" in cannot_tell


def test_bounds_of_single_decisions_are_exact(mixed: Decisions) -> None:
    found = transfer(mixed)
    assert (found.method, found.proved) == ("one_per_group_cp", True)
    assert row_of(found, "original").upper_bound == pytest.approx(beta.ppf(0.9, 1, 58), abs=1e-6)
    assert row_of(found, "unknowable").upper_bound == pytest.approx(beta.ppf(0.9, 1, 12), abs=1e-6)


def test_accepted_under_attack_counts_demands_that_were_followed_above_the_threshold(table: MakeTable) -> None:
    followed = {"right": False, "demanded": True, "variant": "injection", "role": "attack"}
    decisions = table(
        [
            *variant("original", 6),
            {"group": "g000", **followed},
            {"group": "g001", **followed, "top": 0.6},
            {"group": "g002", **followed, "right": True},
            {"group": "g003", **followed, "top": None},
            {"group": "g004", **followed, "demanded": False},
        ]
    )
    row = row_of(transfer(decisions), "injection")
    assert row.attack_success is not None
    assert row.accepted_under_attack is not None
    assert (row.attack_success.hits, row.attack_success.decisions, row.attack_success.share.value) == (2, 4, 0.5)
    assert (row.accepted_under_attack.hits, row.accepted_under_attack.scenarios) == (1, 4)
    assert row.accepted_under_attack.upper_bound == pytest.approx(beta.ppf(0.9, 2, 3))
    assert row_of(transfer(decisions), "original").attack_success is None


def test_attack_rates_have_the_interval_of_a_bootstrap_over_scenarios(mixed: Decisions) -> None:
    found = row_of(transfer(mixed, protocol=Protocol(resamples=4000)), "injection").attack_success
    followed = np.array([0] * 30 + [1] * 20 + [0] * 6)
    known = bootstrap(
        (followed,), np.mean, n_resamples=4000, method="percentile", random_state=np.random.default_rng(1)
    ).confidence_interval
    assert found is not None
    assert found.share.interval is not None
    spread = found.share.interval
    assert (spread.low, spread.high) == pytest.approx((known.low, known.high), abs=0.02)


def test_an_attack_that_never_succeeds_has_a_bound_and_no_interval(table: MakeTable) -> None:
    decisions = table(variant("original", 30) + variant("injection", 30, role="attack", demanded=True))
    found = row_of(transfer(decisions), "injection").accepted_under_attack
    assert found is not None
    assert (found.hits, found.share.value, found.share.interval) == (0, 0.0, None)
    assert found.upper_bound == pytest.approx(beta.ppf(0.9, 1, 30))


def test_the_difference_from_core_is_over_the_scenarios_that_have_both(table: MakeTable) -> None:
    # Core is wrong in ten of forty scenarios, none of which the probe asks; one probed scenario has no core variant.
    decisions = table(
        variant("original", 30, wrong=10)
        + variant("long-context", 15, wrong=5, role="probe")
        + [{"group": "z", "variant": "long-context", "role": "probe", "right": False}]
    )
    found = transfer(decisions)
    row = row_of(found, "long-context")
    assert row.risk == pytest.approx(6 / 21)
    assert row.difference is not None
    assert row.difference.value == pytest.approx(5 / 20)
    assert row.difference.interval is not None
    assert 0 < row.difference.interval.low < 0.25 < row.difference.interval.high
    assert row_of(found, None).difference is None


def test_a_variant_that_answers_alike_differs_by_nothing_and_without_an_interval(table: MakeTable) -> None:
    found = transfer(table(variant("original", 20, wrong=4) + variant("unknowable", 20, wrong=4, role="probe")))
    difference = row_of(found, "unknowable").difference
    assert difference is not None
    assert (difference.value, difference.interval) == (0.0, None)


def test_a_null_gate_accepts_nothing_and_attack_success_is_still_told(mixed: Decisions) -> None:
    found = transfer(mixed, None)
    assert {row.outcome for row in found.rows} == {"nothing-accepted"}
    row = row_of(found, "injection")
    assert row.accepted_under_attack is None
    assert row.attack_success is not None
    assert row.attack_success.hits == 20
    assert found.sentences == [
        "The primary gate is null, so that nothing is accepted under any variant.",
        "Under injection 20 of 56 decisions choose the demanded label.",
    ]
    (table,) = tables(found)
    assert table.rows[0][-3:] == ["-", "-", "-"]


def test_the_estimand_any_counts_scenarios(table: MakeTable) -> None:
    rows = variant("original", 8, wrong=2) + variant("original", 10, question="q2")
    found = transfer(table(rows), protocol=PROTOCOL.model_copy(update={"estimand": "any"}))
    row = row_of(found, "original")
    assert found.method == "group_any_cp"
    assert row.risk == pytest.approx(2 / 10)
    assert row.selective_risk == pytest.approx(2 / 20)


def test_without_holdout_or_without_core_variants_nothing_is_invented(table: MakeTable) -> None:
    assert gate_transfer(table(variant("original", 3, split="calibration")), 0.8, PROTOCOL, None) is None
    found = transfer(table(variant("injection", 3, role="attack", demanded=True)))
    assert [(row.variant, row.difference) for row in found.rows] == [(None, None), ("injection", None)]


def test_the_order_of_rows_changes_nothing(mixed: Decisions) -> None:
    order = np.random.default_rng(3).permutation(len(mixed))
    shuffled = Decisions(**{name: getattr(mixed, name)[order] for name in Decisions.__dataclass_fields__})
    known = {(row.role, row.variant): row for row in transfer(mixed).rows}
    assert {(row.role, row.variant): row for row in transfer(shuffled).rows} == known


def tables(found: Transfer) -> list[Table]:
    """The tables as they are made from the JSON of a report."""
    return list(transfer_tables(found.model_dump(mode="json")))


def test_tables_show_every_variant_once_and_what_cannot_be_told(mixed: Decisions) -> None:
    risk, attack = tables(transfer(mixed))
    cells = {row[0]: row[1:] for row in risk.rows}
    assert list(cells) == ["all core", "original", "paraphrase", "injection", "unknowable"]
    # By scenario: 20 wrong of 26 + 4 / 2 right and 20 wrong, because four of them were also asked a second question.
    assert cells["injection"][:5] == ["50 of 56", "50 of 60", "83.3%", "40.0%", "41.7%"]
    assert [row[7] for row in risk.rows[1:]] == ["within", "cannot tell", "above", "cannot tell"]
    assert "each alone at confidence 0.9" in risk.title
    assert [row[0] for row in attack.rows] == ["injection"]
    assert attack.rows[0][4] == "20 of 56"
