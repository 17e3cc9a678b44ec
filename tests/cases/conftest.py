"""Suites written by hand, so that a fault can stand where ``freeze`` would never let it stand."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.authoring import AUTHORING, Family, read_source
from decibench.cases.errors import SuiteError
from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.schema import SPLITS


@pytest.fixture(scope="session")
def shipped() -> Suite:
    """The suite that comes with the package."""
    return load_suite(find_suite("decisions-v0"))


@pytest.fixture(scope="session")
def authored() -> dict[str, Family]:
    """The families of the shipped suite as their author wrote them."""
    _, families = read_source(AUTHORING / "decisions-v0")
    return {family.name: family for family in families}


@pytest.fixture
def handmade(tmp_path: Path) -> Callable[..., Path]:
    """Write lines (rows, or text and bytes that are no rows) and a manifest that is true to them."""

    def make(*lines: dict[str, Any] | str | bytes, **changes: Any) -> Path:
        folder = tmp_path / "handmade"
        folder.mkdir()
        data = b"".join(_bytes(line) + b"\n" for line in lines)
        (folder / "cases.jsonl").write_bytes(data)
        manifest = _manifest(data, [line for line in lines if isinstance(line, dict)])
        (folder / "manifest.json").write_text(json.dumps(manifest | changes), "utf-8")
        return folder

    return make


@pytest.fixture
def refusal() -> Callable[[Path, str], str]:
    """The sentence about one place among those with which a suite is refused."""

    def of(folder: Path, place: str) -> str:
        with pytest.raises(SuiteError) as caught:
            load_suite(folder)
        sentences = str(caught.value).splitlines()
        found = [sentence for sentence in sentences if sentence.startswith(f"{place}: ")]
        assert len(found) == 1, f"expected one sentence about {place}, the refusal says: {sentences}"
        return found[0]

    return of


def _bytes(line: dict[str, Any] | str | bytes) -> bytes:
    if isinstance(line, dict):
        return json.dumps(line).encode()
    return line.encode() if isinstance(line, str) else line


def _manifest(data: bytes, rows: list[dict[str, Any]]) -> dict[str, Any]:
    def counts(field: str) -> dict[str, Any]:
        labels = dict.fromkeys(str(row[field]) for row in rows)
        return {
            label: {
                "scenarios": len({row["group"] for row in rows if row[field] == label}),
                "cases": sum(row[field] == label for row in rows),
            }
            for label in labels
        }

    variants = Counter(str(row["variant"]) for row in rows)
    return {
        "schema": "decibench.suite/1",
        "name": "handmade",
        "version": "1",
        "license": "private",
        "files": [{"path": "cases.jsonl", "sha256": hashlib.sha256(data).hexdigest(), "cases": len(rows)}],
        "families": counts("family"),
        "variants": {variant: {"role": "core", "cases": number} for variant, number in variants.items()},
        "splits": {split: number for split, number in counts("split").items() if split in SPLITS},
    }
