"""Figures of a comparison, from reports to contrasts, against independent computations on the same scenarios."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from decibench.reports.comparisons.comparison import Comparison, compare
from decibench.reports.comparisons.contrasts import Contrast

FAMILIES = {"north": 24, "south": 12, "west": 6}


@pytest.fixture(scope="module")
def outcomes() -> list[dict[str, list[bool]]]:
    """Two candidates on 42 scenarios in three families of different size, with two to four variants each."""
    rng = np.random.default_rng(8)
    made: list[dict[str, list[bool]]] = [{}, {}]
    for family, number in FAMILIES.items():
        for index in range(number):
            size = int(rng.integers(2, 5))
            skill = rng.random()
            for system, lift in zip(made, (0.0, 0.15), strict=True):
                system[f"{family}-{index:03}"] = (rng.random(size) < skill + lift).tolist()
    return made


@pytest.fixture
def comparison(make_report: Any, outcomes: list[dict[str, list[bool]]]) -> Comparison:
    first, second = outcomes
    return compare([make_report("first", first, sure=0.8), make_report("second", second, sure=0.9)])


def of(comparison: Comparison, quantity: str, candidate: str = "second") -> Contrast:
    (found,) = (c for c in comparison.contrasts if (c.quantity, c.candidate) == (quantity, candidate))
    return found


def shares(outcomes: list[dict[str, list[bool]]]) -> tuple[Any, Any]:
    """Accuracy of each scenario, of shape (2, scenarios), and the scenarios' families."""
    groups = sorted(outcomes[0])
    values = np.array([[np.mean(system[group]) for group in groups] for system in outcomes])
    return values, np.array([group.partition("-")[0] for group in groups])


def test_the_primary_effect_is_the_mean_over_families_of_means_over_scenarios(
    comparison: Comparison, outcomes: list[dict[str, list[bool]]]
) -> None:
    values, families = shares(outcomes)
    by_family = np.array([values[:, families == family].mean(axis=1) for family in FAMILIES])
    paired = of(comparison, "macro_accuracy").paired
    assert (paired.first, paired.second) == pytest.approx(tuple(by_family.mean(axis=0)))
    assert paired.difference == pytest.approx(float(np.diff(by_family.mean(axis=0))[0]))
    assert paired.groups == 42
    assert paired.differing == int((values[0] != values[1]).sum())


def test_its_interval_and_detectable_difference_agree_with_oracles(
    comparison: Comparison, outcomes: list[dict[str, list[bool]]]
) -> None:
    values, families = shares(outcomes)
    gaps = values[1] - values[0]

    def macro(places: Any, axis: int = -1) -> Any:
        # The places of scenarios are resampled; the families come with them.
        drawn, of_family = gaps[places], families[places]
        means = []
        for family in FAMILIES:
            there = of_family == family
            with np.errstate(invalid="ignore"):
                means.append((drawn * there).sum(axis=axis) / there.sum(axis=axis))
        return np.nanmean(means, axis=0)

    rng = np.random.default_rng(4)
    theirs = bootstrap((np.arange(42),), macro, n_resamples=10_000, method="percentile", random_state=rng)
    paired = of(comparison, "macro_accuracy").paired
    assert paired.interval is not None
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    # Two bootstraps of 10,000 differ by their own noise, about a hundredth of the interval's width.
    assert paired.interval.low == pytest.approx(theirs.confidence_interval.low, abs=0.05 * width)
    assert paired.interval.high == pytest.approx(theirs.confidence_interval.high, abs=0.05 * width)
    assert paired.detectable == pytest.approx(2.8016 * theirs.standard_error, rel=0.05)


def test_a_ratio_weighs_scenarios_alike_and_agrees_with_an_oracle(
    make_report: Any, outcomes: list[dict[str, list[bool]]]
) -> None:
    accepted = np.random.default_rng(9).random((2, 42)) < 0.6
    sure = [{group: 0.9 if a else 0.6 for group, a in zip(sorted(outcomes[0]), row, strict=True)} for row in accepted]
    reports = [make_report(name, o, sure=s) for name, o, s in zip(("first", "second"), outcomes, sure, strict=True)]
    values, _ = shares(outcomes)

    def difference(places: Any, axis: int = -1) -> Any:
        wrong, taken = ((1 - values) * accepted)[:, places].sum(axis=axis), accepted[:, places].sum(axis=axis)
        return (wrong / taken)[1] - (wrong / taken)[0]

    paired = of(compare(reports), "selective_risk").paired
    assert paired.difference == pytest.approx(difference(np.arange(42)))
    assert of(compare(reports), "coverage").paired.second == pytest.approx(accepted[1].mean())
    rng = np.random.default_rng(4)
    theirs = bootstrap((np.arange(42),), difference, n_resamples=10_000, method="percentile", random_state=rng)
    assert paired.interval is not None
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert paired.interval.low == pytest.approx(theirs.confidence_interval.low, abs=0.05 * width)
    assert paired.interval.high == pytest.approx(theirs.confidence_interval.high, abs=0.05 * width)
    assert paired.detectable == pytest.approx(2.8016 * theirs.standard_error, rel=0.1)


def test_proper_scores_and_gate_figures_are_descriptive(comparison: Comparison) -> None:
    descriptive = [contrast for contrast in comparison.contrasts if contrast.kind == "descriptive"]
    metrics = [contrast for contrast in descriptive if not contrast.quantity.startswith("flips")]
    assert [contrast.quantity for contrast in metrics] == [
        "accuracy", "brier_score", "log_loss", "coverage", "selective_risk"
    ]  # fmt: skip
    assert len(descriptive) > len(metrics)
    for contrast in descriptive:
        assert contrast.paired.adjusted_p is None
        assert contrast.shown is None
        assert "descriptive" in contrast.conclusion
    assert {contrast.paired.test for contrast in metrics if contrast.quantity != "accuracy"} == {"group-swap"}
    assert of(comparison, "macro_accuracy").paired.test == "sign-flip"


def test_a_candidate_without_a_gate_has_no_gate_figures_to_compare(
    make_report: Any, outcomes: list[dict[str, list[bool]]]
) -> None:
    ungated = {"empirical": {"status": "not-fitted", "threshold": None}}
    reports = [make_report("first", outcomes[0]), make_report("second", outcomes[1], gates=ungated)]
    quantities = {contrast.quantity for contrast in compare(reports).contrasts}
    assert "accuracy" in quantities
    assert not quantities & {"coverage", "selective_risk", "unsafe_acceptance"}


def test_the_order_of_records_changes_nothing(make_report: Any, outcomes: list[dict[str, list[bool]]]) -> None:
    first, second = (make_report(name, o) for name, o in zip(("first", "second"), outcomes, strict=True))
    turned = second.model_copy(update={"records": second.records[::-1]})
    expected, found = compare([first, second]), compare([first, turned])
    assert found.dropped == 0
    for one, other in zip(expected.contrasts, found.contrasts, strict=True):
        assert one.paired.p_value == pytest.approx(other.paired.p_value, abs=1e-3)
        assert one.paired.difference == pytest.approx(other.paired.difference)
        assert one.paired.differing == other.paired.differing


def test_identical_trials_add_no_scenarios_and_no_certainty(
    make_report: Any, outcomes: list[dict[str, list[bool]]]
) -> None:
    once = compare([make_report(name, o) for name, o in zip(("first", "second"), outcomes, strict=True)])
    thrice = compare([make_report(name, [o] * 3) for name, o in zip(("first", "second"), outcomes, strict=True)])
    assert "the 3 trials are averaged within a scenario" in thrice.note
    for quantity in ("macro_accuracy", "brier_score"):
        one, three = of(once, quantity).paired, of(thrice, quantity).paired
        assert (three.groups, three.differing) == (one.groups, one.differing)
        assert three.p_value == pytest.approx(one.p_value, abs=1e-9)
        assert three.detectable == pytest.approx(one.detectable)
        assert one.interval is not None
        assert three.interval is not None
        assert three.interval.high - three.interval.low == pytest.approx(one.interval.high - one.interval.low, rel=0.05)


def test_the_same_reports_give_the_same_comparison_every_time(
    make_report: Any, outcomes: list[dict[str, list[bool]]]
) -> None:
    reports = [make_report(name, o) for name, o in zip(("first", "second"), outcomes, strict=True)]
    one, other = (compare(reports).model_dump(exclude={"created"}) for _ in range(2))
    assert one == other


def test_a_scenario_of_many_decisions_is_one_scenario(make_report: Any) -> None:
    # Decision by decision, 16 against 0 would look overwhelming; it is four scenarios, and two signs give 1/8.
    first = {f"only-{index}": [False] * 4 for index in range(4)}
    second = {f"only-{index}": [True] * 4 for index in range(4)}
    paired = of(compare([make_report("first", first), make_report("second", second)]), "macro_accuracy").paired
    assert paired.p_value == 0.125
    assert paired.interval is None
    assert math.isclose(paired.difference, 1.0)
