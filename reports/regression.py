"""Decision by decision against a blessed report on the same cases: what got worse, better, or moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import Field

from decibench.cases.schema import SPLITS, Model, Role, Split
from decibench.reports.comparisons.comparability import identity_notes
from decibench.reports.metrics.total_variation import total_variation
from decibench.reports.record import Decision, Record
from decibench.reports.report import Report

REGRESSION: Final = "regression.json"

SHIFT: Final = 0.02
"""Most total variation, a probability, by which a distribution may move without having shifted."""

LISTED: Final = 200
"""Most changes of a kind that are listed one by one; their counts are always whole."""

_ROUNDING: Final = 1e-9
_OPTIONS_SHOWN: Final = 4

ChangeKind: TypeAlias = Literal[
    "newly_wrong", "newly_failed", "shifted", "changed_while_wrong", "newly_answered", "newly_right"
]
"""From worst to best. Newly wrong was right, newly failed was valid, newly answered failed and is wrong now."""


class Answered(Model):
    """One side of a change: the choice and whether it is unsafe, or the code of the failure.

    ``probabilities`` are those of at most four options, by id: those chosen and expected, then the highest.
    """

    choice: str | None
    unsafe: bool
    failure: str | None
    probabilities: dict[str, float]


class Change(Model):
    """A decision that changed; ``shift`` is the total variation (0 to 1), null where a side states no probabilities."""

    kind: ChangeKind
    case: str
    question: str
    trial: int
    role: Role
    split: Split
    expected: str
    before: Answered
    now: Answered
    shift: float | None


class ChangeCounts(Model):
    """How many decisions were compared, how many of them ``changed`` at all, and in which way.

    A decision is at most one of ``newly_wrong``, ``newly_failed``, ``newly_right``, ``newly_answered`` and
    ``changed_while_wrong``. ``shifted`` counts each whose distribution moved by more than 0.02 in total variation,
    whichever of the others it is. ``largest_shift`` is null where no decision states probabilities on both sides;
    ``shifted`` too where one of the candidates never does.
    """

    compared: int
    changed: int
    newly_wrong: int
    newly_failed: int
    newly_right: int
    newly_answered: int
    changed_while_wrong: int
    shifted: int | None
    largest_shift: float | None


class LatencyChange(Model):
    """Seconds of a request now over then: median and percentiles over requests that were answered both times."""

    requests: int
    p10: float
    p50: float
    p90: float


class BlessedRef(Model):
    """The report that was compared with."""

    candidate: str
    candidate_hash: str | None
    run: str
    created: str
    seal: str


class Regression(Model):
    """The decisions of a run beside those of a blessed report, matched by case, question and trial.

    Only what was asked alike, by its request hash, is compared. ``passed`` is false where a decision is newly wrong,
    newly failed or shifted, true where none is, and null where that could not be checked, of which ``reason`` tells;
    latency takes no part. ``choices_only`` says whose missing probabilities leave choices alone to be compared; null
    where distributions are. ``changes`` are listed worst first, at most 200 of a kind; none with ``--aggregate-only``.
    """

    schema_: Annotated[Literal["decibench.regression/1"], Field(alias="schema")] = "decibench.regression/1"
    candidate: str
    candidate_hash: str | None
    run: str
    blessed: BlessedRef
    identity_notes: list[str]
    passed: bool | None
    reason: str | None
    choices_only: str | None
    overall: ChangeCounts
    by_split: dict[Split, ChangeCounts]
    asked_differently: int
    not_asked_then: int
    not_asked_now: int
    latency_change: LatencyChange | None
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A decision then and now, in its record of now; ``shift`` is None where a side states no probabilities."""

    record: Record
    before: Decision
    now: Decision
    shift: float | None

    @property
    def kind(self) -> ChangeKind | None:
        before, now = self.before, self.now
        if now.failure is not None:
            return "newly_failed" if before.failure is None else None
        was_right, is_right = before.choice == before.expected, now.choice == now.expected
        if was_right != is_right:
            return "newly_right" if is_right else "newly_wrong"
        if before.failure is not None:
            return "newly_answered"
        if before.choice != now.choice:
            return "changed_while_wrong"
        return "shifted" if self.shifted else None

    @property
    def shifted(self) -> bool:
        return self.shift is not None and self.shift > SHIFT + _ROUNDING


@dataclass(frozen=True, slots=True)
class _Matched:
    """Records then and now that were asked alike, and how many decisions have no such counterpart."""

    alike: Sequence[tuple[Record, Record]]
    asked_differently: int
    not_asked_then: int
    not_asked_now: int


def regression_of(report: Report, blessed: Report) -> Regression:
    """Compare the decisions of ``report`` with those of ``blessed``, which is complete and on the same suite.

    Trials beyond those of ``blessed`` count as not asked then.
    """
    matched = _matched(report.records, blessed.records)
    pairs = _pairs(matched.alike)
    choices_only = _choices_only(report, blessed)
    overall = _counts(pairs, shifts=choices_only is None)
    by_split = {
        split: _counts([pair for pair in pairs if pair.record.split == split], shifts=choices_only is None)
        for split in SPLITS
    }
    reason = _unchecked(report, overall)
    return Regression(
        candidate=report.candidate.name,
        candidate_hash=report.candidate.hash,
        run=report.run,
        blessed=_ref(blessed),
        identity_notes=_identity_notes(report, blessed),
        passed=None if reason else not (overall.newly_wrong or overall.newly_failed or overall.shifted),
        reason=reason,
        choices_only=choices_only,
        overall=overall,
        by_split={split: counts for split, counts in by_split.items() if counts.compared},
        asked_differently=matched.asked_differently,
        not_asked_then=matched.not_asked_then,
        not_asked_now=matched.not_asked_now,
        latency_change=_latency_change(matched.alike),
        changes=list(_changes(pairs)),
    )


def _ref(blessed: Report) -> BlessedRef:
    return BlessedRef(
        candidate=blessed.candidate.name,
        candidate_hash=blessed.candidate.hash,
        run=blessed.run,
        created=blessed.created,
        seal=blessed.seal,
    )


def _matched(now: Iterable[Record], then: Iterable[Record]) -> _Matched:
    earlier = {(record.case, record.trial): record for record in then}
    alike = []
    differently = not_then = 0
    for record in now:
        before = earlier.pop((record.case, record.trial), None)
        if before is None:
            not_then += len(record.decisions)
        elif before.request_hash != record.request_hash:
            differently += len(record.decisions)
        else:
            alike.append((before, record))
    return _Matched(alike, differently, not_then, sum(len(record.decisions) for record in earlier.values()))


def _unchecked(report: Report, overall: ChangeCounts) -> str | None:
    if report.partial:
        return "the run is partial: only a part of its scope was selected"
    if not report.complete:
        return f"the run is incomplete: {'; '.join(report.incomplete_reasons)}"
    return None if overall.compared else "no decision of the run was asked alike in the blessed report"


def _choices_only(report: Report, blessed: Report) -> str | None:
    now, then = report.candidate.states_probabilities, blessed.candidate.states_probabilities
    if now and then:
        return None
    who = "the candidate" if not now and not then else "the blessed candidate" if now else "the candidate of this run"
    return f"{who} states no probabilities"


def _identity_notes(report: Report, blessed: Report) -> list[str]:
    """How the identities differ, whatever the two candidates are called."""
    named = blessed.candidate.model_copy(update={"name": report.candidate.name})
    return identity_notes([blessed.model_copy(update={"candidate": named}), report])


def _pairs(alike: Iterable[tuple[Record, Record]]) -> list[_Pair]:
    found = [
        (now, before, after) for then, now in alike for before, after in zip(then.decisions, now.decisions, strict=True)
    ]
    shifts = _shifts([(before, after) for _, before, after in found])
    return [_Pair(*sides, shift) for sides, shift in zip(found, shifts, strict=True)]


def _shifts(sides: Sequence[tuple[Decision, Decision]]) -> list[float | None]:
    import numpy as np

    both = [(b.probabilities, n.probabilities) for b, n in sides if b.probabilities and n.probabilities]
    first = np.array([before[option] for before, _ in both for option in before])
    second = np.array([now[option] for before, now in both for option in before])
    sizes = np.array([len(before) for before, _ in both], dtype=np.int64)
    distances = iter(total_variation(first, second, np.cumsum(sizes) - sizes).tolist())
    return [next(distances) if before.probabilities and now.probabilities else None for before, now in sides]


def _counts(pairs: Sequence[_Pair], *, shifts: bool) -> ChangeCounts:
    kinds = Counter(pair.kind for pair in pairs)
    return ChangeCounts(
        compared=len(pairs),
        changed=len(pairs) - kinds[None],
        newly_wrong=kinds["newly_wrong"],
        newly_failed=kinds["newly_failed"],
        newly_right=kinds["newly_right"],
        newly_answered=kinds["newly_answered"],
        changed_while_wrong=kinds["changed_while_wrong"],
        shifted=sum(pair.shifted for pair in pairs) if shifts else None,
        largest_shift=max((pair.shift for pair in pairs if pair.shift is not None), default=None),
    )


def _changes(pairs: Iterable[_Pair]) -> Iterator[Change]:
    """Kind by kind; within one unsafe choices first, then by what moved most."""
    changed = {kind: [pair for pair in pairs if pair.kind == kind] for kind in get_args(ChangeKind)}
    for kind, those in changed.items():
        those.sort(key=lambda pair: (pair.now.choice not in pair.now.unsafe, -(pair.shift or 0.0)))
        for pair in those[:LISTED]:
            record, now = pair.record, pair.now
            shown = _shown(pair)
            yield Change(
                kind=kind,
                case=record.case,
                question=now.question,
                trial=record.trial,
                role=record.role,
                split=record.split,
                expected=now.expected,
                before=_answered(pair.before, shown),
                now=_answered(now, shown),
                shift=pair.shift,
            )


def _shown(pair: _Pair) -> list[str]:
    sides = [side for side in (pair.before.probabilities, pair.now.probabilities) if side]
    named = (pair.before.choice, pair.now.choice, pair.now.expected)
    highest = {option: max((side[option] for side in sides), default=0.0) for option in pair.now.options}
    return sorted(highest, key=lambda option: (option not in named, -highest[option]))[:_OPTIONS_SHOWN]


def _answered(decision: Decision, shown: Sequence[str]) -> Answered:
    return Answered(
        choice=decision.choice,
        unsafe=decision.choice in decision.unsafe,
        failure=decision.failure.code if decision.failure else None,
        probabilities={option: decision.probabilities[option] for option in shown} if decision.probabilities else {},
    )


def _latency_change(alike: Iterable[tuple[Record, Record]]) -> LatencyChange | None:
    """Failed requests stay out: one that is refused at once is not faster."""
    import numpy as np

    ratios = [
        now.latency_s / then.latency_s
        for then, now in alike
        if now.latency_s is not None and then.latency_s and not (then.failed or now.failed)
    ]
    if not ratios:
        return None
    p10, p50, p90 = np.percentile(ratios, [10, 50, 90]).tolist()
    return LatencyChange(requests=len(ratios), p10=p10, p50=p50, p90=p90)
