"""Where two JSON values differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_SAME = 1e-9
"""Sums differ in their last digits between versions of numpy."""


def differences(first: Any, second: Any, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Each field, with its path, in which two JSON values differ; floats by more than rounding.

    >>> list(differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}))
    [('a.c', 2, 3)]
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            yield from differences(first.get(key), second.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(first, float) and isinstance(second, float) and math.isclose(first, second, rel_tol=_SAME):
        return
    elif first != second:
        yield path, first, second
