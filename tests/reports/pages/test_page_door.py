"""``python -m decibench.reports render`` and ``compare --html``: formats, views, and whose texts are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.schema import Case
from decibench.reports.__main__ import main
from decibench.reports.journal import SuiteRef
from decibench.reports.report import CandidateRef, write_report

Save = Callable[..., Path]


@pytest.fixture
def suite(make_suite: Callable[..., Path]) -> Suite:
    """Twelve scenarios in two variants."""
    return load_suite(make_suite())


@pytest.fixture
def save(measure: Any, tmp_path: Path) -> Save:
    """Write a report on a suite to the folder of a candidate; ``hash`` replaces that of the suite."""

    def write(suite: Suite, name: str = "demo", *, hash: str | None = None, cases: Sequence[Case] = ()) -> Path:
        manifest = suite.manifest
        ref = SuiteRef(name=manifest.name, version=manifest.version, hash=hash or suite.hash)
        candidate = CandidateRef(name=name, hash="c" * 64, identity={"model": name})
        report = measure(cases or suite.cases, _first, suite=ref, candidate=candidate)
        folder = tmp_path / "run" / name
        folder.mkdir(parents=True)
        write_report(report, folder / "report.json")
        return folder

    return write


def _first(case: Case, question: str) -> dict[str, float]:
    first, *others = case.questions[question].options
    return {first: 0.75} | {option: 0.25 / len(others) for option in others}


def _render(report: Path, out: Path, *options: str | Path) -> int:
    return main(["render", str(report), "--out", str(out), *map(str, options)])


@pytest.mark.parametrize("named", ["folder", "file"])
def test_a_named_suite_gives_the_texts(
    named: str, suite: Suite, save: Save, tmp_path: Path, unpack: Callable[[str], Any], capsys: Any
) -> None:
    folder, out = save(suite), tmp_path / "page.html"
    report = folder if named == "folder" else folder / "report.json"
    assert _render(report, out, "--suite", suite.path) == 0
    assert capsys.readouterr().err == f"wrote {out}\n"
    texts = unpack(out.read_text("utf-8"))["texts"]
    assert texts.keys() == suite.by_id.keys()
    assert texts[suite.cases[0].id]["state"] == "Which way?"


def test_a_suite_that_is_not_at_hand_leaves_a_page_without_texts(
    suite: Suite, save: Save, tmp_path: Path, unpack: Callable[[str], Any]
) -> None:
    out = tmp_path / "page.html"
    assert _render(save(suite), out) == 0
    html = out.read_text("utf-8")
    assert "not at hand when it was made. Name it with --suite." in html
    assert unpack(html)["texts"] == {}
    assert len(unpack(html)["rows"]) == 24


@pytest.mark.parametrize(("hash_", "found"), [(None, True), ("b" * 64, False)])
def test_a_shipped_suite_gives_its_texts_where_it_is_the_one_that_was_measured(
    hash_: str | None, found: bool, save: Save, tmp_path: Path, unpack: Callable[[str], Any]
) -> None:
    shipped = load_suite(find_suite("decisions-v0"))
    report, out = save(shipped, hash=hash_, cases=shipped.cases[:10]), tmp_path / "page.html"
    assert _render(report, out) == 0
    assert (unpack(out.read_text("utf-8"))["texts"] != {}) is found


def test_another_suite_than_the_one_measured_is_refused(suite: Suite, save: Save, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "page.html"
    assert _render(save(suite, hash="b" * 64), out, "--suite", suite.path) == 4
    said = capsys.readouterr().err
    assert f"is tiny 1 ({suite.hash[:12]}), measured was tiny 1 (bbbbbbbbbbbb); name that one" in said
    assert not out.exists()


def test_views_leave_out_what_they_say(suite: Suite, save: Save, tmp_path: Path, unpack: Callable[[str], Any]) -> None:
    folder, out = save(suite), tmp_path / "page.html"
    assert _render(folder, out, "--suite", suite.path, "--no-states") == 0
    assert unpack(out.read_text("utf-8"))["texts"] == {}
    assert _render(folder, out, "--suite", suite.path, "--aggregate-only") == 0
    assert "demo-way-0" not in out.read_text("utf-8")
    assert _render(folder, tmp_path / "summary.md", "--aggregate-only") == 0
    assert "demo-way-0" not in (tmp_path / "summary.md").read_text("utf-8")
    assert _render(folder, tmp_path / "summary.md") == 0
    assert "demo-way-0" in (tmp_path / "summary.md").read_text("utf-8")


def test_the_suffix_chooses_the_format(suite: Suite, save: Save, tmp_path: Path) -> None:
    folder = save(suite)
    assert _render(folder, tmp_path / "summary.md") == 0
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("# demo\n")
    assert _render(folder, tmp_path / "decisions.csv") == 0
    assert len((tmp_path / "decisions.csv").read_text("utf-8").splitlines()) == 25
    assert _render(folder, tmp_path / "decisions.parquet") == 0
    assert (tmp_path / "decisions.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(
    ("out", "options", "message"),
    [
        pytest.param("page.pdf", [], "ends in none of .html, .md, .csv, .parquet", id="suffix"),
        pytest.param("page", [], "ends in none of .html, .md, .csv, .parquet", id="no-suffix"),
        pytest.param("rows.csv", ["--aggregate-only"], "leave one out", id="aggregate-table"),
        pytest.param("page.html", ["--suite", "nowhere"], "nowhere", id="unknown-suite"),
    ],
)
def test_what_cannot_be_rendered_is_a_usage_error(
    out: str, options: list[str], message: str, suite: Suite, save: Save, tmp_path: Path, capsys: Any
) -> None:
    assert _render(save(suite), tmp_path / out, *options) == 4
    assert message in capsys.readouterr().err
    assert not (tmp_path / out).exists()


def test_of_two_views_the_one_that_shows_less_holds(suite: Suite, save: Save, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert _render(save(suite), out, "--no-states", "--aggregate-only") == 0
    assert "(--aggregate-only)" in out.read_text("utf-8")


def test_a_comparison_is_a_page_too(suite: Suite, save: Save, tmp_path: Path, capsys: Any) -> None:
    reports = [str(save(suite, name)) for name in ("first", "second")]
    out = tmp_path / "comparison.html"
    assert main(["compare", *reports, "--html", str(out), "--suite", str(suite.path)]) == 0
    assert capsys.readouterr() == ("", f"wrote {out}\n")
    assert "--suite" not in out.read_text("utf-8")
    assert main(["compare", *reports, "--html", str(out), "--aggregate-only"]) == 0
    assert "(--aggregate-only)" in out.read_text("utf-8")


def test_what_a_page_shows_is_asked_for_with_a_page_only(suite: Suite, save: Save, capsys: Any) -> None:
    reports = [str(save(suite, name)) for name in ("first", "second")]
    assert main(["compare", *reports, "--no-states"]) == 4
    assert "--html FILE" in capsys.readouterr().err
