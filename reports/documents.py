"""JSON files of decibench, told from each other: a file that cannot be read as asked is said to be what it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import read_json

_KINDS: Final = {
    "report": "the report of a candidate",
    "comparison": "the comparison of a run",
    "regression": "what a run changed against a blessed report",
    "gate": "a gate",
    "load": "the load test of a candidate",
    "suite": "the manifest of a suite",
}
_JOURNAL: Final = "is a journal; name the report.json beside it, which --resume RUN writes where it is missing"
_RESTORE: Final = "restore it, or make it anew from its journal by --resume RUN"
_FIT_AGAIN: Final = "restore it, or fit the gate again"
_PRINTED: Final = "is what gates fit or gates apply prints, not a gate; gates fit FILE --out GATE writes one"
MOST_PROBLEMS: Final = 10
"""Most problems of a file that are told at once."""

_END_OF_DATA: Final = "unexpected end of data"


def read_content(path: Path, restore: str = _RESTORE) -> Any:
    """The JSON value of a file; SuiteError says whether it is missing, empty, cut off, a journal or no JSON.

    ``restore`` says what to do with one that is empty or cut off.
    """
    name = str(path)
    try:
        if path.is_dir():
            raise SuiteError([Problem(name, "is a directory; name the file in it that is meant")])
        content = path.read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror}); check the name and the permissions"
        raise SuiteError([Problem(name, message)]) from error
    if not content.strip():
        raise SuiteError([Problem(name, f"is empty; {restore}")])
    if content.startswith(b'{"kind":"run"'):
        raise SuiteError([Problem(name, _JOURNAL)])
    try:
        return read_json(content)
    except ValueError as error:
        if _is_cut_off(content):
            lines = len(content.splitlines())
            raise SuiteError([Problem(name, f"ends in the middle: it was cut off; {restore}", lines)]) from error
        raise SuiteError([Problem(name, f"is not JSON: {error}")]) from error


def read_document(path: Path, schema: str) -> dict[str, Any]:
    """The object in a file that states ``schema``, such as ``decibench.report/3``; SuiteError where it is another's."""
    content = read_content(path, remedy(schema))
    check_schema(content, schema, str(path))
    assert isinstance(content, dict)
    return content


def remedy(schema: str) -> str:
    """What to do with a damaged file of ``schema``."""
    return _FIT_AGAIN if schema.startswith("decibench.gate/") else _RESTORE


def damage(error: ValidationError, name: str, schema: str) -> list[Problem]:
    """What pydantic finds wrong in the sealed file ``name``; to set it right by hand would break the seal."""
    return [
        replace(p, message=f"{p.message.partition(';')[0]}; it was edited or damaged: {remedy(schema)}")
        for p in problems_of(error, name)[:MOST_PROBLEMS]
    ]


def check_schema(content: Any, schema: str, name: str) -> None:
    """Raise SuiteError that says what ``content`` of the file ``name`` is, unless it states ``schema``."""
    wanted = schema.partition("/")[0].removeprefix("decibench.")
    stated = content.get("schema") if isinstance(content, dict) else None
    if stated == schema:
        return
    kind, version = _parts(stated)
    if kind == wanted and version is not None:
        age = "a newer" if version > int(schema.partition("/")[2]) else "an older"
        update = "update decibench" if age == "a newer" else remedy(schema).removeprefix("restore it, or ")
        message = f"was written by {age} decibench (schema {stated}); this one reads {schema}: {update}, or run again"
    elif kind in _KINDS:
        message = f"is {_KINDS[kind]}, not {_KINDS[wanted]}; name a {wanted}.json"
    elif wanted == "gate" and isinstance(content, dict) and "gates" in content:
        message = _PRINTED
    elif isinstance(content, dict) and "row_fields" in content:
        message = f"is a file of rows, not {_KINDS[wanted]}; score, gates fit and gates apply read rows"
    else:
        message = f"is not {_KINDS[wanted]}: it states no schema {schema}; name a {wanted}.json"
    raise SuiteError([Problem(name, message)])


def _parts(stated: object) -> tuple[str, int | None]:
    """Kind and version that a schema states; empty and None where it is none of ours."""
    match = re.fullmatch(r"decibench\.([a-z]+)/([0-9]{1,9})", stated) if isinstance(stated, str) else None
    return (match[1], int(match[2])) if match else ("", None)


def _is_cut_off(content: bytes) -> bool:
    """Whether the end of JSON ``content`` is missing: after what is wrong in a whole object, its bracket still follows.

    >>> [_is_cut_off(text) for text in (b'{"a": [1, 2', b'{"a": "b', b'{"a": tr', b'{"a": 1,}', b'{"a": 1} x')]
    [True, True, True, False, False]
    """
    try:
        text = content.decode("utf-8-sig")
        json.loads(text)
    except UnicodeDecodeError as error:
        return error.reason == _END_OF_DATA
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        return error.msg.startswith("Unterminated") or (error.msg != "Extra data" and not set(rest) & set("]}"))
    except (RecursionError, ValueError):
        return False
    return False
