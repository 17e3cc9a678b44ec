"""What replies have in common, read strictly: the model that answered, token counts, and the envelope of decision APIs.

Whether a distribution, a choice and a score are legal is left to the rules of all answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from decibench.candidates.adapter import MODEL_NAME, CandidateError, Usage
from decibench.cases.distribution import InvalidAnswer, finite_number
from decibench.cases.jsonio import MOST_EXACT

Kind = TypeVar("Kind")

_KINDS: Final[Mapping[type, str]] = {str: "a text", dict: "an object", list: "a list"}
_INPUT: Final = ("input_tokens",)
_OUTPUT: Final = ("output_tokens",)
_CACHED: Final = ("input_tokens_details", "cached_tokens")


def envelope(content: Any, kind: type[Kind]) -> tuple[str, Kind]:
    """The model that answered, and its answers, which are of ``kind``.

    CandidateError where the envelope is broken: invalid-reply, missing- or invalid-model, -answers and -usage,
    invalid-token-count.
    """
    try:
        model = _model(content)
        answers = member(content, "answers", kind)
        _check_usage(member(content, "usage", dict))
    except InvalidAnswer as error:
        raise CandidateError(error.code, error.detail) from None
    return model, answers


def stated_usage(content: Any) -> Usage:
    """The tokens that a reply of a decision API states; unknown where it states none.

    >>> stated_usage({"usage": {"input_tokens": 120, "input_tokens_details": {"cached_tokens": 100}}})
    Usage(input_tokens=120, output_tokens=None, cached_tokens=100)
    """
    stated = _at(content, "usage")
    return counted(count_at(stated, *_INPUT), count_at(stated, *_OUTPUT), count_at(stated, *_CACHED))


def counted(read: int | None, written: int | None, cached: int | None) -> Usage:
    """The tokens that a server states, as far as they can be.

    No request takes 0 input tokens: a server that says so does not count. Nor can more be cached than were read.

    >>> counted(120, 0, 100)
    Usage(input_tokens=120, output_tokens=0, cached_tokens=100)
    >>> counted(120, 0, 121)
    Usage(input_tokens=120, output_tokens=0, cached_tokens=None)
    >>> counted(0, 0, 0)
    Usage(input_tokens=None, output_tokens=None, cached_tokens=None)
    """
    return Usage(
        read or None,
        written if read or written else None,
        cached if read and cached is not None and cached <= read else None,
    )


def count_at(of: Any, *path: str) -> int | None:
    """The count at ``path`` below ``of``; None where it is not there or no count.

    >>> count_at({"details": {"cached": 3}}, "details", "cached")
    3
    """
    found = _at(of, *path)
    return found if type(found) is int and 0 <= found <= MOST_EXACT else None


def _at(of: Any, *path: str) -> Any:
    """The value at ``path`` below ``of``; None where there is none."""
    for name in path:
        of = of.get(name) if isinstance(of, dict) else None
    return of


def answered_by(content: Any) -> str:
    """The model that a reply says it is of; CandidateError: invalid-reply, missing-model, invalid-model."""
    try:
        return _model(content)
    except InvalidAnswer as error:
        raise CandidateError(error.code, error.detail) from None


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


def _model(reply: Any) -> str:
    if not isinstance(reply, dict):
        raise InvalidAnswer("invalid-reply", f"the reply is {type(reply).__name__}, not an object")
    model = member(reply, "model", str)
    if not MODEL_NAME.fullmatch(model):
        raise InvalidAnswer("invalid-model", "model is no name: 1 to 200 ASCII letters, digits and . _ : / @ + ~ -")
    return model


def _check_usage(usage: Mapping[str, Any]) -> None:
    """Counts may be left out or null; one that is there must be a count."""
    for path in (_INPUT, _OUTPUT, _CACHED):
        if _at(usage, *path) is not None and count_at(usage, *path) is None:
            raise InvalidAnswer("invalid-token-count", f"{path[-1]} is no whole number from 0 up")
