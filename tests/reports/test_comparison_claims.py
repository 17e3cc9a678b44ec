"""What a comparison claims, and what it leaves open."""

from __future__ import annotations

import json
from typing import Any

import pytest

from decibench.cases.door import UsageError
from decibench.reports.comparisons.comparison import Comparison, compare, comparison_json
from decibench.reports.markdown import comparison_markdown

Outcomes = dict[str, list[bool | None]]


def scenarios(*runs: tuple[int, bool], size: int = 1) -> Outcomes:
    """Scenarios of one family: ``(number, right)`` one after the other, with ``size`` variants each."""
    rights = [right for number, right in runs for _ in range(number)]
    return {f"only-{index:03}": [right] * size for index, right in enumerate(rights)}


def primary(comparison: Comparison, candidate: str) -> Any:
    (found,) = (c for c in comparison.contrasts if (c.kind, c.candidate) == ("primary", candidate))
    return found


def ranks(comparison: Comparison) -> dict[str, str]:
    return {rank.candidate: rank.text for rank in comparison.ranks}


def test_a_small_difference_names_no_winner_and_prints_what_could_be_detected(make_report: Any) -> None:
    # 106 against 110 of 120: 6 scenarios only the first answers, 10 only the second.
    first, second = scenarios((106, True), (14, False)), scenarios((100, True), (6, False), (10, True), (4, False))
    comparison = compare([make_report("first", first), make_report("second", second)])
    contrast = primary(comparison, "second")
    assert contrast.shown is None
    assert contrast.paired.interval.low < 0 < contrast.paired.interval.high
    assert contrast.conclusion.startswith("No difference in macro_accuracy between second and first is shown")
    # 80% power at 5%: 2.8016 standard errors of the mean of 120 differences, of which 16 are not 0.
    error = (16 / 120 - (4 / 120) ** 2) ** 0.5 / 119**0.5
    assert contrast.paired.detectable == pytest.approx(2.8016 * error, rel=1e-4)
    assert f"{100 * contrast.paired.detectable:.1f} points would be found in 80%" in contrast.conclusion
    assert ranks(comparison) == {"first": "1-2", "second": "1-2"}
    assert "No order of the candidates is supported" in comparison_markdown(comparison)


def test_overlapping_flip_rates_support_no_claim(make_report: Any) -> None:
    # 6 of 50 scenarios flip under the variant for the first candidate, 2 others for the second.
    first: Outcomes = {f"only-{i:03}": [True, i >= 6] for i in range(50)}
    second: Outcomes = {f"only-{i:03}": [True, not 6 <= i < 8] for i in range(50)}
    comparison = compare([make_report("first", first), make_report("second", second)])
    (flips,) = (contrast for contrast in comparison.contrasts if contrast.quantity == "flips under irrelevant")
    assert flips.kind == "descriptive"
    assert (flips.paired.first, flips.paired.second) == pytest.approx((6 / 50, 2 / 50))
    assert flips.paired.p_value == pytest.approx(0.2890625)
    assert flips.paired.interval is not None
    assert flips.paired.interval.low < 0 < flips.paired.interval.high
    assert flips.shown is None


def test_candidates_that_never_differ_get_no_interval_and_no_certainty(make_report: Any) -> None:
    same = scenarios((30, True), (10, False))
    comparison = compare([make_report("first", same), make_report("second", same)], margin=0.05)
    contrast = primary(comparison, "second")
    assert (contrast.paired.interval, contrast.paired.detectable, contrast.paired.p_value) == (None, None, 1.0)
    assert "the two never differ on these 40 scenarios" in contrast.conclusion
    assert contrast.non_inferiority.shown is False
    assert "[" not in contrast.conclusion


def test_a_supported_difference_is_named_and_ranked(make_report: Any) -> None:
    reports = [
        make_report("low", scenarios((10, True), (40, False))),
        make_report("middle", scenarios((30, True), (20, False))),
        make_report("high", scenarios((32, True), (18, False))),
    ]
    comparison = compare(reports)
    assert primary(comparison, "high").shown == "higher"
    assert primary(comparison, "high").conclusion.startswith("high is higher than low in macro_accuracy")
    assert ranks(comparison) == {"low": "3", "middle": "1-2", "high": "1-2"}
    assert "low 3, middle 1-2, high 1-2" in comparison_markdown(comparison)


def test_holm_covers_all_candidates_and_ranks_all_pairs(make_report: Any) -> None:
    # 6 to 0 alone is p = 1/32; with two candidates Holm makes it 1/16, with three pairs no less.
    base = scenarios((20, True), (6, False), (6, False))
    better = [scenarios((26, True), (6, False)), scenarios((20, True), (6, False), (6, True))]
    alone = compare([make_report("base", base), make_report("one", better[0])])
    both = compare([make_report("base", base), make_report("one", better[0]), make_report("two", better[1])])
    assert primary(alone, "one").paired.adjusted_p == pytest.approx(1 / 32)
    assert primary(alone, "one").shown == "higher"
    assert ranks(alone) == {"base": "2", "one": "1"}
    assert primary(both, "one").paired.p_value == pytest.approx(1 / 32)
    assert primary(both, "one").paired.adjusted_p == pytest.approx(1 / 16)
    assert primary(both, "one").shown is None
    assert set(ranks(both).values()) == {"1-3"}


@pytest.mark.parametrize(("failed", "complete"), [(1, True), (2, False)])
def test_above_one_in_a_thousand_dropped_nobody_is_called_higher(make_report: Any, failed: int, complete: bool) -> None:
    weak = scenarios((300, False), (100, True), size=4)
    strong = scenarios((300, True), (100, True), size=4)
    for group in list(strong)[:failed]:
        strong[group] = [None, True, True, True]
    comparison = compare([make_report("weak", weak), make_report("strong", strong)], margin=0.1)
    contrast = primary(comparison, "strong")
    assert (comparison.decisions, comparison.dropped, comparison.complete) == (1600, failed, complete)
    assert contrast.dropped == failed
    assert contrast.shown == ("higher" if complete else None)
    assert (contrast.non_inferiority is not None) is complete
    assert bool(comparison.ranks) is complete
    assert ("INCOMPLETE COMPARISON" in comparison.note) is not complete
    # In the table of candidates a failed decision is wrong, not missing.
    assert comparison.standings[1].accuracy == pytest.approx(1 - failed / 1600)
    assert f"Dropped from the differences: {failed} of 1600 core decisions" in comparison_markdown(comparison)


def test_a_decision_that_any_candidate_failed_is_dropped_for_all(make_report: Any) -> None:
    all_right, one_failed = scenarios((5, True), size=4), scenarios((5, True), size=4)
    one_failed["only-000"] = [True, True, True, None]
    reports = [make_report(name, o) for name, o in (("a", all_right), ("b", all_right), ("c", one_failed))]
    assert {contrast.dropped for contrast in compare(reports).contrasts if "flips" not in contrast.quantity} == {1}


@pytest.mark.parametrize(("margin", "shown"), [(0.10, True), (0.02, False)])
def test_non_inferiority_asks_the_one_sided_bound(make_report: Any, margin: float, shown: bool) -> None:
    first = scenarios((150, True), (3, True), (3, False), (44, False))
    second = scenarios((150, True), (3, False), (3, True), (44, False))
    comparison = compare([make_report("first", first), make_report("second", second)], margin=margin)
    contrast = primary(comparison, "second")
    found = contrast.non_inferiority
    assert found.shown is shown
    assert -0.05 < found.lower_bound < -0.01
    assert contrast.paired.interval.low < found.lower_bound
    assert (
        f"with a margin of {100 * margin:.1f} points {'is shown' if shown else 'is not shown'}" in contrast.conclusion
    )
    assert [c.quantity for c in comparison.contrasts if c.non_inferiority is not None] == ["macro_accuracy"]


@pytest.mark.parametrize("margin", [0.0, 5.0, -0.1, float("nan")])
def test_a_margin_is_a_share(make_report: Any, margin: float) -> None:
    outcomes = scenarios((5, True))
    with pytest.raises(UsageError, match="must be a share between 0 and 1"):
        compare([make_report("first", outcomes), make_report("second", outcomes)], margin=margin)


def test_the_reference_can_be_named(make_report: Any) -> None:
    reports = [make_report(name, scenarios((5, True))) for name in ("first", "second")]
    comparison = compare(reports, reference="second")
    assert comparison.reference == "second"
    assert {contrast.candidate for contrast in comparison.contrasts} == {"first"}
    with pytest.raises(UsageError, match=r"--reference third: .* first, second"):
        compare(reports, reference="third")


def test_the_json_says_what_was_compared(make_report: Any) -> None:
    reports = [
        make_report(name, scenarios((5, True)), seal=seal * 64) for name, seal in (("first", "1"), ("second", "2"))
    ]
    content = json.loads(comparison_json(compare(reports, ["third"])))
    assert content["suite"] == {"name": "tiny", "version": "1", "hash": "a" * 64}
    assert content["protocol_hash"] == reports[0].protocol_hash
    assert content["created"].endswith("Z")
    assert [(c["candidate"], c["seal"], c["candidate_hash"]) for c in content["compared"]] == [
        ("first", "1" * 64, "c" * 64),
        ("second", "2" * 64, "c" * 64),
    ]
    assert content["not_run"] == ["third"]
    assert [standing["candidate"] for standing in content["standings"]] == ["first", "second"]
