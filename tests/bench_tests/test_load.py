"""The load test against real servers: what is sent at once, what is measured, what fails, and what is gated."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jevcompat.mock import MockConfig, Running

from decibench.bench_tests import load_grid
from decibench.bench_tests.load_cache import CacheReader
from decibench.candidates.remote.settings import RemoteSettings

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
Answers: TypeAlias = dict[str, Any]

LOAD = "decibench.bench_tests.test_load"
WARM_UPS, TICKS, REQUESTS = 2, 20, 10


@dataclass
class Server:
    """Answers System One requests, keeps connections open, and keeps answers where ``caches``.

    ``fails`` tells by the number of a load request (from 0) which status it gets instead of 200; ``spoil`` may edit the
    answers of a request. ``cost_s`` is what an answer that was not kept takes.
    """

    cost_s: float = 0.0
    caches: bool = False
    health: Callable[[Server], Any] | None = None
    health_status: int = 200
    fails: Callable[[int], int | None] = lambda number: None
    spoil: Callable[[Answers], None] = lambda answers: None
    model: Callable[[int], str] = lambda number: "local-1"
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    connections: int = 0
    most_at_once: int = 0
    hits: int = 0
    misses: int = 0
    _at_once: int = 0
    _kept: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def loads(self) -> list[dict[str, Any]]:
        """The requests of the load test, without the pool's warm-ups."""
        return [body for body in self.asked if len(body["questions"]) == 100]

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and content for a request."""
        with self._lock:
            self.asked.append(body)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            state, number = body["state"], len(self.loads) - 1
            hit = self.caches and state in self._kept
            self.hits, self.misses = self.hits + hit, self.misses + (not hit)
            self._kept.add(state)
        time.sleep(0.0 if hit else self.cost_s)
        with self._lock:
            self._at_once -= 1
        if status := self.fails(number):
            return status, {"detail": "no"}
        answers = {key: answer_of(question) for key, question in body["questions"].items()}
        self.spoil(answers)
        return 200, {"model": self.model(number), "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 1}}


def answer_of(question: dict[str, Any]) -> dict[str, Any]:
    """An even answer to any question."""
    criteria = question.get("criteria", {})
    if question["type"] == "noul":
        return {"type": "noul", "noul": 0.5}
    options = list(criteria) if question["type"] == "choice" else [str(level) for level in range(len(criteria))]
    even = {"type": question["type"], "probabilities": dict.fromkeys(options, 1 / len(options)), "confidence": 0.0}
    if question["type"] == "choice":
        return even | {"choice": options[0]}
    return even | {"score": (len(options) - 1) / 2, "legend": dict(zip(options, criteria, strict=True))}


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Let ``server`` answer on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # A head and a body sent apart would wait for each other.

        def setup(self) -> None:
            super().setup()
            server.connections += 1

        def do_GET(self) -> None:
            server.others.append((self.path, dict(self.headers)))
            found = server.health(server) if server.health else None
            self._send(server.health_status, found)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(*server.answer(body))

        def _send(self, status: int, content: Any) -> None:
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if status == 503:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    class Listener(ThreadingHTTPServer):
        request_queue_size = 64
        daemon_threads = True

    with Listener(("127.0.0.1", 0), Handler) as listener:
        server.url = f"http://127.0.0.1:{listener.server_port}"
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three counted ticks of each arm instead of twenty: enough to see what becomes of a tick."""
    monkeypatch.setattr(load_grid, "TICKS", 3)
    monkeypatch.setattr(load_grid, "WARM_UPS", 1)


def against(url: str, *more: str) -> list[str]:
    """Arguments of a load test of the server at ``url``, with a gate that a busy machine passes too."""
    named = ["--candidate", "systemone", "--endpoint", url, "--model", "mock"]
    return [LOAD, "--load", *named, "--max-tick-ms", "60000", *more]


def test_ticks_of_both_arms_show_a_cache(bench: Bench, suite: Path) -> None:
    cached = Server(cost_s=0.1, caches=True, health=lambda s: {"cache": {"hits": s.hits, "misses": s.misses}})
    with serving(cached) as server:
        run = bench(suite, *against(server.url, "-p", "no:benchmark"))
    assert run.code == 0
    load = run.json("systemone", "load.json")
    assert [arm["states"] for arm in load["arms"]] == ["unique", "repeated"]
    for arm in load["arms"]:
        assert len(arm["ticks_s"]) == TICKS
        assert arm["p50_s"] <= arm["p95_s"] <= arm["max_s"] == max(arm["ticks_s"])
        assert (arm["decisions"], arm["failed_decisions"], arm["requests"]) == (20_000, 0, TICKS * REQUESTS)
        assert arm["decisions_per_s"] == pytest.approx(20_000 / sum(arm["ticks_s"]))
        assert arm["models"] == {"local-1": TICKS * REQUESTS}
    unique, repeated = load["arms"]
    assert unique["cache"] == {"hits": 0, "misses": TICKS * REQUESTS}
    assert repeated["cache"] == {"hits": TICKS * REQUESTS, "misses": 0}
    assert min(unique["ticks_s"]) >= 0.1
    assert load["repeated_to_unique"] == pytest.approx(repeated["p50_s"] / unique["p50_s"])
    assert load["repeated_to_unique"] < 1
    assert load["gate"]["passed"] is True
    for words in (
        "Gate passed: the slowest tick took ",
        "of 60000 allowed; no decision failed",
        "Answered by local-1.",
        "100.0%",
        "as 10 requests of 100 questions, 10 at a time",
        "observation",
    ):
        assert words in run.output
    # What was sent: ticks take turns, unique states come once, repeated ones in every tick.
    states = [body["state"] for body in server.loads]
    assert len(states) == 2 * (WARM_UPS + TICKS) * REQUESTS
    ticks = [frozenset(states[start : start + REQUESTS]) for start in range(0, len(states), REQUESTS)]
    assert len(set(ticks[1::2])) == 1
    assert len(frozenset().union(*ticks[::2])) == (TICKS + WARM_UPS) * REQUESTS
    assert not frozenset().union(*ticks[::2]) & ticks[1]
    assert REQUESTS / 2 < server.most_at_once <= REQUESTS  # A machine may be too busy to send all ten in time.
    assert all("authorization" not in {name.lower() for name in headers} for _, headers in server.others)


@pytest.mark.usefixtures("few")
def test_connections_are_kept_and_no_more_are_sent_than_at_a_time(bench: Bench, suite: Path) -> None:
    with serving(Server(cost_s=0.02)) as server:
        run = bench(suite, *against(server.url, "--concurrency", "3", "--deadline", "7", "--retries", "2"))
    assert run.code == 0
    assert 1 < server.most_at_once <= 3
    assert server.connections <= 3 + 1  # One asked for the health of the server.
    assert [path for path, _ in server.others] == ["/health"]
    load = run.json("systemone", "load.json")
    assert (load["concurrency"], load["deadline_s"], load["retries"]) == (3, 7, 2)
    assert [arm["cache"] for arm in load["arms"]] == [None, None]
    assert "not reported" in run.output
    assert sorted(path.name for path in run.folder.rglob("*")) == ["load.json", "systemone"]


@pytest.mark.usefixtures("few")
def test_failures_are_counted_and_never_taken_for_throughput(bench: Bench, suite: Path) -> None:
    def spoil(answers: Answers) -> None:
        del answers["harbour-named"]

    every_fifth = Server(spoil=spoil, fails=lambda number: 500 if number % 5 == 0 else None)
    with serving(every_fifth) as server:
        run = bench(suite, *against(server.url))
    # Of 30 requests of each arm 6 fail wholly, and one question of each of the others.
    failed = 6 * 100 + 24
    load = run.json("systemone", "load.json")
    for arm in load["arms"]:
        assert (arm["failed_decisions"], arm["failed_requests"]) == (failed, 30)
        assert arm["failures"] == [
            {"code": "server-error", "decisions": 600, "requests": 6},
            {"code": "missing-answer", "decisions": 24, "requests": 24},
        ]
        assert arm["decisions_per_s"] == pytest.approx((3000 - failed) / sum(arm["ticks_s"]))
    assert load["repeated_to_unique"] is None
    assert load["gate"]["passed"] is False
    assert run.code == 1
    words = f"{2 * failed:,} of 6,000 decisions failed"
    assert f"{words}: server-error (1,200), missing-answer (48)" in run.output
    assert f"of 60000 allowed; {words}" in run.output
    assert "GATE FAILED: systemone under load: the slowest tick took " in run.output
    assert "times as long" not in run.output


@pytest.mark.usefixtures("few")
def test_repeated_attempts_are_told(bench: Bench, suite: Path) -> None:
    with serving(Server(fails=lambda number: 503 if number % 2 == 0 else None)) as server:
        run = bench(suite, *against(server.url, "--retries", "9", "--concurrency", "1"))
    load = run.json("systemone", "load.json")
    assert run.code == 0
    assert [arm["failed_decisions"] for arm in load["arms"]] == [0, 0]
    assert [arm["repeats"] for arm in load["arms"]] == [30, 30]
    assert "60 attempts were repeated" in run.output


@pytest.mark.usefixtures("few")
def test_another_model_than_before_fails_its_requests(bench: Bench, suite: Path) -> None:
    turned = Server(model=lambda number: "local-1" if number < 70 else "local-2")
    with serving(turned) as server:
        run = bench(suite, *against(server.url))
    assert run.code == 1
    load = run.json("systemone", "load.json")
    assert [arm["failed_decisions"] for arm in load["arms"]] == [0, 1000]
    assert load["arms"][1]["models"] == {"local-1": 20, "local-2": 10}
    assert "Answered by local-1, local-2." in run.output


@pytest.mark.usefixtures("few")
def test_a_tick_that_took_too_long_fails_the_gate(bench: Bench, suite: Path) -> None:
    with serving(Server(cost_s=0.02)) as server:
        run = bench(suite, *against(server.url, "--max-tick-ms", "20"))
    assert run.code == 10
    assert "GATE FAILED: systemone under load: the slowest tick took " in run.output
    assert "(unique states), of 20 allowed; no decision failed" in run.output.replace("(repeated", "(unique")
    assert run.json("systemone", "load.json")["gate"]["passed"] is False


@pytest.mark.usefixtures("few")
def test_a_tick_may_take_four_seconds_unless_told_otherwise(bench: Bench, suite: Path) -> None:
    with serving(Server()) as server:
        named = ["--candidate", "systemone", "--endpoint", server.url, "--model", "mock"]
        run = bench(suite, LOAD, "--load", *named)
    assert run.json("systemone", "load.json")["gate"]["max_tick_ms"] == 4000
    assert "of 4000 allowed; no decision failed" in run.output


PRICE = """
[[price]]
api = "systemone"
model = "mock"
input = 1e6
output = 0.0
date = 2026-11-30
source = "a price for tests"
"""


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("fails", "told", "words"),
    [
        pytest.param(False, {"untold": 0, "input_tokens": 270, "output_tokens": 30, "total_usd": 270.0}, "", id="all"),
        pytest.param(
            True,
            {"untold": 6, "input_tokens": None, "output_tokens": None, "total_usd": None},
            "12 of 60 requests did not tell their tokens",
            id="some",
        ),
    ],
)
def test_tokens_and_cost_are_told_as_far_as_they_are_known(
    bench: Bench, suite: Path, tmp_path: Path, fails: bool, told: dict[str, Any], words: str
) -> None:
    (tmp_path / "prices.toml").write_text(PRICE, "utf-8")
    priced = ["--prices", str(tmp_path / "prices.toml"), "--compute-usd-per-hour", "1"]
    with serving(Server(fails=lambda number: 500 if fails and number % 5 == 0 else None)) as server:
        run = bench(suite, *against(server.url, *priced))
        free = bench(suite, *against(server.url))
    for arm in run.json("systemone", "load.json")["arms"]:
        assert {name: arm["cost"][name] for name in told} == told
        assert (arm["cost"]["cached_tokens"], arm["cost"]["compute_usd"]) == (None, None)
        known = 24 if fails else 30
        at_least = {"input_tokens": 9 * known, "output_tokens": known, "cached_tokens": 0, "usd": 9.0 * known}
        assert arm["cost"]["at_least"] == at_least
    assert ("did not tell their tokens" in run.output) is fails
    assert words in run.output
    assert ("216.000000" if fails else "270.000000") in run.output
    assert "warm-ups apart, by prices.toml: a price for tests, 2026-11-30." in " ".join(run.output.split())
    assert [arm["cost"]["total_usd"] for arm in free.json("systemone", "load.json")["arms"]] == [None, None]
    assert "The cost is unknown: no price is known." in free.output


def test_a_load_test_that_did_not_take_place_is_incomplete(bench: Bench, suite: Path) -> None:
    with serving(Server()) as server:
        run = bench(suite, *against(server.url, "-k", "nothing"))
    assert run.code == 11
    assert "systemone was not measured under load" in run.output
    assert not server.asked


def test_credentials_that_are_refused_stop_at_once(bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_KEY", "sk-very-secret")
    with serving(Server(fails=lambda number: 401)) as server:
        run = bench(suite, *against(server.url, "--key-env", "LOCAL_KEY", "--concurrency", "2"))
    assert run.code == 2
    assert "systemone cannot go on: the key was not accepted (HTTP 401)" in run.output
    assert len(server.loads) <= 2
    assert not (run.folder / "systemone" / "load.json").exists()
    assert "sk-very-secret" not in str(server.others)


@pytest.mark.usefixtures("few")
def test_it_runs_beside_the_decisions_of_the_run(bench: Bench, suite: Path) -> None:
    with serving(Server()) as server:
        named = ["--candidate", "systemone", "--endpoint", server.url, "--model", "mock"]
        run = bench(suite, *named, "--load", "--max-tick-ms", "1", "--trials", "2")
        plain = bench(suite, *named)
    assert run.code == 10
    assert run.report("systemone")["complete"] is True
    assert len(run.records("systemone")) == 48
    assert run.report("systemone")["latency"]["overall"]["requests"] == 48
    assert len(server.loads) == 80
    assert plain.code == 0
    assert not (plain.folder / "systemone" / "load.json").exists()


@pytest.mark.usefixtures("few")
def test_a_server_that_closes_every_connection_is_measured_too(bench: Bench, suite: Path) -> None:
    # It speaks HTTP/1.0 and lets few connections wait: with more at a time the system repeats them after a second.
    with Running(MockConfig()) as mock:
        run = bench(suite, *against(mock.url, "--concurrency", "3"))
    assert run.code == 0
    load = run.json("systemone", "load.json")
    assert sum(arm["decisions"] - arm["failed_decisions"] for arm in load["arms"]) == 6000
    assert load["arms"][0]["models"] == {"jevcompat-mock-0.1": 30}


@pytest.mark.usefixtures("few")
def test_a_gate_stays_unchecked_where_a_candidate_is_not_run(
    bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    with serving(Server()) as server:
        table = f'[candidates.here]\nadapter = "systemone"\nendpoint = "{server.url}"\nmodel = "mock"\n'
        Path("decibench.toml").write_text(table, "utf-8")
        run = bench(suite, LOAD, "--load", "--candidate", "here", "--candidate", "jev", "--max-tick-ms", "1e6")
    assert run.code == 11
    assert "NOT RUN: jev: " in run.output
    assert "its gate (--max-tick-ms) not checked: jev was not measured under load" in run.output


REMOTE = ["--candidate", "systemone", "--endpoint", "http://127.0.0.1:9", "--model", "mock"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param(["--load", "--candidate", "baseline"], "baseline answers in this process", id="local"),
        pytest.param([LOAD, "--load"], "baseline answers in this process", id="default-candidate"),
        pytest.param(["--load", *REMOTE, "-n", "2"], "run without -n", id="workers"),
        pytest.param(["--load", *REMOTE, "--rate-limit", "60"], "--rate-limit holds requests back", id="rate-limit"),
        pytest.param(["--load", *REMOTE, "--concurrency", "0"], "use 1 to 10", id="none-at-a-time"),
        pytest.param(["--load", *REMOTE, "--concurrency", "11"], "a tick has 10 requests", id="too-many-at-a-time"),
        pytest.param(["--load", *REMOTE, "--max-tick-ms", "0"], "milliseconds above 0", id="no-time"),
        pytest.param(["--load", *REMOTE, "--max-tick-ms", "nan"], "milliseconds above 0", id="no-number"),
        pytest.param([*REMOTE, "--max-tick-ms", "4000"], "--max-tick-ms goes with --load", id="gate-alone"),
        pytest.param([*REMOTE, "--concurrency", "10"], "--concurrency goes with --load", id="concurrency-alone"),
        pytest.param([LOAD, *REMOTE], "add --load", id="named-without"),
        pytest.param([f"{LOAD}::test_load", *REMOTE], "add --load", id="node-without"),
    ],
)
def test_what_cannot_be_measured_is_refused(bench: Bench, suite: Path, flags: list[str], words: str) -> None:
    run = bench(suite, *flags)
    assert run.code == 4
    assert any(words in line for line in run.output.splitlines() if line.startswith("ERROR: "))
    assert not run.folder.exists()


def test_a_format_that_asks_one_question_at_a_time_is_refused(bench: Bench, suite: Path) -> None:
    table = 'provider = "openai"\nendpoint = "http://127.0.0.1:9"\nmodel = "m"\nmax_tokens = 99\n'
    Path("decibench.toml").write_text(f'[candidates.texts]\nadapter = "llm-final"\n{table}', "utf-8")
    run = bench(suite, "--load", "--candidate", "texts")
    assert run.code == 4
    assert "texts asks each in a request of its own" in run.output


@pytest.mark.parametrize(
    ("health", "expected"),
    [
        pytest.param({"status": "ok", "engine": "mock", "model": "m"}, None, id="no-cache"),
        pytest.param({"cache": {"hits": 3, "misses": 4}}, (3, 4), id="nested"),
        pytest.param({"prefix_cache": {"hits": 3, "misses": 4}}, (3, 4), id="prefix-cache"),
        pytest.param({"cache_hits": 3, "cache_misses": 4}, (3, 4), id="flat"),
        pytest.param({"cache": "on", "prefix_cache_hits": 3, "prefix_cache_misses": 4}, (3, 4), id="flat-prefix"),
        pytest.param({"cache": {"hit_rate": 0.4}}, None, id="a-rate-of-the-whole-life"),
        pytest.param({"cache": {"hits": 3}}, None, id="hits-alone"),
        pytest.param({"cache": {"hits": -1, "misses": 4}}, None, id="negative"),
        pytest.param({"cache": {"hits": True, "misses": 4.0}}, None, id="no-counts"),
        pytest.param([], None, id="no-object"),
        pytest.param("x" * 100_000, None, id="huge"),
    ],
)
def test_counters_of_a_cache_are_read_where_they_are(health: Any, expected: tuple[int, int] | None) -> None:
    with serving(Server(health=lambda server: health)) as server:
        counts = CacheReader(RemoteSettings(endpoint=server.url, model="mock")).read()
    assert (None if counts is None else (counts.hits, counts.misses)) == expected


@pytest.mark.parametrize("status", [301, 401, 404, 500])
def test_counters_under_another_status_are_none_and_not_asked_for_again(status: int) -> None:
    with serving(Server(health=lambda server: {"cache_hits": 1, "cache_misses": 1}, health_status=status)) as server:
        reader = CacheReader(RemoteSettings(endpoint=server.url, model="mock"))
        assert [reader.read(), reader.read()] == [None, None]
    assert [path for path, _ in server.others] == ["/health"]


@pytest.mark.usefixtures("few")
def test_counters_that_begin_anew_are_unknown(bench: Bench, suite: Path) -> None:
    def restarted(server: Server) -> dict[str, int]:
        return {"cache_hits": len(server.loads) % 75, "cache_misses": 0}

    with serving(Server(health=restarted)) as server:
        run = bench(suite, *against(server.url))
    assert run.code == 0
    caches = [arm["cache"] for arm in run.json("systemone", "load.json")["arms"]]
    assert caches == [{"hits": 30, "misses": 0}, None]
