"""``--dry-run``: what would be asked, one request as it would be sent, and nothing done."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jevcompat.mock import MockConfig, Running

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

KEY = "DECIBENCH_TEST_KEY"
DRY = ["--candidate", "systemone", "--endpoint", "https://api.typesafe.ai", "--model", "jev-1.13.0", "--dry-run"]


def lines(run: Run) -> list[str]:
    return [line.strip() for line in run.result.outlines]


def line(run: Run, start: str) -> str:
    """The one line that begins like that, without the beginning."""
    (found,) = (text for text in lines(run) if text.startswith(start))
    return found.removeprefix(start)


def body(run: Run) -> Any:
    """The body of the request that is shown."""
    text = "\n".join(run.result.outlines)
    return json.loads(text[text.index("\n    {\n") : text.index("\n    }\n") + len("\n    }\n")])


def test_nothing_is_asked_written_or_built(bench: Bench, own: Own, suite: Path) -> None:
    never = own("raise AssertionError", create="raise AssertionError('was built')")
    with Running(mock := MockConfig()) as server:
        arguments = ["--endpoint", server.url, "--model", "jev-latest", "--dry-run"]
        run = bench(suite, "--candidate", "systemone", *arguments)
        beside = bench(suite, "--candidate", never, "--candidate", "jev", "--dry-run")
        assert mock.requests == 0
    assert (run.code, beside.code) == (0, 0)
    assert not run.folder.exists()
    assert line(run, "requests: ").startswith("24 for 24 items, and 4 to warm up")
    assert line(beside, "own: ") == "24 items, asked in this process: no request is sent"
    assert "Nothing was asked, and nothing written." in run.output


def test_no_socket_is_opened_and_no_key_needed(
    bench_argv: Callable[..., list[str]], suite: Path, tmp_path: Path
) -> None:
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "no_network.py").write_text(
        "import sys\n"
        "def refuse(event, arguments):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo'):\n"
        "        print('A SOCKET WAS OPENED', flush=True)\n"
        "sys.addaudithook(refuse)\n"
    )
    environment = {"PYTHONPATH": str(hook), "PATH": "/usr/bin:/bin"}
    argv = [*bench_argv(suite, "--candidate", "jev", "--dry-run"), "-p", "no_network", "-p", "no:cacheprovider"]
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A SOCKET WAS OPENED" not in done.stdout
    assert "cannot be run yet: the environment variable TYPESAFE_API_KEY is not set" in done.stdout
    assert "Authorization: Bearer ***" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} - {".benchmarks"} == {"hook", "tiny"}


def test_the_request_shown_is_the_one_that_is_sent(bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-canary-123")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        asked = ["--candidate", "systemone", "--endpoint", url, "--model", "model-1", "--key-env", KEY]
        shown = bench(suite, *asked, "--dry-run", "-k", "way-003-original")
        from decibench.candidates.remote.allowance import Allowance
        from decibench.candidates.remote.candidate import RemoteCandidate
        from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
        from decibench.cases.loading import load_suite
        from decibench.cases.request import request_of

        (case,) = (case for case in load_suite(suite).cases if case.id == "demo-way-003-original")
        settings = SystemOneSettings(endpoint=url, model="model-1", key_env=KEY)
        candidate = RemoteCandidate(SystemOne(settings), Allowance(deadline_s=0.2))
        with pytest.raises(Exception, match="timeout"):
            candidate.decide(request_of(case))
        candidate.close()
        connection, _ = listening.accept()
        with connection:
            head, _, sent = connection.recv(65536).decode().partition("\r\n\r\n")
    first, *headers = head.split("\r\n")
    assert "sk-canary-123" not in shown.output
    assert line(shown, "POST ") == f"{url}{first.split()[1]}"
    beside = ("host:", "content-length:", "connection:")
    expected = {header.lower() for header in headers if not header.lower().startswith(beside)}
    text = lines(shown)
    start = next(place for place, found in enumerate(text) if found.startswith("POST "))
    printed = {found.lower() for found in text[start + 1 : text.index("", start)]}
    assert printed == {header.replace("sk-canary-123", "***") for header in expected}
    assert "authorization: bearer ***" in printed
    assert body(shown) == json.loads(sent)


def test_the_selection_trials_and_retries_are_counted(bench: Bench, suite: Path) -> None:
    run = bench(suite, *DRY, "-k", "way-003", "--trials", "3", "--retries", "2")
    assert run.code == 0
    assert line(run, "requests: ").startswith("6 for 6 items,")
    assert line(run, "attempts: ") == "at most 18, with --retries 2"
    assert bench(suite, *DRY, "-k", "nothing-of-that-name").code == 5


def test_tokens_and_cost_are_estimates_that_say_how(bench: Bench, suite: Path) -> None:
    run = bench(suite, *DRY, "--variant", "original")
    # Every body of the suite is as long as any other.
    characters = len(json.dumps(body(run), separators=(",", ":"))) * 12
    tokens = characters // 4 + 12 * 250
    assert line(run, "input tokens: about ").startswith(
        f"{tokens:,}, an estimate: characters of the bodies / 4, and 250"
    )
    cost = line(run, "cost: about ")
    assert cost.startswith(f"{tokens * 0.042e-6:.6f} USD without retries and warm-ups; ")
    assert "TypeSafe's page of models, 2026-11-30" in cost


def test_a_cost_is_unknown_where_a_price_is(bench: Bench, suite: Path) -> None:
    run = bench(suite, *[argument.replace("jev-1.13.0", "jev-latest") for argument in DRY])
    assert line(run, "cost: ") == (
        "unknown: no price of jev-latest at api.typesafe.ai (systemone) is known; name a table with it by --prices FILE"
    )


LANGUAGE_MODEL = """
[candidates.model]
adapter = "llm-final"
provider = "openai"
endpoint = "https://api.example.com"
model = "model-1"
max_tokens = 500
"""
PRICES = """
[[price]]
api = "chat"
model = "model-1"
input = 0.0
output = 8.0
date = 2026-11-30
source = "the contract"
"""


def test_output_is_estimated_at_the_most_that_a_reply_may_hold(bench: Bench, suite: Path, tmp_path: Path) -> None:
    files = {"--candidates": LANGUAGE_MODEL, "--prices": PRICES}
    for option, text in files.items():
        (tmp_path / f"{option.strip('-')}.toml").write_text(text, "utf-8")
    given = [part for option in files for part in (option, str(tmp_path / f"{option.strip('-')}.toml"))]
    cost = line(bench(suite, "--candidate", "model", *given, "--dry-run"), "cost: about ")
    assert cost == (
        f"{24 * 500 * 8e-6:.6f} USD without retries and warm-ups, were every reply as long as it may be (500 tokens); "
        "prices.toml: the contract, 2026-11-30"
    )


def test_the_price_of_an_option_goes_before_the_table(bench: Bench, suite: Path) -> None:
    cost = line(bench(suite, *DRY, "--input-usd-per-million", "0"), "cost: about ")
    assert cost == (
        "0.000000 USD without retries and warm-ups, output not counted; --input-usd-per-million, for input alone"
    )


@pytest.mark.parametrize("named", [[], ["decibench.bench_tests.test_load"]], ids=["beside", "alone"])
def test_the_requests_of_the_load_test_are_counted_apart(bench: Bench, suite: Path, named: list[str]) -> None:
    run = bench(suite, *named, *DRY, "--load", "--retries", "1")
    assert run.code == 0
    text = [*lines(run)]
    (start,) = (place for place, found in enumerate(text) if found.startswith("load test: "))
    assert text[start] == (
        "load test: 440 requests of 100 questions, in 20 ticks and 2 warm-ups with each kind of states"
    )
    assert text[start + 1] == "attempts: at most 880, with --retries 1"
    tokens = int(text[start + 2].removeprefix("input tokens: about ").partition(", an")[0].replace(",", ""))
    # A request of a hundred questions is about 20,000 characters long.
    assert 440 * 4_000 < tokens < 440 * 7_000
    assert text[start + 3].startswith(f"cost: about {tokens * 0.042e-6:.6f} USD without retries; ")
    assert len(body(run)["questions"]) == (100 if named else 1)
    assert any(found.startswith("requests: 24 for 24 items") for found in text) is not bool(named)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "2"], "--dry-run asks nothing, so that there is nothing to divide: run without -n"),
        (["--no-states"], "--dry-run prints a request, which holds what --no-states leaves out: leave one out"),
        (["--aggregate-only"], "--dry-run prints a request, which holds what --aggregate-only leaves out"),
        (["--latency"], "--dry-run counts no requests of test_latency.py: leave --latency out"),
        (["--against", "nowhere.json"], "nowhere.json"),
        (["--resume", "."], "--dry-run counts the requests of a whole run: leave --resume out"),
    ],
)
def test_what_a_dry_run_cannot_tell_is_refused(bench: Bench, suite: Path, arguments: list[str], said: str) -> None:
    run = bench(suite, *DRY, *arguments)
    assert run.code == 4
    assert said in run.output
