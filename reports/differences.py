"""Where two JSON values differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_SAME = 1e-9
_NOTHING = 1e-12
"""Sums differ in their last digits between machines and versions of numpy, and where they are 0 by such a digit."""


def differences(first: Any, second: Any, path: str = "") -> Iterator[tuple[str, object, object]]:
    """Each field, with its path, in which two JSON values differ; floats by more than rounding.

    >>> list(differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}))
    [('a.c', 2, 3)]
    >>> list(differences([{"a": 1.0}, {"a": 0.3}], [{"a": 1.0}, {"a": 0.1 + 0.2}]))
    []
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            yield from differences(first.get(key), second.get(key), f"{path}.{key}".lstrip("."))
    elif _are_figures(first) and _are_figures(second) and len(first) == len(second):
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif isinstance(first, float) and isinstance(second, float):
        if not math.isclose(first, second, rel_tol=_SAME, abs_tol=_NOTHING):
            yield path, first, second
    elif first != second:
        yield path, first, second


def _are_figures(value: Any) -> bool:
    """Whether ``value`` is a list to be looked into; lists of names say more as a whole."""
    return isinstance(value, list) and any(isinstance(item, dict | list | float) for item in value)
