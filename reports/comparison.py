"""Several candidates of one run side by side, with no winner where the data do not show one."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from decibench.cases.multiplicity import holm
from decibench.cases.schema import Model, Split
from decibench.reports.paired import PairedDifference, paired_difference
from decibench.reports.report import Report
from decibench.reports.summary import Metrics
from decibench.reports.table import Decisions, decisions_of

COMPARISON: Final = "comparison.json"


class Standing(Model):
    """One candidate's headline figures, and its accuracy by family, variant and tag (``difficulty hard``)."""

    candidate: str
    macro_accuracy: float | None
    accuracy: float | None
    brier_score: float | None
    failed: int
    accepted: int | None
    coverage: float | None
    selective_risk: float | None
    unsafe_acceptance: float | None
    p50_s: float | None
    by_family: dict[str, float | None]
    by_variant: dict[str, float | None]
    by_tag: dict[str, float | None]


class Contrast(Model):
    """A paired difference of a candidate from the reference, and what may be concluded from it.

    ``quantity`` is ``accuracy`` or ``flips under <variant>``, the share of decisions that differ from the original.
    ``dropped`` decisions were not valid for both.
    """

    candidate: str
    quantity: str
    dropped: int
    paired: PairedDifference
    conclusion: str


class Comparison(Model):
    """Candidates on the core variants of one split; contrasts are against ``reference``, the one named first."""

    schema_: Annotated[Literal["decibench.comparison/1"], Field(alias="schema")] = "decibench.comparison/1"
    split: Split | None
    reference: str
    note: str
    standings: list[Standing]
    contrasts: list[Contrast]
    not_run: list[str]


def compare(reports: Sequence[Report], not_run: Sequence[str] = ()) -> Comparison:
    """Compare ``reports`` of one run; partial or incomplete ones are listed and not contrasted."""
    splits: list[Split] = [s for s in ("holdout", "calibration", "development") if all(s in r.metrics for r in reports)]
    split = splits[0] if splits else None
    unfinished = [report.candidate.name for report in reports if not report.complete]
    contrasts: list[Contrast] = []
    if split is None:
        note = "the candidates share no split; nothing is compared"
    elif unfinished:
        note = f"{', '.join(unfinished)}: partial or incomplete, so no difference is tested"
    else:
        note = (
            "scenario-weighted, paired by scenario; 95% percentile bootstrap over scenarios; exact sign-flip test, "
            "Holm over the candidates (flips: over candidates and variants)"
        )
        contrasts = _contrasts(reports, split)
    return Comparison(
        split=split,
        reference=reports[0].candidate.name,
        note=note,
        standings=[_standing(report, split) for report in reports],
        contrasts=contrasts,
        not_run=list(not_run),
    )


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Write ``comparison.json`` and ``comparison.md`` beside the candidates' folders."""
    from decibench.reports.markdown import comparison_markdown

    text = json.dumps(comparison.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    (folder / COMPARISON).write_text(text, "utf-8")
    (folder / "comparison.md").write_text(comparison_markdown(comparison), "utf-8")


def conclude(paired: PairedDifference, candidate: str, reference: str, quantity: str) -> str:
    """The one sentence the data support."""
    gap, low, high = (f"{100 * value:+.1f}" for value in (paired.difference, paired.low, paired.high))
    figures = (
        f"{paired.second:.1%} against {paired.first:.1%} by scenario, {gap} points (95% interval {low} to {high}, "
        f"unadjusted; adjusted p = {paired.adjusted_p:.2g})"
    )
    if paired.supported:
        word = "higher" if paired.difference > 0 else "lower"
        return f"{candidate} is {word} than {reference} in {quantity}: {figures}."
    sentence = f"No difference in {quantity} between {candidate} and {reference} is shown: {figures}."
    if paired.detectable is not None:
        detectable = f"{100 * paired.detectable:.1f} points"
        sentence += f" A true difference of {detectable} would be found in 80% of such runs, tested alone."
    return sentence


def _contrasts(reports: Sequence[Report], split: Split) -> list[Contrast]:
    tables = []
    for report in reports:
        decisions = decisions_of(report.records, report.protocol.log_loss_floor)
        tables.append(decisions.where(decisions.split == split))
    comparable = tables[0].variant[tables[0].role != "probe"]
    variants = [variant for variant in dict.fromkeys(comparable.tolist()) if variant != "original"]
    quantities = [["accuracy"], [f"flips under {variant}" for variant in variants]]
    found: list[Contrast] = []
    for family in quantities:  # Holm is applied within the primary metric, and apart from it within the flips.
        drafts = []
        for quantity in family:
            counts = [_counts(table, quantity) for table in tables]
            for report, other in zip(reports[1:], counts[1:], strict=True):
                pair = _pair(counts[0], other)
                if pair is not None:
                    drafts.append((report.candidate.name, quantity, *pair))
        for draft, p in zip(drafts, holm([d[3].p_value for d in drafts]), strict=True):
            candidate, quantity, dropped, paired = draft
            paired = paired.model_copy(update={"adjusted_p": p})
            text = conclude(paired, candidate, reports[0].candidate.name, quantity)
            found.append(
                Contrast(candidate=candidate, quantity=quantity, dropped=dropped, paired=paired, conclusion=text)
            )
    return found


_Key = tuple[str, str, str, float]


def _counts(d: Decisions, quantity: str) -> dict[_Key, tuple[str, bool | None]]:
    """Per decision its group and whether it counts; None where it is not valid."""
    keys: list[_Key] = list(
        zip(d.group.tolist(), d.question.tolist(), d.variant.tolist(), d.trial.tolist(), strict=True)
    )
    index = {key: i for i, key in enumerate(keys)}
    found: dict[_Key, tuple[str, bool | None]] = {}
    for key, i in index.items():
        group, question, variant, trial = key
        if quantity == "accuracy":
            if d.role[i] == "core":
                # A failed decision is wrong, not missing: dropping it would reward failing on hard cases.
                found[key] = (group, bool(d.correct[i]))
        elif quantity == f"flips under {variant}":
            base = index.get((group, question, "original", trial))
            if base is not None:
                valid = bool(d.valid[i] and d.valid[base])
                found[key] = (group, bool(d.choice[i] != d.choice[base]) if valid else None)
    return found


def _pair(
    first: dict[_Key, tuple[str, bool | None]], second: dict[_Key, tuple[str, bool | None]]
) -> tuple[int, PairedDifference] | None:
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    dropped = 0
    for key in first.keys() | second.keys():
        group, a = first.get(key, ("", None))
        _, b = second.get(key, ("", None))
        if a is None or b is None:
            dropped += 1
            continue
        for position, value in enumerate((a, b, 1)):
            sums[group][position] += int(value)
    if not sums:
        return None
    columns = list(zip(*(sums[group] for group in sorted(sums)), strict=True))
    return dropped, paired_difference(*columns)


def _standing(report: Report, split: Split | None) -> Standing:
    metrics = report.metrics[split] if split else None
    overall = metrics.overall if metrics else None
    latency = report.latency.overall
    return Standing(
        candidate=report.candidate.name,
        macro_accuracy=overall.macro_accuracy if overall else None,
        accuracy=overall.accuracy if overall else None,
        brier_score=overall.brier_score if overall else None,
        failed=overall.failed if overall else 0,
        accepted=overall.accepted if overall else None,
        coverage=overall.coverage if overall else None,
        selective_risk=overall.selective_risk if overall else None,
        unsafe_acceptance=overall.unsafe_acceptance if overall else None,
        p50_s=latency.p50_s if latency else None,
        by_family=_accuracies(metrics.by_family if metrics else {}),
        by_variant=_accuracies(metrics.by_variant if metrics else {}),
        by_tag=_accuracies(
            {f"{key} {value}": m for key, values in metrics.by_tag.items() for value, m in values.items()}
            if metrics
            else {}
        ),
    )


def _accuracies(slices: Mapping[str, Metrics]) -> dict[str, float | None]:
    return {name: metrics.accuracy for name, metrics in slices.items()}
