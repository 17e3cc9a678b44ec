"""Strict JSON: repeated keys and NaN are errors on reading; one canonical form for hashing and freezing."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any, Final

MOST_EXACT: Final = 2**53
"""The largest whole number that every reader of JSON keeps exact; more is no count of anything."""


def read_json(text: str | bytes) -> Any:
    """Parse JSON; no UTF-8, a repeated key, ``NaN``, ``Infinity``, a huge number raise ValueError with a sentence.

    >>> read_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'a' appears twice in one object; keep one
    """
    try:
        # From bytes json.loads would guess the encoding and read UTF-16 and UTF-32 too.
        content = text if isinstance(text, str) else text.decode("utf-8-sig")
        return json.loads(content, object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8 text") from None
    except RecursionError:
        raise ValueError("it is nested too deeply; flatten it") from None
    except ValueError as error:
        if "set_int_max_str_digits" not in str(error):
            raise
        digits = sys.get_int_max_str_digits()
        raise ValueError(f"it holds a whole number of more than {digits} digits; write a smaller one") from None


def canonical_json(value: Any) -> str:
    """Compact JSON with the key order kept, because the order of options is part of a question."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def sha256_of(value: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of ``value``, keys sorted: equal content, equal hash."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {repeated!r} appears twice in one object; keep one")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; write a number or null")
