"""A server on loopback that does what a script says, and candidates that ask it.

``serve``    start a scripted server: one step per request, the last one for all that follow
``ask``      ask a server of the System One protocol as a run does: the decision, with what the request took
``reply``    bytes of a whole HTTP reply
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, TypeAlias

import pytest

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import CandidateError, Traffic, Usage
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.candidate import RemoteCandidate
from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
from decibench.cases.distribution import DEFAULT_TOLERANCES
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.record import Decision, failed_decisions, failure_of

Step: TypeAlias = "bytes | Callable[[socket.socket, Server, Seen], bytes | None]"
"""Bytes to send, or what to do with a connection: its bytes are sent. It is closed where there are none."""


FREE = Allowance()


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; names of headers in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """A scripted server; ``connections`` counts those that were opened."""

    steps: list[Step]
    context: ssl.SSLContext | None = None
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http{'s' if self.context else ''}://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.stopped.set()
        self._listening.shutdown(socket.SHUT_RDWR)  # Else a thread that accepts may go on with a reused descriptor.
        self._listening.close()

    def _accept(self) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as file:
                while (seen := _read(file)) is not None:
                    step = self._next(seen)
                    content = step(connection, self, seen) if callable(step) else step
                    if content is None:
                        return
                    connection.sendall(content)
        except OSError:
            connection.close()

    def _next(self, seen: Seen) -> Step:
        with self._lock:
            self.seen.append(seen)
            return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


def _read(file: BinaryIO) -> Seen | None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = file.readline()
        if not line:
            return None
        head += line
    first, *lines = head.decode("latin-1").splitlines()
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
    return Seen(first.split()[1], headers, file.read(int(headers.get("content-length", 0))))


@dataclass(frozen=True)
class Asked:
    """What came of a request: its decision, and what it took."""

    decision: Decision
    usage: Usage
    traffic: Traffic

    @property
    def code(self) -> str | None:
        """The code of the failure; None where the answer was scored."""
        return None if self.decision.failure is None else self.decision.failure.code


class Serve(Protocol):
    def __call__(self, *steps: Step, context: ssl.SSLContext | None = None) -> Server: ...


class Ask(Protocol):
    def __call__(
        self, server: Server | str, *, allowance: Allowance = FREE, state: str = ..., **settings: Any
    ) -> Asked:
        """Ask once; ``settings`` are those of the candidate."""
        ...


class MakeCandidate(Protocol):
    def __call__(self, server: Server | str, *, allowance: Allowance = FREE, **settings: Any) -> RemoteCandidate: ...


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers; they are stopped at the end."""
    started: list[Server] = []

    def start(*steps: Step, context: ssl.SSLContext | None = None) -> Server:
        started.append(Server(list(steps), context))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def reply() -> Callable[..., bytes]:
    """Make a whole reply: ``reply(body, status=200, retry_after="1")``; a body that is no text is written as JSON."""

    def make(body: Any = "", status: int = 200, **headers: str) -> bytes:
        content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        stated = {"content-type": "application/json", "content-length": str(len(content))}
        stated |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in stated.items() if value)
        return f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode() + content

    return make


@pytest.fixture
def answer() -> Callable[..., dict[str, Any]]:
    """Make the body of a right answer to the question of ``ask``; fields of the answer can be replaced."""

    def make(**fields: Any) -> dict[str, Any]:
        probabilities = {"left": 0.5, "middle": 0.25, "right": 0.25}
        way = {"type": "choice", "choice": "left", "probabilities": probabilities, "confidence": 0.25, **fields}
        return {"model": "own-1", "answers": {"way": way}, "usage": {"input_tokens": 7, "output_tokens": 3}}

    return make


@pytest.fixture
def case(row: Callable[..., dict[str, Any]]) -> Callable[[str], Case]:
    """Make a case with one question, ``way``, of three options."""
    criteria = dict.fromkeys(("left", "middle", "right"))
    question = {"type": "choice", "instructions": "Which way?", "criteria": criteria}

    def make(state: str) -> Case:
        return Case.model_validate(row("way-001", state=state, questions={"way": question}))

    return make


@pytest.fixture
def make_candidate() -> Iterator[MakeCandidate]:
    """Make candidates of the System One protocol, which ask a server for ``own-1``; they are closed at the end."""
    made: list[RemoteCandidate] = []

    def make(server: Server | str, *, allowance: Allowance = FREE, **settings: Any) -> RemoteCandidate:
        endpoint = server if isinstance(server, str) else server.url
        given = {"endpoint": endpoint, "model": "own-1", "expect_model": "own-1", "deadline_s": 20.0, **settings}
        made.append(RemoteCandidate(SystemOne(SystemOneSettings.model_validate(given)), allowance))
        return made[-1]

    yield make
    for candidate in made:
        candidate.close()


@pytest.fixture
def ask(make_candidate: MakeCandidate, case: Callable[[str], Case]) -> Ask:
    """Ask a server once, and score what comes as a run does."""

    def once(server: Server | str, *, allowance: Allowance = FREE, state: str = "Which way?", **settings: Any) -> Asked:
        asked, candidate = case(state), make_candidate(server, allowance=allowance, **settings)
        try:
            answer = candidate.decide(request_of(asked))
        except CandidateError as error:
            [decision] = failed_decisions(asked, failure_of(error.code, error.detail, fatal=error.fatal))
            return Asked(decision, error.usage, error.traffic)
        [decision] = score_answer(asked, answer, candidate.identity, DEFAULT_TOLERANCES)
        return Asked(decision, answer.usage, answer.traffic)

    return once
