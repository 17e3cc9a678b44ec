"""A disk that is full when pages are written: what was measured stays, no page is half there, and the run says so."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench

_NAMES = ("uniform", "first-option")


def test_no_page_is_half_there(
    bench: Bench, suite: Path, full_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    candidates = [part for name in _NAMES for part in ("--candidate", name)]
    with full_disk(300_000):  # More than all else that a run of this suite writes, less than a page.
        run = bench(suite, *candidates)
    assert run.code == 4
    pages = [run.folder / name / "report.html" for name in _NAMES] + [run.folder / "comparison.html"]
    said = " ".join(run.output.split())
    for page in pages:
        assert f"{page}: cannot be used (File too large)" in said
        assert not page.exists()
    assert not list(run.folder.rglob("*.tmp"))
    assert all((run.folder / name / "report.json").is_file() for name in _NAMES)
    resumed = bench(suite, *candidates, "--resume", run.folder)
    assert resumed.code == 0
    assert all(page.read_text("utf-8").rstrip().endswith("</html>") for page in pages)


@pytest.mark.parametrize("name", ["report.json", "gate.json", "summary.md", "decisions.csv"])
def test_no_file_of_a_candidate_is_half_there(
    bench: Bench, suite: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--candidate", "uniform", "--report-format", "csv"]
    whole = bench(suite, *arguments).folder / "uniform" / name
    before = whole.read_bytes()
    replace = Path.replace

    def fails(self: Path, target: Path) -> Path:
        if target.name == name:
            raise OSError(28, "No space left on device", str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fails)
    run = bench(suite, *arguments, "--resume", whole.parents[1])
    assert run.code == 4
    assert f"{whole}: cannot be used (No space left on device)" in " ".join(run.output.split())
    assert whole.read_bytes() == before
    assert not list(run.folder.rglob("*.tmp"))
