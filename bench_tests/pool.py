"""The pool of candidates: each built once per session (per worker), timed, warmed up and asked."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from decibench.bench_tests.answers import Costs, costs_of, score_answer
from decibench.bench_tests.guard import failure_from, try_call
from decibench.bench_tests.identity import Snapshot, take_snapshot
from decibench.bench_tests.plan import Item, Plan, journal_path
from decibench.candidates.adapter import Candidate, CandidateError
from decibench.candidates.config import CandidateSpec
from decibench.candidates.remote.allowance import Allowance
from decibench.cases.request import Request, request_hash, request_of
from decibench.cases.schema import Case, Choice
from decibench.reports.journal import is_started, read_journal
from decibench.reports.record import Decision, EarlierAttempt, Failure, Record, failed_decisions, record_of

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

_IDENTITY_CHANGED: Final = Failure(
    code="identity-changed",
    detail="the candidate's identity is no longer the one it had when it was built; set it once, before that",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an item came to.

    ``error`` is what the candidate raised, for the developer's eyes only. ``resumed`` records were measured
    earlier. ``load`` tells of a candidate that was built for this item. ``raw`` are the replies that are kept.
    Of an ``unasked`` item nothing was sent, because the run may not: its record is of nothing that happened.
    """

    record: Record
    error: BaseException | None = None
    resumed: bool = False
    load: Mapping[str, Any] | None = None
    raw: Sequence[Mapping[str, int | str]] = field(default=(), repr=False)
    unasked: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request brought, and the seconds it took; ``error`` is what was raised instead of an answer."""

    answer: object
    error: BaseException | None
    seconds: float


@dataclass(slots=True)
class _Loaded:
    """A candidate that was built, or the failure to build it.

    ``answering`` is the model behind an alias, as the first answer stated it.
    """

    candidate: Candidate | None = None
    snapshot: Snapshot | None = None
    failure: Failure | None = None
    error: BaseException | None = None
    report: Mapping[str, Any] | None = None
    answering: str | None = None

    @property
    def candidate_hash(self) -> str | None:
        """The hash of what was built; None where nothing was."""
        return self.snapshot.candidate_hash if self.snapshot else None


@dataclass
class Pool:
    """Candidates by name, built when first asked, in one of ``workers`` processes."""

    plan: Plan
    worker: str
    workers: int
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

    def load(self, name: str) -> Snapshot | Failure:
        """Build and warm up a candidate, unless it is there: who it is, or why it could not be built."""
        loaded = self._get(name)
        if loaded.snapshot is not None:
            return loaded.snapshot
        assert loaded.failure is not None
        return loaded.failure

    def ask(self, name: str, request: Request) -> Reply:
        """Time one request to a candidate that ``load`` built, apart from the items of the run."""
        candidate = self._get(name).candidate
        assert candidate is not None
        return _timed(candidate, request)

    def decisions_of(self, name: str, case: Case, reply: Reply) -> list[Decision]:
        """The decisions of ``reply`` as an answer to ``case``, scored or failed."""
        return self._read(case, reply, self._get(name))[0]

    def failure_of(self, name: str, case: Case, reply: Reply) -> Failure | None:
        """Why ``reply`` could not be scored as an answer to ``case``; None where it could."""
        failures = (decision.failure for decision in self.decisions_of(name, case, reply))
        return next((failure for failure in failures if failure is not None), None)

    def close(self) -> list[str]:
        """Close every candidate that was built; a sentence for each that raises."""
        failures = []
        for name, loaded in self._loaded.items():
            if loaded.candidate is not None:
                _, error = try_call(loaded.candidate.close)
                if error is not None:
                    failures.append(f"{name} could not be closed: {failure_from(error, 'exception').detail}")
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
        return replace(self._ask(item, key[1], loaded, replaced), load=report)

    def _ask(self, item: Item, digest: str, loaded: _Loaded, replaced: Record | None) -> Outcome:
        case, latency, took, error = item.case, None, Costs(), loaded.error
        if loaded.candidate is None:
            assert loaded.failure is not None
            decisions = failed_decisions(case, loaded.failure)
        else:
            reply = _timed(loaded.candidate, request_of(case))
            took = try_call(costs_of, reply.answer if reply.error is None else reply.error)[0] or Costs()
            latency = took.latency_of(reply.seconds)
            decisions, error = self._read(case, reply, loaded)
        record = record_of(
            case,
            self.plan.suite.role(case),
            trial=item.trial,
            attempt=replaced.attempt + 1 if replaced else 1,
            earlier=[*(_attempts_of(replaced) if replaced else ()), *took.earlier],
            waited_s=took.waited_s,
            request_hash=digest,
            candidate_hash=loaded.candidate_hash,
            model=took.model,
            latency_s=latency,
            usage=took.usage,
            decisions=decisions,
        )
        unasked = isinstance(error, CandidateError) and getattr(error, "unasked", False) is True
        return Outcome(record, error, raw=took.raw if self.plan.options.network.keep_raw else (), unasked=unasked)

    def _read(self, case: Case, reply: Reply, loaded: _Loaded) -> tuple[list[Decision], BaseException | None]:
        """The decisions of ``reply``, and what asking or reading it raised."""
        decisions, error = None, reply.error
        if error is None:  # A lazy answer raises only where it is read.
            decisions, error = try_call(self._score, case, reply.answer, loaded)
        failure = _IDENTITY_CHANGED if error is None else failure_from(error, "exception")
        return decisions or failed_decisions(case, failure), error

    def _score(self, case: Case, answer: object, loaded: _Loaded) -> list[Decision] | None:
        """The decisions of ``answer``; None where another answered than was built."""
        assert loaded.candidate is not None
        assert loaded.snapshot is not None
        if not loaded.snapshot.holds(loaded.candidate):
            return None
        identity = loaded.snapshot.identity
        decisions = score_answer(case, answer, identity, self.plan.protocol.tolerances, answering=loaded.answering)
        if identity.alias and loaded.answering is None:
            loaded.answering = getattr(answer, "model", None)
        return decisions

    def _get(self, name: str) -> _Loaded:
        if name not in self._loaded:
            self._loaded[name] = self._load(self.plan.spec(name))
        return self._loaded[name]

    def _load(self, spec: CandidateSpec) -> _Loaded:
        built, error = try_call(self._build, spec)
        if built is None:
            assert error is not None
            return _Loaded(failure=failure_from(error, "load-failed"), error=error)
        candidate, snapshot, load_s = built
        seconds = _warm_up(candidate, self.plan.protocol.warm_ups)
        answering = self._answered_before(spec.name, snapshot) if snapshot.identity.alias else None
        report = {
            "adapter": spec.adapter,
            "settings": spec.settings.model_dump(mode="json"),
            **self.plan.options.network.terms(spec.settings),
            "identity": snapshot.content,
            "candidate_hash": snapshot.candidate_hash,
            "worker": self.worker,
            "load_s": load_s,
            "first_probe_s": seconds[0] if seconds else None,
            "warm_ups_s": seconds[1:],
        }
        return _Loaded(candidate, snapshot, report=report, answering=answering)

    def _build(self, spec: CandidateSpec) -> tuple[Candidate, Snapshot, float]:
        start = time.perf_counter()
        candidate = spec.create(self.plan.development, self._allowance)
        candidate.synchronize()
        load_s = time.perf_counter() - start
        return candidate, take_snapshot(candidate, spec.source_sha256), load_s

    @cached_property
    def _allowance(self) -> Allowance:
        """What this process may ask of the network: one budget for all its candidates."""
        return self.plan.options.network.allowance(self.workers)

    def _answered_before(self, name: str, snapshot: Snapshot) -> str | None:
        """The model behind an alias in the run that this one goes on with."""
        mine = (r for r in self._earlier(name).values() if r.candidate_hash == snapshot.candidate_hash)
        return next((record.model for record in mine if record.model is not None and record.scored), None)

    def _earlier(self, candidate: str) -> dict[tuple[str, str, int, str | None], Record]:
        if candidate not in self._finished:
            path = journal_path(self.resume, candidate) if self.resume else None
            self._finished[candidate] = read_journal(path).finished() if path and is_started(path) else {}
        return self._finished[candidate]


def _attempts_of(record: Record) -> list[EarlierAttempt]:
    """All attempts of a failed ``record``, as those of the record that takes its place."""
    code = next((decision.failure.code for decision in record.decisions if decision.failure), "failed")
    last = EarlierAttempt(seconds=record.latency_s, waited_s=record.waited_s, code=code, usage=record.usage)
    return [*record.earlier, last]


def _timed(candidate: Candidate, request: Request) -> Reply:
    """The answer or what was raised, and the seconds between an idle device before and after."""
    start = time.perf_counter()

    def ask() -> object:
        nonlocal start
        candidate.synchronize()
        start = time.perf_counter()
        answer = candidate.decide(request)
        candidate.synchronize()
        return answer

    answer, error = try_call(ask)
    return Reply(answer, error, time.perf_counter() - start)


def _warm_up(candidate: Candidate, number: int) -> list[float]:
    """Seconds of the first probe and of ``number`` warm-ups; a failure ends them and shows in the first items."""
    seconds: list[float] = []
    for _ in range(number + 1 if number else 0):
        reply = _timed(candidate, _WARM_UP)
        if reply.error is not None:
            break
        seconds.append(reply.seconds)
    return seconds
