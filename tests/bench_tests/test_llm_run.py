"""Whole runs of language models through the three readouts, against a stand-in of both providers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench
    from tests.candidates.remote.llm.standin import StandIn

Write = Callable[..., None]

ARMS = ["llm-probabilities", "llm-labels", "llm-final"]
HELPER = Path(__file__).parents[1] / "candidates" / "remote" / "llm" / "standin.py"


@pytest.fixture(scope="module")
def shapes() -> Any:
    """The module of the stand-in; a helper beside tests is no module that pytest imports."""
    spec = importlib.util.spec_from_file_location("llm_standin_of_runs", HELPER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["llm_standin_of_runs"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def standin(shapes: Any) -> Iterator[StandIn]:
    with shapes.running() as server:
        yield server


@pytest.fixture
def configure(standin: StandIn, pytester: pytest.Pytester) -> Write:
    """Write a candidates file with one table per name: ``configure(arm={"adapter": ...})``."""

    def write(**tables: dict[str, Any]) -> None:
        lines = []
        for name, settings in tables.items():
            given = {"endpoint": standin.url, "model": "asked-model", "max_tokens": 500, **settings}
            lines.append(f"[candidates.{name}]")
            lines += [f"{key} = {value!r}" for key, value in given.items()]
        (pytester.path / "decibench.toml").write_text("\n".join(lines), "utf-8")

    return write


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("arm", ARMS)
def test_a_whole_run(bench: Bench, suite: Path, configure: Write, standin: StandIn, arm: str, provider: str) -> None:
    configure(arm={"adapter": arm, "provider": provider})
    run = bench(suite, "--candidate", "arm")
    assert run.code == 0, run.output
    records = run.records("arm")
    assert len(records) == 24
    assert {record["model"] for record in records} == {"stand-in-1"}
    tokens = {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64}
    assert all(record["usage"] == tokens for record in records)
    decisions = [decision for record in records for decision in record["decisions"]]
    assert {(decision["choice"], decision["failure"]) for decision in decisions} == {("left", None)}
    stated = {"left": pytest.approx(0.7), "right": pytest.approx(0.3)} if arm == "llm-probabilities" else None
    assert all(decision["probabilities"] == stated for decision in decisions)
    report = run.report("arm")
    identity = report["candidate"]["identity"]
    assert identity["probability_readout"] is (stated is not None)
    assert identity["settings"]["provider"] == provider
    overall = report["metrics"]["holdout"]["overall"]
    assert overall["accuracy"] == 0.5
    assert (overall["brier_score"] is None) is (stated is None)
    assert len(standin.asked) == 24 + 4  # And the first probe with three warm-ups.


@pytest.mark.parametrize("arm", ARMS)
def test_a_run_in_two_processes(bench: Bench, suite: Path, configure: Write, arm: str) -> None:
    configure(arm={"adapter": arm, "provider": "openai"})
    run = bench(suite, "--candidate", "arm", "-n", "2")
    assert run.code == 0, run.output
    assert len(run.records("arm")) == 24


def test_a_format_that_is_not_kept_is_a_failure_and_the_lenient_choice_is_beside_it(
    bench: Bench, suite: Path, configure: Write, standin: StandIn, shapes: Any
) -> None:
    configure(arm={"adapter": "llm-final", "provider": "openai"})
    for _ in range(4 + 24):
        standin.reply(shapes.chat_reply("**FINAL: right**"))
    run = bench(suite, "--candidate", "arm")
    assert run.code == 1, run.output
    decisions = [record["decisions"][0] for record in run.records("arm")]
    assert {(d["failure"]["code"], d["choice"], d["lenient_choice"]) for d in decisions} == {("format", None, "right")}
    overall = run.report("arm")["metrics"]["holdout"]["overall"]
    assert (overall["accuracy"], overall["failed"]) == (0.0, overall["decisions"])


def test_a_tool_that_cannot_be_forced_fails_every_decision_and_nothing_else_is_tried(
    bench: Bench, suite: Path, configure: Write, standin: StandIn
) -> None:
    configure(arm={"adapter": "llm-labels", "provider": "anthropic", "schema_mode": "tool"})
    error = {"type": "invalid_request_error", "message": "CANARY: tool_choice is not supported for this model."}
    for _ in range(1 + 24):
        standin.reply({"type": "error", "error": error}, 400)
    run = bench(suite, "--candidate", "arm")
    assert run.code == 1, run.output
    failures = [record["decisions"][0]["failure"]["code"] for record in run.records("arm")]
    assert failures == ["bad-request"] * 24
    assert all(body["tool_choice"]["type"] == "tool" for body in standin.bodies)
    assert "CANARY" not in run.output
    assert not [path for path in run.folder.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()]


def test_a_request_that_does_not_fit_fails_alone(
    bench: Bench, suite: Path, configure: Write, standin: StandIn, shapes: Any
) -> None:
    configure(arm={"adapter": "llm-labels", "provider": "openai"})
    for _ in range(4 + 1):
        standin.reply(shapes.chat_reply('{"q1": "left"}'))
    standin.reply({"error": {"message": "m", "type": "invalid_request_error", "code": "context_length_exceeded"}}, 400)
    run = bench(suite, "--candidate", "arm")
    assert run.code == 1, run.output
    codes = [d["failure"] and d["failure"]["code"] for record in run.records("arm") for d in record["decisions"]]
    assert sorted(code or "" for code in codes) == [""] * 23 + ["does-not-fit"]


def test_a_model_that_changes_during_a_run_is_told(
    bench: Bench, suite: Path, configure: Write, standin: StandIn, shapes: Any
) -> None:
    configure(arm={"adapter": "llm-labels", "provider": "openai"})
    for _ in range(4 + 20):
        standin.reply(shapes.chat_reply('{"q1": "left"}'))
    for _ in range(4):
        standin.reply({**shapes.chat_reply('{"q1": "left"}'), "model": "stand-in-2"})
    run = bench(suite, "--candidate", "arm")
    assert run.code == 1, run.output
    failures = [record["decisions"][0]["failure"] for record in run.records("arm")]
    assert [failure["code"] for failure in failures if failure] == ["wrong-model"] * 4


def test_without_a_key_the_readout_is_not_run_and_nothing_is_asked(
    bench: Bench, suite: Path, configure: Write, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    configure(arm={"adapter": "llm-labels", "provider": "anthropic", "key_env": "NO_SUCH_KEY"})
    run = bench(suite, "--candidate", "arm")
    assert run.code == 4
    assert "NO_SUCH_KEY" in run.output
    assert standin.asked == []
