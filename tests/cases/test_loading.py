"""Loading: the bytes and counts of a suite are those of its manifest, or it is refused with the remedy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.errors import SuiteError
from decibench.cases.loading import find_suite, load_suite

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]
Refusal = Callable[[Path, str], str]


def edit_manifest(folder: Path, **changes: Any) -> Path:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")
    return folder


def test_a_frozen_suite_loads_with_the_hash_of_its_manifest(make_suite: MakeSuite) -> None:
    folder = make_suite()
    suite = load_suite(folder)
    assert len(suite.cases) == 24
    assert suite.hash == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()


def test_one_changed_byte_is_refused_naming_the_file_and_the_ways_out(make_suite: MakeSuite, refusal: Refusal) -> None:
    folder = make_suite()
    path = folder / "cases.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Turn to the left", b"Turn to the lefT", 1))
    sentence = refusal(folder, "cases.jsonl")
    assert "bytes are not those of the manifest" in sentence
    assert "restore the file" in sentence
    assert "python -m decibench.cases freeze" in sentence


@pytest.mark.parametrize("change", [lambda data: data + b"\n", lambda data: data.replace(b"\n", b"\r\n")])
def test_even_a_byte_that_changes_no_case_is_refused(
    make_suite: MakeSuite, refusal: Refusal, change: Callable[[bytes], bytes]
) -> None:
    folder = make_suite()
    path = folder / "cases.jsonl"
    path.write_bytes(change(path.read_bytes()))
    refusal(folder, "cases.jsonl")


def test_a_suite_may_be_spread_over_several_files_and_each_is_verified(
    tmp_path: Path, make_suite: MakeSuite, refusal: Refusal
) -> None:
    from decibench.cases.freezing import freeze

    folder = make_suite(name="first")
    lines = (folder / "cases.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "cases.jsonl").write_bytes(b"".join(lines[:10]))
    (folder / "more.jsonl").write_bytes(b"".join(lines[10:]))
    freeze(folder, "first", "2", "private", {})
    assert len(load_suite(folder).cases) == 24
    (folder / "more.jsonl").write_bytes(b"".join(lines[10:-1]))
    assert "restore the file" in refusal(folder, "more.jsonl")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"families": {"demo": {"scenarios": 3, "cases": 2}}}, "manifest.json, field families.demo"),
        ({"families": {"demo": {"scenarios": 2, "cases": 3}}}, "manifest.json, field families.demo"),
        ({"families": {"other": {"scenarios": 2, "cases": 2}}}, "manifest.json, field families.other"),
        ({"splits": {"holdout": {"scenarios": 2, "cases": 2}}}, "manifest.json, field splits.holdout"),
        ({"splits": {"holdout": {"scenarios": 2, "cases": 2}}}, "manifest.json, field splits.calibration"),
        ({"variants": {"original": {"role": "core", "cases": 1}}}, "manifest.json, field variants.original"),
    ],
)
def test_counts_that_differ_from_the_files_are_refused_with_both_numbers(
    row: Row, handmade: Handmade, refusal: Refusal, change: dict[str, Any], place: str
) -> None:
    sentence = refusal(edit_manifest(handmade(row("one"), row("two")), **change), place)
    assert "says " in sentence
    assert "the files hold " in sentence
    assert "restore or freeze" in sentence


def test_a_wrong_number_of_cases_of_a_file_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    folder = handmade(row("one"), row("two"))
    files = json.loads((folder / "manifest.json").read_text("utf-8"))["files"]
    edit_manifest(folder, files=[files[0] | {"cases": 3}])
    assert "says 3 cases in cases.jsonl; 2 could be read" in refusal(folder, "manifest.json")


def test_a_missing_file_is_named_with_the_folder_it_belongs_in(make_suite: MakeSuite, refusal: Refusal) -> None:
    folder = make_suite()
    (folder / "cases.jsonl").unlink()
    assert f"it belongs in {folder}" in refusal(folder, "cases.jsonl")


def test_a_missing_manifest_is_named_with_the_folder_it_belongs_in(make_suite: MakeSuite, refusal: Refusal) -> None:
    folder = make_suite()
    (folder / "manifest.json").unlink()
    assert f"it belongs in {folder}" in refusal(folder, "manifest.json")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ('{"schema": 1, "schema": 2}', "the key 'schema' appears twice in one object; keep one"),
        ('{"cases": NaN}', "NaN is not JSON; write a number or null"),
    ],
)
def test_a_manifest_that_is_not_json_is_refused(
    make_suite: MakeSuite, refusal: Refusal, text: str, reason: str
) -> None:
    folder = make_suite()
    (folder / "manifest.json").write_text(text, "utf-8")
    assert reason in refusal(folder, "manifest.json")


@pytest.mark.parametrize(
    ("change", "field", "remedy"),
    [
        ({"schema": "decibench.suite/2"}, "schema", "must be 'decibench.suite/1'"),
        ({"name": "My Suite"}, "name", "use lower-case letters, digits and hyphens"),
        ({"version": 1}, "version", "must be a string"),
        ({"author": "me"}, "author", "is not a known field; remove it"),
        ({"files": []}, "files", "at least 1 are needed"),
        ({"variants": {"original": {"role": "main", "cases": 2}}}, "variants.original.role", "'core', 'attack' or"),
        ({"splits": {"test": {"scenarios": 1, "cases": 2}}}, "splits.test", "'development', 'calibration' or"),
        ({"families": {"demo": {"scenarios": 0, "cases": 2}}}, "families.demo.scenarios", "must be at least 1"),
        ({"families": {"demo": {"scenarios": True, "cases": 2}}}, "families.demo.scenarios", "a whole number"),
    ],
)
def test_a_faulty_manifest_is_refused_with_field_and_remedy(
    row: Row, handmade: Handmade, refusal: Refusal, change: dict[str, Any], field: str, remedy: str
) -> None:
    folder = edit_manifest(handmade(row("one"), row("two")), **change)
    assert remedy in refusal(folder, f"manifest.json, field {field}")


def test_every_problem_is_told_at_once_and_a_flood_is_cut_at_fifty(row: Row, handmade: Handmade) -> None:
    rows = [row(f"n{number}", expected="up") for number in range(60)]
    with pytest.raises(SuiteError) as caught:
        load_suite(handmade(*rows))
    assert len(caught.value.problems) == 50
    assert {problem.line for problem in caught.value.problems} == set(range(1, 51))


def test_a_suite_is_found_by_its_shipped_name_or_its_directory(make_suite: MakeSuite) -> None:
    folder = make_suite()
    assert find_suite(str(folder)) == folder
    assert load_suite(find_suite("decisions-v0")).manifest.name == "decisions-v0"


def test_an_unknown_suite_is_told_which_ones_are_shipped(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"nowhere: is neither a shipped suite \(decisions-v0.*\) nor a directory"):
        find_suite("nowhere")


def test_a_directory_without_a_manifest_is_told_how_to_freeze_it(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        find_suite(str(tmp_path))
    assert str(caught.value).startswith(f"{tmp_path}: has no manifest.json")
    assert f"python -m decibench.cases freeze {tmp_path}" in str(caught.value)


@pytest.mark.parametrize("path", ["../outside.jsonl", "/etc/hostname", "sub/cases.jsonl", "..\\c.jsonl", "..", "a\0b"])
def test_a_file_of_a_manifest_lies_beside_it(make_suite: MakeSuite, refusal: Refusal, path: str) -> None:
    folder = make_suite()
    (folder.parent / "outside.jsonl").write_bytes((folder / "cases.jsonl").read_bytes())
    files = json.loads((folder / "manifest.json").read_text("utf-8"))["files"]
    sentence = refusal(edit_manifest(folder, files=[files[0] | {"path": path}]), "manifest.json, field files.0.path")
    assert "must be the plain name of a file beside the manifest" in sentence


def test_a_name_no_file_system_takes_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"cannot be looked for \(File name too long\); name a shipped suite or"):
        find_suite("a" * 5000)
