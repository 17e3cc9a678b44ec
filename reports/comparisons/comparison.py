"""Candidates side by side, with no winner where the data do not show one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from decibench.cases.door import UsageError
from decibench.cases.schema import SPLITS, Model, Split
from decibench.cases.writing import write_text
from decibench.reports.comparisons.comparability import check_comparable, display_names, identity_notes
from decibench.reports.comparisons.contrasts import MOST_DROPPED, Contrast, Findings, find
from decibench.reports.comparisons.ranks import Rank
from decibench.reports.journal import SuiteRef
from decibench.reports.report import Report
from decibench.reports.summary import Metrics

SCHEMA: Final = "decibench.comparison/2"
COMPARISON: Final = "comparison.json"
COMPARISON_SUMMARY: Final = "comparison.md"


class Compared(Model):
    """A report that is compared: who answered, when, and the seal of the report. ``candidate`` is its name here.

    ``states_probabilities`` is false of a model that states choices alone: it has no figure that rests on them.
    ``answered_by`` are the models that said they answered. ``remote`` tells that latencies hold a network.
    """

    candidate: str
    model: str | None
    revision: str | None
    candidate_hash: str | None
    states_probabilities: bool
    answered_by: list[str]
    remote: bool
    run: str
    created: str
    complete: bool
    partial: bool
    seal: str


class Standing(Model):
    """One candidate's headline figures, and its accuracy by family, variant and tag (``difficulty hard``).

    They are over all attempted decisions, failed ones counting as wrong, as in its report. ``p50_s`` and
    ``usd_per_1000_decisions`` are of the whole run, all splits and variants; null where they are not known.
    """

    candidate: str
    macro_accuracy: float | None
    accuracy: float | None
    brier_score: float | None
    log_loss: float | None
    failed: int
    accepted: int | None
    coverage: float | None
    selective_risk: float | None
    unsafe_acceptance: float | None
    p50_s: float | None
    usd_per_1000_decisions: float | None
    by_family: dict[str, float | None]
    by_variant: dict[str, float | None]
    by_tag: dict[str, float | None]


class Comparison(Model):
    """Candidates on the core variants of one split; contrasts are against ``reference``.

    ``complete`` is true when every report is complete and at most 0.1% of the ``decisions`` had to be ``dropped``;
    otherwise no candidate is called higher or lower than another. ``identity_notes`` are to be read first: they tell
    where one name stands, or may stand, for two models. ``ranks`` are by ``primary_metric``. ``not_run`` were asked
    for and have no figures; ``not_run_reasons`` says what those lacked of which the run knows it, and is null where
    finished runs are compared.
    """

    schema_: Annotated[Literal["decibench.comparison/2"], Field(alias="schema")] = SCHEMA
    created: str
    suite: SuiteRef
    split: Split | None
    trials: int
    protocol: str
    protocol_hash: str
    gate_method: str
    primary_metric: str
    margin: float | None
    reference: str
    compared: list[Compared]
    identity_notes: list[str]
    complete: bool
    decisions: int
    dropped: int
    note: str
    standings: list[Standing]
    contrasts: list[Contrast]
    ranks: list[Rank]
    not_run: list[str]
    not_run_reasons: dict[str, str] | None = None


def compare(
    reports: Sequence[Report],
    not_run: Sequence[str] = (),
    *,
    reasons: Mapping[str, str] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> Comparison:
    """Compare ``reports`` with ``reference``, a name of one of them (default: the first).

    ``reasons`` says by name why candidates were not run, as far as that is known. ``margin`` asks whether a candidate
    is worse than the reference by less than that share in the primary metric. Partial or incomplete reports are listed
    and not contrasted. SuiteError names what keeps reports from being compared at all; UsageError where the reference
    is none of them or the margin no share.
    """
    if margin is not None and not 0 < margin < 1:
        raise UsageError(f"--margin {margin:g}: must be a share between 0 and 1; write 0.02 for two points")
    names = display_names(reports)
    check_comparable(reports, names)
    doubts = identity_notes(reports)
    first = _place_of(reference, names)
    order = [first, *(index for index in range(len(reports)) if index != first)]
    reports, names = [reports[index] for index in order], [names[index] for index in order]
    split = next((s for s in reversed(SPLITS) if all(s in report.metrics for report in reports)), None)
    refusal = _refusal(reports, names, split)
    found = Findings() if split is None or refusal else find(reports, names, split, margin)
    protocol = reports[0].protocol
    return Comparison(
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        suite=reports[0].suite,
        split=split,
        trials=reports[0].scope.trials,
        protocol=f"{protocol.name} {protocol.version}",
        protocol_hash=reports[0].protocol_hash,
        gate_method=protocol.gate_method,
        primary_metric=protocol.primary_metric,
        margin=margin,
        reference=names[0],
        compared=[_compared(name, report) for name, report in zip(names, reports, strict=True)],
        identity_notes=doubts,
        complete=not refusal and found.may_claim,
        decisions=found.decisions,
        dropped=found.dropped,
        note=refusal or _method(found, reports[0]),
        standings=[_standing(name, report, split) for name, report in zip(names, reports, strict=True)],
        contrasts=list(found.contrasts),
        ranks=list(found.ranks),
        not_run=list(not_run),
        not_run_reasons=None if reasons is None else {name: reasons[name] for name in not_run if name in reasons},
    )


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Write ``comparison.json`` and ``comparison.md`` beside the candidates' folders."""
    from decibench.reports.markdown import comparison_markdown

    write_text(folder / COMPARISON, comparison_json(comparison))
    write_text(folder / COMPARISON_SUMMARY, comparison_markdown(comparison))


def comparison_json(comparison: Comparison) -> str:
    """The comparison as indented JSON."""
    return json.dumps(comparison.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def _place_of(reference: str | None, names: Sequence[str]) -> int:
    if reference is None:
        return 0
    if reference not in names:
        raise UsageError(f"--reference {reference}: none of the candidates with figures; they are {', '.join(names)}")
    return list(names).index(reference)


def _refusal(reports: Sequence[Report], names: Sequence[str], split: Split | None) -> str:
    """Why nothing is contrasted; empty where nothing speaks against it."""
    if len(reports) < 2:
        return f"{names[0]} alone has figures; nothing is compared"
    unfinished = [name for name, report in zip(names, reports, strict=True) if not report.complete]
    if unfinished:
        return f"{', '.join(unfinished)}: partial or incomplete, so no difference is tested"
    if split is None:
        return "the candidates share no split; nothing is compared"
    return "" if reports[0].metrics[split].overall.decisions else "no core decision was asked; nothing is compared"


def _method(found: Findings, report: Report) -> str:
    protocol, trials = report.protocol, report.scope.trials
    drawn = "scenarios and trials" if trials > 1 else "scenarios"
    said = (
        "differences are paired by scenario, and every scenario weighs the same; 95% percentile bootstrap over "
        f"{drawn}, {protocol.resamples:,} resamples; exact sign-flip test of {protocol.primary_metric} with Holm over "
        "the candidates; all else is descriptive"
    )
    if trials > 1:
        said += f"; the {trials} trials are averaged within a scenario and add none"
    if found.may_claim:
        return said
    return (
        f"INCOMPLETE COMPARISON: more than {MOST_DROPPED:.1%} of the decisions are not valid for every candidate, so "
        f"none is called higher or lower; {said}"
    )


def _compared(name: str, report: Report) -> Compared:
    identity = report.candidate.identity
    return Compared(
        candidate=name,
        model=identity.get("model"),
        revision=identity.get("revision"),
        candidate_hash=report.candidate.hash,
        states_probabilities=report.candidate.states_probabilities,
        answered_by=report.answered_by,
        remote=report.candidate.remote,
        run=report.run,
        created=report.created,
        complete=report.complete,
        partial=report.partial,
        seal=report.seal,
    )


def _standing(name: str, report: Report, split: Split | None) -> Standing:
    metrics = report.metrics[split] if split else None
    overall = metrics.overall if metrics else None
    latency = report.latency.overall
    return Standing(
        candidate=name,
        macro_accuracy=overall.macro_accuracy if overall else None,
        accuracy=overall.accuracy if overall else None,
        brier_score=overall.brier_score if overall else None,
        log_loss=overall.log_loss if overall else None,
        failed=overall.failed if overall else 0,
        accepted=overall.accepted if overall else None,
        coverage=overall.coverage if overall else None,
        selective_risk=overall.selective_risk if overall else None,
        unsafe_acceptance=overall.unsafe_acceptance if overall else None,
        p50_s=latency.p50_s if latency else None,
        usd_per_1000_decisions=_usd_per_1000(report),
        by_family=_accuracies(metrics.by_family if metrics else {}),
        by_variant=_accuracies(metrics.by_variant if metrics else {}),
        by_tag=_accuracies(
            {f"{key} {value}": m for key, values in metrics.by_tag.items() for value, m in values.items()}
            if metrics
            else {}
        ),
    )


def _usd_per_1000(report: Report) -> float | None:
    decisions = sum(len(record.decisions) for record in report.records)
    total = report.cost.total_usd
    return None if total is None or not decisions else 1000 * total / decisions


def _accuracies(slices: Mapping[str, Metrics]) -> dict[str, float | None]:
    return {name: metrics.accuracy for name, metrics in slices.items()}
