"""Whole runs against decisions APIs: a server of our own, and LiteLLM's proxy in front of a System One server."""

from __future__ import annotations

import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from jevcompat import mock

ROOT: Final = Path(__file__).resolve().parents[2]
GATEWAY: Final = ROOT / ".venv-gateway" / "bin" / "litellm"
MASTER_KEY: Final = "sk-gateway-of-the-tests-0123456789"
TEAM: Final = {
    "type": "choice",
    "instructions": "Who takes it?",
    "criteria": {"Billing": "Invoices, refunds.", "tech": None},
}
ANGER: Final = {"type": "score", "instructions": "How angry?", "criteria": ["calm", "annoyed", "furious"]}
REFUND: Final = {"type": "noul", "instructions": "A refund is asked for.", "criteria": {"true": "Money is wanted."}}


@dataclass
class Server:
    """A decisions API; ``refuse`` tells whether it declines a question on an input."""

    refuse: Callable[[str, str], bool] = lambda text, name: False
    model_of: Callable[[int], str] = lambda number: "own-1"
    bodies: list[Any] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    url: str = ""

    def reply(self, body: Any) -> dict[str, Any]:
        """The reply to ``body``: the first option with probability 0.75."""
        self.bodies.append(body)
        return {
            "model": self.model_of(len(self.bodies)),
            "answers": [self._answer(body["input"], question) for question in body["questions"]],
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 105,
            },
        }

    def _answer(self, text: str, question: Any) -> dict[str, Any]:
        told = {"type": question["type"], "name": question["name"]}
        if self.refuse(text, question["name"]):
            return {**told, "type": "refusal"}
        if question["type"] == "predicate":
            return {**told, "probability": 0.75}
        many = question.get("choices") or [
            {"value": index, **level} for index, level in enumerate(question.get("levels", ()))
        ]
        shares = [0.75] + [0.25 / (len(many) - 1)] * (len(many) - 1)
        rows = [
            {**{key: option[key] for key in ("value", "label") if key in option}, "probability": share}
            for option, share in zip(many, shares, strict=True)
        ]
        if question["type"] == "choice":
            return {**told, "choice": many[0]["value"], "confidence": 0.5, "probabilities": rows}
        score = sum(index * share for index, share in enumerate(shares))
        return {**told, "score": score, "confidence": 0.5, "probabilities": rows}


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers of our own; they are stopped at the end."""
    started: list[http.server.ThreadingHTTPServer] = []

    def start(**behaviour: Any) -> Server:
        server = Server(**behaviour)
        lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with lock:
                    server.keys.append(self.headers["authorization"])
                    content = json.dumps(server.reply(body)).encode()
                status = 200 if self.path == "/v1/decisions" else 404
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        started.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=started[-1].serve_forever, args=(0.05,), daemon=True).start()
        server.url = f"http://127.0.0.1:{started[-1].server_port}"
        return server

    yield start
    for running in started:
        running.shutdown()
        running.server_close()


@pytest.fixture
def tickets(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Six scenarios with a question of each type; states are text, the last one JSON."""
    rows = [
        row(
            f"ticket-{number:03}",
            ("development", "calibration", "holdout")[number % 3],
            state=f"Ticket {number}: I was charged twice." if number < 5 else {"ticket": number, "text": "charged"},
            questions={"team": TEAM, "anger": ANGER, "refund": REFUND},
            references={
                "team": {"expected": "Billing"},
                "anger": {"expected": "0"},
                "refund": {"expected": "true"},
            },
        )
        for number in range(6)
    ]
    return make_suite(rows, "tickets")


def asked(url: str, *more: str, model: str = "own-1") -> list[str]:
    return ["--candidate", "decisions", "--endpoint", url, "--model", model, *more]


def decisions_of(run: Any, candidate: str) -> dict[tuple[str, str], Any]:
    return {
        (record["case"], decision["question"]): decision
        for record in run.records(candidate)
        for decision in record["decisions"]
    }


def test_refused_questions_fail_alone_and_count_as_wrong(
    bench: Any, mode: list[str], serve: Serve, tickets: Path
) -> None:
    server = serve(refuse=lambda text, name: name == "team" and '"ticket":5' in text)
    run = bench(tickets, *asked(server.url), *mode)
    assert run.code == 1, run.output
    found = decisions_of(run, "decisions")
    failed = {key: decision["failure"]["code"] for key, decision in found.items() if decision["failure"]}
    assert failed == {("demo-ticket-005-original", "team"): "refused"}
    overall = run.report("decisions")["metrics"]["holdout"]["overall"]
    assert (overall["decisions"], overall["failed"]) == (6, 1)
    assert overall["accuracy"] == pytest.approx(5 / 6)
    assert found["demo-ticket-000-original", "anger"]["probabilities"] == {"0": 0.75, "1": 0.125, "2": 0.125}
    assert {record["model"] for record in run.records("decisions")} == {"own-1"}
    assert {tuple(record["usage"].values()) for record in run.records("decisions")} == {(100, 5, 60)}


def test_what_leaves_is_the_model_the_input_and_the_questions(
    bench: Any, serve: Serve, tickets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "k-1")
    server = serve()
    run = bench(tickets, *asked(server.url, "--key-env", "OWN_KEY"), "-k", "ticket-003")
    assert run.code == 0, run.output
    assert set(server.keys) == {"Bearer k-1"}
    assert [body for body in server.bodies if body["input"].startswith("Ticket")] == [
        {
            "model": "own-1",
            "input": "Ticket 3: I was charged twice.",
            "questions": [
                {
                    "type": "choice",
                    "name": "team",
                    "instructions": "Who takes it?",
                    "choices": [{"value": "Billing", "description": "Invoices, refunds."}, {"value": "tech"}],
                },
                {
                    "type": "score",
                    "name": "anger",
                    "instructions": "How angry?",
                    "levels": [{"label": "calm"}, {"label": "annoyed"}, {"label": "furious"}],
                },
                {
                    "type": "predicate",
                    "name": "refund",
                    "instructions": "A refund is asked for.\nTrue means: Money is wanted.",
                },
            ],
        }
    ]


def test_a_model_that_changes_during_a_run_is_not_scored(bench: Any, serve: Serve, tickets: Path) -> None:
    server = serve(model_of=lambda number: "own-1" if number < 8 else "own-2")
    run = bench(tickets, *asked(server.url))
    assert run.code == 1, run.output
    codes = Counter((decision["failure"] or {}).get("code") for decision in decisions_of(run, "decisions").values())
    assert set(codes) == {None, "wrong-model"}
    assert codes["wrong-model"] == 3 * sum(record["model"] == "own-2" for record in run.records("decisions"))


@dataclass(frozen=True)
class Gateway:
    """LiteLLM's proxy, and the System One server behind its model ``jev``."""

    url: str
    behind: str


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Started once; a test that needs it skips where it is not installed, and fails in CI."""
    if not GATEWAY.exists():
        reason = "no gateway is installed: scripts/gateway makes .venv-gateway"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    home = tmp_path_factory.mktemp("gateway")
    servers = {
        "jev": mock.Running(mock.MockConfig()),
        "forgetful": mock.Running(mock.MockConfig(faults=frozenset({"first-question-only"}))),
        "lower": mock.Running(mock.MockConfig(faults=frozenset({"choice-key-case"}))),
    }
    with servers["jev"] as jev, servers["forgetful"] as forgetful, servers["lower"] as lower:
        urls = {"jev": jev.url, "forgetful": forgetful.url, "lower": lower.url}
        url, process = _start_gateway(home, urls)
        yield Gateway(url, urls["jev"])
        process.kill()
        process.wait()


def _start_gateway(home: Path, urls: dict[str, str]) -> tuple[str, subprocess.Popen[bytes]]:
    models = [
        {
            "model_name": name,
            "litellm_params": {"model": "typesafe/jev-latest", "api_base": url, "api_key": "none"},
        }
        for name, url in urls.items()
    ]
    # YAML reads JSON.
    (home / "config.yaml").write_text(json.dumps({"model_list": models, "router_settings": {"num_retries": 0}}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LITELLM_MASTER_KEY": MASTER_KEY}
    command = [str(GATEWAY), "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--telemetry", "False"],
            cwd=home,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Else it would fetch a table of prices.
            env={**environment, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        )
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 180
    while not _alive(url):
        assert process.poll() is None, (home / "log").read_text()
        assert time.monotonic() < until, (home / "log").read_text()
        time.sleep(0.2)
    return url, process


def _alive(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health/liveliness", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.fixture
def table(pytester: pytest.Pytester, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A candidates file: the System One server asked directly, and models behind the gateway."""
    monkeypatch.setenv("GATEWAY_KEY", MASTER_KEY)
    behind = f'adapter = "decisions"\nendpoint = "{gateway.url}"\nkey_env = "GATEWAY_KEY"\n'
    path = pytester.path / "candidates.toml"
    path.write_text(
        f'[candidates.direct]\nadapter = "systemone"\nendpoint = "{gateway.behind}"\nmodel = "jev-latest"\n'
        + "".join(f'[candidates.{name}]\n{behind}model = "{name}"\n' for name in ("jev", "forgetful", "lower"))
    )
    return path


def test_a_gateway_gives_the_decisions_of_the_server_behind_it(bench: Any, tickets: Path, table: Path) -> None:
    run = bench(tickets, "--candidates", table, "--candidate", "direct", "--candidate", "jev")
    assert run.code == 0, run.output
    direct, through = decisions_of(run, "direct"), decisions_of(run, "jev")
    assert len(direct) == len(through) == 18
    for (case, question), decision in through.items():
        # What the API has no room for is put in other words, and a server that hashes words answers otherwise.
        reworded = question == "refund" or case == "demo-ticket-005-original"
        expected = _expected(case, question) if reworded else direct[case, question]["probabilities"]
        assert decision["probabilities"] == pytest.approx(expected, abs=1e-12), (case, question)
        assert reworded or decision["choice"] == direct[case, question]["choice"]
    assert {record["model"] for record in run.records("jev")} == {"jevcompat-mock-0.1"}
    assert all(record["usage"]["input_tokens"] > 0 for record in run.records("jev"))


def _expected(case: str, question: str) -> dict[str, float]:
    """What the server says to the words that we put."""
    number = int(case.split("-")[2])
    state = f"Ticket {number}: I was charged twice." if number < 5 else '{"ticket":5,"text":"charged"}'
    put: dict[str, dict[str, Any]] = {
        "team": TEAM,
        "anger": ANGER,
        "refund": {"type": "noul", "instructions": "A refund is asked for.\nTrue means: Money is wanted."},
    }
    answer = mock.answer(mock.MockConfig(), state, question, put[question], 0, 1)
    if question == "refund":
        return {"true": answer["noul"], "false": 1 - answer["noul"]}
    probabilities: dict[str, float] = answer["probabilities"]
    return probabilities


def test_what_a_gateway_makes_of_a_broken_reply_is_not_scored(bench: Any, tickets: Path, table: Path) -> None:
    run = bench(tickets, "--candidates", table, "--candidate", "forgetful", "--candidate", "lower")
    assert run.code == 1, run.output
    # It turns an answer that is missing into a refusal, and the probability of an option that is missing into 0.
    expected = {
        "forgetful": {"team": None, "anger": "refused", "refund": "refused"},
        "lower": {"team": "sum", "anger": None, "refund": None},
    }
    for candidate, codes in expected.items():
        for (case, question), decision in decisions_of(run, candidate).items():
            assert (decision["failure"] or {}).get("code") == codes[question], (candidate, case, question)


@pytest.mark.parametrize(
    ("model", "key", "code"),
    [
        pytest.param("nobody", MASTER_KEY, "bad-request", id="model"),
        # Without a database the proxy has no other word for a key that it does not know.
        pytest.param("jev", "sk-wrong", "bad-request", id="key"),
    ],
)
def test_what_a_gateway_refuses_is_a_failure_with_a_code(
    model: str,
    key: str,
    code: str,
    bench: Any,
    suite: Path,
    gateway: Gateway,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", key)
    run = bench(suite, *asked(gateway.url, "--key-env", "GATEWAY_KEY", model=model), "-k", "way-003")
    assert run.code == 1, run.output
    assert {decision["failure"]["code"] for decision in decisions_of(run, "decisions").values()} == {code}
