"""The conformance suite's mock with all of its faults: what the page of protocols says of each is what is measured."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jevcompat.mock import FAULTS

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "protocols.md"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The script that writes the table; it is in no package."""
    spec = importlib.util.spec_from_file_location("faults_table", ROOT / "scripts" / "faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faults_table"] = module  # Its dataclasses look their module up.
    spec.loader.exec_module(module)
    yield module
    del sys.modules["faults_table"]


@pytest.fixture(scope="module")
def rows(script: ModuleType) -> Sequence[Any]:
    """All faults, measured once."""
    measured: Sequence[Any] = script.measured()
    return measured


def failed(outcomes: Any) -> int:
    return sum(count for code, count in outcomes.items() if code != "answered")


def test_the_page_is_what_is_measured(script: ModuleType, rows: Sequence[Any], tmp_path: Path) -> None:
    page = tmp_path / "protocols.md"
    page.write_bytes(PAGE.read_bytes())
    script.write(page, rows)
    written = page.read_text("utf-8")
    assert sum(f"| `{fault}` |" in written for fault in FAULTS) == 47
    assert written == PAGE.read_text("utf-8"), "run python scripts/faults.py docs/protocols.md; look at what changed"


def test_a_server_without_a_fault_answers_every_question(script: ModuleType) -> None:
    assert script.outcomes(script.USUAL) == {"answered": 10}


def test_what_breaks_a_must_and_shows_in_a_reply_is_never_all_scored(script: ModuleType, rows: Sequence[Any]) -> None:
    for row in rows:
        if row.level == "MUST" and row.fault not in script.INVISIBLE:
            assert failed(row.with_it) > 0, row.fault


def test_what_breaks_only_a_should_fails_nothing_that_would_not_fail_without(rows: Sequence[Any]) -> None:
    for row in rows:
        if row.level == "SHOULD":
            assert failed(row.with_it) == failed(row.without), row.fault


def test_a_fault_that_no_reply_shows_fails_nothing(script: ModuleType, rows: Sequence[Any]) -> None:
    assert {row.fault for row in rows} >= set(script.INVISIBLE)
    for row in rows:
        if row.fault in script.INVISIBLE:
            assert row.with_it == {"answered": 10}, row.fault


def test_only_trouble_with_the_key_stops_a_run(rows: Sequence[Any]) -> None:
    stopping = {row.fault for row in rows if any(code.endswith("!") for code in row.with_it)}
    assert stopping == {"auth-rejects-header", "auth-x-api-key", "auth-plain", "auth-invalid-403-text"}
