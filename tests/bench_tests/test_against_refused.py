"""``--against`` with what cannot be compared with: exit 4 and a sentence, before anything is asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Run


def _refused(run: Run, *words: str) -> None:
    assert run.code == 4
    assert not run.folder.exists()
    said = " ".join(run.output.split())
    for word in words:
        assert word in said, word
    assert "Traceback" not in run.output


@pytest.fixture
def blessed(bench: Bench, suite: Path, tmp_path: Path) -> Path:
    """A folder with the reports of baseline and uniform, and nothing else."""
    run = bench(suite, "--candidate", "baseline", "--candidate", "uniform")
    for name in ("baseline", "uniform"):
        place = tmp_path / "blessed" / name
        place.mkdir(parents=True)
        shutil.copy(run.folder / name / "report.json", place)
    return tmp_path / "blessed"


def test_reports_alone_are_enough(bench: Bench, suite: Path, blessed: Path, mode: list[str]) -> None:
    run = bench(suite, "--candidate", "uniform", "--against", blessed, "--fail-on-regression", *mode)
    assert run.code == 0
    assert run.json("uniform", "regression.json")["passed"] is True


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:2000])


def _edit(file: Path) -> None:
    file.write_text(file.read_text("utf-8").replace('"failed": 0', '"failed": 1', 1), "utf-8")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": _cut,
    "edited or damaged": _edit,
    "is not the report of a candidate": lambda file: file.write_text("[]"),
    "is empty": lambda file: file.write_text(""),
    "more than 4300 digits": lambda file: file.write_text('{"a": ' + "9" * 5000 + "}"),
    "; name a report, the folder of a candidate, or that of a run": Path.unlink,
}


def test_a_missing_or_damaged_report(bench: Bench, suite: Path, blessed: Path) -> None:
    file = blessed / "baseline" / "report.json"
    whole = file.read_bytes()
    for word, spoil in DAMAGE.items():
        file.write_bytes(whole)
        spoil(file)
        _refused(bench(suite, "--against", file), f"--against {file}", word)


@pytest.mark.parametrize("flags", [[], ["-n", "2"], ["-p", "no:xdist"]], ids=["serial", "n2", "no-xdist"])
def test_a_candidate_without_a_report(bench: Bench, suite: Path, blessed: Path, flags: list[str]) -> None:
    run = bench(suite, "--candidate", "majority", "--against", blessed, *flags)
    _refused(run, f"--against {blessed}: no report of majority; it holds baseline, uniform")


def test_one_report_for_two_candidates(bench: Bench, suite: Path, blessed: Path) -> None:
    run = bench(suite, "--candidate", "baseline", "--candidate", "uniform", "--against", blessed / "baseline")
    _refused(run, "no report of uniform; it holds baseline")


def test_several_reports_of_one_name(bench: Bench, suite: Path, blessed: Path) -> None:
    shutil.copytree(blessed / "baseline", blessed / "baseline-2")
    run = bench(suite, "--against", blessed)
    _refused(run, "several reports of baseline", "baseline-2", "name the one that counts")


def test_a_folder_without_reports(bench: Bench, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    _refused(bench(suite, "--against", tmp_path / "bare"), "holds neither report.json nor folders of candidates")


def test_another_suite_names_both(
    bench: Bench, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]], blessed: Path
) -> None:
    run = bench(make_suite([row("w-0")], "other"), "--against", blessed)
    _refused(run, "is on tiny 1 (hash ", "this run on other 1 (hash ")


def test_other_cases_under_the_same_name(
    bench: Bench, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]], blessed: Path, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "tiny")
    run = bench(make_suite([row("w-0")], "tiny"), "--against", blessed)
    _refused(run, "is on tiny 1 (hash ", "this run on tiny 1 (hash ")


def test_a_part_of_a_run_cannot_be_blessed(bench: Bench, suite: Path) -> None:
    part = bench(suite, "-k", "way-001")
    _refused(bench(suite, "--against", part.folder), "baseline is partial there; compare with a complete run")


def test_a_scope_that_shares_no_case(bench: Bench, suite: Path) -> None:
    part = bench(suite, "--split", "holdout")
    run = bench(suite, "--split", "calibration", "--against", part.folder)
    _refused(run, "holds no case of this run's scope")


def test_a_run_must_not_write_among_the_reports(bench: Bench, suite: Path, blessed: Path) -> None:
    inside = bench(suite, "--against", blessed, "--run-dir", blessed / "new")
    _refused(inside, "the run would write there", "name another directory by --run-dir")
    run = bench(suite)
    before = (run.folder / "baseline" / "report.json").read_bytes()
    over = bench(suite, "--resume", run.folder, "--against", run.folder / "baseline")
    assert over.code == 4
    assert "the run would write there" in over.output
    assert (run.folder / "baseline" / "report.json").read_bytes() == before


def test_a_run_may_be_compared_with_one_that_lies_beside_it(
    bench: Bench, suite: Path, pytester: pytest.Pytester, bench_argv: Callable[..., list[str]]
) -> None:
    assert bench(suite, "--run-dir", "runs/first").code == 0
    # Without --run-dir a run finds a place of its own in runs/.
    argv = bench_argv(suite, "--against", "runs/first", "--fail-on-regression")
    assert pytester.runpytest_inprocess("--rootdir", pytester.path, *argv[3:]).ret == 0
    assert len(list((pytester.path / "runs").glob("*/baseline/report.json"))) == 2


def test_fail_on_regression_needs_something_to_compare_with(bench: Bench, suite: Path) -> None:
    _refused(bench(suite, "--fail-on-regression"), "--fail-on-regression goes with --against REPORT")
