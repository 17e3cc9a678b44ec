"""Tables of the expected-cost gate, from the JSON of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from decibench.reports.tables.layout import Table


def cost_tables(gate: Mapping[str, Any]) -> Iterator[Table]:
    """What each threshold costs on calibration, then the chosen one beside acting always and never on holdout."""
    if gate["fitted"]:
        rows = [
            [
                _threshold(point["threshold"]),
                str(point["accepted"]),
                f"{point['expected_cost']:.4g}",
                "chosen" if point["threshold"] == gate["threshold"] else "",
            ]
            for point in gate["grid"]
        ]
        title = f"Expected cost per decision on calibration ({gate['scenarios']} scenarios, scenario-weighted)"
        yield Table(title, ["threshold", "accepted", "expected_cost", ""], rows)
    test = gate["holdout"]
    if test is not None:
        rows = [
            _policy(f"gate, {_threshold(gate['threshold'])}", test["gate"], None),
            _policy("always accept", test["always_accept"], test["against_accept"]),
            _policy("always fall back", test["always_fall_back"], test["against_fall_back"]),
        ]
        title = f"Expected cost per decision on holdout ({test['scenarios']} scenarios; 95% group intervals)"
        yield Table(title, ["policy", "accepted", "expected_cost", "gate less this", "gate is cheaper"], rows)


def _threshold(threshold: float | None) -> str:
    return "never" if threshold is None else f"{threshold:g}"


def _policy(name: str, policy: Mapping[str, Any], against: Mapping[str, Any] | None) -> list[str]:
    return [
        name,
        str(policy["accepted"]),
        _spread(policy["expected_cost"], ".4g"),
        "" if against is None else _spread(against["difference"], "+.4g"),
        "" if against is None else "shown" if against["cheaper"] else "not shown",
    ]


def _spread(estimate: Mapping[str, Any], form: str) -> str:
    text = format(estimate["value"], form)
    spread = estimate["interval"]
    return text if spread is None else f"{text} ({spread['low']:{form}} to {spread['high']:{form}})"
