"""Requests that were asked again: latency with and without the attempts that failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from decibench.reports.report import read_report

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]

BODY = """
if Path("broken.txt").exists():
    raise CandidateError("timeout", "too late")
return Answer({key: even(question) for key, question in request.questions.items()})
"""
CREATE = """
if Path("gone.txt").exists():
    raise CandidateError("gone", "no weights")
return Own()
"""


def by_case(run: Any) -> dict[str, dict[str, Any]]:
    """The records of a report by case."""
    return {record["case"]: record for record in run.report("own")["records"]}


def test_earlier_attempts_are_kept_in_order(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own(BODY)
    broken = Path("broken.txt")
    broken.touch()
    first = bench(suite, "--candidate", candidate)
    once = by_case(first)
    second = bench(suite, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    twice = by_case(second)
    broken.unlink()
    third = bench(suite, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    assert third.code == 0
    for case, record in by_case(third).items():
        assert record["attempt"] == 3
        assert [attempt["seconds"] for attempt in record["earlier"]] == [
            once[case]["latency_s"],
            twice[case]["latency_s"],
        ]
        assert {attempt["code"] for attempt in record["earlier"]} == {"timeout"}


def test_latency_with_and_without_retries_stand_beside_each_other(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own(BODY)
    Path("broken.txt").touch()
    first = bench(suite, "--candidate", candidate)
    Path("broken.txt").unlink()
    again = bench(suite, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    report = read_report(again.folder / "own" / "report.json")
    latency, waited = report.latency, [(r.earlier_s or 0) + (r.latency_s or 0) for r in report.records]
    assert latency.overall is not None
    assert latency.with_retries is not None
    assert latency.overall.requests == latency.with_retries.requests == 24
    assert abs(latency.with_retries.mean_s - sum(waited) / 24) < 1e-12
    assert latency.by_trial_with_retries == {"1": latency.with_retries}
    summary = (again.folder / "own" / "summary.md").read_text("utf-8")
    assert "| all trials, with retries | 24 | 0 |" in summary
    assert "all trials, with retries" in again.output


def test_without_retries_only_one_figure_stands_there(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, "--candidate", own(BODY))
    latency = run.report("own")["latency"]
    assert latency["with_retries"] == latency["overall"]
    assert latency["by_trial_with_retries"] == latency["by_trial"]
    assert "with retries" not in run.output


def test_an_attempt_that_was_never_timed_leaves_the_sum_unknown(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own(BODY, create=CREATE)
    Path("gone.txt").touch()
    first = bench(suite, "--candidate", candidate)
    assert first.report("own")["latency"]["overall"] is None
    Path("gone.txt").unlink()
    again = bench(suite, "--candidate", candidate, "--resume", first.folder, "--retry-failed")
    records = again.report("own")["records"]
    assert {(r["attempt"], *((e["seconds"], e["code"]) for e in r["earlier"])) for r in records} == {
        (2, (None, "gone"))
    }
    latency = again.report("own")["latency"]
    assert latency["overall"]["requests"] == 24
    assert latency["with_retries"] is None
    assert "all trials, with retries" in again.output


def test_what_a_format_cannot_ask_was_not_timed_and_a_refused_connection_was(
    bench: Bench, own: Own, suite: Path
) -> None:
    code = """
        type(self).asked = getattr(self, "asked", 0) + 1
        raise CandidateError("not-askable" if self.asked % 2 else "connection-failed", "no way")
    """
    run = bench(suite, "--candidate", own(code))
    timed = {record["decisions"][0]["failure"]["code"]: record["latency_s"] for record in run.records("own")}
    assert timed["not-askable"] is None
    assert timed["connection-failed"] > 0
    overall = run.report("own")["latency"]["overall"]
    assert (overall["requests"], overall["untimed"]) == (12, 12)
