"""A whole session: what it writes, what it returns, and that the three ways to run agree."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from decibench.reports.report import read_report

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

MODES = {"serial": [], "n2": ["-n", "2"], "no-xdist": ["-p", "no:xdist"]}

# Answers right with .9 where the state says so, misses with .6, fails, and counts tokens.
MIXED = """
    words = request.state["say"].split()
    if words[0] == "fail":
        raise CandidateError("too-long", "the state does not fit")
    answer = {}
    for key, question in request.questions.items():
        top = 0.9 if words[0] == "sure" else 0.6
        rest = (1 - top) / (len(question.options) - 1)
        answer[key] = QuestionAnswer({name: top if name == words[1] else rest for name in question.options})
    return Answer(answer, usage=Usage(len(words), 1))
"""


@pytest.fixture
def mixed_suite(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Scenarios that a candidate of the body above answers, misses or fails, as their states say."""
    says = ["sure left", "sure right", "unsure left", "unsure right", "fail"]
    rows = [
        row(f"s-{n:03}", split, variant, "left", state={"say": says[n % 5], "n": n})
        for n in range(20)
        for split in [("development", "calibration", "holdout", "holdout")[n % 4]]
        for variant in ("original", "injection")
    ]
    return make_suite(rows, "mixed")


def test_a_session_writes_the_documented_files_and_exits_0(bench: Bench, suite: Path, mode: list[str]) -> None:
    run = bench(suite, *mode)
    assert run.code == 0
    assert _files(run.folder) == {
        "baseline/journal.jsonl",
        "baseline/report.json",
        "baseline/gate.json",
        "baseline/summary.md",
        "baseline/report.html",
        "baseline/benchmark.json",
    }
    assert run.journal()[0]["kind"] == "run"
    assert len(run.records()) == 24
    report = read_report(run.folder / "baseline" / "report.json")
    assert report.complete
    assert not report.partial
    assert (report.scope.expected, report.scope.collected, report.scope.measured) == (24, 24, 24)
    assert run.json("baseline", "gate.json") == run.report()["gates"]["empirical"]
    assert "macro accuracy 50.0%" in (run.folder / "baseline" / "summary.md").read_text("utf-8")
    run.result.stdout.fnmatch_lines(["*baseline on tiny 1, holdout: macro accuracy 50.0%*", "*12 passed, 12 missed*"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_another_plugin_that_cannot_write_its_file_takes_no_report(
    bench_argv: Callable[..., list[str]], suite: Path, pytester: pytest.Pytester
) -> None:
    argv = bench_argv(suite, "--run-dir", "run", "--junitxml", "/dev/full")
    done = subprocess.run(argv, cwd=pytester.path, capture_output=True, check=False)
    assert done.returncode == 1
    assert read_report(pytester.path / "run" / "baseline" / "report.json").complete
    assert (pytester.path / "run" / "baseline" / "report.html").is_file()


def test_two_candidates_also_write_a_comparison(bench: Bench, suite: Path, mode: list[str]) -> None:
    run = bench(suite, "--candidate", "uniform", "--candidate", "first-option", *mode)
    assert run.code == 0
    assert {name for name in _files(run.folder) if "/" not in name} == {
        "comparison.json",
        "comparison.md",
        "comparison.html",
    }
    assert {name.split("/")[0] for name in _files(run.folder) if "/" in name} == {"uniform", "first-option"}
    comparison = run.json("comparison.json")
    assert comparison["reference"] == "uniform"
    assert [standing["accuracy"] for standing in comparison["standings"]] == [0.5, 0.5]
    assert "No difference" in (run.folder / "comparison.md").read_text("utf-8")
    run.result.stdout.fnmatch_lines(["*24 passed, 24 missed*"])


def test_serial_two_workers_and_no_xdist_give_equal_reports(bench: Bench, own: Own, mixed_suite: Path) -> None:
    path = own(MIXED)
    arguments = ["--candidate", str(path), "--candidate", "baseline", "--trials", "2"]
    runs = {name: bench(mixed_suite, *arguments, *flags) for name, flags in MODES.items()}
    assert {run.code for run in runs.values()} == {1}
    first = runs["serial"].report("own")
    assert first["metrics"]["holdout"]["overall"]["failed"] == 4  # Two of ten holdout scenarios, in two trials.
    for name in ("n2", "no-xdist"):
        for candidate in ("own", "baseline"):
            assert _timeless(runs[name].report(candidate)) == _timeless(runs["serial"].report(candidate)), name
            assert runs[name].json(candidate, "gate.json") == runs["serial"].json(candidate, "gate.json")
        assert _timeless(runs[name].json("comparison.json")) == _timeless(runs["serial"].json("comparison.json"))


def test_without_candidate_the_baseline_runs_into_a_folder_of_its_name(pytester: pytest.Pytester, suite: Path) -> None:
    plugin = ["-p", "decibench.bench_tests.plugin", "--pyargs", "decibench.bench_tests"]
    result = pytester.runpytest_inprocess(*plugin, "--suite", suite)
    assert result.ret == 0
    (folder,) = (path for path in (pytester.path / "runs").iterdir() if path.is_dir())
    assert folder.name.endswith("-baseline")
    assert (folder / "baseline" / "report.json").is_file()
    result.stdout.fnmatch_lines([f"*writing to {folder}", f"*reports in {folder}"])


def test_every_scored_holdout_adds_one_line_to_the_ledger(bench: Bench, suite: Path, pytester: pytest.Pytester) -> None:
    first = bench(suite)
    second = bench(suite, "--candidate", "uniform")
    bench(suite, "--split", "development")
    looks = [json.loads(line) for line in (pytester.path / "runs" / "ledger.jsonl").read_text("utf-8").splitlines()]
    assert [(look["candidate"], look["report_hash"]) for look in looks] == [
        ("baseline", first.report()["seal"]),
        ("uniform", second.report("uniform")["seal"]),
    ]
    assert second.report("uniform")["holdout_looks"] == {
        "family": "uniform",
        "number": 1,
        "this_candidate": 1,
        "this_family": 1,
        "all_candidates": 2,
    }


def test_junit_xml_is_valid_and_carries_no_record(
    bench: Bench, own: Own, mixed_suite: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    run = bench(mixed_suite, "--candidate", own(MIXED), "--junitxml", "junit.xml", *mode)
    assert run.code == 1
    root = ElementTree.parse(pytester.path / "junit.xml").getroot()
    cases = list(root.iter("testcase"))
    assert len(cases) == 40
    assert len({case.get("name") for case in cases}) == 40
    assert len(list(root.iter("failure"))) == 8
    assert not list(root.iter("error"))
    text = (pytester.path / "junit.xml").read_text("utf-8")
    for word in ("probabilities", "request_hash", "sure left"):
        assert word not in text


def test_collect_only_lists_the_items_and_writes_nothing(
    bench: Bench, suite: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    before = _files(pytester.path)
    run = bench(suite, "--collect-only", "-q", "-p", "no:cacheprovider", *mode)
    assert run.code == 0
    assert run.output.count("test_decision[baseline-demo-way-") == 24
    assert _files(pytester.path) == before


def test_nothing_selected_is_exit_5_and_writes_nothing(bench: Bench, suite: Path, mode: list[str]) -> None:
    run = bench(suite, "-k", "no-such-case", *mode)
    assert run.code == 5
    assert not run.folder.exists()


def test_other_peoples_tests_run_as_without_the_plugin(pytester: pytest.Pytester, mode: list[str]) -> None:
    pytester.makepyfile("def test_one(): pass\n\ndef test_decision(): pass\n")
    result = pytester.runpytest_inprocess("-p", "decibench.bench_tests.plugin", *mode)
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert "decibench:" not in result.stdout.str()
    assert not (pytester.path / "runs").exists()


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _timeless(content: Any) -> Any:
    """``content`` without times, ids of the run, and what follows from them."""
    changing = {"run", "created", "seal", "holdout_looks", "latency", "latency_s", "p50_s"}
    if isinstance(content, dict):
        return {key: _timeless(value) for key, value in content.items() if key not in changing}
    if isinstance(content, list):
        return [_timeless(value) for value in content]
    return content
