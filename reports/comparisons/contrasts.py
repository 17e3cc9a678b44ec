"""Contrasts of candidates with a reference, and their ranks: what the decisions of comparable reports say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from decibench.cases.multiplicity import holm
from decibench.cases.schema import Model, Split
from decibench.reports.comparisons.conclusions import NonInferiority, conclude, conclude_margin
from decibench.reports.comparisons.group_totals import GroupTotals, group_totals
from decibench.reports.comparisons.paired import PairedDifference, lower_bound, paired_difference
from decibench.reports.comparisons.pairing import Aligned, Kind, align, quantities_of
from decibench.reports.comparisons.ranks import Rank, pairwise, ranks_of
from decibench.reports.report import Report
from decibench.reports.table import decisions_of

MOST_DROPPED: Final = 0.001
"""The share of decisions that may be lost to failures before nothing is concluded any more."""


class Contrast(Model):
    """A paired difference of a candidate from the reference, and what may be concluded from it.

    ``quantity`` is a metric, or ``flips under <variant>``: the share of decisions that differ from the original.
    ``kind`` tells the primary metric, tested with Holm over the candidates, from descriptive figures, which conclude
    nothing. ``decisions`` are compared; ``dropped`` ones were not valid for every candidate. ``shown``
    is what the data support, null where they support neither, nothing was tested, or too much was dropped.
    ``non_inferiority`` is of the primary metric, null where no margin was given or nothing may be concluded.
    """

    candidate: str
    quantity: str
    kind: Kind
    decisions: int
    dropped: int
    paired: PairedDifference
    shown: Literal["higher", "lower"] | None
    non_inferiority: NonInferiority | None
    conclusion: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Core ``decisions`` of all trials, how many of them were ``dropped``, and what the others say."""

    decisions: int = 0
    dropped: int = 0
    contrasts: Sequence[Contrast] = field(default_factory=list)
    ranks: Sequence[Rank] = field(default_factory=list)

    @property
    def may_claim(self) -> bool:
        """False where too much was dropped to call any candidate higher or lower."""
        return _few(self.dropped, self.decisions)


def find(reports: Sequence[Report], names: Sequence[str], split: Split, margin: float | None) -> Findings:
    """Contrast the decisions of ``split`` with those of the first of ``reports``, which must be comparable."""
    aligned = _aligned(reports, split)
    if not len(aligned.asked):
        return Findings()
    protocol = reports[0].protocol
    gates = [report.metrics[split].overall for report in reports]
    quantities = list(quantities_of(aligned, gates, protocol.primary_metric))
    totals = group_totals(aligned, quantities, resamples=protocol.resamples, seed=protocol.seed)
    may_claim = _few(aligned.dropped, aligned.decisions)
    contrasts: list[Contrast] = []
    kinds: Sequence[Kind] = ("primary", "descriptive")
    for kind in kinds:
        of_kind = [part for part in totals if part.quantity.kind == kind]
        contrasts += _contrasts(of_kind, names, protocol.seed, margin if kind == "primary" else None, may_claim)
    primary = next(part for part in totals if part.quantity.kind == "primary")
    ranked = may_claim and any(contrast.kind == "primary" for contrast in contrasts)
    ranks = ranks_of(names, primary.values.tolist(), pairwise(primary, protocol.seed)) if ranked else []
    return Findings(aligned.decisions, aligned.dropped, contrasts, ranks)


def _aligned(reports: Sequence[Report], split: Split) -> Aligned:
    tables = []
    for report in reports:
        records = [record for record in report.records if record.split == split and record.role != "probe"]
        tables.append(decisions_of(records, report.protocol.log_loss_floor))
    return align(tables)


def _contrasts(
    totals: Sequence[GroupTotals], names: Sequence[str], seed: int, margin: float | None, may_claim: bool
) -> list[Contrast]:
    """Every candidate against the first in quantities of one kind, with Holm over all of them together."""
    drafts = []
    for part in totals:
        for place in range(1, len(names)):
            paired = paired_difference(part, 0, place, seed)
            if paired is not None:
                drafts.append((part, place, paired))
    adjusted = holm([paired.p_value for _, _, paired in drafts])
    return [
        _contrast(part, place, paired, p_value, names, margin, may_claim)
        for (part, place, paired), p_value in zip(drafts, adjusted, strict=True)
    ]


def _contrast(
    part: GroupTotals,
    place: int,
    paired: PairedDifference,
    adjusted_p: float,
    names: Sequence[str],
    margin: float | None,
    may_claim: bool,
) -> Contrast:
    quantity = part.quantity
    decisions = int(quantity.rows.sum())
    claims = may_claim and _few(quantity.dropped, decisions + quantity.dropped)
    if quantity.kind != "descriptive":
        paired = paired.model_copy(update={"adjusted_p": adjusted_p})
    conclusion = conclude(paired, names[place], names[0], quantity.name, may_claim=claims)
    worse = None
    if margin is not None and claims:
        bound = lower_bound(part, 0, place)
        worse = NonInferiority(margin=margin, lower_bound=bound, shown=bound is not None and bound > -margin)
        conclusion += f" {conclude_margin(worse, names[place], names[0], quantity.name)}"
    return Contrast(
        candidate=names[place],
        quantity=quantity.name,
        kind=quantity.kind,
        decisions=decisions,
        dropped=quantity.dropped,
        paired=paired,
        shown=("higher" if paired.difference > 0 else "lower") if claims and paired.supported else None,
        non_inferiority=worse,
        conclusion=conclusion,
    )


def _few(dropped: int, decisions: int) -> bool:
    return dropped <= MOST_DROPPED * decisions
