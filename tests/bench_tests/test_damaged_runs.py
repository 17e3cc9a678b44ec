"""Files that are damaged, deleted or shared while a run writes them: one sentence, and no other report is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

EVEN = "return Answer({key: even(question) for key, question in request.questions.items()})"
JOURNAL = 'Path("run-1/own/journal.jsonl")'

# What happens to the journal when the eighth case is asked, and words of the sentence.
DAMAGE = {
    "garbage": (f'open({JOURNAL}, "ab").write(b"\\xff\\x00garbage\\n")', "is not a journal line"),
    "truncated": (f'open({JOURNAL}, "wb").close()', "unexpected kind"),
    "overwritten": (f'{JOURNAL}.write_text("mine\\n")', "is not a journal line"),
    "directory": (f"{JOURNAL}.unlink()\n{JOURNAL}.mkdir()", "Is a directory"),
    "deleted": (f"{JOURNAL}.unlink()", "is gone: what own answered in this run is lost"),
    "whole-run": ('import shutil\nshutil.rmtree("run-1")', "is gone: what own answered in this run is lost"),
}


@pytest.mark.parametrize(("damage", "words"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_journal_is_one_sentence_and_exit_4_and_other_candidates_are_reported(
    bench: Bench, own: Own, suite: Path, damage: str, words: str
) -> None:
    indented = "\n".join(f"    {line}" for line in damage.splitlines())
    path = own(f'Own.calls = getattr(Own, "calls", 0) + 1\nif Own.calls == 8:\n{indented}\n{EVEN}')
    run = bench(suite, "--candidate", path, "--candidate", "uniform")
    assert run.code == 4
    (error,) = (line for line in run.output.splitlines() if line.startswith("ERROR: "))
    assert str(run.folder / "own" / "journal.jsonl") in error
    assert words in error
    assert "Traceback" not in run.output
    assert "INTERNALERROR" not in run.output
    assert run.report("uniform")["metrics"]["holdout"]["overall"]["decisions"] == 4
    assert "uniform on tiny 1, holdout" in run.output


def test_two_runs_that_begin_in_one_second_have_a_directory_each(
    bench_argv: Callable[..., list[str]], suite: Path, pytester: pytest.Pytester
) -> None:
    argv = bench_argv(suite, "--candidate", "uniform", "-k", "way-000")
    runs = [subprocess.Popen(argv, cwd=pytester.path, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [run.wait(timeout=300) for run in runs] == [0, 0, 0]
    journals = list((pytester.path / "runs").glob("*/uniform/journal.jsonl"))
    assert len(journals) == 3
    assert [journal.read_text("utf-8").count('"kind":"record"') for journal in journals] == [2, 2, 2]


def test_a_directory_that_another_run_has_begun_in_is_left_to_it(bench: Bench, own: Own, suite: Path) -> None:
    # The other run begins while this one's candidate loads.
    create = 'Path("run-1/own").mkdir(parents=True)\nPath("run-1/own/journal.jsonl").write_text("theirs\\n")'
    run = bench(suite, "--candidate", own(EVEN, create=f"{create}\nreturn Own()"))
    assert run.code == 2
    assert "another run has begun to write there; name another directory by --run-dir" in run.output
    assert (run.folder / "own" / "journal.jsonl").read_text("utf-8") == "theirs\n"
    assert not (run.folder / "own" / "report.json").exists()


@pytest.mark.parametrize("flags", [[], ["--collect-only"]], ids=["run", "collect"])
def test_what_is_no_journal_is_not_touched_by_resume(
    bench: Bench, suite: Path, pytester: pytest.Pytester, flags: list[str]
) -> None:
    journal = pytester.path / "mine" / "baseline" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text("precious notes without newline", "utf-8")
    run = bench(suite, "--resume", "mine", *flags)
    assert run.code == 4
    assert "journal.jsonl, line 1: does not begin as a journal does" in run.output
    assert journal.read_text("utf-8") == "precious notes without newline"


def test_collecting_for_a_resumed_run_changes_no_byte_of_its_journal(bench: Bench, suite: Path) -> None:
    first = bench(suite)
    journal = first.folder / "baseline" / "journal.jsonl"
    torn = journal.read_bytes()[:-40]
    journal.write_bytes(torn)
    assert bench(suite, "--resume", first.folder, "--collect-only").code == 0
    assert journal.read_bytes() == torn
    again = bench(suite, "--resume", first.folder)
    assert again.code == 0
    assert len(again.records()) == 24


@pytest.mark.parametrize("flags", [[], ["-n", "2"], ["-p", "no:xdist"]], ids=["serial", "n2", "no-xdist"])
def test_items_whose_ids_another_plugin_changed_are_refused(
    bench_argv: Callable[..., list[str]], suite: Path, pytester: pytest.Pytester, flags: list[str]
) -> None:
    pytester.makepyfile(
        doubling="import pytest\n\n\n@pytest.fixture(autouse=True, params=['a', 'b'])\ndef twice(request): ...\n"
    )
    # A process of its own: workers look for plugins where the interpreter did when it started.
    argv = bench_argv(suite, "-p", "doubling", *flags)
    ended = subprocess.run(argv, cwd=pytester.path, capture_output=True, text=True)
    assert ended.returncode == 4
    assert "the id of the item was changed by another plugin or a conftest.py" in ended.stdout + ended.stderr
    assert "INTERNALERROR" not in ended.stdout + ended.stderr
    assert not (pytester.path / "runs").exists()
