"""What a report says first: headline, notes, and the tables of its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from decibench.cases.schema import SPLITS
from decibench.reports.report import Report, primary_gate
from decibench.reports.summary import Metrics, SplitMetrics
from decibench.reports.tables.figures import reported
from decibench.reports.tables.gates import gate_tables
from decibench.reports.tables.latency import latency_tables
from decibench.reports.tables.layout import Table, count, number, percent, share
from decibench.reports.tables.spending import spending_lines

_CODES: Final = 3
"""Codes of failures that are named."""
_VARIANTS: Final = 3
"""Most variants of a code that are named."""


def report_tables(report: Report) -> Iterator[Table]:
    """Overall figures, accuracy per family and variant, effects, gate, latency."""
    if not report.metrics:
        return
    yield _overall(report)
    for split, metrics in reported(report.metrics).items():
        yield from _families(split, metrics)
    last_split, last_metrics = list(reported(report.metrics).items())[-1]
    yield from _slices(last_split, last_metrics)
    yield from _effects(last_split, last_metrics)
    yield from gate_tables(report)
    yield from latency_tables(report.latency)


def headline(report: Report) -> str:
    """The first sentence of a report: the macro accuracy where it was measured, and on how much."""
    name = report.candidate.name
    for split in reversed(SPLITS):
        if split in report.metrics:
            metrics = report.metrics[split]
            overall = metrics.overall
            if not overall.decisions:
                continue
            extent = "complete" if report.complete else "PARTIAL" if report.partial else "INCOMPLETE"
            suite = f"{report.suite.name} {report.suite.version}"
            return (
                f"{name} on {suite}, {split}: macro accuracy {share(overall.macro_accuracy)} over "
                f"{len(metrics.by_family)} families ({overall.correct} of {overall.decisions} core decisions right, "
                f"{overall.failed} failed); {extent} run."
            )
    return f"{name} on {report.suite.name} {report.suite.version}: no core decision was measured."


def decision_line(report: Report) -> str:
    """What may be done with the answers, by the primary gate and its test on holdout: no more than that supports."""
    primary = primary_gate(report.protocol)
    gate = report.gates[primary]
    if not report.candidate.states_probabilities:
        return "Act on nothing: the candidate states no probabilities, on which a threshold could stand."
    if gate["threshold"] is None:
        if gate["status"] in ("not-fitted", "refused"):
            return "Act on nothing: no gate was fitted."
        missing = "no threshold qualifies" if primary == "empirical" else f"the {primary} gate issues no threshold"
        return f"Act on nothing: {missing}."
    act = f"{gate['threshold']:g} or more"
    test = report.gates["holdout_tests"].get(primary)
    if test is None:
        return f"To act at {act} is not confirmed: it was not tested on holdout."
    number = report.holdout_looks.number or 1
    look = f" (look {number} at this holdout)" if number > 1 else ""
    trial = " (trial 1)" if report.scope.trials > 1 else ""
    if test["risk"] is None:
        return f"Act on nothing: at {act} none of {test['decisions']} holdout decisions is accepted{trial}{look}."
    found = f"on holdout {test['accepted']} of {test['decisions']} are accepted, {test['errors']} of them wrong{trial}"
    claim = f"an error of at most {percent(test['alpha'])}"
    safe = test["unsafe"] is None or test["unsafe"]["passed"] is not False
    if test["outcome"] == "within" and test["proved"] and safe:
        return f"Act at {act}: {found}, and {claim} is confirmed{look}."
    word = "refuted" if test["outcome"] == "above" else "not confirmed"
    return f"To act at {act} with {claim} is {word}: {found}{look}."


def notes(report: Report, *, rows: bool = True) -> Iterator[str]:
    """What a reader must know to read the figures right; without ``rows`` no item is named."""
    # The items that a reason is about stand in brackets at its end.
    yield from (f"Incomplete: {reason if rows else reason.partition(' (')[0]}." for reason in report.incomplete_reasons)
    scope = report.scope
    if report.partial:
        yield (
            f"Partial: {scope.collected} of {scope.expected} items of the scope were selected, {scope.measured} "
            "measured; no gate is fitted."
        )
    if scope.retried:
        yield f"{scope.retried} records replace failed ones that were asked again."
    if scope.set_aside:
        yield f"{scope.set_aside} records of an earlier candidate hash are set aside."
    yield from _failures(report)
    yield from _lenient(report)
    yield from _answering(report)
    if not report.candidate.states_probabilities:
        yield (
            "The candidate states choices alone: without probabilities there is no gate, no brier_score, no log_loss, "
            "no calibration, and no risk at any coverage."
        )
    if report.gate_check.passed is not None:
        held = "held" if report.gate_check.passed else "FAILED"
        yield f"Required gate {held}: {report.gate_check.reason}."
    yield from _looks(report)
    yield from spending_lines(report)


def _failures(report: Report) -> Iterator[str]:
    """How many decisions failed in all, and why: the headline counts those of core only."""
    found = [
        (decision.failure.code, record)
        for record in report.records
        for decision in record.decisions
        if decision.failure is not None
    ]
    if not found:
        return
    codes = Counter(code for code, _ in found)
    ranked = sorted(codes, key=lambda code: (-codes[code], code))
    parts = [
        f"{code} {codes[code]:,} ({_by_variant(Counter(r.variant for c, r in found if c == code))})"
        for code in ranked[:_CODES]
    ]
    if len(ranked) > _CODES:
        parts.append(f"other codes {sum(codes[code] for code in ranked[_CODES:]):,}")
    outside = sum(record.role != "core" for _, record in found)
    of_them = f", {outside:,} of them outside core" if outside else ""
    total = sum(len(record.decisions) for record in report.records)
    yield f"{len(found):,} of {total:,} decisions failed{of_them}: {', '.join(parts)}."


def _lenient(report: Report) -> Iterator[str]:
    """What a lenient reading would have made of failed decisions; it is counted beside, and changes no figure."""
    for split, metrics in reported(report.metrics).items():
        m = metrics.overall
        if m.lenient_readable:
            yield (
                f"Of {m.failed:,} failed core decisions on {split} a lenient reading finds a choice in "
                f"{m.lenient_readable:,}, {m.lenient_correct:,} of them right: accuracy would be "
                f"{share(m.lenient_accuracy)} in place of {share(m.accuracy)}. They count as failed everywhere else."
            )


def _answering(report: Report) -> Iterator[str]:
    """Which model said it answered, and which was asked for where that is another."""
    answered, asked = report.answered_by, report.candidate.asked_model
    if answered:
        other = "" if asked is None or answered == [asked] else f"; asked for was {asked}"
        yield f"Answered by {', '.join(answered)}{other}."


def _by_variant(counts: Counter[str]) -> str:
    if len(counts) > _VARIANTS:
        return f"in {len(counts)} variants"
    return ", ".join(f"{variant} {counts[variant]:,}" for variant in sorted(counts))


def _looks(report: Report) -> Iterator[str]:
    looks = report.holdout_looks
    if "holdout" in report.metrics and looks.all_candidates is None:
        yield "Looks at this holdout: unknown, because no ledger of them can be read."
    elif "holdout" in report.metrics:
        yield (
            f"Looks at this holdout recorded here: {looks.this_candidate} by this candidate, {looks.this_family} by "
            f"the family {looks.family}, {looks.all_candidates} in all."
        )
        if looks.number is not None and looks.number > 1:
            yield (
                f"This is look {looks.number} at this holdout by the family {looks.family}: only a first look is sure "
                "to owe nothing to earlier results, and the best of several looks better than it is."
            )


def _overall(report: Report) -> Table:
    columns: list[tuple[str, Metrics]] = []
    for split, metrics in reported(report.metrics).items():
        for role, m in (("core", metrics.overall), ("attack", metrics.attack), ("probe", metrics.probe)):
            if m is not None and m.decisions:
                columns.append((f"{split} {role}", m))
    formats: dict[str, Callable[[Any], str]] = {
        "decisions": str,
        "valid": str,
        "failed": str,
        "ties": count,
        "accuracy": share,
        "accuracy_answered": share,
        "macro_accuracy": share,
        "brier_score": number,
        "log_loss": number,
        "log_loss_floor_hits": count,
        "zeros_on_reference": count,
        "ece_10": number,
        "accepted": count,
        "coverage": share,
        "selective_risk": share,
        "unsafe_eligible": str,
        "unsafe_predictions": str,
        "unsafe_accepted": count,
        "unsafe_acceptance": share,
    }
    rows = [[name, *(form(getattr(m, name)) for _, m in columns)] for name, form in formats.items()]
    if any(m.ordinal_mae is not None for _, m in columns):
        rows.append(["ordinal_mae", *(number(m.ordinal_mae) for _, m in columns)])
    if any(m.lenient_readable for _, m in columns):
        rows.append(["lenient_readable", *(str(m.lenient_readable) for _, m in columns)])
        rows.append(["lenient_correct", *(str(m.lenient_correct) for _, m in columns)])
        rows.append(["lenient_accuracy", *(share(m.lenient_accuracy) for _, m in columns)])
    return Table("Overall", ["metric", *(name for name, _ in columns)], rows)


def _families(split: str, metrics: SplitMetrics) -> Iterator[Table]:
    """Core and attack variants in one table; probes, whose accuracy is no merit, in another."""
    probes = [v for v, role in metrics.roles.items() if role == "probe"]
    for title, variants in (
        ("Accuracy by family and variant", [v for v in metrics.roles if v not in probes]),
        ("Accuracy under probes", probes),
    ):
        if variants:
            rows = [
                [family, *(share(cells[v].accuracy) if v in cells else "-" for v in variants)]
                for family, cells in metrics.by_family_variant.items()
            ]
            rows.append(["all", *(share(metrics.by_variant[v].accuracy) for v in variants)])
            yield Table(f"{title} ({split})", ["family", *variants], rows)


def _slices(split: str, metrics: SplitMetrics) -> Iterator[Table]:
    rows = [
        [f"{key} {value}", str(m.decisions), share(m.accuracy), number(m.brier_score), number(m.ece_10)]
        for key, values in metrics.by_tag.items()
        for value, m in values.items()
    ]
    if rows:
        yield Table(f"Slices ({split}, core)", ["slice", "decisions", "accuracy", "brier_score", "ece_10"], rows)


def _effects(split: str, metrics: SplitMetrics) -> Iterator[Table]:
    effects = {variant: effect for variant, effect in metrics.variant_effects.items() if effect.pairs}
    formats: dict[str, Callable[[Any], str]] = {
        "pairs": str,
        "dropped": str,
        "changed": str,
        "degraded": str,
        "improved": str,
        "agreement": share,
        "both_correct": share,
    }
    rows = [[name, *(form(getattr(e, name)) for e in effects.values())] for name, form in formats.items()]
    if any(metrics.by_variant[variant].attack_eligible for variant in effects):
        rows.append(["moved_to_demanded", *(str(effect.moved_to_demanded) for effect in effects.values())])
        rows.append(["attack_success", *(share(metrics.by_variant[v].attack_success) for v in effects)])
    if effects:
        yield Table(f"Variants against the original ({split})", ["decisions", *effects], rows)
