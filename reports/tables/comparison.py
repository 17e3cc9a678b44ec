"""What a comparison prints: what was compared, the tables, and the sentences that the data support."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.comparisons.conclusions import bare, level, spread, undetected
from decibench.reports.comparisons.contrasts import Contrast
from decibench.reports.tables.layout import Table, count, dollars, millis, number, share

_SHORT = 12
"""Letters of a hash that a table shows."""
_LABELS: Final = {"p50_s": "request latency, p50", "usd_per_1000_decisions": "cost per 1,000 decisions, USD"}
"""Figures that are printed in another unit than they are named after."""
_OF_PROBABILITIES: Final = frozenset(
    {"brier_score", "log_loss", "accepted", "coverage", "selective_risk", "unsafe_acceptance"}
)
"""Figures that a model which states no probabilities cannot have."""


def comparison_head(comparison: Comparison) -> Iterator[str]:
    """What a reader must know before any figure: doubtful identities, what was compared, and what was dropped."""
    c = comparison
    yield from (f"IDENTITY: {note}." for note in c.identity_notes)
    yield (
        f"Compared on {c.suite.name} {c.suite.version} ({c.suite.hash[:_SHORT]}), "
        f"{c.split or 'no common split'}, {c.trials} {'trial' if c.trials == 1 else 'trials'}, protocol {c.protocol} "
        f"({c.protocol_hash[:_SHORT]}), gate method {c.gate_method}, on {c.created}. The reference is {c.reference}."
    )
    silent = [compared.candidate for compared in c.compared if not compared.states_probabilities]
    if silent:
        others = len(c.compared) - len(silent)
        where = ["n/a", "n/a there, and not compared", "n/a there, and compared only between the others"][
            min(others, 2)
        ]
        yield f"Without probabilities: {', '.join(silent)}. What rests on probabilities is {where}."
    yield from network_sentences(c)
    if c.decisions:
        yield (
            f"Dropped from the differences: {c.dropped} of {c.decisions} core decisions, those to which not every "
            "candidate has a valid answer. The figures side by side count failed ones as wrong."
        )


def network_sentences(comparison: Comparison) -> Iterator[str]:
    """That latencies of some hold a network and those of others do not; nothing where all are alike."""
    far = [compared.candidate for compared in comparison.compared if compared.remote]
    near = [compared.candidate for compared in comparison.compared if not compared.remote]
    if far and near:
        yield (
            f"The latencies of {', '.join(far)} hold a network, those of {', '.join(near)} hold none: they cannot be "
            "set against each other."
        )


def not_run_sentences(comparison: Comparison) -> Iterator[str]:
    """Why candidates were not run, as far as it is known."""
    yield from (f"{name} was not run: {reason}." for name, reason in (comparison.not_run_reasons or {}).items())


def comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """The reports, the standings, and the differences."""
    yield reports_table(comparison)
    yield standings_table(comparison)
    yield from slice_tables(comparison)
    yield from difference_tables(comparison)


def reports_table(comparison: Comparison) -> Table:
    """Who is compared; candidates that did not run have a column without figures, here and in the standings."""
    return _by_candidate(comparison, "Reports", "report", _reports(comparison))


def standings_table(comparison: Comparison) -> Table:
    """The headline figures side by side."""
    title = f"Candidates side by side ({f'{comparison.split}, core' if comparison.split else 'no common split'})"
    return _by_candidate(comparison, title, "metric", _standings(comparison))


def _by_candidate(comparison: Comparison, title: str, first: str, rows: Sequence[Sequence[str]]) -> Table:
    names = [*(s.candidate for s in comparison.standings), *comparison.not_run]
    missing = ["not run"] * len(comparison.not_run)
    return Table(title, [first, *names], [[*row, *missing] for row in rows])


def slice_tables(comparison: Comparison) -> Iterator[Table]:
    """Accuracy by family, variant and tag."""
    for what in ("family", "variant", "tag"):
        slices = [getattr(s, f"by_{what}") for s in comparison.standings]
        labels = dict.fromkeys(label for accuracies in slices for label in accuracies)
        if labels:
            rows = [[label, *(share(accuracies.get(label)) for accuracies in slices)] for label in labels]
            yield _by_candidate(comparison, f"Accuracy by {what}", what, rows)


def comparison_conclusions(comparison: Comparison) -> Iterator[str]:
    """One sentence per candidate on the primary metric, then what is known of the order."""
    yield from (contrast.conclusion for contrast in comparison.contrasts if contrast.kind == "primary")
    ranks = comparison.ranks
    if not ranks:
        return
    pairs = len(ranks) * (len(ranks) - 1) // 2
    over = f"{comparison.primary_metric}, Holm over all {pairs} pairs" if pairs > 1 else comparison.primary_metric
    if all((rank.best, rank.worst) == (1, len(ranks)) for rank in ranks):
        yield f"No order of the candidates is supported ({over})."
    else:
        listed = ", ".join(f"{rank.candidate} {rank.text}" for rank in ranks)
        yield f"Ranks that the data support ({over}): {listed}."


def _reports(comparison: Comparison) -> list[list[str]]:
    formats: dict[str, Callable[[Any], str]] = {
        "model": _text,
        "revision": _text,
        "candidate_hash": lambda hash_: _text(hash_)[:_SHORT],
        "created": _text,
        "seal": lambda seal: _text(seal[:_SHORT]),
    }
    rows = [[name, *(form(getattr(r, name)) for r in comparison.compared)] for name, form in formats.items()]
    if any(r.answered_by for r in comparison.compared):
        rows.append(["answered by", *(_text(", ".join(r.answered_by)) for r in comparison.compared)])
    extents = ["complete" if r.complete else "PARTIAL" if r.partial else "INCOMPLETE" for r in comparison.compared]
    return [*rows, ["extent", *extents]]


def _standings(comparison: Comparison) -> list[list[str]]:
    formats: dict[str, Callable[[Any], str]] = {
        "macro_accuracy": share,
        "accuracy": share,
        "brier_score": number,
        "log_loss": number,
        "failed": str,
        "accepted": count,
        "coverage": share,
        "selective_risk": share,
        "unsafe_acceptance": share,
        "p50_s": lambda seconds: "-" if seconds is None else f"{millis(seconds)} ms",
        "usd_per_1000_decisions": dollars,
    }
    silent = {compared.candidate for compared in comparison.compared if not compared.states_probabilities}
    rows = [
        [
            _LABELS.get(name, name),
            *(
                "n/a" if name in _OF_PROBABILITIES and s.candidate in silent else form(getattr(s, name))
                for s in comparison.standings
            ),
        ]
        for name, form in formats.items()
    ]
    ranks = [["rank", *(rank.text for rank in comparison.ranks)]] if comparison.ranks else []
    return [*ranks, *rows]


def difference_tables(comparison: Comparison) -> Iterator[Table]:
    """The contrasts that have no sentence of their own: they are descriptive."""
    reference = comparison.reference
    columns = ["quantity", "candidate", "value", reference, "difference", "95% interval"]
    rest = [contrast for contrast in comparison.contrasts if contrast.kind == "descriptive"]
    if rest:
        rows = [[*_figures(c), _p(c.paired.p_value), _detectable(c)] for c in rest]
        title = f"Scenario-weighted differences from {reference}, of shares in points (descriptive: no conclusion)"
        yield Table(title, [*columns, "unadjusted p", "detectable"], rows, keys=2)


def _figures(contrast: Contrast) -> Sequence[str]:
    paired, quantity = contrast.paired, contrast.quantity
    difference = bare(quantity, paired.difference) if paired.differing else "never differ"
    values = (level(quantity, paired.second), level(quantity, paired.first))
    return quantity, contrast.candidate, *values, difference, spread(paired, quantity)


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def _detectable(contrast: Contrast) -> str:
    detectable = undetected(contrast.paired)
    return "-" if detectable is None else bare(contrast.quantity, detectable).lstrip("+")


def _text(value: str | None) -> str:
    return value or "-"
