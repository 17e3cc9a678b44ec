"""Variant effects: paired by scenario, checked against a plain computation."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from decibench.reports.effects import effects_of
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.table import decisions_of

if TYPE_CHECKING:
    from tests.reports.conftest import MakeReport

GROUPS = 24


def outcomes(trial: int) -> dict[str, list[bool | None]]:
    """Rights of original, irrelevant, paraphrase and options-reversed, with a failure here and there."""
    return {
        f"way-{number:02}": [
            number % 3 != 0,
            None if number % 7 == 1 else number % 3 != 0,
            (number + trial) % 4 != 0,
            number % 5 != 0,
        ]
        for number in range(GROUPS)
    }


@pytest.fixture
def report(make_report: MakeReport) -> Report:
    """Two trials of four variants."""
    return make_report("one", [outcomes(1), outcomes(2)])


def test_a_difference_is_the_mean_over_scenarios_of_their_own_differences(report: Report) -> None:
    assert report.evidence is not None
    found = report.evidence.effects["holdout"]
    assert list(found) == ["irrelevant", "paraphrase", "options-reversed"]
    for variant, effect in found.items():
        moved, flips, dropped = _by_hand(report.records, variant)
        assert effect.accuracy_difference.value == pytest.approx(fmean(moved.values()), abs=1e-12)
        assert effect.flip_share.value == pytest.approx(fmean(flips.values()), abs=1e-12)
        assert (effect.scenarios, effect.pairs, effect.dropped) == (GROUPS, 2 * GROUPS, dropped)
        assert effect.accuracy_difference.groups == GROUPS
        assert effect.flip_share.groups == len(flips)


def _by_hand(records: list[Record], variant: str) -> tuple[dict[str, float], dict[str, float], int]:
    by_place = {(r.group, r.variant, r.trial): r.decisions[0] for r in records}
    moved: defaultdict[str, list[float]] = defaultdict(list)
    flips: defaultdict[str, list[float]] = defaultdict(list)
    dropped = 0
    for (group, name, trial), after in by_place.items():
        if name != variant:
            continue
        before = by_place[group, "original", trial]
        moved[group].append((after.choice == after.expected) - (before.choice == before.expected))
        if before.failure or after.failure:
            dropped += 1
        else:
            flips[group].append(after.choice != before.choice)
    means = [{group: fmean(values) for group, values in found.items()} for found in (moved, flips)]
    return means[0], means[1], dropped


def test_trials_are_no_further_scenarios(make_report: MakeReport) -> None:
    once, thrice = (make_report("one", [outcomes(1)] * number) for number in (1, 3))
    assert once.evidence is not None
    assert thrice.evidence is not None
    first, second = (evidence.effects["holdout"]["paraphrase"] for evidence in (once.evidence, thrice.evidence))
    assert first.accuracy_difference.interval is not None
    assert second.accuracy_difference.interval is not None
    assert second.pairs == 3 * first.pairs
    assert second.accuracy_difference.interval.low == pytest.approx(first.accuracy_difference.interval.low, abs=1e-12)
    assert second.accuracy_difference.interval.high == pytest.approx(first.accuracy_difference.interval.high, abs=1e-12)


def test_a_failed_variant_is_wrong_and_flips_nothing(make_report: MakeReport) -> None:
    report = make_report("one", {f"way-{n}": [True, None, True] for n in range(6)})
    assert report.evidence is not None
    effect = report.evidence.effects["holdout"]["irrelevant"]
    assert effect.accuracy_difference.value == -1.0
    assert effect.flip_share.value is None
    assert effect.dropped == effect.pairs == 6


def test_probes_have_no_effect_and_attacks_are_called_so(report: Report) -> None:
    roles = {"irrelevant": "attack", "paraphrase": "probe"}
    records = [r.model_copy(update={"role": roles.get(r.variant, r.role)}) for r in report.records]
    found = effects_of(decisions_of(records, 1e-15), DEFAULT_PROTOCOL)["holdout"]
    assert {variant: effect.role for variant, effect in found.items()} == {
        "irrelevant": "attack",
        "options-reversed": "core",
    }


def test_a_variant_without_its_original_has_none(report: Report) -> None:
    records = [r for r in report.records if r.variant != "original"]
    assert effects_of(decisions_of(records, 1e-15), DEFAULT_PROTOCOL) == {}
