"""Requests that are asked again: which, how often, after what wait, and what is told of every attempt."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest

from decibench.candidates.adapter import CandidateError, Usage
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.budget import Budget
from decibench.candidates.remote.candidate import RemoteCandidate
from decibench.candidates.remote.llm.final import FinalLine
from decibench.candidates.remote.llm.settings import FinalSettings
from decibench.candidates.remote.pace import wait_before
from decibench.candidates.remote.prices import read_prices
from decibench.cases.request import Request, request_of

Serve: TypeAlias = Callable[..., Any]
Ask: TypeAlias = Callable[..., Any]
Reply: TypeAlias = Callable[..., bytes]
MakeAnswer: TypeAlias = Callable[..., dict[str, Any]]

AT_ONCE = {"retry_after": "0"}


def close(connection: socket.socket, server: Any, seen: Any) -> None:
    """Close without a word."""


def wait(connection: socket.socket, server: Any, seen: Any) -> None:
    """Say nothing."""
    server.stopped.wait(20)


def test_nothing_is_repeated_unless_asked_for(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    server = serve(reply("", 503, **AT_ONCE), reply(answer()))
    assert ask(server).code == "server-error"
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_repeated(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, status: int
) -> None:
    server = serve(reply("", status, **AT_ONCE), reply("", status, **AT_ONCE), reply(answer()))
    asked = ask(server, allowance=Allowance(retries=2))
    assert asked.code is None
    assert len(asked.traffic.earlier) == 2
    assert len({seen.body for seen in server.seen}) == 1
    assert len(server.seen) == 3


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 409, 413, 422])
def test_a_status_that_stays_is_asked_once(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, status: int
) -> None:
    server = serve(reply("", status, **AT_ONCE), reply(answer()))
    asked = ask(server, allowance=Allowance(retries=5))
    assert asked.code is not None
    assert (len(server.seen), asked.traffic.earlier) == (1, [])


def test_an_exhausted_limit_is_asked_once(serve: Serve, ask: Ask, reply: Reply) -> None:
    server = serve(reply({"error": {"code": "insufficient_quota"}}, 429, **AT_ONCE))
    assert ask(server, allowance=Allowance(retries=5)).decision.failure.fatal
    assert len(server.seen) == 1


def test_a_server_that_fails_is_repeated_whatever_it_says(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer
) -> None:
    server = serve(reply({"error": {"code": "context_length_exceeded"}}, 500, **AT_ONCE), reply(answer()))
    asked = ask(server, allowance=Allowance(retries=1))
    assert asked.code is None
    assert [attempt.code for attempt in asked.traffic.earlier] == ["server-error"]


def test_a_reply_that_is_no_answer_is_asked_once(serve: Serve, ask: Ask, reply: Reply) -> None:
    server = serve(reply("NaN"))
    assert ask(server, allowance=Allowance(retries=5)).code == "invalid-json"
    assert len(server.seen) == 1


def test_every_attempt_is_told(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    server = serve(reply("", 529, retry_after_ms="150", retry_after="9"), wait, reply(answer()))
    asked = ask(server, allowance=Allowance(retries=2, deadline_s=0.5))
    first, second = asked.traffic.earlier
    assert (first.code, first.waited_s) == ("overloaded", 0.0)
    assert (second.code, second.waited_s) == ("timeout", 0.15)
    assert 0 < first.seconds < 0.5 <= second.seconds
    assert 0.375 <= asked.traffic.waited_s <= 0.5 * 2
    assert asked.usage.input_tokens == 7
    assert first.usage.input_tokens is None


def test_attempts_that_all_failed_are_told_too(serve: Serve, ask: Ask, reply: Reply) -> None:
    server = serve(reply("", 500, **AT_ONCE), reply("", 503, **AT_ONCE), reply("", 429, **AT_ONCE))
    asked = ask(server, allowance=Allowance(retries=2))
    assert asked.code == "rate-limited"
    assert [attempt.code for attempt in asked.traffic.earlier] == ["server-error", "server-error"]
    assert asked.usage.input_tokens is None


def test_what_was_tried_before_the_money_ran_out_is_told(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, tmp_path: Path
) -> None:
    price = '[[price]]\napi = "systemone"\nmodel = "own-1"\ninput = 1000.0\noutput = 0.0\n'
    (tmp_path / "prices.toml").write_text(f'{price}date = 2026-01-01\nsource = "an example"\n')
    # A failed attempt may have cost what its request could cost at most, which leaves too little for another.
    allowance = Allowance(retries=1, budget=Budget(2.0), prices=read_prices(tmp_path / "prices.toml"))
    server = serve(reply("", 500, **AT_ONCE), reply(answer()))
    asked = ask(server, allowance=allowance)
    assert (asked.code, asked.decision.failure.fatal) == ("budget-spent", True)
    assert [attempt.code for attempt in asked.traffic.earlier] == ["server-error"]
    assert asked.usage == Usage(0, 0, 0)
    assert len(server.seen) == 1


def _said(tokens: int) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "FINAL: left"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": tokens, "completion_tokens": 2, "total_tokens": tokens + 2}
    return {"id": "1", "object": "chat.completion", "model": "own-1", "choices": [choice], "usage": usage}


@pytest.fixture
def two_questions(case: Any) -> Request:
    """Two questions, which ``llm-final`` asks one after the other."""
    request = request_of(case("Which way?"))
    return Request(request.state, {"first": request.questions["way"], "second": request.questions["way"]})


def _final(server: Any, **rules: Any) -> RemoteCandidate:
    given = {"endpoint": server.url, "model": "own-1", "provider": "openai", "max_tokens": 9}
    return RemoteCandidate(FinalLine(FinalSettings.model_validate(given)), Allowance(retries=1, **rules))


def test_the_traffic_of_all_bodies_of_a_request_is_told(serve: Serve, reply: Reply, two_questions: Request) -> None:
    busy = reply("", 429, retry_after_ms="50")
    candidate = _final(serve(busy, reply(_said(7)), busy, reply(_said(8))), keep_raw=True)
    answer = candidate.decide(two_questions)
    assert [attempt.code for attempt in answer.traffic.earlier] == ["rate-limited"] * 2
    assert answer.traffic.waited_s == 0.1
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (15, 4)
    assert [kept.status for kept in answer.traffic.raw] == [200, 200]
    assert len(answer.questions) == 2


def test_a_request_that_is_answered_in_part_has_failed(serve: Serve, reply: Reply, two_questions: Request) -> None:
    server = serve(reply("", 500, **AT_ONCE), reply(_said(7)), reply("", 429, **AT_ONCE), reply("", 503, **AT_ONCE))
    with pytest.raises(CandidateError) as caught:
        _final(server).decide(two_questions)
    assert caught.value.code == "server-error"
    assert [attempt.code for attempt in caught.value.traffic.earlier] == ["server-error", "rate-limited"]
    # What the last body took is not known: 7 tokens would be too few.
    assert caught.value.usage.input_tokens is None


def test_a_broken_connection_is_repeated(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    asked = ask(serve(close, reply(answer())), allowance=Allowance(retries=1))
    assert asked.code is None
    assert [attempt.code for attempt in asked.traffic.earlier] == ["connection-lost"]


def test_the_wait_that_a_server_asks_for_is_kept(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    start = time.monotonic()
    asked = ask(serve(reply("", 429, retry_after="1"), reply(answer())), allowance=Allowance(retries=1))
    assert time.monotonic() - start >= 1.0
    assert asked.traffic.waited_s == 1.0


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let nobody wait: the seconds that would have been waited."""
    waits: list[float] = []

    class Clock(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            return self.is_set()

    monkeypatch.setattr("decibench.candidates.remote.transport.threading", SimpleNamespace(Event=Clock))
    return waits


def test_who_waits_to_be_repeated_stops_where_the_run_ends(serve: Serve, make_candidate: Any, case: Any) -> None:
    server = serve(b"HTTP/1.1 429 Too Many\r\nRetry-After: 50\r\nContent-Length: 0\r\n\r\n")
    candidate = make_candidate(server, allowance=Allowance(retries=1))
    threading.Timer(0.3, candidate.close).start()
    start = time.monotonic()
    with pytest.raises(CandidateError, match="interrupted: the run ended"):
        candidate.decide(request_of(case("Which way?")))
    assert time.monotonic() - start < 20
    assert len(server.seen) == 1


def test_a_wait_of_a_minute_is_kept_and_a_longer_one_is_not(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, waits: list[float]
) -> None:
    assert ask(serve(reply("", 429, retry_after="60"), reply(answer())), allowance=Allowance(retries=1)).code is None
    assert waits == [60]
    server = serve(reply("", 429, retry_after="61"))
    asked = ask(server, allowance=Allowance(retries=5))
    assert asked.code == "rate-limited"
    assert "61 s" in asked.decision.failure.detail
    assert len(server.seen) == 1
    assert waits == [60]


def test_the_date_that_a_server_asks_for_is_kept(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, waits: list[float]
) -> None:
    server = serve(reply("", 429, retry_after=_date(50)), reply(answer()))
    asked = ask(server, allowance=Allowance(retries=1))
    assert asked.code is None
    assert waits == [asked.traffic.waited_s]
    assert 20 < asked.traffic.waited_s <= 50


def _date(seconds: float, *, usegmt: bool = True) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=usegmt)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": " 1.5 "}, 1.5, 1.5),
        ({"retry-after": "-3"}, 0, 0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9, 9),
        ({"retry-after": "inf"}, float("inf"), float("inf")),
        ({"retry-after": "nan"}, 0.375, 0.5),
        ({"retry-after": "soon"}, 0.375, 0.5),
        ({"retry-after": "Sun, 99 Nov 9999999 08:49:37 GMT"}, 0.375, 0.5),
        ({}, 0.375, 0.5),
    ],
)
def test_the_wait_before_the_first_repetition(headers: dict[str, str], least: float, most: float) -> None:
    assert least <= wait_before(1, headers) <= most


def test_a_date_is_waited_for_until_it_has_come() -> None:
    without_zone = _date(3600, usegmt=False).replace("+0000", "-0000")
    for date in (_date(3600), without_zone):
        assert 3000 <= wait_before(1, {"retry-after": date}) <= 3600
    assert wait_before(1, {"retry-after": _date(-60)}) == 0


def test_the_wait_doubles_up_to_eight_seconds() -> None:
    for repetition, most in enumerate((0.5, 1, 2, 4, 8, 8, 8), start=1):
        waits = [wait_before(repetition, {}) for _ in range(50)]
        assert 0.75 * most <= min(waits) < max(waits) <= most


def test_requests_keep_their_distance_also_between_threads(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer
) -> None:
    moments: list[float] = []

    def note(connection: socket.socket, server: Any, seen: Any) -> bytes:
        moments.append(time.monotonic())
        return reply("", 429, **AT_ONCE) if len(moments) == 1 else reply(answer())

    candidate = make_candidate(serve(note), allowance=Allowance(retries=1, requests_per_minute=600))
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: candidate.decide(request_of(case("Which way?"))), range(4)))
    # Five requests, 0.1 s apart: how late one arrives depends on the machine, how early does not.
    assert len(moments) == 5
    assert moments[-1] - moments[0] > 0.3
    assert sum(answer.traffic.held_s for answer in answers) > 0.3
