"""States as text or JSON: what variants add to them, take from them and turn around."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from decibench.cases.schema import State

Position: TypeAlias = Literal["before", "middle", "after"]


def values_of(state: State) -> Iterator[str]:
    """The text of a state: itself, or every value of a JSON state as text, keys left out."""
    if isinstance(state, dict):
        for value in state.values():
            yield from values_of(value)
    elif isinstance(state, list):
        for value in state:
            yield from values_of(value)
    else:
        yield str(state)


def words_of(state: State) -> int:
    """Words, counted by white space over all values.

    >>> words_of({"note": "two words", "count": 3})
    3
    """
    return len(" ".join(values_of(state)).split())


def quotes(state: State, text: str) -> bool:
    """True where ``text`` stands verbatim in the state or in one of its values."""
    return any(text in value for value in values_of(state))


def insert(state: State, text: str, position: Position) -> State:
    """Put a passage before, into the middle of, or after a state; JSON gets it under a key of its own.

    >>> insert({"a": 1, "b": 2}, "hello", "middle")
    {'a': 1, 'remark': 'hello', 'b': 2}
    """
    if isinstance(state, dict):
        items = list(state.items())
        key = next(name for name in ("remark", "further_remark", "last_remark") if name not in state)
        items.insert({"before": 0, "middle": (len(items) + 1) // 2, "after": len(items)}[position], (key, text))
        return dict(items)
    if not isinstance(state, str):
        raise TypeError("only text and JSON objects can take a passage")
    if position == "before":
        return f"{text}\n\n{state}"
    if position == "after":
        return f"{state}\n\n{text}"
    ends = [index + 1 for index, mark in enumerate(state) if mark in ".!?\n" and state[index + 1 : index + 2].isspace()]
    cut = min(ends, key=lambda end: abs(end - len(state) // 2), default=len(state))
    return f"{state[:cut].rstrip()}\n\n{text}\n\n{state[cut:].lstrip()}".strip()


def without(state: State, decisive: str) -> State:
    """The state without a passage of its text, or without the key of a dotted path; KeyError where it is not there.

    >>> without({"ticket": {"note": "late", "id": 7}}, "ticket.note")
    {'ticket': {'id': 7}}
    """
    if isinstance(state, str):
        if decisive not in state:
            raise KeyError(decisive)
        return " ".join(state.replace(decisive, " ", 1).split())
    head, _, rest = decisive.partition(".")
    if not isinstance(state, dict) or head not in state:
        raise KeyError(decisive)
    if rest:
        return {**state, head: without(state[head], rest)}
    return {key: value for key, value in state.items() if key != head}


def keys_reversed(state: State) -> State:
    """A JSON object with its keys in reverse order, at every depth."""
    if isinstance(state, dict):
        return {key: keys_reversed(value) for key, value in reversed(state.items())}
    return state


def surrounded(state: State, passages: list[str], position: Position) -> str:
    """The state as text at the start, in the middle or at the end of ``passages``."""
    text = state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)
    at = {"before": 0, "middle": len(passages) // 2, "after": len(passages)}[position]
    return "\n\n".join([*passages[:at], text, *passages[at:]])


def stripped(state: State) -> Any:
    """The state with white space around its texts removed."""
    if isinstance(state, dict):
        return {key: stripped(value) for key, value in state.items()}
    if isinstance(state, list):
        return [stripped(value) for value in state]
    return state.strip() if isinstance(state, str) else state
