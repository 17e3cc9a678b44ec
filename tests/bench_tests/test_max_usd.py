"""``--max-usd``: a run stops before it can cost more, keeps what it has, and wants to know the prices first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from jevcompat.mock import MockConfig, Running

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

DOLLAR_A_TOKEN = """
[[price]]
api = "systemone"
model = "jev-latest"
input = 1e6
output = 0.0
date = 2026-11-30
source = "a price for tests"
"""


@pytest.fixture
def prices(tmp_path: Path) -> list[str]:
    """Options that make every input token cost a dollar."""
    path = tmp_path / "prices.toml"
    path.write_text(DOLLAR_A_TOKEN, "utf-8")
    return ["--prices", str(path)]


def asked(server: Running) -> list[str]:
    return ["--candidate", "systemone", "--endpoint", server.url, "--model", "jev-latest"]


def test_a_run_stops_before_the_limit_and_goes_on_when_resumed(
    bench: Bench, suite: Path, prices: list[str], mode: list[str]
) -> None:
    # A request takes 34 tokens, and more than 1,000 are set aside for it; each of two workers has a half.
    limit = 1700 * (2 if "-n" in mode else 1)
    with Running(mock := MockConfig()) as server:
        run = bench(suite, *asked(server), *prices, "--max-usd", str(limit), *mode)
        requests, spent = mock.requests, mock.requests * 34
        assert run.code == 2
        assert "STOPPED: systemone cannot go on: this process has spent its share of --max-usd: the next" in run.output
        again = f"allow as much again, or another amount, by --max-usd with --resume {run.folder}"
        assert f"are left; {again}\n" in run.output
        assert "FAILED" not in run.output
        records = run.records("systemone")
        # What was not sent has no record.
        assert {record["usage"]["input_tokens"] for record in records} == {34}
        assert 0 < len(records) < 24
        # Warm-ups are asked and paid too.
        assert len(records) < requests < 28
        assert spent <= limit
        resumed = bench(suite, *asked(server), *prices, "--resume", run.folder, *mode)
        assert resumed.code == 0
        left = 24 - len(records)
        assert mock.requests == requests + left + 4 * (2 if "-n" in mode else 1)
    report = resumed.report("systemone")
    assert report["complete"]
    assert report["latency"]["overall"]["requests"] == 24
    assert (report["cost"]["attempts"], report["cost"]["untold"]) == (24, 0)
    assert report["cost"]["total_usd"] == pytest.approx(24 * 34)


def test_what_is_not_asked_any_more_is_skipped_with_the_reason(
    bench: Bench, suite: Path, prices: list[str], pytester: pytest.Pytester, mode: list[str]
) -> None:
    limit = 1700 * (2 if "-n" in mode else 1)
    with Running(MockConfig()) as server:
        run = bench(suite, *asked(server), *prices, "--max-usd", str(limit), "--junitxml", "tests.xml", "-x", *mode)
    assert run.code == 2
    outcomes = run.result.parseoutcomes()
    assert "failed" not in outcomes
    records = run.records("systemone")
    assert outcomes["missed"] + outcomes.get("passed", 0) == len(records)
    # A worker has items in its queue when the first of them cannot be asked.
    assert outcomes["skipped"] >= 1 if "-n" in mode else outcomes["skipped"] == 1
    (tests,) = ElementTree.parse(pytester.path / "tests.xml").getroot()
    assert {name: tests.get(name) for name in ("failures", "errors")} == {"failures": "0", "errors": "0"}
    skipped = tests.findall("./testcase/skipped")
    assert len(skipped) == outcomes["skipped"]
    start = "not asked: this process has spent its share of --max-usd: the next request can cost "
    assert all((found.get("message") or "").startswith(start) for found in skipped)
    assert not (pytester.path / ".pytest_cache" / "v" / "cache" / "lastfailed").exists()


def test_a_limit_that_is_not_reached_changes_nothing(bench: Bench, suite: Path, prices: list[str]) -> None:
    with Running(mock := MockConfig()) as server:
        run = bench(suite, *asked(server), *prices, "--max-usd", "1e5")
        assert run.code == 0
        assert mock.requests == 28


def test_requests_that_were_refused_may_have_cost_their_most(bench: Bench, suite: Path, prices: list[str]) -> None:
    with Running(mock := MockConfig(busy_every=1)) as server:
        run = bench(suite, *asked(server), *prices, "--max-usd", "5000", "--retries", "1")
        assert run.code == 2
        # More than 1,000 and less than 1,500 are booked for each.
        assert mock.requests in (3, 4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--model", "jev-latest", "--max-usd", "1"],
            "--max-usd: systemone: no price of jev-latest at 127.0.0.1:9 (systemone) is known; name a table with it by "
            "--prices FILE",
        ),
        (
            ["--model", "jev-wordy", "--max-usd", "1"],
            "--max-usd: systemone: output of jev-wordy has a price, and nothing bounds how much of it a reply holds",
        ),
    ],
)
def test_what_a_request_can_cost_must_be_known_before_any_is_asked(
    bench: Bench, suite: Path, tmp_path: Path, arguments: list[str], said: str, mode: list[str]
) -> None:
    path = tmp_path / "prices.toml"
    wordy = DOLLAR_A_TOKEN.replace("jev-latest", "jev-wordy").replace("output = 0.0", "output = 1.0")
    path.write_text(wordy, "utf-8")
    asked = ["--candidate", "systemone", "--endpoint", "http://127.0.0.1:9", "--prices", str(path)]
    run = bench(suite, *asked, *arguments, *mode)
    assert run.code == 4
    assert said in run.output
    assert not run.folder.exists()


def test_a_worker_that_dies_is_not_replaced_by_one_with_money_of_its_own(
    bench: Bench, own: Own, suite: Path, prices: list[str], pytester: pytest.Pytester
) -> None:
    own("os._exit(1)", name="dying.py")
    arguments = ["--candidate", "hosted", "--candidate", "dying.py", *prices, "-n", "1"]
    with Running(MockConfig()) as server:
        (pytester.path / "decibench.toml").write_text(
            f'[candidates.hosted]\nadapter = "systemone"\nendpoint = "{server.url}"\nmodel = "jev-latest"\n', "utf-8"
        )
        replaced = bench(suite, *arguments, "-k", "way-000")
        stopped = bench(suite, *arguments, "-k", "way-000", "--max-usd", "1e6")
    assert "replacing crashed worker" in replaced.output
    assert "replacing crashed worker" not in stopped.output
    assert "worker restarting disabled" in stopped.output
