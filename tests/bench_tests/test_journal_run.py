"""The journal of a run: written as the records arrive, in a place that is checked, and the end of a run that cannot."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]
Argv: TypeAlias = Callable[..., list[str]]

ANSWERS = 'return Answer({"way": even(request.questions["way"])})'
COUNTS = f"""
journal = Path("run/own/journal.jsonl")
written = journal.read_bytes().count(b'"kind":"record"') if journal.exists() else 0
with open("written.txt", "a") as file:
    file.write(f"{{written}}\\n")
{ANSWERS}
"""
FILLS = f"""
import resource
if Path("filling.txt").exists() and Path("run/own/journal.jsonl").exists():
    limit = Path("run/own/journal.jsonl").stat().st_size + 2000
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
with open("asked.txt", "a") as file:
    file.write("x")
{ANSWERS}
"""
"""No file may grow beyond a limit from the second case on: what a full disk does to the journal."""


def test_a_record_is_written_before_the_next_case_is_asked(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, "--candidate", own(COUNTS), "--run-dir", "run")
    assert run.code == 0
    assert Path("written.txt").read_text().split() == [str(number) for number in range(24)]


def test_the_journal_is_one_run_line_a_load_per_process_and_a_record_per_item(
    bench: Bench, own: Own, suite: Path, mode: list[str]
) -> None:
    run = bench(suite, "--candidate", own(ANSWERS), *mode)
    lines = run.journal("own")
    kinds = [line["kind"] for line in lines]
    loads = [line for line in lines if line["kind"] == "load"]
    assert kinds[0] == "run"
    assert kinds.count("run") == 1
    assert sorted(load["worker"] for load in loads) == (["gw0", "gw1"] if "-n" in mode else ["main"])
    assert all(len(load["warm_ups_s"]) == 3 and load["first_probe_s"] >= 0 for load in loads)
    assert {load["identity"]["model"] for load in loads} == {"own-1"}
    assert len({record["case"] for record in run.records("own")}) == 24
    assert kinds.count("record") == 24


def test_the_report_has_the_order_of_the_suite_whatever_the_order_of_arrival(
    bench: Bench, suite: Path, mode: list[str]
) -> None:
    cases = [json.loads(line)["id"] for line in (suite / "cases.jsonl").read_text().splitlines()]
    run = bench(suite, "--candidate", "uniform", *mode)
    assert [record["case"] for record in run.report("uniform")["records"]] == cases


@pytest.mark.parametrize("below", ["", "run", "run/deeper"], ids=["itself", "below", "deep-below"])
def test_a_run_directory_at_or_below_a_file_is_refused_before_anything_is_asked(
    bench: Bench, own: Own, suite: Path, tmp_path: Path, mode: list[str], below: str
) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    run = bench(suite, "--candidate", own(COUNTS), "--run-dir", file / below, *mode)
    assert run.code == 4
    assert f"--run-dir {file / below}: {file} is no directory that can be written to; name another" in run.output
    assert "INTERNALERROR" not in run.output
    assert not Path("written.txt").exists()


def test_a_run_directory_with_a_name_no_system_takes_is_refused(bench: Bench, suite: Path) -> None:
    run = bench(suite, "--candidate", "uniform", "--run-dir", "x" * 300)
    assert run.code == 4
    assert "INTERNALERROR" not in run.output
    assert "cannot be used (File name too long); name another directory" in run.output


def test_a_journal_that_cannot_be_made_stops_the_run_with_one_sentence(
    bench: Bench, own: Own, suite: Path, mode: list[str]
) -> None:
    create = 'Path("run").mkdir(exist_ok=True)\nPath("run/own").write_text("in the way")\nreturn Own()'
    run = bench(suite, "--candidate", own(COUNTS, create=create), "--run-dir", "run", *mode)
    assert run.code == 2
    assert "INTERNALERROR" not in run.output
    path = run.folder / "own" / "journal.jsonl"
    assert run.output.count(f"STOPPED: {path}: cannot be written (") == 1
    assert len(Path("written.txt").read_text().split()) < 24


def test_a_default_place_that_cannot_be_made_stops_the_run_with_one_sentence(
    bench_argv: Argv, suite: Path, pytester: pytest.Pytester
) -> None:
    (pytester.path / "runs").write_text("in the way")
    argv = bench_argv(suite, "--candidate", "uniform")
    ended = subprocess.run(argv, cwd=pytester.path, capture_output=True, text=True)
    output = ended.stdout + ended.stderr
    assert ended.returncode == 2, output
    assert "INTERNALERROR" not in output
    assert "journal.jsonl: cannot be written (Not a directory)" in output


def test_a_disk_that_fills_up_stops_the_run_and_what_is_written_is_resumed(
    bench: Bench, bench_argv: Argv, own: Own, suite: Path
) -> None:
    candidate = own(FILLS)
    Path("filling.txt").write_text("")
    # pytest's own cache would run into the limit as well.
    argv = bench_argv(suite, "--candidate", candidate, "--run-dir", "run", "-p", "no:cacheprovider")
    ended = subprocess.run(argv, cwd=candidate.parent, capture_output=True, text=True)
    output = ended.stdout + ended.stderr
    journal = candidate.parent / "run" / "own" / "journal.jsonl"
    assert "INTERNALERROR" not in output
    assert f"STOPPED: {journal}: cannot be written (File too large)" in output
    assert f"ERROR: {candidate.parent / 'run'}" in output
    assert ended.returncode == 4
    written = journal.read_bytes().split(b"\n")[:-1]
    kept = sum(b'"kind":"record"' in line for line in written)
    assert 0 < kept < 24
    # The case whose record could not be written was asked, and is the only one that is lost.
    assert len(Path("asked.txt").read_text()) == kept + 1

    Path("filling.txt").unlink()
    rest = bench(suite, "--candidate", candidate, "--resume", candidate.parent / "run")
    assert rest.code == 0
    assert rest.report("own")["complete"] is True
    assert len(Path("asked.txt").read_text()) == 25
