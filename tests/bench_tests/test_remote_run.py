"""Whole runs against servers on loopback: busy ones, slow ones, and ones that end the run."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import pytest

# pytester forgets what a run in this process imported: every run would import httpx again.
import decibench.candidates.remote.candidate
import decibench.candidates.remote.systemone

Bench: TypeAlias = Callable[..., Any]
MakeSuite: TypeAlias = Callable[..., Path]
MakeRow: TypeAlias = Callable[..., dict[str, Any]]

_KEPT = (decibench.candidates.remote.candidate, decibench.candidates.remote.systemone)
CASES = [f"demo-way-{number}-original" for number in range(9)]
CANARY = "sk-canary-51d0"
PROBABILITIES = {"left": 0.75, "right": 0.25}


@dataclass
class Provider:
    """A server of the System One protocol, which answers ``left``; warm-ups it always answers.

    ``refusing`` maps a state to the status and body that it is refused with, ``slow`` holds states that it never
    answers. ``asked`` are the states that arrived. After ``good`` answers all that follow are refused as ``*``.
    """

    refusing: dict[str, tuple[int, Any]] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    good: int = 1000
    asked: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def respond(self, body: dict[str, Any]) -> tuple[int, Any]:
        state, key = body["state"], next(iter(body["questions"]))
        if key == "warm-up":
            return 200, _answer(key, {"open": 0.75, "closed": 0.25})
        with self.lock:
            self.asked.append(state)
            refused = self.refusing.get("*") if len(self.asked) > self.good else self.refusing.get(state)
        if state in self.slow:
            self.stopped.wait(20)
        return refused or (200, _answer(key, PROBABILITIES))

    def take_asked(self) -> list[str]:
        """The states that arrived since the last call, in order."""
        asked, self.asked = self.asked, []
        return sorted(asked)


def _answer(key: str, probabilities: dict[str, float]) -> dict[str, Any]:
    choice = max(probabilities, key=lambda option: probabilities[option])
    answer = {"type": "choice", "choice": choice, "probabilities": probabilities, "confidence": 0.5}
    return {"model": "own-1", "answers": {key: answer}, "usage": {"input_tokens": 10, "output_tokens": 1}}


class _Server(ThreadingHTTPServer):
    provider: Provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing of a client that has gone."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        assert isinstance(self.server, _Server)
        body = self.rfile.read(int(self.headers["content-length"]))
        status, content = self.server.provider.respond(json.loads(body))
        told = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def url(provider: Provider) -> Iterator[str]:
    """The address of ``provider``, which serves until the end of the test."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.provider, server.daemon_threads, server.block_on_close = provider, True, False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        provider.stopped.set()
        server.shutdown()


@pytest.fixture
def asking(url: str) -> list[str]:
    """The arguments that ask ``provider``."""
    return _asking(url, "own-1")


def _asking(url: str, model: str) -> list[str]:
    return ["--candidate", "systemone", "--endpoint", url, "--model", model]


@pytest.fixture
def named(make_suite: MakeSuite, row: MakeRow) -> Path:
    """Nine cases, three per split, whose states are their ids."""
    splits = ("development", "calibration", "holdout")
    return make_suite([row(f"way-{n}", splits[n % 3], "original", state=case) for n, case in enumerate(CASES)])


def codes(run: Any) -> dict[str, str]:
    """The codes of failures by case."""
    return {
        record["case"]: decision["failure"]["code"]
        for record in run.records("systemone")
        for decision in record["decisions"]
        if decision["failure"]
    }


def test_a_busy_server_without_retries(bench: Bench, suite: Path) -> None:
    from jevcompat.mock import MockConfig, Running

    config = MockConfig(busy_every=2)
    with Running(config) as server:
        run = bench(suite, *_asking(server.url, "mock"))
    records = run.report("systemone")["records"]
    # A probe is answered, a warm-up refused; of the items every other one.
    assert config.requests == 2 + len(records)
    assert list(codes(run).values()) == ["rate-limited"] * 12
    assert {len(record["earlier"]) for record in records} == {0}
    assert run.code == 1
    overall = [metrics["overall"] for metrics in run.report("systemone")["metrics"].values()]
    assert sum(o["decisions"] for o in overall) == 12
    assert run.report("systemone")["latency"]["overall"]["requests"] == 24


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["serial", "n2"])
def test_a_busy_server_with_retries(bench: Bench, suite: Path, workers: list[str]) -> None:
    from jevcompat.mock import MockConfig, Running

    config = MockConfig(busy_every=2)
    with Running(config) as server:
        run = bench(suite, *_asking(server.url, "mock"), "--retries", "8", *workers)
    report = run.report("systemone")
    records = report["records"]
    assert codes(run) == {}
    assert run.code == 0
    earlier = [attempt for record in records for attempt in record["earlier"]]
    assert {(attempt["code"], attempt["waited_s"]) for attempt in earlier} == {("rate-limited", 0.0)}
    assert all(attempt["seconds"] > 0 for attempt in earlier)
    latency = report["latency"]
    together = [r["latency_s"] + sum(attempt["seconds"] for attempt in r["earlier"]) for r in records]
    assert latency["with_retries"]["mean_s"] == pytest.approx(statistics.fmean(together))
    assert latency["overall"]["mean_s"] == pytest.approx(statistics.fmean(r["latency_s"] for r in records))
    assert latency["overall"]["mean_s"] < latency["with_retries"]["mean_s"]
    if not workers:
        # A probe that is answered, three warm-ups and all items that are answered the second time.
        assert len(earlier) == 24
        assert config.requests == 7 + len(records) + len(earlier)


def test_a_wait_between_attempts_is_no_latency(
    bench: Bench, named: Path, provider: Provider, asking: list[str]
) -> None:
    provider.refusing = {"*": (503, "")}
    provider.good = 8
    start = time.monotonic()
    run = bench(named, *asking, "--retries", "1", "-p", "no:xdist")
    waited = [record["waited_s"] for record in run.records("systemone")]
    assert len([seconds for seconds in waited if 0.375 <= seconds <= 0.5]) == 1
    assert time.monotonic() - start > max(waited)
    slowest = run.records("systemone")[waited.index(max(waited))]
    assert slowest["latency_s"] < 0.375
    assert [attempt["code"] for attempt in slowest["earlier"]] == ["server-error"]


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"detail": {"error_type": "authentication_error"}}, "unauthorized"),
        (402, {"error": {"code": 402}}, "payment-required"),
        (403, "", "forbidden"),
        (429, {"error": {"code": "insufficient_quota"}}, "spend-limit"),
    ],
)
def test_what_no_request_can_mend_ends_the_run(
    bench: Bench, named: Path, provider: Provider, asking: list[str], status: int, body: Any, code: str
) -> None:
    provider.refusing, provider.good = {"*": (status, body)}, 4
    run = bench(named, *asking, "--retries", "5")
    assert run.code == 2
    assert "STOPPED: " in run.output
    assert provider.take_asked() == CASES[:5]
    assert codes(run) == {CASES[4]: code}


def test_a_run_that_was_ended_goes_on_after_the_remedy(
    bench: Bench, named: Path, provider: Provider, asking: list[str], mode: list[str]
) -> None:
    provider.refusing, provider.good = {"*": (402, "")}, 3
    first = bench(named, *asking, *mode)
    assert first.code == 2
    recorded = {record["case"] for record in first.records("systemone")}
    refused = codes(first)
    assert set(refused.values()) == {"payment-required"}
    assert len(recorded) == 3 + len(refused) < 9
    assert set(provider.take_asked()) == recorded
    provider.good = 1000
    again = bench(named, *asking, "--resume", first.folder, *mode)
    assert provider.take_asked() == sorted(set(CASES) - recorded)
    assert again.code == 1
    assert again.report("systemone")["complete"] is True
    last = bench(named, *asking, "--resume", first.folder, "--retry-failed", *mode)
    assert provider.take_asked() == sorted(refused)
    assert last.code == 0


def test_deadlines_that_pass_are_failed_decisions_and_the_run_goes_on(
    bench: Bench, named: Path, provider: Provider, asking: list[str]
) -> None:
    provider.slow = {CASES[1], CASES[5]}
    run = bench(named, *asking, "--deadline", "0.5")
    assert run.code == 1
    assert codes(run) == {CASES[1]: "timeout", CASES[5]: "timeout"}
    report = run.report("systemone")
    assert report["complete"] is True
    assert sum(metrics["overall"]["failed"] for metrics in report["metrics"].values()) == 2
    assert "no complete reply within 0.5 s" in run.output
    assert {r["case"]: r["latency_s"] >= 0.5 for r in report["records"]} == {c: c in provider.slow for c in CASES}


def test_the_key_is_in_no_traceback(
    bench: Bench, named: Path, provider: Provider, asking: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", CANARY)
    quoted = {"detail": f"no such key: {CANARY}"}
    provider.refusing = {
        CASES[0]: (422, quoted),
        CASES[1]: (200, f"{CANARY} is no JSON"),
        CASES[2]: (200, {"model": "own-1", "answers": {CANARY: CANARY}, "usage": {}}),
        CASES[3]: (200, [CANARY]),
        CASES[5]: (500, quoted),
        CASES[8]: (401, quoted),
    }
    provider.slow = {CASES[4]}
    shown = ["--showlocals", "--full-trace", "-vv", "--on-miss=fail", "--log-level=DEBUG", "-rA"]
    run = bench(named, *asking, "--key-env", "OWN_KEY", "--deadline", "0.5", *shown)
    assert codes(run) == {
        CASES[0]: "invalid-request",
        CASES[1]: "invalid-json",
        CASES[2]: "unasked-question",
        CASES[3]: "invalid-reply",
        CASES[4]: "timeout",
        CASES[5]: "server-error",
        CASES[8]: "unauthorized",
    }
    assert "CandidateError" in run.output
    assert CANARY not in run.output
    assert not any(CANARY in path.read_text() for path in run.folder.rglob("*") if path.is_file())
