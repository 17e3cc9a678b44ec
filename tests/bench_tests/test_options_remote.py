"""Options about remote candidates: what each takes, and that none is given in vain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench

REMOTE = ["--candidate", "systemone", "--endpoint", "http://127.0.0.1:9", "--model", "m", "--dry-run"]


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0"])
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--rate-limit", "--rate-limit: use requests per minute above 0"),
        ("--max-usd", "--max-usd: use US dollars above 0"),
        ("--deadline", "--deadline: use seconds above 0, at most 3600"),
    ],
)
def test_amounts_are_finite_and_above_0(bench: Bench, suite: Path, option: str, said: str, value: str) -> None:
    run = bench(suite, *REMOTE, f"{option}={value}")
    assert run.code == 4
    assert said in run.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--retries=-1"], "--retries -1: use 0 to 10"),
        (["--retries=11"], "--retries 11: use 0 to 10"),
        (["--deadline=3601"], "--deadline: use seconds above 0, at most 3600"),
        (["--prices="], "--prices: is empty; name a file or leave it out"),
        (["--prices=nowhere.toml"], "nowhere.toml: cannot be read"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused(bench: Bench, suite: Path, arguments: list[str], said: str) -> None:
    run = bench(suite, *REMOTE, *arguments)
    assert run.code == 4
    assert said in run.output


@pytest.mark.parametrize("arguments", [["--retries=10"], ["--deadline=3600"], ["--rate-limit=0.5"]])
def test_the_ends_of_the_ranges_are_taken(bench: Bench, suite: Path, arguments: list[str]) -> None:
    assert bench(suite, *REMOTE, *arguments).code == 0


@pytest.mark.parametrize(
    "arguments",
    [["--retries=1"], ["--deadline=5"], ["--rate-limit=60"], ["--max-usd=1"], ["--keep-raw"], ["--prices=mine.toml"]],
    ids=lambda arguments: arguments[0],
)
def test_what_no_candidate_has_a_use_for_is_refused(
    bench: Bench, suite: Path, pytester: pytest.Pytester, arguments: list[str], mode: list[str]
) -> None:
    price = 'api = "systemone"\nmodel = "m"\ninput = 1.0\noutput = 0.0\ndate = 2026-11-30\nsource = "a test"\n'
    (pytester.path / "mine.toml").write_text(f"[[price]]\n{price}", "utf-8")
    run = bench(suite, *arguments, *mode)
    assert run.code == 4
    option = arguments[0].partition("=")[0]
    assert f"{option}: is about candidates that are asked over HTTP, and none is named" in run.output


def test_a_remote_candidate_that_lacks_its_key_still_has_a_use_for_them(
    bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    run = bench(suite, "--candidate", "baseline", "--candidate", "jev", "--rate-limit", "60", "--max-usd", "1")
    assert run.code == 0
    assert "NOT RUN: jev: the environment variable TYPESAFE_API_KEY is not set" in run.output
