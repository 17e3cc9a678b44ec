"""``freeze``: anyone's own cases become a suite, and a frozen version never changes its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.__main__ import main
from decibench.cases.loading import load_suite

Row = Callable[..., dict[str, Any]]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def mine(tmp_path: Path, row: Row) -> Path:
    """A folder with two files of cases and no manifest."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write(folder / "a.jsonl", row("one"), row("one", variant="paraphrase"))
    write(folder / "b.jsonl", row("two", "holdout", expected="right"))
    return folder


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_freeze_writes_a_manifest_that_validates_and_ends_with_0(mine: Path, capsys: Capture) -> None:
    assert main(["freeze", str(mine)]) == 0
    assert f"{mine / 'manifest.json'} written" in capsys.readouterr().out
    manifest = load_suite(mine).manifest
    assert (manifest.name, manifest.version, manifest.license) == ("mine", "1", "private")
    assert [(file.path, file.cases) for file in manifest.files] == [("a.jsonl", 2), ("b.jsonl", 1)]
    assert {name: (c.scenarios, c.cases) for name, c in manifest.splits.items()} == {
        "calibration": (1, 2),
        "holdout": (1, 1),
    }
    assert main(["validate", str(mine)]) == 0


def test_name_version_and_license_are_what_the_user_says(mine: Path) -> None:
    assert main(["freeze", str(mine), "--name", "ways", "--version", "2026-01", "--license", "CC0-1.0"]) == 0
    manifest = load_suite(mine).manifest
    assert (manifest.name, manifest.version, manifest.license) == ("ways", "2026-01", "CC0-1.0")


def test_freezing_the_same_bytes_again_is_allowed(mine: Path) -> None:
    assert main(["freeze", str(mine)]) == 0
    before = (mine / "manifest.json").read_bytes()
    assert main(["freeze", str(mine)]) == 0
    assert (mine / "manifest.json").read_bytes() == before


def test_changed_bytes_under_the_same_version_are_refused(mine: Path, row: Row, capsys: Capture) -> None:
    assert main(["freeze", str(mine)]) == 0
    before = (mine / "manifest.json").read_bytes()
    write(mine / "b.jsonl", row("two", "holdout", expected="left"))
    capsys.readouterr()
    assert main(["freeze", str(mine)]) == 4
    assert "version 1 is frozen with other bytes; give the change a new --version" in capsys.readouterr().err
    assert (mine / "manifest.json").read_bytes() == before
    assert main(["freeze", str(mine), "--version", "2"]) == 0
    assert load_suite(mine).manifest.version == "2"


def test_a_role_changed_under_the_same_version_is_refused_too(mine: Path, capsys: Capture) -> None:
    assert main(["freeze", str(mine)]) == 0
    assert main(["freeze", str(mine), "--role", "paraphrase=probe"]) == 4
    assert "version 1 is frozen with other bytes" in capsys.readouterr().err


def test_a_variant_of_ones_own_needs_a_role(mine: Path, row: Row, capsys: Capture) -> None:
    write(mine / "c.jsonl", row("three", variant="typos"))
    assert main(["freeze", str(mine)]) == 4
    assert "variant typos has no role; add --role typos=core, attack or probe" in capsys.readouterr().err
    assert not (mine / "manifest.json").exists()
    assert main(["freeze", str(mine), "--role", "typos=core"]) == 0
    assert load_suite(mine).manifest.variants["typos"].role == "core"


@pytest.mark.parametrize("role", ["typos", "typos=main", "typos="])
def test_a_role_that_is_none_is_refused(mine: Path, capsys: Capture, role: str) -> None:
    assert main(["freeze", str(mine), "--role", role]) == 4
    assert "write VARIANT=core, VARIANT=attack or VARIANT=probe" in capsys.readouterr().err


def test_faulty_cases_are_not_frozen(mine: Path, row: Row, capsys: Capture) -> None:
    write(mine / "b.jsonl", row("two", "holdout", expected="up"), row("one", "holdout", "injection"))
    assert main(["freeze", str(mine)]) == 4
    shown = capsys.readouterr().err
    assert "b.jsonl, line 1, field references.way.expected: 'up' is not an option" in shown
    assert "b.jsonl, line 2, field split: group demo-one is in calibration on line 1 of a.jsonl" in shown
    assert not (mine / "manifest.json").exists()


@pytest.mark.parametrize(
    ("options", "place", "remedy"),
    [
        (["--name", "My Ways"], "--name", "lower-case letters, digits and single hyphens"),
        (["--version", ""], "--version", "must not be empty"),
        (["--license", ""], "--license", "must not be empty"),
    ],
)
def test_facts_that_no_manifest_may_hold_are_refused_before_one_is_written(
    mine: Path, capsys: Capture, options: list[str], place: str, remedy: str
) -> None:
    assert main(["freeze", str(mine), *options]) == 4
    shown = capsys.readouterr().err
    assert shown.startswith(f"{place}: ")
    assert remedy in shown
    assert not (mine / "manifest.json").exists()


def test_a_folder_without_cases_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert main(["freeze", str(tmp_path), "--name", "empty"]) == 4
    assert "holds no *.jsonl file with cases; write one case per line" in capsys.readouterr().err


def test_what_is_no_folder_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert main(["freeze", str(tmp_path / "absent")]) == 4
    assert "is not a directory; name the one that holds your *.jsonl files" in capsys.readouterr().err


@pytest.mark.parametrize("role", ["=core", "typos=core"])
def test_a_role_needs_one_variant_and_a_variant_one_role(mine: Path, capsys: Capture, role: str) -> None:
    assert main(["freeze", str(mine), "--role", "typos=core", "--role", role]) == 4
    assert f"--role {role}: " in capsys.readouterr().err
    assert not (mine / "manifest.json").exists()


@pytest.mark.parametrize("target", [None, "absent.jsonl", "c.jsonl"], ids=["directory", "dangling", "loop"])
def test_a_case_file_that_cannot_be_read_is_named(mine: Path, capsys: Capture, target: str | None) -> None:
    path = mine / "c.jsonl"
    if target is None:
        path.mkdir()
    else:
        path.symlink_to(mine / target)
    assert main(["freeze", str(mine)]) == 4
    shown = capsys.readouterr().err
    assert shown.startswith("c.jsonl: cannot be read (")
    assert shown.endswith(f"it belongs in {mine}, as a readable file\n")
    assert not (mine / "manifest.json").exists()


def test_a_manifest_that_cannot_be_written_is_named(mine: Path, capsys: Capture) -> None:
    (mine / "manifest.json").mkdir()
    assert main(["freeze", str(mine)]) == 4
    assert capsys.readouterr().err.startswith(f"{mine / 'manifest.json'}: cannot be read or written (Is a directory)")


@pytest.mark.parametrize("option", ["--name", "--version", "--license"])
def test_a_fact_that_is_no_unicode_is_refused(mine: Path, capsys: Capture, option: str) -> None:
    # What Python makes of the byte 0xff on a command line.
    assert main(["freeze", str(mine), option, "x\udcff"]) == 4
    assert capsys.readouterr().err.startswith(f"{option}: ")
    assert not (mine / "manifest.json").exists()
