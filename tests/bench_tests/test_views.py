"""``--no-states`` and ``--aggregate-only``: what a run shows of single cases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

_CASE = re.compile(r"demo-way-\d{3}")


@pytest.mark.parametrize("view", ["--no-states", "--aggregate-only"])
@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
def test_a_view_that_hides_cases_does_not_go_with_drawing_them(
    bench: Bench, suite: Path, view: str, flags: list[str]
) -> None:
    run = bench(suite, view, "--on-miss=fail", *flags)
    assert run.code == 4
    assert f"--on-miss fail prints the case of every miss, which {view} leaves out" in run.output
    assert bench(suite, view, "--on-miss=record").code == 0


def test_aggregate_only_does_not_go_with_a_table_of_decisions(bench: Bench, suite: Path) -> None:
    run = bench(suite, "--aggregate-only", "--report-format", "csv")
    assert run.code == 4
    assert "leave one out" in run.output


def test_aggregate_only_names_no_case_in_terminal_and_summaries(bench: Bench, suite: Path, mode: list[str]) -> None:
    names = ["--candidate", "uniform", "--candidate", "first-option"]
    run = bench(suite, "--aggregate-only", *names, *mode)
    shown = [run.output, *(path.read_text("utf-8") for path in run.folder.rglob("*.md"))]
    assert len(shown) == 4
    assert not [match for text in shown for match in _CASE.findall(text)]
    assert "Most confident errors" not in "".join(shown)
    full = bench(suite, *names, *mode)
    assert "demo-way-" in full.output
    assert "demo-way-" in (full.folder / "uniform" / "summary.md").read_text("utf-8")


def test_aggregate_only_counts_what_is_missing_and_does_not_name_it(bench: Bench, suite: Path, own: Own) -> None:
    # A fatal failure leaves all that would have been asked after it without a record.
    path = own('raise CandidateError("gone", "the server is gone", fatal=True)')
    named = bench(suite, "--candidate", path, "-p", "no:xdist")
    assert re.search(r"Incomplete: 23 of 24 selected items have no record \(own-demo-way-", _joined(named.output))
    run = bench(suite, "--candidate", path, "-p", "no:xdist", "--aggregate-only")
    summary = (run.folder / "own" / "summary.md").read_text("utf-8")
    assert "Incomplete: 23 of 24 selected items have no record." in summary
    assert "Incomplete: 23 of 24 selected items have no record." in _joined(run.output)
    assert not _CASE.search(summary)
    assert not _CASE.search(run.output.partition("= decibench =")[2].partition("short test summary")[0])


def _joined(output: str) -> str:
    return " ".join(output.split())


def test_a_run_says_first_what_may_be_done(bench: Bench, suite: Path) -> None:
    limits = ["--max-error", "0.6", "--min-accepted", "1"]
    run = bench(suite, "--candidate", "first-option", *limits)
    report = run.report("first-option")
    overall, threshold = report["metrics"]["holdout"]["overall"], report["gates"]["empirical"]["threshold"]
    line = (
        f"To act at {threshold:g} or more with an error of at most 5% is refuted: on holdout {overall['accepted']} of "
        f"{overall['decisions']} are accepted, {overall['accepted_errors']} of them wrong."
    )
    assert f"first-option: {line}" in _joined(run.output)
    assert (run.folder / "first-option" / "summary.md").read_text("utf-8").splitlines()[2] == f"**{line}**"
    none = bench(suite, "--candidate", "uniform")
    assert "uniform: Act on nothing: no threshold qualifies." in none.output
    partial = bench(suite, "--candidate", "uniform", "-k", "way-001")
    assert "uniform: Act on nothing: no gate was fitted." in partial.output


def test_aggregate_only_counts_what_changed_and_lists_no_case(bench: Bench, suite: Path, own: Own) -> None:
    blessed = bench(suite, "--candidate", "first-option").folder
    path = own("return [sure(question, question.option_ids[-1]) for question in request.questions]")
    full = bench(suite, "--candidate", path, "--against", blessed)
    run = bench(suite, "--candidate", path, "--against", blessed, "--aggregate-only")
    listed, counted = (r.json("own", "regression.json") for r in (full, run))
    assert listed["changes"]
    assert counted["changes"] == []
    assert counted["overall"] == listed["overall"]
    assert counted["passed"] is False
    assert not _CASE.search((run.folder / "own" / "regression.json").read_text("utf-8"))
