"""The key: sent where it belongs, and shown nowhere."""

from __future__ import annotations

import json
import logging
import signal
import socket
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import pytest

from decibench.candidates.adapter import Answer, CandidateError
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.candidate import RemoteCandidate
from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
from decibench.candidates.remote.transport import Key
from decibench.cases.request import Request, request_of

Serve: TypeAlias = Callable[..., Any]
Reply: TypeAlias = Callable[..., bytes]
MakeAnswer: TypeAlias = Callable[..., dict[str, Any]]

CANARY = "sk-canary-7c1f"
KEYED = {"key_env": "OWN_KEY"}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", f" {CANARY}\n")


def shown(caught: pytest.ExceptionInfo[BaseException]) -> str:
    """What ``--showlocals`` shows of all frames but those of the tests."""
    frames = [entry for entry in caught.traceback if "/tests/" not in str(entry.path)]
    assert frames
    return "".join(str(entry.locals) for entry in frames)


def wait(connection: socket.socket, server: Any, seen: Any) -> None:
    """Say nothing."""
    server.stopped.wait(20)


def close(connection: socket.socket, server: Any, seen: Any) -> None:
    """Close without a word."""


def test_the_key_goes_to_the_server(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer
) -> None:
    server = serve(reply(answer()))
    make_candidate(server, **KEYED).decide(request_of(case("Which way?")))
    make_candidate(server).decide(request_of(case("Which way?")))
    with_key, without = server.seen
    assert with_key.headers["authorization"] == f"Bearer {CANARY}"
    assert "authorization" not in without.headers
    assert CANARY.encode() not in with_key.body


def test_a_key_shows_itself_nowhere() -> None:
    shown = Key("x-api-key", "", CANARY)
    assert CANARY not in f"{shown} {shown!r} {[shown]}"


@pytest.mark.parametrize("said", ["401", "wait", "close", "no JSON", "no reply"])
def test_no_frame_and_no_line_of_a_log_holds_the_key(
    serve: Serve,
    make_candidate: Any,
    case: Any,
    reply: Reply,
    answer: MakeAnswer,
    caplog: pytest.LogCaptureFixture,
    said: str,
) -> None:
    # Real servers do quote the key that they refuse.
    quoting = reply({"detail": f"wrong key {CANARY}"}, 401, x_key=CANARY)
    steps = {"401": quoting, "wait": wait, "close": close, "no JSON": reply(CANARY), "no reply": reply([CANARY])}
    candidate = make_candidate(serve(steps[said]), **KEYED, deadline_s=0.5)
    with caplog.at_level(logging.INFO), pytest.raises(CandidateError) as caught:
        candidate.decide(request_of(case("Which way?")))
    assert CANARY not in shown(caught)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert CANARY not in caplog.text


def test_a_candidate_that_cannot_be_built_does_not_show_it(make_candidate: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(CandidateError) as caught:
        make_candidate("https://model.example", **KEYED)
    assert CANARY not in shown(caught)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt; a shell starts what runs in the background with that ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_shows_no_frame_of_the_http_library(serve: Serve, make_candidate: Any, case: Any) -> None:
    def interrupt(connection: socket.socket, server: Any, seen: Any) -> None:
        server.stopped.wait(0.2)
        signal.pthread_kill(main, signal.SIGINT)
        server.stopped.wait(20)

    main = threading.get_ident()
    candidate = make_candidate(serve(interrupt), **KEYED)
    with pytest.raises(KeyboardInterrupt) as caught:
        candidate.decide(request_of(case("Which way?")))
    assert not any(name in str(entry.path) for entry in caught.traceback for name in ("httpx", "httpcore", "h11"))
    assert CANARY not in shown(caught)
    assert caught.value.__suppress_context__


class Stumbling(SystemOne):
    """A wire format that does not expect what it reads."""

    def read(self, request: Request, contents: Sequence[Any]) -> Answer:
        raise KeyError(contents[0]["answers"]["way"]["choice"])


def test_a_reader_that_stumbles_does_not_show_the_reply(
    serve: Serve, case: Any, reply: Reply, answer: MakeAnswer
) -> None:
    server = serve(reply(answer(choice=CANARY)))
    candidate = RemoteCandidate(Stumbling(SystemOneSettings(endpoint=server.url, model="own-1")), Allowance())
    with pytest.raises(CandidateError) as caught:
        candidate.decide(request_of(case("Which way?")))
    assert (caught.value.code, caught.value.usage.input_tokens) == ("invalid-reply", 7)
    assert CANARY not in shown(caught)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("status", [200, 401])
def test_what_is_kept_does_not_hold_it(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer, status: int
) -> None:
    server = serve(reply({"detail": f"key {CANARY}", **answer()}, status, x_request_id=CANARY))
    candidate = make_candidate(server, allowance=Allowance(keep_raw=True), **KEYED)
    try:
        told = candidate.decide(request_of(case("Which way?")))
    except CandidateError as error:
        told = error
    [kept] = told.traffic.raw
    assert kept.status == status
    assert "key ***" in kept.text
    assert CANARY not in kept.text


@pytest.mark.parametrize("word", ["model", "0.5", "answers", '"', "m"])
def test_a_key_that_is_any_word_leaves_replies_as_they_are(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer, monkeypatch: Any, word: str
) -> None:
    monkeypatch.setenv("OWN_KEY", word)
    server = serve(reply(answer()))
    told = make_candidate(server, allowance=Allowance(keep_raw=True), **KEYED).decide(request_of(case("Which way?")))
    assert json.loads(told.traffic.raw[0].text) == answer()
    assert told.model == answer()["model"]
