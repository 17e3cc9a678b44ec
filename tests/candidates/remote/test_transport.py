"""Everything that a server can do instead of answering, and the code that the decision then fails with."""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pytest

from decibench.candidates.adapter import RawReply
from decibench.candidates.remote.allowance import Allowance
from decibench.cases.request import request_of

Serve: TypeAlias = Callable[..., Any]
Ask: TypeAlias = Callable[..., Any]
Reply: TypeAlias = Callable[..., bytes]
MakeAnswer: TypeAlias = Callable[..., dict[str, Any]]
Do: TypeAlias = Callable[[socket.socket, Any, Any], bytes | None]

SECRET = "text-of-the-reply"


def drip(before: bytes, every: bytes) -> Do:
    """Send ``before``, then ``every`` again and again until the other side has gone."""

    def do(connection: socket.socket, server: Any, seen: Any) -> None:
        connection.sendall(before)
        while not server.stopped.wait(0.02):
            connection.sendall(every)

    return do


def send(content: bytes) -> Do:
    """Send ``content`` and close."""
    return lambda connection, server, seen: connection.sendall(content)


def wait(connection: socket.socket, server: Any, seen: Any) -> None:
    """Say nothing."""
    server.stopped.wait(20)


def close(connection: socket.socket, server: Any, seen: Any) -> None:
    """Close without a word."""


def chunked(body: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A reply in chunks of 64 KiB."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    pieces = [body[start : start + 65536] for start in range(0, len(body), 65536)]
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
HUGE = b" " * (3 * 1024 * 1024)
DETAILS = [{"loc": ["body", "state"], "msg": SECRET, "type": "missing", "input": SECRET}]

CONNECTIONS: dict[str, tuple[Do | bytes, str]] = {
    "silent": (wait, "timeout"),
    "slow head": (drip(b"HTTP/1.1 200 OK\r\nx-slow: ", b"a"), "timeout"),
    "slow headers": (drip(b"HTTP/1.1 200 OK\r\n", b"x-slow: 1\r\n"), "timeout"),
    "always informed": (drip(b"", b"HTTP/1.1 102 Processing\r\n\r\n"), "timeout"),
    "slow body": (drip(HEAD + b"content-length: 1000\r\n\r\n", b" "), "timeout"),
    "slow chunks": (drip(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"), "timeout"),
    "closed": (close, "connection-lost"),
    "cut head": (send(b"HTTP/1.1 200 OK\r\ncontent-"), "connection-lost"),
    "cut body": (send(HEAD + b'content-length: 1000\r\n\r\n{"model":'), "connection-lost"),
    "cut chunks": (send(chunked(b'{"model":', end=b"")), "connection-lost"),
    "no HTTP": (send(b"220 mail.example.com ESMTP\r\n"), "connection-lost"),
    "huge": (send(HEAD + b"content-length: %d\r\n\r\n" % len(HUGE) + HUGE), "reply-too-large"),
    "huge in chunks": (send(chunked(HUGE)), "reply-too-large"),
    "endless": (drip(HEAD + b"\r\n", HUGE), "reply-too-large"),
    "cut JSON": (HEAD + b'content-length: 9\r\n\r\n{"model":', "invalid-json"),
}

REFUSALS: dict[str, tuple[int, Any, dict[str, str], str, bool]] = {
    "301": (301, "", {"location": "/elsewhere"}, "redirected", False),
    "307": (307, "", {"location": "/elsewhere"}, "redirected", False),
    "400": (400, {"detail": {"error_type": "api_usage_error", "message": SECRET}}, {}, "bad-request", False),
    "400, too long": (400, {"detail": {"error_type": "max_tokens_exceeded"}}, {}, "does-not-fit", False),
    "400, spent": (400, {"error": {"type": "billing_error", "message": SECRET}}, {}, "spend-limit", True),
    "401": (401, {"detail": {"error_type": "authentication_error", "message": SECRET}}, {}, "unauthorized", True),
    "402": (402, {"error": {"code": 402, "message": SECRET}}, {}, "payment-required", True),
    "403": (403, {"detail": {"error_type": "authentication_error", "message": SECRET}}, {}, "forbidden", True),
    "404": (404, {"detail": "Not Found"}, {}, "not-found", False),
    "408": (408, "", {}, "server-timeout", False),
    "413": (413, {"error": SECRET}, {}, "request-too-large", False),
    "422, details": (422, {"detail": DETAILS}, {}, "invalid-request", False),
    "422, one object": (422, {"detail": DETAILS[0]}, {}, "invalid-request", False),
    "422, an error": (
        422,
        {"detail": {"error_type": "api_usage_error", "message": SECRET}},
        {},
        "invalid-request",
        False,
    ),
    "422, a string": (422, {"detail": SECRET}, {}, "invalid-request", False),
    "429": (429, {"detail": SECRET}, {}, "rate-limited", False),
    "429, wait": (429, {"detail": SECRET}, {"retry_after": "7"}, "rate-limited", False),
    "429, date": (429, {"detail": SECRET}, {"retry_after": "Wed, 21 Oct 2065 07:28:00 GMT"}, "rate-limited", False),
    "429, spent": (
        429,
        {"type": "error", "error": {"details": {"error_code": "enforced_spend_limit_reached"}, "message": SECRET}},
        {},
        "spend-limit",
        True,
    ),
    "429, no quota": (429, {"error": {"code": "insufficient_quota", "message": SECRET}}, {}, "spend-limit", True),
    "500": (500, SECRET, {}, "server-error", False),
    "500, too long": (500, {"error": {"code": "context_length_exceeded"}}, {}, "server-error", False),
    "500, as HTML": (500, f"<p>{SECRET}</p>", {"content_type": "text/html"}, "server-error", False),
    "503": (503, {"detail": SECRET}, {}, "server-error", False),
    "529": (529, {"type": "error", "error": {"type": "overloaded_error"}}, {}, "overloaded", False),
    "204": (204, "", {"content_length": ""}, "unexpected-status", False),
    "401, no JSON": (401, SECRET, {"content_type": "text/plain"}, "unauthorized", True),
    "401, huge": (401, HUGE, {}, "unauthorized", True),
    "401, nested": (401, "[" * 100_000, {}, "unauthorized", True),
}


def text(answer: dict[str, Any], old: str, new: str) -> str:
    """The answer as JSON, with a text in it replaced."""
    whole = json.dumps(answer)
    assert old in whole
    return whole.replace(old, new, 1)


BODIES: dict[str, tuple[Callable[[MakeAnswer], Any], dict[str, str], str | None]] = {
    "right": (lambda a: a(), {}, None),
    "as text/plain": (lambda a: a(), {"content_type": "text/plain"}, None),
    "without a content type": (lambda a: a(), {"content_type": ""}, None),
    "as problem JSON": (lambda a: a(), {"content_type": "application/x+json; charset=utf-8"}, None),
    "with a mark of its byte order": (lambda a: "\ufeff" + json.dumps(a()), {}, None),
    "a page": (lambda a: f"<p>{SECRET}</p>", {"content_type": "text/html"}, "wrong-content-type"),
    "a text": (lambda a: SECRET, {"content_type": "text/plain"}, "wrong-content-type"),
    "a text of no type": (lambda a: SECRET, {"content_type": ""}, "invalid-json"),
    "nothing": (lambda a: "", {}, "invalid-json"),
    "nested": (lambda a: "[" * 100_000, {}, "invalid-json"),
    "no UTF-8": (lambda a: json.dumps(a()).encode("utf-16"), {}, "invalid-json"),
    "compressed": (lambda a: gzip.compress(json.dumps(a()).encode()), {"content_encoding": "gzip"}, "compressed"),
    "no object": (lambda a: [SECRET], {}, "invalid-reply"),
    "another model": (lambda a: a() | {"model": SECRET}, {}, "wrong-model"),
    "no answers": (lambda a: {"model": "own-1", "usage": {}}, {}, "missing-answers"),
    "missing question": (lambda a: a() | {"answers": {}}, {}, "missing-answer"),
    "extra question": (lambda a: a() | {"answers": a()["answers"] | {SECRET: {}}}, {}, "unasked-question"),
    "unknown option": (lambda a: a(choice=SECRET), {}, "unknown-choice"),
    "option too many": (
        lambda a: a(probabilities={"left": 0.5, "middle": 0.25, "right": 0.25, SECRET: 0.0}),
        {},
        "extra-option",
    ),
    "sum of .97": (lambda a: a(probabilities={"left": 0.33, "middle": 0.33, "right": 0.31}), {}, "sum"),
    "all zeros": (lambda a: a(probabilities=dict.fromkeys(("left", "middle", "right"), 0.0)), {}, "sum"),
    "NaN": (lambda a: text(a(), "0.25", "NaN"), {}, "invalid-json"),
    "infinite": (lambda a: text(a(), "0.25", "1e999"), {}, "not-finite"),
    "a key twice": (lambda a: text(a(), '"left": 0.5', '"left": 0.5, "left": 0.5'), {}, "invalid-json"),
}


@pytest.mark.parametrize(("step", "code"), CONNECTIONS.values(), ids=CONNECTIONS)
def test_a_connection_that_fails(serve: Serve, ask: Ask, step: Do | bytes, code: str) -> None:
    start = time.monotonic()
    asked = ask(serve(step), deadline_s=0.5 if code == "timeout" else 20)
    assert asked.code == code
    assert not asked.decision.failure.fatal
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(("status", "body", "headers", "code", "fatal"), REFUSALS.values(), ids=REFUSALS)
def test_a_request_that_is_refused(
    serve: Serve, ask: Ask, reply: Reply, status: int, body: Any, headers: dict[str, str], code: str, fatal: bool
) -> None:
    server = serve(reply(body, status, **headers))
    asked = ask(server)
    assert (asked.code, asked.decision.failure.fatal) == (code, fatal)
    assert str(status) in asked.decision.failure.detail or code == "spend-limit"
    assert SECRET not in asked.decision.failure.detail
    assert [seen.path for seen in server.seen] == ["/v1/systemone"]


@pytest.mark.parametrize("status", [400, 403, 429])
@pytest.mark.parametrize(
    "word", ["enforced_spend_limit_reached", "insufficient_quota", "billing_hard_limit_reached", "billing_error"]
)
def test_every_word_for_money_that_is_spent_ends_the_run(
    serve: Serve, ask: Ask, reply: Reply, word: str, status: int
) -> None:
    for said in ({"error": {"type": word}}, {"error": {"code": word}}, {"detail": {"error_type": word}}):
        failure = ask(serve(reply(said, status))).decision.failure
        assert (failure.code, failure.fatal) == ("spend-limit", True)


@pytest.mark.parametrize(
    "said",
    [
        {"detail": {"error_type": "max_tokens_exceeded"}},
        {"error": {"code": "context_length_exceeded"}},
        {"error": {"type": "exceed_context_size_error"}},
        {"error": {"message": "Prompt is too long: 9 tokens"}},
        {"error": {"message": "This model's maximum context length is 8 tokens."}},
    ],
)
def test_every_word_for_a_request_that_does_not_fit_is_known(serve: Serve, ask: Ask, reply: Reply, said: Any) -> None:
    for status in (400, 413, 422):
        failure = ask(serve(reply(said, status))).decision.failure
        assert (failure.code, failure.fatal) == ("does-not-fit", False)


@pytest.mark.parametrize(("more", "code"), [(0, None), (1, "reply-too-large")])
def test_a_reply_may_have_two_megabytes_and_no_byte_more(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer, more: int, code: str | None
) -> None:
    body = json.dumps(answer()).encode().ljust(2 * 1024 * 1024 + more)
    for content in (reply(body), chunked(body)):
        assert ask(serve(content)).code == code


@pytest.mark.parametrize(("make", "headers", "code"), BODIES.values(), ids=BODIES)
def test_a_body_that_is_read(
    serve: Serve,
    ask: Ask,
    reply: Reply,
    answer: MakeAnswer,
    make: Callable[[MakeAnswer], Any],
    headers: dict[str, str],
    code: str | None,
) -> None:
    asked = ask(serve(reply(make(answer), **headers)))
    assert asked.code == code
    assert asked.decision.choice == (None if code else "left")
    assert SECRET not in str(asked.decision)


def test_a_declared_rounding_decides_how_far_a_sum_may_be_off(
    serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer
) -> None:
    rounded = reply(answer(probabilities={"left": 0.33, "middle": 0.33, "right": 0.33}))
    further = reply(answer(probabilities={"left": 0.33, "middle": 0.33, "right": 0.31}))
    assert ask(serve(rounded)).code == "sum"
    assert ask(serve(rounded), decimals=2).code is None
    assert ask(serve(further), decimals=2).code == "sum"


def test_the_target_of_a_redirection_is_never_asked(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    target = serve(reply(answer()))
    for status in (301, 302, 303, 307, 308):
        assert ask(serve(reply("", status, location=f"{target.url}/v1/systemone"))).code == "redirected"
    assert target.connections == 0


def test_a_server_that_is_not_there(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert ask(f"http://127.0.0.1:{port}").code == "connection-failed"
    assert ask("http://nowhere.invalid").code == "connection-failed"


def test_a_server_that_does_not_read_what_it_is_sent(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        asked = ask(f"http://127.0.0.1:{deaf.getsockname()[1]}", deadline_s=0.5, state="x" * 20_000_000)
    assert asked.code == "timeout"


def test_a_server_that_reads_slowly(ask: Ask) -> None:
    # Every wait for room to write is short, and all of them together are not.
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as threads:

        def read() -> int:
            connection, _ = listening.accept()
            with connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                got = 0
                while part := connection.recv(65536):
                    got += len(part)
                    time.sleep(0.005)
                return got

        got = threads.submit(read)
        asked = ask(f"http://127.0.0.1:{listening.getsockname()[1]}", deadline_s=0.5, state="x" * 30_000_000)
    assert asked.code == "timeout"
    assert got.result() < 30_000_000


def test_what_leaves_the_machine(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    server = serve(reply(answer(), set_cookie="session=1"))
    ask(server, state="Schnee fällt")
    [seen] = server.seen
    assert seen.content == {
        "state": "Schnee fällt",
        "model": "own-1",
        "questions": {
            "way": {
                "type": "choice",
                "instructions": "Which way?",
                "criteria": {"left": None, "middle": None, "right": None},
            }
        },
    }
    assert set(seen.headers) == {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
    }
    assert seen.headers["accept-encoding"] == "identity"


def test_connections_are_kept_and_cookies_are_not(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer
) -> None:
    server = serve(reply(answer(), set_cookie="session=1"))
    candidate = make_candidate(server)
    for _ in range(3):
        candidate.decide(request_of(case("Which way?")))
    assert (server.connections, len(server.seen)) == (1, 3)
    assert not any("cookie" in seen.headers for seen in server.seen)


def test_a_kept_connection_that_the_server_closed_is_opened_anew(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer
) -> None:
    server = serve(send(reply(answer())))
    candidate = make_candidate(server)
    for _ in range(3):
        assert candidate.decide(request_of(case("Which way?"))).model == "own-1"
        time.sleep(0.05)
    assert server.connections == 3


def test_threads_get_the_answers_to_their_own_requests(
    serve: Serve, make_candidate: Any, case: Any, reply: Reply, answer: MakeAnswer
) -> None:
    def echo(connection: socket.socket, server: Any, seen: Any) -> bytes:
        share = int(seen.content["state"]) / 1000
        return reply(answer(probabilities={"left": share, "middle": 1 - share, "right": 0.0}))

    server = serve(echo)
    candidate = make_candidate(server)

    def ask(number: int) -> float:
        told: float = candidate.decide(request_of(case(str(number)))).questions["way"].probabilities["left"]
        return told

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(ask, range(400))) == [number / 1000 for number in range(400)]
    assert server.connections <= 16


def test_the_reply_that_counts_is_kept_on_request(serve: Serve, ask: Ask, reply: Reply, answer: MakeAnswer) -> None:
    refused, right = reply({"detail": "later"}, 503, retry_after="0"), reply(answer(), x_secret=SECRET)
    keep = Allowance(retries=1, keep_raw=True)
    assert ask(serve(refused, right), allowance=Allowance(retries=1)).traffic.raw == []
    assert ask(serve(refused, right), allowance=keep).traffic.raw == [RawReply(200, json.dumps(answer()))]
    assert ask(serve(reply("no", 401)), allowance=keep).traffic.raw == [RawReply(401, "no")]
    assert ask(serve(reply("NaN")), allowance=keep).traffic.raw == [RawReply(200, "NaN")]
    assert ask(serve(close), allowance=keep).traffic.raw == []
