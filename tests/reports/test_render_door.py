"""``python -m decibench.reports``: files that are written, by render and compare, and what they must not cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from decibench.reports.__main__ import main
from decibench.reports.report import write_report

Capture = pytest.CaptureFixture[str]
FullDisk = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def run(make_report: Any, tmp_path: Path) -> Path:
    """A run of two candidates: one and two."""
    folder = tmp_path / "run"
    for name, right in (("one", True), ("two", False)):
        (folder / name).mkdir(parents=True)
        report = make_report(name, {"a-1": [True, right], "b-1": [right, True]}, run=name)
        write_report(report, folder / name / "report.json")
    return folder


@pytest.mark.parametrize("name", ["out.html", "out.md", "out.csv"])
def test_a_full_disk_leaves_the_file_that_was_there(
    run: Path, tmp_path: Path, capsys: Capture, full_disk: FullDisk, name: str
) -> None:
    out = tmp_path / name
    out.write_text("before", "utf-8")
    with full_disk(100):
        code = main(["render", str(run / "one"), "--out", str(out)])
    assert code == 4
    assert f"{out}: cannot be read or written (File too large)" in capsys.readouterr().err
    assert out.read_text("utf-8") == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == [name, "run"]


@pytest.mark.parametrize("option", ["--out", "--markdown", "--html"])
def test_a_comparison_is_written_whole_or_not_at_all(
    run: Path, tmp_path: Path, capsys: Capture, full_disk: FullDisk, option: str
) -> None:
    with full_disk(100):
        assert main(["compare", str(run), option, str(tmp_path / "out")]) == 4
    assert "File too large" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("option", ["--out", "--markdown", "--html"])
@pytest.mark.parametrize("place", ["two/report.json", "two/../two/report.json", "link"])
def test_compare_overwrites_no_report_that_it_reads(
    run: Path, tmp_path: Path, capsys: Capture, option: str, place: str
) -> None:
    report, other = run / "two" / "report.json", tmp_path / "other"
    (run / "link").symlink_to(report)
    before = report.read_bytes()
    outputs = {"--out": str(other), "--markdown": str(tmp_path / "other.md"), option: str(run / place)}
    assert main(["compare", str(run), *(part for pair in outputs.items() for part in pair)]) == 4
    said = capsys.readouterr().err
    assert f"{option} {run / place}: would overwrite {report}, which is read; name another file" in said
    assert report.read_bytes() == before
    assert not other.exists()


def test_two_outputs_do_not_share_a_file(run: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert main(["compare", str(run), "--markdown", str(out), "--html", str(out)]) == 4
    assert f"--html {out}: would overwrite what --markdown writes there" in capsys.readouterr().err
    assert not out.exists()


def test_render_overwrites_no_report_that_it_reads(run: Path, capsys: Capture) -> None:
    report = (run / "one" / "report.json").rename(run / "one" / "report.html")
    before = report.read_bytes()
    assert main(["render", str(report), "--out", str(report)]) == 4
    assert "which is read; name another file" in capsys.readouterr().err
    assert report.read_bytes() == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda run: run, "is a run; name the folder of one of its candidates: one, two"),
        (lambda run: run.parent, "holds no report.json; name a report, or the folder of a candidate"),
        (lambda run: Path(), ".: holds no report.json; name a report, or the folder of a candidate"),
        (lambda run: run / "gone", "cannot be read (No such file or directory); check the name and the permissions"),
        (lambda run: _without_report(run / "one"), "has a journal and no report.json; --resume RUN writes it"),
    ],
    ids=["run", "folder", "empty", "missing", "journal"],
)
def test_render_says_what_to_name_instead(
    run: Path,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], Path],
    words: str,
) -> None:
    given = make(run)
    monkeypatch.chdir(tmp_path)
    assert main(["render", "" if given == Path() else str(given), "--out", str(tmp_path / "page.html")]) == 4
    assert words in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def _without_report(folder: Path) -> Path:
    (folder / "report.json").rename(folder / "journal.jsonl")
    return folder


@pytest.mark.parametrize("name", ["out.md", "out.csv"])
def test_no_states_is_not_taken_where_it_changes_nothing(run: Path, tmp_path: Path, capsys: Capture, name: str) -> None:
    assert main(["render", str(run / "one"), "--out", str(tmp_path / name), "--no-states"]) == 4
    assert "--no-states leaves texts out of a page, and this holds none; leave it out" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_of_two_views_the_narrower_one_counts(run: Path, tmp_path: Path) -> None:
    both = ["--no-states", "--aggregate-only"]
    page, comparison = tmp_path / "page.html", tmp_path / "comparison.html"
    assert main(["render", str(run / "one"), "--out", str(page), *both]) == 0
    assert main(["compare", str(run), "--html", str(comparison), *both]) == 0
    for file in (page, comparison):
        assert "(--aggregate-only)" in file.read_text("utf-8")
    assert main(["render", str(run / "one"), "--out", str(tmp_path / "out.md"), *both]) == 0
    assert main(["render", str(run / "one"), "--out", str(tmp_path / "out.csv"), *both]) == 4


@pytest.mark.parametrize("option", ["--out", "--markdown", "--html"])
def test_an_incomplete_comparison_says_why_on_the_terminal(
    make_report: Any, run: Path, tmp_path: Path, capsys: Capture, option: str
) -> None:
    part = make_report("two", {"a-1": [True, True], "b-1": [True, True]}, complete=False)
    write_report(part, run / "two" / "report.json")
    assert main(["compare", str(run), option, str(tmp_path / "out")]) == 11
    said = capsys.readouterr().err.splitlines()
    assert said == [f"wrote {tmp_path / 'out'}", "two: partial or incomplete, so no difference is tested"]


@pytest.mark.parametrize("split", [[], ["--split", "holdout"]])
def test_score_says_that_there_is_nothing_to_score(
    make_report: Any, tmp_path: Path, capsys: Capture, split: list[str]
) -> None:
    path = tmp_path / "report.json"
    write_report(make_report("none", {}), path)
    assert main(["score", str(path), *split]) == 4
    where = " in the split holdout" if split else ""
    assert capsys.readouterr().err == f"{path}: holds no core decisions{where}; name a file that has some\n"
