"""What is no case at all: each line of a suite is one strict JSON object of UTF-8 text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.jsonio import canonical_json, read_json, sha256_of
from decibench.cases.loading import load_suite

Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]
Refusal = Callable[[Path, str], str]


@pytest.mark.parametrize("line", ["", "   ", "\t"])
def test_an_empty_line_is_refused_with_its_number(row: Row, handmade: Handmade, refusal: Refusal, line: str) -> None:
    folder = handmade(row("one"), line, row("two"))
    assert refusal(folder, "cases.jsonl, line 2").endswith("is an empty line; remove it")


@pytest.mark.parametrize(
    "line",
    ["{", '{"id": }', "not json", '{"id": "a"} {"id": "b"}', '{"id": "a",}', "{'id': 'a'}", b'{"id": "\xe9"}'],
)
def test_broken_json_is_refused_with_its_line(
    row: Row, handmade: Handmade, refusal: Refusal, line: str | bytes
) -> None:
    sentence = refusal(handmade(row("one"), line), "cases.jsonl, line 2")
    assert "is not one JSON object of UTF-8 text" in sentence


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be"])
def test_another_encoding_than_utf_8_is_refused_and_not_guessed(
    make_suite: Callable[..., Path], refusal: Refusal, encoding: str
) -> None:
    folder = make_suite()
    path = folder / "manifest.json"
    path.write_bytes(path.read_text("utf-8").encode(encoding))
    assert "is not JSON" in refusal(folder, "manifest.json")


def test_bytes_that_are_no_utf_8_are_told_where_and_what_to_do(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    sentence = refusal(handmade(row("one"), b'{"id": "\xe9"}'), "cases.jsonl, line 2")
    assert sentence.endswith("byte 9 is not UTF-8; save the file as UTF-8 text")


@pytest.mark.parametrize("line", ["[]", "1", '"text"', "null"])
def test_json_that_is_no_object_is_refused(row: Row, handmade: Handmade, refusal: Refusal, line: str) -> None:
    assert refusal(handmade(row("one"), line), "cases.jsonl, line 2").endswith("must be an object")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"family": "demo"', '"family": "demo", "family": "demo"', "family"),
        ('"left": "Turn to the left side."', '"left": "One.", "left": "Two."', "left"),
    ],
)
def test_a_repeated_key_is_refused_and_named(
    row: Row, handmade: Handmade, refusal: Refusal, old: str, new: str, key: str
) -> None:
    line = json.dumps(row("one")).replace(old, new)
    sentence = refusal(handmade(row("zero"), line), "cases.jsonl, line 2")
    assert f"the key '{key}' appears twice in one object; keep one" in sentence


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_no_json_is_refused(row: Row, handmade: Handmade, refusal: Refusal, constant: str) -> None:
    line = json.dumps(row("one", state={"level": "?"})).replace('"?"', constant)
    assert f"{constant} is not JSON; write a number or null" in refusal(
        handmade(row("zero"), line), "cases.jsonl, line 2"
    )


def test_a_number_too_large_to_be_finite_is_refused(row: Row, handmade: Handmade, refusal: Refusal) -> None:
    line = json.dumps(row("one", state={"level": "?"})).replace('"?"', "1e999")
    assert "not finite; write a smaller one" in refusal(handmade(row("zero"), line), "cases.jsonl, line 2, field state")


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("state", {"state": "half a pair \ud83d"}),
        ("state", {"state": {"note": ["deep", "\udc00"]}}),
        ("state", {"state": {"\ud800": 1}}),
        ("id", {"id": "\ud800"}),
        (
            "questions.way.instructions",
            {"questions": {"way": {"type": "score", "instructions": "\ud800", "criteria": ["a", "b"]}}},
        ),
        (
            "questions.way.criteria.left",
            {"questions": {"way": {"type": "choice", "instructions": "?", "criteria": {"left": "\ud800", "b": ""}}}},
        ),
        (
            "questions.way.criteria.true",
            {"questions": {"way": {"type": "noul", "instructions": "?", "criteria": {"true": "\ud800"}}}},
        ),
    ],
)
def test_a_lone_surrogate_is_refused_wherever_it_stands(
    row: Row, handmade: Handmade, refusal: Refusal, field: str, change: dict[str, Any]
) -> None:
    folder = handmade(row("one"), row("bad") | change)
    sentence = refusal(folder, f"cases.jsonl, line 2, field {field}")
    assert "not valid Unicode (a lone surrogate); remove it" in sentence


def test_text_beyond_ascii_loads_whether_escaped_or_not(row: Row, handmade: Handmade) -> None:
    state = "Größe 42 \N{SNOWMAN} \N{GRINNING FACE}\u2028next"
    escaped = row("one", state=state)
    plain = json.dumps(row("two", state=state), ensure_ascii=False)
    folder = handmade(escaped, plain)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"][0]["cases"] = 2
    for counts in (manifest["families"]["demo"], manifest["splits"]["calibration"]):
        counts.update(scenarios=2, cases=2)
    manifest["variants"]["original"]["cases"] = 2
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert [case.state for case in load_suite(folder).cases] == [state, state]


def test_strict_json_reads_what_json_reads_otherwise() -> None:
    text = '{"b": [1, 2.5, null, true], "a": {"x": "\\u00e9"}}'
    assert read_json(text) == json.loads(text)
    assert list(read_json(text)) == ["b", "a"]


def test_canonical_json_keeps_the_order_of_keys_and_the_hash_of_content_ignores_it() -> None:
    assert canonical_json({"b": 1, "a": "é"}) == '{"b":1,"a":"é"}'
    assert sha256_of({"b": 1, "a": 2}) == sha256_of({"a": 2, "b": 1})
    assert sha256_of({"b": 1, "a": 2}) != sha256_of({"b": 2, "a": 1})
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))
