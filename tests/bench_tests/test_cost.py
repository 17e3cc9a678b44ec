"""Tokens and money: known only where every part is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jevcompat.mock import MockConfig, Running

from decibench.reports.latency import Prices, cost_of
from decibench.reports.report import read_report

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

EVEN = "{key: even(question) for key, question in request.questions.items()}"
TOKENS = ["--input-usd-per-million", "2.5"]
HOURS = ["--compute-usd-per-hour", "3.6"]


def test_known_tokens_have_a_price(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, "--candidate", own(f"return Answer({EVEN}, usage=Usage(100, 3))"), *TOKENS)
    assert run.code == 0
    cost = run.report("own")["cost"]
    assert (cost["input_tokens"], cost["output_tokens"]) == (2400, 72)
    assert cost["input_usd"] == pytest.approx(0.006)
    assert cost["compute_usd"] is None
    assert cost["total_usd"] == cost["input_usd"]
    said = "Cost of the measured requests: 0.006000 USD (--input-usd-per-million, for input alone)."
    assert said in " ".join(run.output.split())


def test_time_of_requests_has_a_price_and_both_add_up(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, "--candidate", own(f"return Answer({EVEN}, usage=Usage(100))"), *TOKENS, *HOURS)
    cost = run.report("own")["cost"]
    seconds = sum(record["latency_s"] for record in run.records("own"))
    assert cost["compute_usd"] == pytest.approx(seconds / 1000)
    assert cost["total_usd"] == pytest.approx(0.006 + seconds / 1000)
    assert cost["output_tokens"] is None


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param("Usage()", id="never"),
        pytest.param("Usage(-1)", id="negative"),
        pytest.param("Usage(True)", id="boolean"),
        pytest.param("None", id="no-usage"),
    ],
)
def test_an_unknown_number_of_tokens_makes_the_cost_unknown_not_zero(
    bench: Bench, own: Own, suite: Path, usage: str
) -> None:
    path = own(f"return Answer({EVEN}, usage={usage})")
    run = bench(suite, "--candidate", path, *TOKENS, *HOURS)
    assert run.code == 0
    cost = run.report("own")["cost"]
    assert (cost["input_tokens"], cost["input_usd"], cost["total_usd"]) == (None, None, None)
    assert cost["compute_usd"] > 0
    known = f"Cost of the measured requests: compute {cost['compute_usd']:.6f} USD; input unknown, because tokens"
    assert known in " ".join(run.output.split())


def test_one_failed_request_makes_the_sum_of_tokens_unknown(bench: Bench, own: Own, suite: Path) -> None:
    path = own(f"""
        if not os.path.exists("failed-once"):
            open("failed-once", "w").close()
            raise CandidateError("deadline", "no answer in time")
        return Answer({EVEN}, usage=Usage(100))
    """)
    run = bench(suite, "--candidate", path, *TOKENS)
    assert run.code == 1
    assert [record["usage"]["input_tokens"] for record in run.records("own")] == [None, *[100] * 23]
    assert run.report("own")["cost"]["total_usd"] is None


def test_without_prices_there_is_no_cost(bench: Bench, suite: Path) -> None:
    run = bench(suite)
    assert run.report()["cost"]["total_usd"] is None
    assert "Cost" not in run.output


def test_a_price_of_nothing_costs_nothing(bench: Bench, own: Own, suite: Path) -> None:
    path = own(f"return Answer({EVEN}, usage=Usage(100))")
    assert bench(suite, "--candidate", path, "--input-usd-per-million", "0").report("own")["cost"]["total_usd"] == 0


def test_a_cost_beyond_all_floats_is_unknown(bench: Bench, suite: Path) -> None:
    report = read_report(bench(suite).folder / "baseline" / "report.json")
    endless = [record.model_copy(update={"latency_s": 1e308}) for record in report.records]
    cost = cost_of(endless[:1], Prices(compute_usd_per_hour=1e6))
    assert (cost.compute_usd, cost.total_usd) == (None, None)
    assert cost_of(endless, Prices(compute_usd_per_hour=3600.0)).compute_usd is None


PRICES = """
[[price]]
api = "systemone"
model = "jev-latest"
input = 2.0
output = 0.5
date = 2026-11-30
source = "the contract"
"""


@pytest.fixture
def priced(tmp_path: Path) -> list[str]:
    """A remote candidate without its endpoint, at prices of a table."""
    path = tmp_path / "mine.toml"
    path.write_text(PRICES, "utf-8")
    return ["--candidate", "systemone", "--model", "jev-latest", "--prices", str(path)]


def test_a_remote_candidate_is_reported_at_the_price_of_a_table(
    bench: Bench, suite: Path, priced: list[str], mode: list[str]
) -> None:
    with Running(MockConfig()) as server:
        run = bench(suite, *priced, "--endpoint", server.url, *mode)
    assert run.code == 0
    cost = run.report("systemone")["cost"]
    assert (cost["attempts"], cost["untold"]) == (24, 0)
    assert (cost["input_tokens"], cost["output_tokens"]) == (24 * 34, 24 * 2)
    assert cost["total_usd"] == pytest.approx(24 * (34 * 2.0 + 2 * 0.5) / 1e6)
    assert cost["prices"]["stated"] == "mine.toml: the contract, 2026-11-30"
    summary = (run.folder / "systemone" / "summary.md").read_text("utf-8")
    assert "mine.toml: the contract, 2026-11-30" in summary
    said = f"Cost of the measured requests: {cost['total_usd']:.6f} USD (mine.toml: the contract, 2026-11-30)."
    assert said in " ".join(run.output.split())


def test_a_price_that_is_not_known_is_no_price_of_nothing(bench: Bench, suite: Path) -> None:
    with Running(MockConfig()) as server:
        run = bench(suite, "--candidate", "systemone", "--endpoint", server.url, "--model", "jev-latest")
    cost = run.report("systemone")["cost"]
    assert (cost["input_tokens"], cost["at_least"]["input_tokens"]) == (24 * 34, 24 * 34)
    assert (cost["input_usd"], cost["total_usd"], cost["at_least"]["usd"]) == (None, None, None)
    assert "Cost of" not in run.output


def test_repeated_attempts_that_told_nothing_make_the_total_unknown_and_what_is_known_the_least(
    bench: Bench, suite: Path, priced: list[str]
) -> None:
    with Running(mock := MockConfig(busy_every=2)) as server:
        run = bench(suite, *priced, "--endpoint", server.url, "--retries", "3")
        refused = mock.requests // 2
    assert run.code == 0
    cost = run.report("systemone")["cost"]
    # Warm-ups are in nothing: four of them, and the refusals before the last three.
    assert (cost["attempts"] - cost["untold"], 0 < cost["untold"] < refused) == (24, True)
    assert (cost["input_tokens"], cost["total_usd"]) == (None, None)
    least = cost["at_least"]
    assert (least["input_tokens"], least["output_tokens"]) == (24 * 34, 24 * 2)
    assert least["usd"] == pytest.approx(24 * (34 * 2.0 + 2 * 0.5) / 1e6)
    said = (
        f"At least {least['usd']:.6f} USD: {cost['untold']} of {cost['attempts']} requests did not tell their tokens."
    )
    assert said in " ".join(run.output.split())


def test_the_price_of_an_option_goes_before_the_table(bench: Bench, suite: Path, priced: list[str]) -> None:
    with Running(MockConfig()) as server:
        run = bench(suite, *priced, "--endpoint", server.url, *TOKENS)
    cost = run.report("systemone")["cost"]
    assert cost["total_usd"] == cost["input_usd"] == pytest.approx(24 * 34 * 2.5 / 1e6)
    assert cost["prices"]["output_usd_per_million"] is None
    assert cost["prices"]["stated"] == "--input-usd-per-million, for input alone"
