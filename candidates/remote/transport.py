"""Posting JSON under the rules that hold for every provider: deadline, retries, size, no redirects, strict JSON."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import httpx

from decibench.candidates.adapter import Attempt, CandidateError, RawReply, Traffic, Usage
from decibench.candidates.remote.budget import Spending
from decibench.candidates.remote.connection import Connections, refusal_from, until
from decibench.candidates.remote.pace import Pace, wait_before
from decibench.candidates.remote.refusals import NO_JSON, Refusal, refusal_of
from decibench.cases.jsonio import canonical_json, read_json

MOST_BYTES: Final = 2 * 1024 * 1024
"""Most bytes of a reply; more are not read."""

_SHORTEST_KEY: Final = 8
"""Characters. Local servers take keys such as none or model, which are no secret, and stand in replies as words."""

_NOTHING: Final = Usage(0, 0, 0)
"""What a request took that never reached a server."""

LONGEST_WAIT_S: Final = 60.0
"""A server that asks for a longer wait is not asked again."""


class Key(httpx.Auth):
    """Puts the key, after ``prefix``, on a request when it is sent, and shows it nowhere."""

    def __init__(self, header: str, prefix: str, key: str) -> None:
        self._header = header
        self._prefix = prefix
        self._key = key
        # In JSON any character may be written as an escape, and a slash with a backslash before it.
        repeated = "".join(rf"(?:\\?{re.escape(c)}|(?i:\\u{ord(c):04x}))" for c in key)
        self._repeated = re.compile(repeated) if len(key) >= _SHORTEST_KEY else None

    def __repr__(self) -> str:
        return "Key(***)"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header."""
        request.headers[self._header] = self._prefix + self._key
        yield request

    def redacted(self, text: str) -> str:
        """``text`` without the key, which a server may repeat; a key that could be any word stays."""
        return text if self._repeated is None else self._repeated.sub("***", text)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with status 200: the JSON value of its body, the tokens it states, and what it took."""

    content: Any = field(repr=False)
    usage: Usage
    traffic: Traffic = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Received:
    """What an attempt brought: the JSON value of a reply, or ``refusal``; and what it was read from, if it was read."""

    value: Any = field(default=None, repr=False)
    refusal: Refusal | None = None
    raw: RawReply | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class _Course:
    """What a request took so far: see Traffic."""

    earlier: list[Attempt] = field(default_factory=list)
    waited_s: float = 0.0
    held_s: float = 0.0

    def traffic(self, raw: Sequence[RawReply] = ()) -> Traffic:
        return Traffic(self.earlier, self.waited_s, self.held_s, raw)


class _TooLargeError(Exception):
    """A body of more than MOST_BYTES."""


class Transport:
    """One connection pool to one URL. Safe between threads.

    ``deadline_s`` is the time for a whole attempt at one body: connecting, TLS, sending, and every byte of the reply.
    It can be exceeded by what the operating system takes to look up the host's name, and where the host has several
    addresses by the same time for each that does not answer. ``retries`` repeat a body that may be answered later (408,
    429, 5xx, a deadline, a broken connection): one takes at most (1 + retries) deadlines, and retries times
    LONGEST_WAIT_S of waits.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        key: Key | None,
        deadline_s: float,
        retries: int,
        requests_per_minute: float | None,
        keep_raw: bool,
        spending: Spending,
    ) -> None:
        self._url = url
        self._key = key
        self._deadline_s = deadline_s
        self._retries = retries
        self._keep_raw = keep_raw
        self._pace = Pace(requests_per_minute)
        self._spending = spending
        self._closed = threading.Event()
        self._client = httpx.Client(
            transport=Connections(url),
            auth=key,
            follow_redirects=False,
            # Nothing that a server wants to be told again is told it: every request stands alone.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers=headers,
        )

    def post(self, body: Mapping[str, Any], usage_of: Callable[[Any], Usage]) -> Reply:
        """Post ``body`` until it is answered or no attempt is left; CandidateError says why it was not answered."""
        content = canonical_json(body).encode()
        course = _Course()
        while True:
            reserved = self._reserve(len(content), course)
            course.held_s += self._pace.wait()
            start = time.perf_counter()
            received = self._attempt(content)
            seconds = time.perf_counter() - start
            if received.refusal is None:
                usage = usage_of(received.value)
                self._spending.settle(reserved, usage)
                return Reply(received.value, usage, course.traffic(self._kept(received)))
            usage = _NOTHING if received.refusal.unsent else Usage()
            self._spending.settle(reserved, usage)
            wait = self._wait_after(received, received.refusal, course)
            course.earlier.append(Attempt(seconds, course.waited_s, received.refusal.code, usage))
            course.waited_s = wait
            if self._closed.wait(wait):
                raise CandidateError("interrupted", "the run ended while the request waited", traffic=course.traffic())

    def redacted(self, text: str) -> str:
        """``text``, which a server said, without the key."""
        return text if self._key is None else self._key.redacted(text)

    def close(self) -> None:
        """Close the connections; requests of other threads that wait to be repeated are not."""
        self._closed.set()
        self._client.close()

    def _reserve(self, size: int, course: _Course) -> float:
        try:
            return self._spending.reserve(size)
        except CandidateError as error:
            unasked = error.unasked and not course.earlier
            raise CandidateError(
                error.code,
                error.detail,
                fatal=error.fatal,
                usage=_NOTHING,
                traffic=course.traffic(),
                unasked=unasked,
            ) from None

    def _wait_after(self, received: _Received, refusal: Refusal, course: _Course) -> float:
        """Seconds to wait until the request is repeated; CandidateError where it is not."""
        detail = refusal.detail
        if refusal.again and len(course.earlier) < self._retries:
            wait = wait_before(len(course.earlier) + 1, received.headers)
            if wait <= LONGEST_WAIT_S:
                return wait
            detail += f"; it asks for a wait of {wait:.0f} s, and {LONGEST_WAIT_S:.0f} s are waited at most"
        traffic, usage = course.traffic(self._kept(received)), _NOTHING if refusal.unsent else Usage()
        raise CandidateError(refusal.code, detail, fatal=refusal.fatal, usage=usage, traffic=traffic)

    def _kept(self, received: _Received) -> list[RawReply]:
        """The reply that counts, where replies are kept."""
        if not self._keep_raw or received.raw is None:
            return []
        return [RawReply(received.raw.status, self.redacted(received.raw.text))]

    def _attempt(self, content: bytes) -> _Received:
        try:
            return self._exchange(content)
        except KeyboardInterrupt:
            # Frames of the HTTP library hold the key, which --full-trace --showlocals would print.
            raise KeyboardInterrupt from None
        except _TooLargeError:
            detail = f"the reply is larger than {MOST_BYTES // 1024**2} MB"
            return _Received(refusal=Refusal("reply-too-large", detail))
        except Exception as error:
            return _Received(refusal=refusal_from(error, self._deadline_s))

    def _exchange(self, content: bytes) -> _Received:
        extensions = until(time.monotonic() + self._deadline_s)
        request = self._client.build_request("POST", self._url, content=content, extensions=extensions)
        response = self._client.send(request, stream=True)
        try:
            body = _body_of(response)
        except Exception:
            if response.status_code == 200:
                raise
            body = b""  # The status says what there is to say.
        finally:
            response.close()
        return _read(response.status_code, response.headers, body)


def _body_of(response: httpx.Response) -> bytes:
    received = bytearray()
    for piece in response.iter_raw():
        received += piece
        if len(received) > MOST_BYTES:
            raise _TooLargeError
    return bytes(received)


def _read(status: int, headers: Mapping[str, str], body: bytes) -> _Received:
    """The JSON value of a reply, whatever content type it states, or why there is none."""
    if status == 200 and headers.get("content-encoding", "identity").strip().lower() != "identity":
        return _Received(refusal=Refusal("compressed", "the reply is compressed, which the request did not allow"))
    raw = RawReply(status, body.decode("utf-8", "backslashreplace"))
    value, is_json = None, True
    try:
        value = read_json(body)
    except ValueError:
        is_json = False
    if status != 200:
        return _Received(None, refusal_of(status, value), raw, headers)
    return _Received(value, None if is_json else _no_json(headers), raw)


def _no_json(headers: Mapping[str, str]) -> Refusal:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind or kind == "application/json" or kind.endswith("+json"):
        return NO_JSON
    return Refusal("wrong-content-type", "the server answered something else than JSON; check endpoint and path")
