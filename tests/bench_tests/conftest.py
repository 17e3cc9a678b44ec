"""Fixtures that run the benchmark the way a user does, on tiny suites, in a folder of their own.

``bench``       run the plugin by pytester, in this process (workers of ``-n 2`` are processes of their own)
``bench_argv``  the same command line for ``subprocess``, where a run has to be killed, piped or given a terminal
``mode``        arguments for serial, two workers, and without xdist; ask for it to be run in all three
``own``         write a candidate of one's own: a file with ``create_candidate``
``suite``       the default tiny suite: 12 scenarios, 24 cases; ``make_suite`` makes others
``serve``       start a server on loopback that answers as a function says; ``served`` makes right answers

The working directory of a run is ``pytester.path``, outside the checkout and without a configuration file, so the
checkout's pyproject.toml, its conftest and its folder ``runs/`` take no part.
"""

from __future__ import annotations

import json
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import altair
import jinja2
import numpy.random
import pyarrow.parquet
import pytest
import rich.table
import scipy.stats
import vl_convert

# pytester forgets the modules that a run inside this process imported, and numpy cannot be imported twice.
import decibench.bench_tests.finish
import decibench.reports.terminal

_KEPT = (
    decibench.bench_tests.finish,
    decibench.reports.terminal,
    altair,
    jinja2,
    numpy.random,
    pyarrow.parquet,
    rich.table,
    scipy.stats,
    vl_convert,
)

_TESTS = "decibench.bench_tests"

_OWN = """\
import json
import math
import os
from pathlib import Path
from decibench.candidates.adapter import Answer, CandidateError, Identity, LocalCandidate, QuestionAnswer, Usage


def even(question):
    return QuestionAnswer(dict.fromkeys(question.options, 1 / len(question.options)))


def sure(question, option):
    return QuestionAnswer({{name: float(name == option) for name in question.options}})


class Own(LocalCandidate):
    identity = Identity(model="own-1", device="{device}")

    def decide(self, request):
        if "warm-up" in request.questions:
            return Answer({{key: even(question) for key, question in request.questions.items()}})
{decide}


def create_candidate(device):
{create}
"""


@dataclass(frozen=True)
class Run:
    """One run: what pytest printed and returned, and the folder it wrote to."""

    result: pytest.RunResult
    folder: Path

    @property
    def code(self) -> int:
        """The exit status."""
        return int(self.result.ret)

    @property
    def output(self) -> str:
        """Everything printed, standard output before standard error."""
        return f"{self.result.stdout.str()}\n{self.result.stderr.str()}"

    def json(self, *parts: str) -> Any:
        """A JSON file below the run's folder, as ``run.json("baseline", "gate.json")``."""
        return json.loads(self.folder.joinpath(*parts).read_text("utf-8"))

    def report(self, candidate: str = "baseline") -> dict[str, Any]:
        """The report of a candidate."""
        report: dict[str, Any] = self.json(candidate, "report.json")
        return report

    def journal(self, candidate: str = "baseline") -> list[dict[str, Any]]:
        """The lines of a candidate's journal; ``kind`` is run, load or record."""
        text = (self.folder / candidate / "journal.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def records(self, candidate: str = "baseline") -> list[dict[str, Any]]:
        """The records of a candidate's journal in order of arrival."""
        return [line for line in self.journal(candidate) if line["kind"] == "record"]


class Bench(Protocol):
    """Run the benchmark on ``suite``.

    Without ``--run-dir`` or ``--resume`` it writes to ``run-1``, ``run-2``, ... A node id among the arguments
    (``decibench.bench_tests.test_decisions::...``) replaces the whole of the tests.
    """

    def __call__(self, suite: Path | str, *arguments: str | Path) -> Run:
        """Run with further ``arguments`` and return what came of it."""
        ...


@dataclass(frozen=True)
class Asked:
    """A request as a server got it; names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON value of its body."""
        return json.loads(self.content)


Said: TypeAlias = tuple[int, Mapping[str, str], str]
"""What a server says: a status, headers, and a body."""


@dataclass
class Served:
    """A server on loopback and the requests that it got, in order of arrival."""

    url: str
    asked: list[Asked] = field(default_factory=list)


class Serve(Protocol):
    """Start a server that answers each request as ``answer`` says."""

    def __call__(self, answer: Callable[[Asked], Said]) -> Served:
        """Start it; it ends with the test."""
        ...


class Own(Protocol):
    """Write ``name`` with a candidate whose ``decide`` has the given body, and return its path.

    The body sees ``request`` and the names imported in the template above; ``even(question)`` and
    ``sure(question, option)`` make answers. Warm-ups are answered before the body is reached. ``create`` is the
    body of ``create_candidate(device)``.
    """

    def __call__(self, decide: str, *, name: str = "own.py", create: str = "return Own()", device: str = "cpu") -> Path:
        """Write the file."""
        ...


@pytest.fixture(
    params=[
        pytest.param([], id="serial"),
        pytest.param(["-n", "2"], id="n2"),
        pytest.param(["-p", "no:xdist"], id="no-xdist"),
    ]
)
def mode(request: pytest.FixtureRequest) -> list[str]:
    """Arguments of one of the three ways to run; a test that asks for it runs in all of them."""
    arguments: list[str] = request.param
    return arguments


@pytest.fixture
def suite(make_suite: Callable[..., Path]) -> Path:
    """Twelve scenarios in two variants, four scenarios per split; ``uniform`` is right in half of them."""
    return make_suite()


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Run the benchmark in this process."""
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_TESTRUNUID", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    number = 0

    def run(suite: Path | str, *arguments: str | Path) -> Run:
        nonlocal number
        number += 1
        given = _command(suite, arguments)
        where, folder = _destination(given, pytester.path, f"run-{number}")
        # Else pytest takes the common parent of --suite and the working directory, and its cache is shared there.
        return Run(pytester.runpytest_inprocess("--rootdir", pytester.path, *given, *where), folder)

    return run


@pytest.fixture
def bench_argv() -> Callable[..., list[str]]:
    """Make the command line of a run for ``subprocess``: ``bench_argv(suite, *arguments)``."""

    def argv(suite: Path | str, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "pytest", *_command(suite, arguments)]

    return argv


@pytest.fixture
def served() -> Callable[[Asked], Said]:
    """Answer a System One request as ``served-1``: sure of the first option of every question."""

    def answer(asked: Asked) -> Said:
        answers = {}
        for key, question in asked.body["questions"].items():
            options = list(question["criteria"])
            probabilities = {option: float(option == options[0]) for option in options}
            answers[key] = {"type": "choice", "choice": options[0], "probabilities": probabilities, "confidence": 1.0}
        usage = {"input_tokens": 7, "output_tokens": 1}
        return 200, {}, json.dumps({"model": "served-1", "answers": answers, "usage": usage})

    return answer


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers; they are closed after the test."""
    running: list[ThreadingHTTPServer] = []

    def start(answer: Callable[[Asked], Said]) -> Served:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, content)
                seen.asked.append(asked)
                status, headers, body = answer(asked)
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed: it would mix with what a run prints."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        seen = Served(f"http://127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return seen

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def own(pytester: pytest.Pytester) -> Own:
    """Write a candidate of one's own into the working directory."""

    def write(decide: str, *, name: str = "own.py", create: str = "return Own()", device: str = "cpu") -> Path:
        path = pytester.path / name
        body = textwrap.indent(textwrap.dedent(decide).strip("\n"), " " * 8)
        made = textwrap.indent(textwrap.dedent(create).strip("\n"), " " * 4)
        path.write_text(_OWN.format(decide=body, create=made, device=device), "utf-8")
        return path

    return write


def _command(suite: Path | str, arguments: Sequence[str | Path]) -> list[str]:
    given = [str(argument) for argument in arguments]
    named = any(argument.startswith(f"{_TESTS}.") for argument in given)
    return ["-p", f"{_TESTS}.plugin", "--pyargs", *([] if named else [_TESTS]), "--suite", str(suite), *given]


def _destination(arguments: list[str], home: Path, default: str) -> tuple[list[str], Path]:
    for option in ("--run-dir", "--resume"):
        for index, argument in enumerate(arguments):
            if argument == option:
                return [], home / arguments[index + 1]
            if argument.startswith(f"{option}="):
                return [], home / argument.partition("=")[2]
    return ["--run-dir", default], home / default
