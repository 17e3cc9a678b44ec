"""What the replies of decision APIs have in common, read strictly: the envelope, its members, and token counts.

Whether a distribution, a choice and a score are legal is left to the rules of all answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from decibench.candidates.adapter import CandidateError, Usage
from decibench.cases.distribution import InvalidAnswer, finite_number

Kind = TypeVar("Kind")

_KINDS: Final[Mapping[type, str]] = {str: "a text", dict: "an object", list: "a list"}
_LONGEST_MODEL: Final = 200
"""Characters; what is longer or not printable is no name of a model, and goes into no record."""


def envelope(content: Any, kind: type[Kind]) -> tuple[str, Kind]:
    """The model that answered, and its answers, which are of ``kind``.

    CandidateError where the envelope is broken: invalid-reply, missing- or invalid-model, -answers and -usage,
    invalid-token-count.
    """
    try:
        if not isinstance(content, dict):
            raise InvalidAnswer("invalid-reply", f"the reply is {type(content).__name__}, not an object")
        model = _model(content)
        answers = member(content, "answers", kind)
        _check_usage(member(content, "usage", dict))
    except InvalidAnswer as error:
        raise CandidateError(error.code, error.detail) from None
    return model, answers


def stated_usage(content: Any) -> Usage:
    """The tokens that a reply states; unknown where it states none.

    No request takes 0 input tokens: a server that says so does not count. Nor can more be cached than were read.

    >>> stated_usage({"usage": {"input_tokens": 120, "output_tokens": 0}})
    Usage(input_tokens=120, output_tokens=0, cached_tokens=None)
    >>> stated_usage({"usage": {"input_tokens": 120, "input_tokens_details": {"cached_tokens": 100}}})
    Usage(input_tokens=120, output_tokens=None, cached_tokens=100)
    >>> stated_usage({"usage": {"input_tokens": 120, "input_tokens_details": {"cached_tokens": 121}}})
    Usage(input_tokens=120, output_tokens=None, cached_tokens=None)
    >>> stated_usage({"usage": {"input_tokens": 0, "output_tokens": 0}})
    Usage(input_tokens=None, output_tokens=None, cached_tokens=None)
    """
    stated = _object(content, "usage")
    read, written = _count(stated.get("input_tokens")) or None, _count(stated.get("output_tokens"))
    cached = _count(_object(stated, "input_tokens_details").get("cached_tokens"))
    return Usage(
        read,
        written if read or written else None,
        cached if read is not None and cached is not None and cached <= read else None,
    )


def confidence_of(answer: Mapping[str, Any]) -> float:
    """The confidence that ``answer`` reports; InvalidAnswer where it is no number in [0, 1]."""
    confidence = finite_number(member(answer, "confidence", object), "the confidence")
    if not 0 <= confidence <= 1:
        raise InvalidAnswer("confidence-out-of-range", "the confidence is outside [0, 1]")
    return confidence


def member(of: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind:
    """The member ``name``, which must be there and of ``kind``; InvalidAnswer (missing-, invalid-NAME) where not."""
    if name not in of:
        raise InvalidAnswer(f"missing-{name}", f"{name} is missing")
    found = of[name]
    if not isinstance(found, kind):
        raise InvalidAnswer(f"invalid-{name}", f"{name} is {type(found).__name__}, not {_KINDS[kind]}")
    return found


def _model(reply: Mapping[str, Any]) -> str:
    model = member(reply, "model", str)
    if not model.strip() or not model.isprintable() or len(model) > _LONGEST_MODEL:
        raise InvalidAnswer("invalid-model", f"model is no name of 1 to {_LONGEST_MODEL} printable characters")
    return model


def _check_usage(usage: Mapping[str, Any]) -> None:
    """Counts may be left out or null; one that is there must be a count."""
    counts = {name: usage.get(name) for name in ("input_tokens", "output_tokens")}
    counts["cached_tokens"] = _object(usage, "input_tokens_details").get("cached_tokens")
    for name, count in counts.items():
        if count is not None and _count(count) is None:
            raise InvalidAnswer("invalid-token-count", f"{name} is no whole number from 0 up")


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _object(of: Any, name: str) -> Mapping[str, Any]:
    """The member ``name`` where it is an object, else an empty one."""
    found = of.get(name) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}
