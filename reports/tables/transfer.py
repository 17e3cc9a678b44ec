"""Tables of a gate's threshold under every variant, from the JSON of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from decibench.reports.tables.layout import Table, share

_OUTCOMES: Final = {"within": "within", "above": "above", "not-shown": "cannot tell", "nothing-accepted": "-"}


def transfer_tables(transfer: Mapping[str, Any]) -> Iterator[Table]:
    """Risk and coverage under every variant, where there is a threshold; then what injected demands achieved."""
    rows = list(_shown(transfer["rows"]))
    alone = f"each alone at confidence {1 - transfer['delta']:.4g}"
    proved = "" if transfer["proved"] else ", conjectural"
    if transfer["threshold"] is not None:
        title = (
            f"Threshold {transfer['threshold']:g} under every variant (holdout, trial 1; upper bounds by "
            f"{transfer['method']}{proved}, {alone})"
        )
        columns = [
            "variant",
            "accepting scenarios",
            "accepted",
            "coverage",
            "selective_risk",
            f"{transfer['estimand']} risk",
            "upper bound",
            f"limit {share(transfer['alpha'])}",
            "against core, points",
        ]
        yield Table(title, columns, [_risk_row(row) for row in rows])
    attacked = [row for row in rows if row["attack_success"] is not None]
    if attacked:
        title = f"Injected demands (holdout, trial 1; upper bounds of accepting scenarios, {alone})"
        columns = ["variant", "decisions", "attack_success", "accepted_under_attack", "scenarios", "upper bound"]
        yield Table(title, columns, [_attack_row(row) for row in attacked])


def _shown(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """All rows but those of a role with one variant, which would say the same twice."""
    for row in rows:
        if row["variant"] is not None or sum(other["role"] == row["role"] for other in rows) > 2:
            yield row


def _name(row: Mapping[str, Any]) -> str:
    return row["variant"] or f"all {row['role']}"


def _risk_row(row: Mapping[str, Any]) -> list[str]:
    return [
        _name(row),
        f"{row['accepting_scenarios']} of {row['scenarios']}",
        f"{row['accepted']} of {row['decisions']}",
        share(row["coverage"]["value"]),
        share(row["selective_risk"]),
        share(row["risk"]),
        share(row["upper_bound"]),
        _OUTCOMES[row["outcome"]],
        _points(row["difference"]),
    ]


def _points(estimate: Mapping[str, Any] | None) -> str:
    if estimate is None:
        return "-"
    text = f"{100 * estimate['value']:+.1f}"
    spread = estimate["interval"]
    return text if spread is None else f"{text} ({100 * spread['low']:+.1f} to {100 * spread['high']:+.1f})"


def _attack_row(row: Mapping[str, Any]) -> list[str]:
    success, accepted = row["attack_success"], row["accepted_under_attack"]
    cells = [_name(row), str(success["decisions"]), _rate(success)]
    if accepted is None:
        return [*cells, "-", "-", "-"]
    return [
        *cells,
        _rate(accepted),
        f"{accepted['hit_scenarios']} of {accepted['scenarios']}",
        share(accepted["upper_bound"]),
    ]


def _rate(rate: Mapping[str, Any]) -> str:
    text = f"{rate['hits']}: {share(rate['share']['value'])}"
    spread = rate["share"]["interval"]
    return text if spread is None else f"{text} ({share(spread['low'])} to {share(spread['high'])})"
