"""The ledger of holdout looks: one line per run and candidate, counts per suite, and damage that names its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decibench.cases.errors import SuiteError
from decibench.reports.journal import SuiteRef
from decibench.reports.ledger import Look, add_look, count_looks, read_ledger

SUITE = SuiteRef(name="tiny", version="1", hash="5" * 64)


def look(run: str, candidate_hash: str = "a", suite: SuiteRef = SUITE, family: str | None = "own.py") -> Look:
    return Look(
        date="2026-11-30T10:00:00Z",
        run=run,
        candidate="own",
        candidate_hash=candidate_hash,
        family=family,
        suite=suite.name,
        suite_version=suite.version,
        suite_hash=suite.hash,
        decisions=12,
        partial=False,
        report_hash="f" * 64,
    )


def counts(path: Path, candidate_hash: str | None, run: str, looking: bool) -> tuple[int | None, int | None]:
    found = count_looks(read_ledger(path), SUITE, candidate_hash, "own.py", run, looking)
    return found.this_candidate, found.all_candidates


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Two looks of candidate ``a`` and one of ``b`` at this suite, one of ``a`` at its next version."""
    path = tmp_path / "runs" / "ledger.jsonl"
    for entry in (
        look("r1"),
        look("r2"),
        look("r3", "b"),
        look("r4", suite=SUITE.model_copy(update={"version": "2", "hash": "6" * 64})),
    ):
        add_look(path, entry)
    return path


def test_no_file_means_no_look(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "ledger.jsonl") == []
    assert counts(tmp_path / "ledger.jsonl", "a", "r1", looking=True) == (1, 1)
    assert counts(tmp_path / "ledger.jsonl", "a", "r1", looking=False) == (0, 0)


def test_looks_are_read_back_as_they_were_added(ledger: Path) -> None:
    assert read_ledger(ledger)[:3] == [look("r1"), look("r2"), look("r3", "b")]


def test_a_run_that_looks_counts_itself_once_before_and_after_it_is_in_the_ledger(ledger: Path) -> None:
    assert counts(ledger, "a", "r9", looking=True) == (3, 4)
    add_look(ledger, look("r9"))
    assert counts(ledger, "a", "r9", looking=True) == (3, 4)


def by_family(path: Path, run: str, candidate_hash: str, family: str = "own.py") -> tuple[int | None, int | None]:
    """Looks of a family, and which of them a run is that looks."""
    found = count_looks(read_ledger(path), SUITE, candidate_hash, family, run, looking=True)
    assert found.family == family
    return found.this_family, found.number


def test_configurations_of_a_family_are_counted_together_in_the_order_of_the_ledger(ledger: Path) -> None:
    add_look(ledger, look("r5", "s", family="sparrow"))
    assert by_family(ledger, "r9", "new") == (4, 4)
    assert by_family(ledger, "r9", "new", "sparrow") == (2, 2)
    assert by_family(ledger, "r9", "new", "laya") == (1, 1)
    # A resumed run stays the look that it was.
    assert by_family(ledger, "r2", "a") == (3, 2)
    assert count_looks(read_ledger(ledger), SUITE, "a", "own.py", "r2", looking=False).number is None


def test_a_line_without_a_family_is_read_and_counts_for_its_own_candidate(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    lines = [look("r1", "old").model_dump(), look("r2", "other").model_dump()]
    path.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "family"}) + "\n" for line in lines))
    assert [entry.family for entry in read_ledger(path)] == [None, None]
    assert by_family(path, "r9", "old") == (2, 2)
    assert by_family(path, "r9", "new") == (1, 1)


def test_a_run_that_does_not_look_only_reports_the_others(ledger: Path) -> None:
    assert counts(ledger, "a", "r9", looking=False) == (2, 3)
    assert counts(ledger, None, "r9", looking=True) == (0, 3)


def test_the_same_run_and_candidate_are_one_look(ledger: Path) -> None:
    before = ledger.read_bytes()
    add_look(ledger, look("r1"))
    assert ledger.read_bytes() == before
    add_look(ledger, look("r1", "c"))
    assert len(ledger.read_bytes().splitlines()) == 5
    assert counts(ledger, "c", "r1", looking=True) == (1, 4)


@pytest.mark.parametrize("line", ["{", "[]", "", "null", '{"run": "r2"}', "\x00\x00"])
def test_a_damaged_line_names_the_file_the_line_and_the_remedy(ledger: Path, line: str) -> None:
    lines = ledger.read_text().splitlines()
    lines[1] = line
    ledger.write_text("\n".join(lines) + "\n")
    for read in (lambda: read_ledger(ledger), lambda: add_look(ledger, look("r9"))):
        with pytest.raises(SuiteError) as caught:
            read()
        assert str(caught.value) == (
            f"{ledger}, line 2: is not a ledger line; restore the file, or move it away to start a new count"
        )
    assert ledger.read_text().splitlines() == lines


def test_a_count_edited_into_text_is_damage(ledger: Path) -> None:
    ledger.write_text(ledger.read_text().replace('"decisions":12', '"decisions":"12"', 1))
    with pytest.raises(SuiteError, match="line 1: is not a ledger line"):
        read_ledger(ledger)


def test_a_last_line_that_an_editor_left_open_does_not_swallow_the_next_look(ledger: Path) -> None:
    ledger.write_bytes(ledger.read_bytes().rstrip(b"\n"))
    add_look(ledger, look("r9"))
    assert [json.loads(line)["run"] for line in ledger.read_text().splitlines()] == ["r1", "r2", "r3", "r4", "r9"]
