"""Candidates that lack something, such as a key: not run, said so everywhere, and nothing is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Asked, Bench, Said, Serve, Served

LACKING = "the environment variable MISSING_KEY is not set; put the key there"


@pytest.fixture
def far(
    serve: Serve, served: Callable[[Asked], Said], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Served:
    """A server, and a candidates file in which ``far`` and ``farther`` ask it with a key that is not there."""
    server = serve(served)
    table = '[candidates.{}]\nadapter = "systemone"\nendpoint = "{}"\nmodel = "m-1"\nkey_env = "MISSING_KEY"\n'
    text = "".join(table.format(name, server.url) for name in ("far", "farther"))
    (pytester.path / "decibench.toml").write_text(text, "utf-8")
    for name in ("MISSING_KEY", "TYPESAFE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return server


def test_those_with_a_key_are_run_and_the_others_are_named(
    bench: Bench, suite: Path, far: Served, mode: list[str]
) -> None:
    run = bench(suite, "--candidate", "far", "--candidate", "uniform", "--candidate", "jev", *mode)
    assert run.code == 0
    assert f"NOT RUN: far: {LACKING}" in run.output
    assert "NOT RUN: jev: the environment variable TYPESAFE_API_KEY is not set" in run.output
    assert len(run.records("uniform")) == 24
    comparison = run.json("comparison.json")
    assert comparison["not_run"] == ["far", "jev"]
    lacking = {"far": LACKING, "jev": LACKING.replace("MISSING_KEY", "TYPESAFE_API_KEY")}
    assert comparison["not_run_reasons"] == lacking
    for page in ("comparison.md", "comparison.html"):
        text = (run.folder / page).read_text("utf-8")
        for name, what in lacking.items():
            assert f"{name} was not run: {what}." in text
    assert {path.name for path in run.folder.iterdir() if path.is_dir()} == {"uniform"}
    assert far.asked == []


def test_where_all_of_them_lack_a_key_nothing_is_run(bench: Bench, suite: Path, far: Served, mode: list[str]) -> None:
    run = bench(suite, "--candidate", "far", "--candidate", "farther", *mode)
    assert run.code == 4
    assert f"far, farther cannot be run: {LACKING}" in run.output
    assert not run.folder.exists()
    assert far.asked == []


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("", "is not set"),
        ("  ", "is not set"),
        ("k\u00e9y", "no header can carry"),
        ("one\ntwo", "no header can carry"),
    ],
)
def test_a_value_that_is_no_key_is_none_and_is_not_shown(
    bench: Bench, suite: Path, far: Served, monkeypatch: pytest.MonkeyPatch, value: str, what: str
) -> None:
    monkeypatch.setenv("MISSING_KEY", value)
    run = bench(suite, "--candidate", "far")
    assert run.code == 4
    assert f"far cannot be run: the environment variable MISSING_KEY {what}" in run.output.replace(
        " holds characters that", ""
    )
    assert "k\u00e9y" not in run.output
    assert "two" not in run.output


def test_a_key_is_not_sent_unencrypted_to_another_machine(
    bench: Bench, suite: Path, far: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSING_KEY", "a-key")
    run = bench(suite, "--candidate", "far", "--endpoint", "http://203.0.113.1")
    assert run.code == 4
    assert "http:// to 203.0.113.1 would send the key unencrypted; use https://" in run.output


@pytest.mark.parametrize("options", [["--require-gate"], ["--interleave"], ["--resume", "earlier"]])
def test_what_is_required_of_a_candidate_that_is_not_run_does_not_pass(
    bench: Bench, suite: Path, far: Served, options: list[str]
) -> None:
    run = bench(suite, "--candidate", "far", *options)
    assert run.code == 4
    assert f"far cannot be run: {LACKING}" in run.output


def test_who_is_not_run_cannot_take_turns(bench: Bench, suite: Path, far: Served) -> None:
    run = bench(suite, "--candidate", "far", "--candidate", "uniform", "--interleave")
    assert run.code == 4
    assert f"--interleave lets candidates take turns: far is not run: {LACKING}, or leave it out" in run.output


def test_a_given_gate_is_not_checked_on_the_candidate_that_is_left(bench: Bench, suite: Path, far: Served) -> None:
    fitted = bench(suite, "--candidate", "uniform")
    gate = fitted.folder / "uniform" / "gate.json"
    run = bench(suite, "--candidate", "far", "--candidate", "uniform", "--gate", gate)
    assert run.code == 4
    assert "--gate belongs to one candidate; give exactly one --candidate" in run.output


def test_a_required_gate_stays_unchecked_where_a_candidate_is_not_run(bench: Bench, suite: Path, far: Served) -> None:
    run = bench(suite, "--candidate", "far", "--candidate", "uniform", "--require-gate")
    assert run.code == 11
    assert "--require-gate: was required and not checked: far was not run" in run.output
    assert f"NOT RUN: far: {LACKING}" in run.output


def test_with_the_key_it_is_run(bench: Bench, suite: Path, far: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISSING_KEY", " a-key \n")
    run = bench(suite, "--candidate", "far", "-n", "2")
    assert run.code == 0
    assert "NOT RUN" not in run.output
    assert {asked.headers["authorization"] for asked in far.asked} == {"Bearer a-key"}


def test_what_is_lacking_is_wrapped_at_words(bench: Bench, suite: Path, far: Served, pytester: pytest.Pytester) -> None:
    name, host = "n" * 60, "h" * 30
    table = f'[candidates.{name}]\nadapter = "systemone"\nendpoint = "http://{host}"\nmodel = "m-1"\nkey_env = "HOME"\n'
    (pytester.path / "decibench.toml").write_text(table, "utf-8")
    run = bench(suite, "--candidate", name, "--candidate", "uniform")
    (start,) = (at for at, line in enumerate(run.result.outlines) if line.startswith("NOT RUN"))
    said = run.result.outlines[start : start + 2]
    assert max(map(len, said)) <= 100
    sentence = f"NOT RUN: {name}: http:// to {host} would send the key unencrypted; use https://, or leave key_env out"
    assert " ".join(line.strip() for line in said) == sentence


def test_a_run_tells_where_a_remote_candidate_is_asked(
    bench: Bench, suite: Path, far: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSING_KEY", "a-key")
    run = bench(suite, "--candidate", "far", "--candidate", "uniform")
    assert f"far at {far.url.removeprefix('http://')}, uniform on cpu" in run.output
