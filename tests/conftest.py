"""Fixtures shared by all tests."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from decibench.cases.freezing import freeze

pytest_plugins = ["pytester"]

# How long an example takes says how busy the machine is, and nothing of the code; the same examples in every run.
settings.register_profile("decibench", deadline=None, derandomize=True)
settings.load_profile("decibench")

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = {"left": "Turn to the left side.", "right": "Turn to the right side."}

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]


@pytest.fixture
def shared() -> Path:
    """The folder of facts and recorded data that lies beside a checkout; tests that need it skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder ../shared with recorded data is not here")
    return folder


@pytest.fixture
def row() -> Row:
    """Make one row of a suite: a two-way choice whose question is called ``way``; fields can be replaced."""
    return _row


def _row(
    group: str,
    split: str = "calibration",
    variant: str = "original",
    expected: str = "left",
    *,
    family: str = "demo",
    state: Any = "Which way?",
    **more: Any,
) -> dict[str, Any]:
    return {
        "id": f"{family}-{group}-{variant}",
        "group": f"{family}-{group}",
        "family": family,
        "variant": variant,
        "split": split,
        "state": state,
        "questions": {"way": {"type": "choice", "instructions": "Which way?", "criteria": dict(OPTIONS)}},
        "references": {"way": {"expected": expected, "unsafe": []}},
        **more,
    }


def _default_rows() -> Iterator[dict[str, Any]]:
    """Twelve scenarios, four per split, both answers in each, in the variants original and injection."""
    for number in range(12):
        split = ("development", "calibration", "holdout")[number % 3]
        expected = "left" if number < 6 else "right"
        for variant in ("original", "injection"):
            yield _row(f"way-{number:03}", split, variant, expected)


@pytest.fixture
def make_suite(tmp_path: Path) -> MakeSuite:
    """Write and freeze a suite; by default the twelve scenarios above."""

    def make(rows: list[dict[str, Any]] | None = None, name: str = "tiny") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        lines = [json.dumps(row) for row in (rows if rows is not None else list(_default_rows()))]
        (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        freeze(folder, name, "1", "private", {})
        return folder

    return make


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    """``with full_disk(limit)``: no file can grow beyond ``limit`` bytes."""
    return _full_disk


@contextmanager
def _full_disk(limit: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
