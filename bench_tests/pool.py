"""The pool of candidates: each built once per session (per worker), timed, warmed up and asked."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from decibench.bench_tests.answers import score_answer, usage_of
from decibench.bench_tests.plan import Item, Plan, journal_path
from decibench.candidates.adapter import Candidate, CandidateError
from decibench.candidates.config import CandidateSpec
from decibench.cases.jsonio import sha256_of
from decibench.cases.request import Request, request_hash, request_of
from decibench.cases.schema import Choice
from decibench.reports.journal import is_started, read_journal
from decibench.reports.record import Decision, Failure, Record, TokenUsage, check_exact, failed_decisions

_WARM_UP: Final = Request(
    "The museum's reading room opens at nine on weekdays and stays closed at weekends.",
    {
        "warm-up": Choice(
            type="choice",
            instructions="Is the reading room open on a Sunday?",
            criteria={"open": "Visitors can come in.", "closed": "Visitors have to wait."},
        )
    },
)

_RAISED: Final = (Exception, SystemExit)
"""What a candidate may raise without ending the run: a library that exits is one more way to fail."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an item came to.

    ``error`` is what the candidate raised, for the developer's eyes only. ``resumed`` records were measured
    earlier. ``load`` tells of a candidate that was built for this item.
    """

    record: Record
    error: BaseException | None = None
    resumed: bool = False
    load: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Loaded:
    """A candidate that was built, or the failure to build it."""

    candidate: Candidate | None = None
    candidate_hash: str | None = None
    failure: Failure | None = None
    error: BaseException | None = None
    report: Mapping[str, Any] | None = None


@dataclass
class Pool:
    """Candidates by name, built when first asked."""

    plan: Plan
    worker: str
    resume: Path | None
    _outcome: Outcome | None = None
    _loaded: dict[str, _Loaded] = field(default_factory=dict)
    _finished: dict[str, dict[tuple[str, str, int, str | None], Record]] = field(default_factory=dict)

    @property
    def on_miss(self) -> Literal["record", "fail"]:
        """What a wrong answer does to its item."""
        return self.plan.options.on_miss

    def measure(self, item: Item) -> Outcome:
        """Ask ``item`` of its candidate, unless a resumed run has its record already."""
        self._outcome = self._measure(item)
        return self._outcome

    def take_outcome(self) -> Outcome | None:
        """What ``measure`` returned last, once: for the report of the item that called it."""
        outcome, self._outcome = self._outcome, None
        return outcome

    def close(self) -> list[str]:
        """Close every candidate that was built; a sentence for each that raises."""
        failures = []
        for name, loaded in self._loaded.items():
            if loaded.candidate is not None:
                try:
                    loaded.candidate.close()
                except _RAISED as error:
                    failures.append(f"{name} could not be closed: {_failure(error, 'exception').detail}")
        return failures

    def _measure(self, item: Item) -> Outcome:
        loaded = self._get(item.candidate)
        report, loaded.report = loaded.report, None
        key = (item.case.id, request_hash(item.case), item.trial, loaded.candidate_hash)
        finished = self._earlier(item.candidate)
        earlier = finished.get(key)
        if earlier is not None and not (earlier.failed and self.plan.options.retry_failed):
            return Outcome(earlier, resumed=True, load=report)
        # A process that died before it said who it is left a failure without a hash: asking again is a retry.
        replaced = earlier or finished.get((*key[:3], None))
        record, error = self._ask(item, key[1], loaded, replaced.attempt + 1 if replaced else 1)
        return Outcome(record, error, load=report)

    def _ask(self, item: Item, digest: str, loaded: _Loaded, attempt: int) -> tuple[Record, BaseException | None]:
        case, candidate = item.case, loaded.candidate
        failure, error = loaded.failure, loaded.error
        answer: object = None
        latency: float | None = None
        decisions: list[Decision] = []
        usage = TokenUsage()
        if candidate is not None:
            answer, failure, error, latency = _timed(candidate, request_of(case))
        if candidate is not None and failure is None:
            try:
                decisions = score_answer(case, answer, candidate.identity, self.plan.protocol.tolerances)
                usage = usage_of(answer)
            except Exception as caught:  # A lazy answer raises only where it is read.
                failure, error = _failure(caught, "exception"), caught
        if failure is not None:
            decisions = failed_decisions(case, failure)
        record = Record(
            case=case.id,
            group=case.group,
            family=case.family,
            variant=case.variant,
            role=self.plan.suite.role(case),
            split=case.split,
            tags=case.tags,
            trial=item.trial,
            attempt=attempt,
            request_hash=digest,
            candidate_hash=loaded.candidate_hash,
            latency_s=latency,
            usage=usage,
            decisions=decisions,
        )
        return record, error

    def _get(self, name: str) -> _Loaded:
        if name not in self._loaded:
            spec = next(spec for spec in self.plan.specs if spec.name == name)
            self._loaded[name] = self._load(spec)
        return self._loaded[name]

    def _load(self, spec: CandidateSpec) -> _Loaded:
        start = time.perf_counter()
        try:
            candidate = spec.create(self.plan.development)
            candidate.synchronize()
            load_s = time.perf_counter() - start
            identity = candidate.identity.to_json() | {"source_sha256": spec.source_sha256}
            check_exact(identity, "identity")
            digest = sha256_of(identity)
        except _RAISED as error:
            return _Loaded(failure=_failure(error, "load-failed"), error=error)
        seconds = _warm_up(candidate, self.plan.protocol.warm_ups)
        report = {
            "identity": identity,
            "candidate_hash": digest,
            "worker": self.worker,
            "load_s": load_s,
            "first_probe_s": seconds[0] if seconds else None,
            "warm_ups_s": seconds[1:],
        }
        return _Loaded(candidate, digest, report=report)

    def _earlier(self, candidate: str) -> dict[tuple[str, str, int, str | None], Record]:
        if candidate not in self._finished:
            path = journal_path(self.resume, candidate) if self.resume else None
            self._finished[candidate] = read_journal(path).finished() if path and is_started(path) else {}
        return self._finished[candidate]


def _timed(candidate: Candidate, request: Request) -> tuple[object, Failure | None, BaseException | None, float]:
    """The answer or the failure, and the seconds between an idle device before and after."""
    answer: object = None
    failure: Failure | None = None
    error: BaseException | None = None
    start = time.perf_counter()
    try:
        candidate.synchronize()
        start = time.perf_counter()
        answer = candidate.decide(request)
        candidate.synchronize()
    except _RAISED as caught:
        failure, error = _failure(caught, "exception"), caught
    return answer, failure, error, time.perf_counter() - start


def _warm_up(candidate: Candidate, number: int) -> list[float]:
    """Seconds of the first probe and of ``number`` warm-ups; a failure ends them and shows in the first items."""
    seconds: list[float] = []
    for _ in range(number + 1 if number else 0):
        _, failure, _, took = _timed(candidate, _WARM_UP)
        if failure is not None:
            break
        seconds.append(took)
    return seconds


def _failure(error: BaseException, code: str) -> Failure:
    """A failure that names the kind of error and its place; the message stays out, it may quote a state or a key."""
    if isinstance(error, CandidateError):
        return Failure(code=_plain(error.code), detail=_plain(error.detail), fatal=bool(error.fatal))
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}"
    return Failure(code=code, detail=_plain(f"{type(error).__name__} raised in {place}"))


def _plain(value: object) -> str:
    """``value`` as text that a file can hold: a lone surrogate, as file names bring along, is escaped."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
