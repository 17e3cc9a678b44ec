"""Kept replies read again: what the wire format and the rules of now make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from decibench.bench_tests.answers import costs_of, score_answer
from decibench.bench_tests.guard import failure_from, try_call
from decibench.bench_tests.raw import KeptReply
from decibench.candidates.adapter import Answer, Identity
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.refusals import NO_JSON, refusal_of
from decibench.candidates.remote.wire import Wire, answer_in
from decibench.cases.distribution import Tolerances
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import read_json
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.journal import JOURNAL, Journal, Load
from decibench.reports.record import Decision, Failure, Record, failed_decisions, failure_of


@dataclass(slots=True)
class Reader:
    """Reads replies of one candidate; ``answering`` is the model behind an alias, as its first answer stated it."""

    wire: Wire
    identity: Identity
    tolerances: Tolerances
    answering: str | None = None

    def read(self, record: Record, case: Case, replies: Sequence[KeptReply]) -> Record:
        """``record`` with the decisions that its ``replies`` give now; as it is where they tell nothing of them."""
        last = replies[-1]
        if last.status != 200:
            refusal = refusal_of(last.status, _json_of(last))
            return _failed(record, case, failure_of(refusal.code, refusal.detail, fatal=refusal.fatal))
        contents = [content for reply in replies if (content := _json_of(reply)) is not None]
        if len(contents) < len(replies):
            refused = all(decision.failure is not None for decision in record.decisions)
            return record if refused else _failed(record, case, failure_of(NO_JSON.code, NO_JSON.detail))
        request = request_of(case)
        bodies, _ = try_call(self.wire.bodies, request)
        if bodies is None or len(bodies) != len(contents):
            return record  # The reply to one of its bodies never came.
        answer, error = try_call(answer_in, self.wire, request, contents)
        decisions = None
        if answer is not None:
            decisions, error = try_call(self._score, case, answer)
        if decisions is None:
            assert error is not None
            return _failed(record, case, failure_from(error, "exception"))
        return record.model_copy(update={"decisions": decisions, "model": costs_of(answer).model})

    def _score(self, case: Case, answer: Answer) -> list[Decision]:
        decisions = score_answer(case, answer, self.identity, self.tolerances, answering=self.answering)
        self.answering = self.answering or answer.model
        return decisions


def _json_of(reply: KeptReply) -> Any:
    """The JSON value of a reply; None where it is no strict JSON."""
    try:
        return read_json(reply.text.encode())
    except ValueError:
        return None


def _failed(record: Record, case: Case, failure: Failure) -> Record:
    return record.model_copy(update={"decisions": failed_decisions(case, failure)})


def readers_of(journal: Journal, tolerances: Tolerances, folder: Path) -> dict[str, Reader]:
    """Readers by candidate hash, of what was asked over HTTP; the settings that were recorded hold no key."""
    readers = {}
    for load in journal.loads:
        entry = REGISTRY.get(load.adapter or "")
        if entry is None or not entry.remote:
            continue
        try:
            settings = entry.settings_model.model_validate(load.settings)
        except ValidationError as error:
            message = f"the settings of {load.adapter} that it names are no longer valid; run it again"
            raise SuiteError([Problem(str(folder / JOURNAL), message)]) from error
        readers[load.candidate_hash] = Reader(entry.wire(settings), _identity(load), tolerances)
    return readers


def _identity(load: Load) -> Identity:
    return Identity(**{field.name: load.identity[field.name] for field in fields(Identity)})
