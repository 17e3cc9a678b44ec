"""The chart of variant effects: differences by scenario, and no effect that is not shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import vl_convert

from decibench.reports.effects import effects_of
from decibench.reports.pages.charts import report_charts
from decibench.reports.pages.effects_chart import effects_chart
from decibench.reports.pages.page import report_page
from decibench.reports.pages.thresholds import threshold_stops
from decibench.reports.protocol import Protocol
from decibench.reports.table import decisions_of

RULES = Protocol(resamples=400, curve_resamples=100)


def sample(groups: int = 80) -> dict[str, list[bool | None]]:
    """Original, and three variants: nearly as right, much worse, and the same."""
    rng = np.random.default_rng(2)
    found: dict[str, list[bool | None]] = {}
    for g in range(groups):
        right = bool(rng.random() < 0.8)
        found[f"demo-{g:03}"] = [right, bool(rng.random() < 0.8), bool(rng.random() < 0.3), right]
    return found


def attacked(report: Any, variant: str) -> Any:
    records = [r.model_copy(update={"role": "attack" if r.variant == variant else r.role}) for r in report.records]
    effects = effects_of(decisions_of(records, 1e-15), report.protocol)
    return report.model_copy(
        update={"records": records, "evidence": report.evidence.model_copy(update={"effects": effects})}
    )


def chart(report: Any) -> Any:
    return effects_chart("holdout", report.evidence.effects["holdout"])


def rows(report: Any) -> dict[str, dict[str, Any]]:
    found = next(rows for rows in chart(report).spec["datasets"].values() if rows and "variant" in rows[0])
    return {row["variant"]: row for row in found}


def test_differences_are_in_points_and_paired_by_scenario(make_report: Any) -> None:
    outcomes = sample()
    found = rows(make_report("demo", outcomes, rules=RULES))
    assert list(found) == ["irrelevant", "paraphrase", "options-reversed"]
    for place, row in enumerate(found.values(), start=1):
        differences = [bool(o[place]) - bool(o[0]) for o in outcomes.values()]
        assert row["difference"] == pytest.approx(100 * np.mean(differences))
        assert row["scenarios"] == 80
    assert found["paraphrase"]["low"] < found["paraphrase"]["difference"] < found["paraphrase"]["high"] < 0


def test_only_an_interval_on_one_side_of_zero_is_named_so(make_report: Any) -> None:
    said = chart(make_report("demo", sample(), rules=RULES)).sentence
    assert "The interval of paraphrase lies on one side of zero; no other does." in said
    alike = {f"demo-{g:03}": [g % 3 == 0, g % 4 == 0] for g in range(40)}
    assert "no effect on accuracy is shown" in chart(make_report("demo", alike, rules=RULES)).sentence


def test_a_difference_without_an_interval_says_so(make_report: Any) -> None:
    report = make_report("demo", sample(), rules=RULES)
    row = rows(report)["options-reversed"]
    assert (row["difference"], row["low"], row["high"]) == (0.0, None, None)
    assert "no variation between scenarios" in row["interval"]
    assert "options-reversed +0.0 (no interval)" in chart(report).sentence


def test_where_no_variant_has_an_interval_none_is_drawn_and_nothing_is_warned_of(
    make_report: Any, open_page: Any
) -> None:
    report = make_report("demo", {f"demo-{g:03}": [True, False] for g in range(40)}, rules=RULES, gates={})
    assert rows(report)["irrelevant"]["low"] is None
    page = open_page(report_page(report))
    assert page.locator("#chart-effects .mark-symbol path").count() >= 1
    assert "difference in points" in page.locator("#chart-effects").text_content()


def test_core_and_attack_differ_by_shape_and_colour(make_report: Any) -> None:
    report = attacked(make_report("demo", sample(), rules=RULES), "paraphrase")
    assert {name: row["role"] for name, row in rows(report).items()} == {
        "irrelevant": "core",
        "paraphrase": "attack",
        "options-reversed": "core",
    }
    marks = [layer["encoding"] for layer in chart(report).spec["layer"] if "shape" in layer["encoding"]]
    for scale in (marks[0]["shape"]["scale"], marks[0]["color"]["scale"]):
        assert scale["domain"] == ["core", "attack"]
        assert len(set(scale["range"])) == 2
    drawing = vl_convert.vegalite_to_svg(dict(chart(report).spec))
    assert drawing.count(">core</text>") == drawing.count(">attack</text>") == 1


def test_the_table_has_every_variant(make_report: Any) -> None:
    table = chart(make_report("demo", sample(), rules=RULES)).table
    assert list(dict.fromkeys(row[0] for row in table.rows)) == ["irrelevant", "paraphrase", "options-reversed"]


def test_originals_alone_have_no_effects(make_report: Any) -> None:
    report = make_report("demo", {f"demo-{g}": [True] for g in range(6)}, rules=RULES)
    assert "effects" not in [chart.key for chart in report_charts(report, threshold_stops(report))]


def test_a_difference_without_an_interval_is_not_called_no_effect(make_report: Any) -> None:
    sentence = chart(make_report("demo", {f"demo-{g:03}": [True, False] for g in range(40)}, rules=RULES)).sentence
    assert "-100.0" in sentence
    assert "no effect" not in sentence
    assert "Of irrelevant no interval tells how sure the difference is." in sentence
