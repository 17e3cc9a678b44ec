"""Choosing items: what is a declared scope, what is partial, and what partial means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

NODE = "decibench.bench_tests.test_decisions::test_decision"


@pytest.mark.parametrize(
    ("arguments", "measured"),
    [
        pytest.param(["-k", "original and not way-000"], 11, id="k-expression"),
        pytest.param([f"{NODE}[baseline-demo-way-007-injection]"], 1, id="node-id"),
        pytest.param(["--smoke"], 5, id="smoke"),
        pytest.param(["--smoke", "--smoke-calls", "2"], 2, id="smoke-calls"),
        pytest.param(["--split", "holdout", "-k", "original"], 4, id="k-in-a-scope"),
    ],
)
def test_a_chosen_subset_is_partial(bench: Bench, suite: Path, arguments: list[str], measured: int) -> None:
    run = bench(suite, *arguments)
    assert run.code == 0
    _assert_partial(run, measured)


def test_one_case_by_k_is_partial_in_every_mode(bench: Bench, suite: Path, mode: list[str]) -> None:
    run = bench(suite, "-k", "demo-way-007-original", *mode)
    assert run.code == 0
    _assert_partial(run, 1)


def test_deselect_is_partial(bench: Bench, suite: Path, mode: list[str]) -> None:
    listed = bench(suite, "--collect-only", "-q").output.splitlines()
    node = next(line for line in listed if "demo-way-003-original" in line)
    run = bench(suite, "--deselect", node, *mode)
    assert run.code == 0
    _assert_partial(run, 23)


def test_a_marker_of_ones_own_is_partial(bench: Bench, suite: Path, pytester: pytest.Pytester, mode: list[str]) -> None:
    pytester.makeconftest(
        """
        import pytest

        def pytest_configure(config):
            config.addinivalue_line("markers", "quick: a few cases")

        def pytest_collection_modifyitems(items):
            for item in items:
                if "way-00" in item.name:
                    item.add_marker(pytest.mark.quick)
        """
    )
    run = bench(suite, "-m", "quick")
    assert run.code == 0
    _assert_partial(run, 20)


def test_the_last_failed_items_are_partial(
    bench: Bench, own: Own, suite: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    # The first three requests fail, as long as the file is there.
    (pytester.path / "broken").touch()
    path = own("""
        if os.path.exists("broken") and len(list(Path().glob("failed-*"))) < 3:
            Path(f"failed-{os.urandom(8).hex()}").touch()
            raise CandidateError("unavailable", "not now")
        return Answer({key: even(question) for key, question in request.questions.items()})
    """)
    first = bench(suite, "--candidate", path)
    assert first.code == 1
    first.result.assert_outcomes(failed=3, passed=9)  # pytest counts the missed ones apart.
    (pytester.path / "broken").unlink()
    again = bench(suite, "--candidate", path, "--lf", *mode)
    assert again.code == 0
    _assert_partial(again, 3, "own")


@pytest.mark.parametrize("stop", [["-x"], ["--maxfail", "2"]], ids=["x", "maxfail"])
def test_stopping_at_failures_is_partial_and_not_incomplete(
    bench: Bench, own: Own, suite: Path, mode: list[str], stop: list[str]
) -> None:
    path = own('raise CandidateError("unavailable", "not now")')
    run = bench(suite, "--candidate", path, *stop, *mode)
    assert run.code == 1
    report = run.report("own")
    assert report["partial"]
    assert not report["complete"]
    assert report["incomplete_reasons"] == []
    assert report["gates"]["empirical"]["status"] == "not-fitted"
    assert 1 <= report["scope"]["measured"] < 24


def test_a_partial_run_with_a_failed_item_exits_1(bench: Bench, own: Own, suite: Path) -> None:
    path = own('raise CandidateError("unavailable", "not now")')
    run = bench(suite, "--candidate", path, "-k", "way-004")
    assert run.code == 1
    assert run.report("own")["partial"]


@pytest.mark.parametrize(
    ("arguments", "scope", "number"),
    [
        pytest.param(["--split", "holdout"], {"splits": ["holdout"]}, 8, id="split"),
        pytest.param(
            ["--split", "holdout", "--split", "calibration"], {"splits": ["calibration", "holdout"]}, 16, id="splits"
        ),
        pytest.param(["--variant", "injection"], {"variants": ["injection"]}, 12, id="variant"),
        pytest.param(["--family", "demo"], {"families": ["demo"]}, 24, id="family"),
    ],
)
def test_split_family_and_variant_declare_a_scope(
    bench: Bench, suite: Path, arguments: list[str], scope: dict[str, Any], number: int
) -> None:
    run = bench(suite, *arguments)
    assert run.code == 0
    report = run.report()
    assert report["complete"]
    assert not report["partial"]
    assert (report["scope"]["expected"], report["scope"]["measured"]) == (number, number)
    assert {key: report["scope"][key] for key in scope} == scope


def test_a_scope_is_complete_in_every_mode(bench: Bench, suite: Path, mode: list[str]) -> None:
    report = bench(suite, "--split", "holdout", *mode).report()
    assert report["complete"]
    assert report["scope"]["measured"] == 8


def test_one_family_of_two_is_asked_alone(
    bench: Bench, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]
) -> None:
    rows = [row("one-000", family="first"), row("one-000", family="second"), row("two-000", family="second")]
    run = bench(make_suite(rows), "--family", "second")
    assert {record["family"] for record in run.records()} == {"second"}
    assert run.report()["complete"]


def test_a_scope_without_calibration_has_no_gate(bench: Bench, suite: Path) -> None:
    gate = bench(suite, "--split", "holdout").json("baseline", "gate.json")
    assert gate["status"] == "not-fitted"
    assert "calibration" in gate["reason"]


def test_a_smoke_run_asks_development_cases_only_and_is_no_look_at_the_holdout(
    bench: Bench, suite: Path, pytester: pytest.Pytester
) -> None:
    run = bench(suite, "--smoke", "--smoke-calls", "100")
    assert run.code == 0
    assert len(run.records()) == 8
    assert {record["split"] for record in run.records()} == {"development"}
    assert not (pytester.path / "runs" / "ledger.jsonl").exists()


def test_trials_ask_each_case_again_under_an_id_of_its_own(bench: Bench, suite: Path, mode: list[str]) -> None:
    listed = bench(suite, "--trials", "2", "--collect-only", "-q").output
    assert "test_decision[baseline-demo-way-000-original]" in listed
    assert "test_decision[baseline-demo-way-000-original-t2]" in listed
    run = bench(suite, "--trials", "2", *mode)
    assert run.code == 0
    report = run.report()
    assert report["complete"]
    assert report["scope"]["trials"] == 2
    assert len(report["records"]) == 48
    assert {name: stats["requests"] for name, stats in report["latency"]["by_trial"].items()} == {"1": 24, "2": 24}
    assert report["gates"]["empirical"]["decisions"] == 4  # Trial 1 of the four original calibration cases.
    assert report["metrics"]["holdout"]["overall"]["decisions"] == 8


def test_one_trial_can_be_selected_by_its_id(bench: Bench, suite: Path) -> None:
    run = bench(suite, "--trials", "3", "-k", "demo-way-000-original-t2")
    assert [(record["case"], record["trial"]) for record in run.records()] == [("demo-way-000-original", 2)]


def test_the_items_of_one_candidate_can_be_selected(bench: Bench, suite: Path, mode: list[str]) -> None:
    run = bench(suite, "--candidate", "uniform", "--candidate", "first-option", "-k", "first-option", *mode)
    assert run.code == 0
    _assert_partial(run, 24, "first-option", expected_partial=False)
    assert not (run.folder / "uniform").exists()
    assert run.json("comparison.json")["not_run"] == ["uniform"]


def _assert_partial(run: Run, measured: int, candidate: str = "baseline", *, expected_partial: bool = True) -> None:
    report = run.report(candidate)
    assert report["scope"]["measured"] == len(run.records(candidate)) == measured
    assert report["partial"] is expected_partial
    if not expected_partial:
        return
    assert not report["complete"]
    assert report["incomplete_reasons"] == []
    assert report["gates"]["empirical"]["status"] == "not-fitted"
    assert "partial" in report["gates"]["empirical"]["reason"]
    assert all(metrics["overall"]["coverage"] is None for metrics in report["metrics"].values())
    assert f"Partial: {measured} of {report['scope']['expected']} items" in run.output
