"""TypeSafe's own Python client: it sends the same bodies, and takes the replies that are taken here."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from typesafe_sdk import Choice, Noul, RetryPolicy, Score, TypeSafeClient, TypeSafeError

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import CandidateError, QuestionAnswer
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.candidate import RemoteCandidate
from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
from decibench.cases.loading import find_suite, load_suite
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.protocol import DEFAULT_PROTOCOL

QUESTIONS: dict[str, Any] = {
    "who?": {"type": "choice", "instructions": "Wer?", "criteria": {"Vertrieb": None, "Rückruf": 'Anrufen — "bald".'}},
    "bare": {"type": "noul", "instructions": "It is late."},
    "one side": {"type": "noul", "instructions": "It is far.", "criteria": {"false": "Less than a mile."}},
    "both": {"type": "noul", "instructions": "It is far.", "criteria": {"true": "A mile.", "false": "Less."}},
    "steep": {"type": "score", "instructions": "How steep?", "criteria": ["Flat.", "Hilly.", "Sheer."]},
}
STATES = ['Zwei Wörter, \u2028 and "quotes" \\ 🦜', {"z": 1, "a": [None, True, 1.5, {"k": "v"}]}, ["b", "a"], ""]
ANSWERS: dict[str, Any] = {
    "who?": {
        "type": "choice",
        "choice": "Vertrieb",
        "probabilities": {"Vertrieb": 0.75, "Rückruf": 0.25},
        "confidence": 0.5,
    },
    "bare": {"type": "noul", "noul": 1},
    "one side": {"type": "noul", "noul": 0.25},
    "both": {"type": "noul", "noul": 0.0},
    "steep": {
        "type": "score",
        "score": 0.5,
        "legend": {"0": "Flat.", "1": "Hilly.", "2": "Sheer."},
        "probabilities": {"0": 0.5, "1": 0.5, "2": 0.0},
        "confidence": 0.25,
    },
}
REPLY: dict[str, Any] = {"model": "jev-1.13.0", "answers": ANSWERS, "usage": {"input_tokens": 9, "output_tokens": 1}}


@dataclass
class Recording:
    """A server that keeps the requests that it gets and always sends the same reply."""

    url: str = ""
    reply: Any = None
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


@pytest.fixture
def recording() -> Iterator[Recording]:
    kept = Recording(reply=REPLY)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: Any) -> None:
            pass

        def do_POST(self) -> None:
            kept.paths.append(self.path)
            kept.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(kept.reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield kept
    server.shutdown()
    server.server_close()


@pytest.fixture
def ours(recording: Recording) -> Iterator[RemoteCandidate]:
    settings = SystemOneSettings(endpoint=recording.url, model="jev-latest")
    candidate = RemoteCandidate(SystemOne(settings), Allowance())
    yield candidate
    candidate.close()


@pytest.fixture
def theirs(recording: Recording) -> Iterator[TypeSafeClient]:
    retry, url = RetryPolicy(max_retries=0), recording.url
    with TypeSafeClient(api_key="sk-test", base_url=url, model="jev-latest", retry=retry, compression=False) as client:
        yield client


def typed(questions: dict[str, Any]) -> dict[str, Any]:
    """The questions as the official client has them."""
    kinds = {"choice": Choice, "noul": Noul, "score": Score}
    return {
        key: kinds[question["type"]](**{name: value for name, value in question.items() if name != "type"})
        for key, question in questions.items()
    }


def case(state: Any) -> Case:
    references = {
        key: {"expected": {"choice": "Vertrieb", "noul": "true", "score": "0"}[question["type"]]}
        for key, question in QUESTIONS.items()
    }
    fields = {"id": "d-one-original", "group": "d-one", "family": "d", "variant": "original", "split": "development"}
    return Case.model_validate({**fields, "state": state, "questions": QUESTIONS, "references": references})


@pytest.mark.parametrize("state", STATES, ids=["text", "object", "list", "empty"])
def test_the_body_equals_that_of_the_official_client_to_the_byte(
    recording: Recording, ours: RemoteCandidate, theirs: TypeSafeClient, state: Any
) -> None:
    theirs.system_one(state=state, questions=typed(QUESTIONS))
    ours.decide(request_of(case(state)))
    assert recording.paths == ["/v1/systemone"] * 2
    assert recording.bodies[0] == recording.bodies[1]


def test_so_does_that_of_cases_of_every_family_and_variant_of_the_shipped_suite(
    recording: Recording, ours: RemoteCandidate, theirs: TypeSafeClient
) -> None:
    picked = {(case.family, case.variant): case for case in load_suite(find_suite("decisions-v1")).cases}
    assert len(picked) > 50
    recording.reply = {**REPLY, "answers": {}}
    for one in picked.values():
        asked = request_of(one)
        theirs.system_one(state=asked.state, questions=typed(asked.to_wire()["questions"]))
        ours.decide(asked)
        assert recording.bodies[-1] == recording.bodies[-2], one.id


def test_the_official_client_reads_what_is_read_here(ours: RemoteCandidate, theirs: TypeSafeClient) -> None:
    told = theirs.system_one(state="s", questions=typed(QUESTIONS))
    answer = ours.decide(request_of(case("s")))
    assert answer.model == told.model
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (told.usage.input_tokens, 1)
    bare, who, steep = (answer.questions[key] for key in ("bare", "who?", "steep"))
    assert isinstance(bare, QuestionAnswer)
    assert isinstance(who, QuestionAnswer)
    assert isinstance(steep, QuestionAnswer)
    assert bare.probabilities == {"true": told.nouls["bare"].noul, "false": 0}
    assert (who.choice, who.probabilities) == (told.choices["who?"].choice, told.choices["who?"].probabilities)
    assert steep.score == told.scores["steep"].score


def changes() -> Iterator[dict[str, Any]]:
    """The reply without each of its members in turn, and with null and with a text in its place."""

    def change(value: Any, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        for name in value:
            yield from (put(REPLY, (*path, name), new) for new in (..., None, "text", [1], 1.5))
            if isinstance(value[name], dict):
                yield from change(value[name], (*path, name))

    def put(reply: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
        name, *rest = path
        if rest:
            return {**reply, name: put(reply[name], tuple(rest), new)}
        kept = {key: value for key, value in reply.items() if key != name}
        return kept if new is ... else {**kept, name: new}

    yield from change(REPLY, ())


def test_what_the_official_client_refuses_is_not_scored_here(
    recording: Recording, ours: RemoteCandidate, theirs: TypeSafeClient
) -> None:
    refused, asked = 0, case("s")
    for recording.reply in changes():
        try:
            theirs.system_one(state="s", questions=typed(QUESTIONS))
        except TypeSafeError:
            refused += 1
            assert not all_scored(ours, asked), recording.reply
    assert refused > 100


def all_scored(candidate: RemoteCandidate, asked: Case) -> bool:
    try:
        answer = candidate.decide(request_of(asked))
    except CandidateError:
        return False
    decisions = score_answer(asked, answer, candidate.identity, DEFAULT_PROTOCOL.tolerances)
    return all(decision.failure is None for decision in decisions)
