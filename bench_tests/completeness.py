"""How much of the declared scope was selected and measured, decided against the suite and never the session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decibench.bench_tests.plan import Item, Plan
from decibench.bench_tests.recorder import Recorder
from decibench.cases.schema import SPLITS
from decibench.reports.journal import Journal
from decibench.reports.record import Record
from decibench.reports.report import Scope


@dataclass(frozen=True, slots=True)
class Completeness:
    """The scope of one candidate's run.

    ``partial``: the user selected less than the scope, or chose to stop at failures. ``reasons`` say what of the
    selection is missing; with none and not partial, the run is complete.
    """

    scope: Scope
    partial: bool
    reasons: list[str]


def completeness(
    plan: Plan, recorder: Recorder, candidate: str, journal: Journal, records: Sequence[Record], chosen_stop: bool
) -> Completeness:
    """Compare scope, selection and ``records``; ``chosen_stop`` tells that ``-x`` or ``--maxfail`` ended it."""
    measured = {Item(candidate, plan.suite.by_id[r.case], r.trial).id for r in records}
    collected = [id_ for id_ in recorder.collected if plan.by_id[id_].candidate == candidate]
    missing = sorted(set(collected) - measured)
    expected = len(plan.scope) * plan.options.trials
    wanted = journal.load.candidate_hash if journal.load else None
    scope = Scope(
        splits=[split for split in SPLITS if any(case.split == split for case in plan.scope)],
        families=list(dict.fromkeys(case.family for case in plan.scope)),
        variants=list(dict.fromkeys(case.variant for case in plan.scope)),
        trials=plan.options.trials,
        expected=expected,
        collected=len(collected),
        measured=len(measured & set(collected)),
        missing=missing[:10],
        retried=sum(record.attempt > 1 for record in records),
        set_aside=sum(record.candidate_hash not in (wanted, None) for record in journal.records),
        # What was asked before the run was resumed may have been asked in another order.
        interleaved=plan.options.interleave and plan.options.resume is None,
    )
    reasons = []
    if missing and not chosen_stop:
        named = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        reasons.append(f"{len(missing)} of {len(collected)} selected items have no record ({named})")
    if len(recorder.hashes[candidate]) > 1:
        reasons.append(f"the processes of this run built {len(recorder.hashes[candidate])} different candidates")
    # Each process pins the first model behind an alias: only here is seen that two of them were answered by two.
    models = {record.model for record in records if record.model is not None and record.scored}
    if len(models) > 1:
        reasons.append(f"{len(models)} different models say that they answered; ask one version by its name")
    return Completeness(scope, len(collected) < expected or (chosen_stop and bool(missing)), reasons)


def in_plan_order(plan: Plan, candidate: str, records: Sequence[Record]) -> list[Record]:
    """The records of the plan's items in the plan's order, so that a report does not depend on arrival."""
    found = {(record.case, record.trial): record for record in records}
    keys = [(item.case.id, item.trial) for item in plan.items if item.candidate == candidate]
    return [found[key] for key in keys if key in found]
