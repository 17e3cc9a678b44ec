"""Runs of ``systemone`` and ``jev`` against servers on loopback: what a user sees of them."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from jevcompat.mock import MockConfig, Running

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Run

Naming: TypeAlias = Callable[[int, int], str]
"""The model that a server names, from the number of the connection and of the request, both counted from 1."""
Named: TypeAlias = Callable[[Naming], AbstractContextManager[str]]
MakeSuite: TypeAlias = Callable[..., Path]
Row: TypeAlias = Callable[..., dict[str, Any]]

WATCH = """
import sys


def opened(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        with open("sockets.txt", "a") as file:
            file.write(event + "\\\\n")


sys.addaudithook(opened)
"""


@pytest.fixture
def mock() -> Iterator[str]:
    """The URL of a server without a fault; it answers as ``jevcompat-mock-0.1``."""
    with Running(MockConfig()) as server:
        yield server.url


@pytest.fixture
def mixed(make_suite: MakeSuite, row: Row) -> Path:
    """Six scenarios, two per split, with a question of each type in each."""
    questions = {
        "Which way?": {
            "type": "choice",
            "instructions": "Which way?",
            "criteria": {"Links": None, "Rückwärts": "Back."},
        },
        "one-sided": {"type": "noul", "instructions": "It is far.", "criteria": {"true": "More than a mile."}},
        "bare": {"type": "noul", "instructions": "It is late."},
        "steep": {"type": "score", "instructions": "How steep?", "criteria": ["Flat.", "Hilly.", "Sheer."]},
    }
    references = {"Which way?": "Links", "one-sided": "true", "bare": "false", "steep": "1"}
    return make_suite(
        [
            row(
                f"way-{number:03}",
                ("development", "calibration", "holdout")[number % 3],
                state=state,
                questions=questions,
                references={key: {"expected": expected} for key, expected in references.items()},
            )
            for number, state in enumerate(["north", {"km": 3}, ["a", 2], "süd", {"to": {"go": None}}, "west"])
        ]
    )


@pytest.fixture
def named() -> Named:
    """``with named(naming) as url``: a server that answers every question evenly, under the name that is made."""
    return _named


@contextmanager
def _named(naming: Naming) -> Iterator[str]:
    connections: dict[Any, int] = {}
    requests = 0
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body leave together.

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

        def do_POST(self) -> None:
            nonlocal requests
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                requests += 1
                model = naming(connections.setdefault(self.client_address, len(connections) + 1), requests)
            body = json.dumps(_even(asked, model)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _even(asked: dict[str, Any], model: str) -> dict[str, Any]:
    answers = {
        key: {
            "type": "choice",
            "choice": next(iter(question["criteria"])),
            "probabilities": {option: 1 / len(question["criteria"]) for option in question["criteria"]},
            "confidence": 0.0,
        }
        for key, question in asked["questions"].items()
    }
    return {"model": model, "answers": answers, "usage": {"input_tokens": 10, "output_tokens": 1}}


def systemone(url: str, *more: str) -> list[str]:
    return ["--candidate", "systemone", "--endpoint", url, "--model", "jev-latest", *more]


def codes(run: Run, candidate: str) -> list[str | None]:
    """The failure of every decision in order of arrival; None where it was scored."""
    decisions = [decision for record in run.records(candidate) for decision in record["decisions"]]
    return [decision["failure"] and decision["failure"]["code"] for decision in decisions]


def scored_models(run: Run, candidate: str) -> list[str]:
    """The models of the records that were scored, in order of arrival."""
    return [r["model"] for r in run.records(candidate) if all(d["failure"] is None for d in r["decisions"])]


def test_a_server_without_a_fault_answers_all_three_types(
    bench: Bench, mixed: Path, mock: str, mode: list[str]
) -> None:
    run = bench(mixed, *systemone(mock), *mode)
    assert run.code == 0
    assert codes(run, "systemone") == [None] * 24
    assert {record["model"] for record in run.records("systemone")} == {"jevcompat-mock-0.1"}
    assert all(record["usage"]["input_tokens"] > 0 for record in run.records("systemone"))
    report = run.report("systemone")
    assert report["complete"]
    assert report["metrics"]["holdout"]["overall"]["failed"] == 0
    identity = report["candidate"]["identity"]
    assert (identity["model"], identity["alias"], identity["decimals"]) == ("jev-latest", True, None)
    assert identity["settings"]["url"] == f"{mock}/v1/systemone"


def test_a_server_may_be_asked_under_the_path_of_another_protocol(
    bench: Bench, suite: Path, pytester: pytest.Pytester, named: Named
) -> None:
    with named(lambda connection, request: "gateway-1") as url:
        (pytester.path / "decibench.toml").write_text(
            f'[candidates.gateway]\nadapter = "systemone"\nendpoint = "{url}/api/"\npath = "/v1/decisions"\n'
            'model = "any"\nexpect_model = "gateway-1"\n',
            "utf-8",
        )
        run = bench(suite, "--candidate", "gateway")
    assert run.code == 0
    identity = run.report("gateway")["candidate"]["identity"]
    assert identity["settings"]["url"] == f"{url}/api/v1/decisions"
    assert (identity["model"], identity["alias"]) == ("gateway-1", False)


@pytest.mark.parametrize("arguments", [[], ["-p", "no:xdist"]], ids=["serial", "no-xdist"])
def test_another_model_in_the_midst_of_a_run_fails_from_there_on(
    bench: Bench, suite: Path, named: Named, arguments: list[str]
) -> None:
    with named(lambda connection, request: "old-1" if request <= 14 else "new-2") as url:
        run = bench(suite, *systemone(url), *arguments)
    assert run.code == 1
    # Four requests before the items warm the server up.
    assert codes(run, "systemone") == [None] * 10 + ["wrong-model"] * 14
    assert [record["model"] for record in run.records("systemone")] == ["old-1"] * 10 + ["new-2"] * 14
    assert run.report("systemone")["metrics"]["holdout"]["overall"]["failed"] > 0


@pytest.mark.parametrize("model", ["model", "/models/model.gguf"])
def test_processes_that_are_answered_by_two_models_make_no_complete_run(
    bench: Bench, suite: Path, named: Named, model: str
) -> None:
    with named(lambda connection, request: f"{model}-{connection}") as url:
        run = bench(suite, *systemone(url), "-n", "2")
    assert set(scored_models(run, "systemone")) == {f"{model}-1", f"{model}-2"}
    assert run.code == 11
    report = run.report("systemone")
    assert not report["complete"]
    assert report["incomplete_reasons"] == ["2 different models say that they answered; ask one version by its name"]
    assert report["gates"]["empirical"]["status"] == "not-fitted"


@pytest.mark.parametrize("model", ["old-1", "./old.gguf"])
def test_a_resumed_run_goes_on_with_the_model_that_answered_before(
    bench: Bench, suite: Path, named: Named, model: str
) -> None:
    with named(lambda connection, request: model if connection == 1 else "new-2") as url:
        first = bench(suite, *systemone(url), "-k", "way-00", "--run-dir", "run")
        assert set(codes(first, "systemone")) == {None}
        run = bench(suite, *systemone(url), "--resume", "run")
    assert run.code == 1
    assert codes(run, "systemone") == [None] * 20 + ["wrong-model"] * 4


def test_jev_without_a_key_is_refused_before_any_connection_is_opened(
    bench_argv: Callable[..., list[str]], suite: Path, pytester: pytest.Pytester, mock: str
) -> None:
    (pytester.path / "watch.py").write_text(WATCH, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(pytester.path)}
    environment.pop("TYPESAFE_API_KEY", None)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        argv = bench_argv(suite, "-p", "watch", "--rootdir", str(pytester.path), *arguments)
        return subprocess.run(argv, cwd=pytester.path, env=environment, capture_output=True, text=True, check=False)

    refused = run("--candidate", "jev", "--run-dir", "refused")
    assert refused.returncode == 4
    assert "jev cannot be run: the environment variable TYPESAFE_API_KEY is not set" in refused.stderr
    assert not (pytester.path / "sockets.txt").exists()
    assert not (pytester.path / "refused").exists()

    asked = run(*systemone(mock), "-k", "way-000-original")
    assert asked.returncode == 0
    assert "socket.connect" in (pytester.path / "sockets.txt").read_text("utf-8"), "the hook sees no connection"


def test_jev_without_a_key_is_a_row_that_was_not_run_beside_another(
    bench: Bench, suite: Path, mode: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "  ")
    run = bench(suite, "--candidate", "jev", "--candidate", "baseline", *mode)
    assert run.code == 0
    assert "NOT RUN: jev: the environment variable TYPESAFE_API_KEY is not set" in run.output
    assert not (run.folder / "jev").exists()
    assert len(run.records("baseline")) == 24
    comparison = (run.folder / "comparison.md").read_text("utf-8")
    assert "| macro_accuracy | 50.0% | not run |" in comparison
    assert run.json("comparison.json")["not_run"] == ["jev"]
    assert "not run" in (run.folder / "comparison.html").read_text("utf-8")


def test_another_model_than_the_pinned_one_is_never_scored_as_jev(
    bench: Bench, suite: Path, mock: str, monkeypatch: pytest.MonkeyPatch, mode: list[str]
) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "sk-test-canary")
    run = bench(suite, "--candidate", "jev", "--endpoint", mock, *mode)
    assert run.code == 1
    assert codes(run, "jev") == ["wrong-model"] * 24
    assert {record["model"] for record in run.records("jev")} == {"jevcompat-mock-0.1"}
    identity = run.report("jev")["candidate"]["identity"]
    assert (identity["model"], identity["alias"], identity["decimals"]) == ("jev-1.13.0", False, 2)
    assert "sk-test-canary" not in run.output
