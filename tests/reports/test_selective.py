"""Selective prediction from records to the report: the curve, its areas, and coverage at a risk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from decibench.reports import selective
from decibench.reports.metrics.aurc import aurc
from decibench.reports.metrics.risk_coverage import risk_coverage
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.resampling import GroupBootstrap, interval
from decibench.reports.selective import POINTS, Selective, selective_of
from decibench.reports.summary import GatePoint, accepted_by, summarise
from decibench.reports.table import Decisions, decisions_of
from decibench.reports.tables.selective import selective_tables

RULES = Protocol(curve_resamples=500)
FLOOR = RULES.log_loss_floor


def record(number: int, top: float | None, right: bool, *, group: object = None, **more: Any) -> Record:
    """One two-way decision; without a top probability it failed."""
    answer: dict[str, Any] = {"failure": Failure(code="timeout", detail="too late")}
    if top is not None:
        choice, other = ("a", "b") if right else ("b", "a")
        answer = {"choice": choice, "probabilities": {choice: top, other: 1 - top}}
    fields: dict[str, Any] = {
        "case": f"c{number}",
        "group": f"g{number if group is None else group}",
        "family": "demo",
        "variant": "original",
        "role": "core",
        "split": "holdout",
        "trial": 1,
        "request_hash": "r",
        "candidate_hash": "h",
        "latency_s": 0.1,
        "decisions": [Decision(question="q", type="choice", options=["a", "b"], expected="a", **answer)],
    }
    return Record(**(fields | more))


def sample(split: str = "holdout", groups: int = 60, seed: int = 0, digits: int = 2) -> list[Record]:
    """Groups of up to five decisions that err together, less so where they are confident; some fail."""
    rng = np.random.default_rng(seed)
    records: list[Record] = []
    for group in range(groups):
        effect = rng.normal()
        for _ in range(int(rng.integers(1, 6))):
            top = round(float(0.5 + 0.5 * rng.beta(2, 1)), digits)
            right = bool(rng.random() < 1 / (1 + np.exp(-(6 * (top - 0.5) + effect))))
            failed = rng.random() < 0.03
            number = len(records)
            records.append(record(number, None if failed else top, right, group=f"{split}{group}", split=split))
    return records


def measured(records: list[Record], rules: Protocol = RULES) -> dict[Any, Selective]:
    return selective_of(decisions_of(records, FLOOR), rules)


def table(records: list[Record]) -> Decisions:
    return decisions_of(records, FLOOR)


def test_every_point_of_the_curve_is_a_plain_count() -> None:
    records = sample()
    found = measured(records)["holdout"]
    tops = [max((d.probabilities or {"": -1.0}).values()) for r in records for d in r.decisions]
    right = [d.choice == d.expected for r in records for d in r.decisions]
    assert [p.coverage for p in found.curve] == sorted({p.coverage for p in found.curve})
    for point in found.curve:
        kept = [i for i, top in enumerate(tops) if point.threshold is None or top >= point.threshold]
        assert point.coverage == len(kept) / len(tops)
        assert point.selective_risk == sum(not right[i] for i in kept) / len(kept)
        assert point.groups == len({records[i].group for i in kept})
        if point.low is not None:
            assert point.high is not None
            assert point.low <= point.selective_risk <= point.high
    assert found.curve[-1].coverage == 1
    assert found.curve[-1].threshold is None, "failed decisions are below every threshold"


def test_failed_decisions_are_errors_in_every_denominator() -> None:
    answered = [record(i, 0.9, True) for i in range(8)]
    found = measured([*answered, record(8, None, False), record(9, None, False)])["holdout"]
    assert (found.decisions, found.failed) == (10, 2)
    assert [(p.threshold, p.coverage, p.selective_risk) for p in found.curve] == [(0.9, 0.8, 0.0), (None, 1.0, 0.2)]
    worse = [*answered, record(8, 0.6, False), record(9, 0.6, False)]
    assert found.aurc.value == measured(worse)["holdout"].aurc.value


def test_a_long_curve_is_thinned_and_still_reaches_full_coverage() -> None:
    records = [record(i, 0.5 + i / 4000, i % 7 > 0) for i in range(1500)]
    found = measured(records, Protocol(curve_resamples=100))["holdout"]
    assert 0.9 * POINTS < len(found.curve) <= POINTS
    gaps = np.diff([0.0, *(p.coverage for p in found.curve)])
    assert gaps.max() <= 2 / POINTS
    assert found.curve[-1].coverage == 1


def test_intervals_of_an_area_are_those_of_scipy_over_whole_groups() -> None:
    d = table(sample(groups=40))
    groups = np.unique(d.group)
    members = [np.flatnonzero(d.group == name) for name in groups]

    def statistic(picked: Any) -> float:
        rows = np.concatenate([members[i] for i in picked.astype(int)])
        curve = risk_coverage(d.top_probability[rows], d.correct[rows])
        return float(aurc(curve.accepted, curve.errors))

    theirs = bootstrap(
        (np.arange(groups.size),),
        statistic,
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        random_state=np.random.default_rng(1),
    ).confidence_interval
    ours = selective_of(d, Protocol(curve_resamples=4000))["holdout"].aurc
    assert ours.interval is not None
    width = theirs.high - theirs.low
    assert ours.groups == groups.size
    assert ours.interval.low == pytest.approx(theirs.low, abs=0.1 * width)
    assert ours.interval.high == pytest.approx(theirs.high, abs=0.1 * width)


def test_the_band_of_a_point_is_the_interval_of_the_risk_at_its_threshold() -> None:
    d = table(sample())
    drawn = GroupBootstrap(d.group, d.trial, resamples=RULES.curve_resamples, seed=RULES.seed)
    for point in selective_of(d, RULES)["holdout"].curve[:-1]:
        assert point.threshold is not None
        accepted = accepted_by(d, point.threshold)
        band = interval(drawn.means({"risk": (~d.correct, accepted)})["risk"])
        if point.low is not None:
            assert band is not None
            assert (point.low, point.high) == (band.low, band.high)


def test_merging_neighbours_in_resamples_hardly_moves_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    records = sample(groups=400, digits=9)
    monkeypatch.setattr(selective, "LEVELS", 10**6)
    exact = measured(records)["holdout"]
    monkeypatch.setattr(selective, "LEVELS", 300)
    merged = measured(records)["holdout"]
    for name in ("aurc", "eaurc", "augrc"):
        one, other = getattr(exact, name), getattr(merged, name)
        width = one.interval.high - one.interval.low
        assert other.value == one.value
        assert other.interval.low == pytest.approx(one.interval.low, abs=0.05 * width)
        assert other.interval.high == pytest.approx(one.interval.high, abs=0.05 * width)


def test_coverage_at_risk_is_chosen_on_calibration_and_measured_on_holdout_at_the_same_threshold() -> None:
    calibration = sample("calibration", seed=1)
    records, calibrated = [*calibration, *sample("holdout", seed=2)], len(calibration)
    found = measured(records)
    for chosen, tested in zip(found["calibration"].at_risk, found["holdout"].at_risk, strict=True):
        assert (chosen.risk_level, chosen.threshold) == (tested.risk_level, tested.threshold)
        metrics = summarise(table(records), FLOOR, GatePoint(threshold=chosen.threshold))
        for at, split in ((chosen, metrics["calibration"]), (tested, metrics["holdout"])):
            assert at.coverage is not None
            assert at.selective_risk is not None
            assert (at.accepted, at.errors) == (split.overall.accepted, split.overall.accepted_errors)
            assert (at.coverage.value, at.selective_risk.value) == (
                split.overall.coverage,
                split.overall.selective_risk,
            )
        assert chosen.selective_risk is not None
        assert chosen.selective_risk.value is not None
        assert chosen.selective_risk.value <= chosen.risk_level
        assert chosen.selective_risk.interval is None
        assert chosen.selective_risk.no_interval == "the threshold was chosen on these scenarios"
        tops = np.array([max((r.decisions[0].probabilities or {"": 0.0}).values()) for r in records[:calibrated]])
        wrong = np.array([r.missed or r.failed for r in records[:calibrated]])
        kept = [tops >= t for t in set(tops[tops > 0].tolist())]
        most = max(int(mask.sum()) for mask in kept if wrong[mask].mean() <= chosen.risk_level)
        assert chosen.accepted == most
    loosest = found["holdout"].at_risk[-1]
    assert loosest.coverage is not None
    assert loosest.coverage.interval is not None


def test_no_threshold_gives_nulls() -> None:
    all_wrong = [record(i, 0.9, False, split="calibration") for i in range(5)]
    for records in (all_wrong + sample(), sample()):
        found = measured(records)["holdout"].at_risk
        assert [at.risk_level for at in found] == RULES.risk_levels
        assert all((at.threshold, at.accepted, at.coverage, at.selective_risk) == (None,) * 4 for at in found)


def test_a_threshold_that_no_holdout_decision_reaches_accepts_nothing() -> None:
    records = [record(i, 0.9, True, split="calibration") for i in range(5)]
    records += [record(9 + i, 0.6, True) for i in range(59)]
    at = measured(records)["holdout"].at_risk[0]
    assert at.coverage is not None
    assert at.selective_risk is not None
    assert (at.threshold, at.accepted, at.coverage.value, at.selective_risk.value) == (0.9, 0, 0.0, None)
    assert at.coverage.interval is None
    assert at.coverage.exceptions_below == pytest.approx(0.05, abs=0.001)


def test_without_errors_no_interval_pretends_to_certainty() -> None:
    found = measured([record(i, 0.5 + i / 100, True) for i in range(40)])["holdout"]
    assert (found.aurc.value, found.eaurc.value, found.augrc.value) == (0, 0, 0)
    assert found.aurc.no_interval == "no variation between scenarios: the bootstrap gives no interval"
    assert {(p.low, p.high) for p in found.curve} == {(None, None)}


def test_one_scenario_has_no_interval_even_over_several_trials() -> None:
    records = [record(i, 0.6 + i / 100, i % 2 == 0, group=0, trial=1 + i % 2) for i in range(6)]
    found = measured(records)["holdout"]
    assert found.aurc.no_interval == "one scenario: there is nothing to resample"
    assert {(p.low, p.high) for p in found.curve} == {(None, None)}


def test_attacks_and_probes_stay_out_and_rows_may_come_in_any_order() -> None:
    records = [*sample("calibration"), *sample()]
    others = [record(9999, 0.99, False, role=role, variant=role) for role in ("attack", "probe")]
    assert measured([*others, *records[::-1]]) == measured(records)
    assert measured(others) == {}


def test_a_risk_of_zero_on_holdout_stands_beside_what_it_still_allows() -> None:
    records = [
        record(i, 0.9, True, split=split, group=f"{split}{i}")
        for split in ("calibration", "holdout")
        for i in range(59)
    ]
    _, at_risk = selective_tables(measured(records))
    columns = list(at_risk.columns)
    assert [row[columns.index("holdout risk")] for row in at_risk.rows] == ["0.0% (exact bound: 5.0% of scenarios)"] * 3


def test_tables_say_that_coverage_at_risk_certifies_nothing() -> None:
    areas, at_risk = selective_tables(measured([*sample("calibration", seed=1), *sample("holdout", seed=2)]))
    assert [row[0] for row in areas.rows] == [
        f"{name} ({split})" for split in ("calibration", "holdout") for name in ("aurc", "eaurc", "augrc")
    ]
    assert "not certified" in at_risk.title
    assert [row[0] for row in at_risk.rows] == ["1.0%", "5.0%", "10.0%"]
    assert len(list(selective_tables(measured(sample())))) == 1
    assert list(selective_tables({})) == []
