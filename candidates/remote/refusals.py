"""What a status other than 200 means: the code of the failure, whether it ends the run, and whether to ask again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that was not answered.

    ``again`` tells that the same request may be answered later, ``unsent`` that it never reached a server.
    """

    code: str
    detail: str
    fatal: bool = False
    again: bool = False
    unsent: bool = False


NO_JSON: Final = Refusal(
    "invalid-json",
    "the reply is no strict JSON: cut off, a key that appears twice, NaN, a number that is too long, nested too deeply "
    "or not UTF-8",
)

_SPENT: Final = frozenset(
    {"enforced_spend_limit_reached", "insufficient_quota", "billing_hard_limit_reached", "billing_error"}
)
_TOO_LONG: Final = frozenset({"max_tokens_exceeded", "context_length_exceeded", "exceed_context_size_error"})
_TOO_LONG_IN_WORDS: Final = re.compile(r"prompt is too long|maximum context length", re.IGNORECASE)
"""What messages say where no type or code does."""


_BY_STATUS: Final[Mapping[int, Refusal]] = {
    400: Refusal("bad-request", "the server calls the request invalid (HTTP 400)"),
    401: Refusal("unauthorized", "the key was not accepted (HTTP 401)", fatal=True),
    402: Refusal("payment-required", "the account has no credit (HTTP 402)", fatal=True),
    403: Refusal("forbidden", "the server refuses this key, or wants one (HTTP 403)", fatal=True),
    404: Refusal("not-found", "no such address or model (HTTP 404); check endpoint, path and model"),
    408: Refusal("server-timeout", "the server gave up waiting (HTTP 408)", again=True),
    413: Refusal("request-too-large", "the request is too large for the server (HTTP 413)"),
    422: Refusal("invalid-request", "the server calls the request invalid (HTTP 422)"),
    429: Refusal("rate-limited", "the server asks for fewer requests (HTTP 429)", again=True),
    529: Refusal("overloaded", "the server is overloaded (HTTP 529)", again=True),
}
_DEEPEST: Final = 4


def refusal_of(status: int, content: Any) -> Refusal:
    """What ``status`` means beside the JSON value ``content`` of its body, None where that is no JSON.

    Providers say that a spend limit is reached by 400 and 429 too, and that a request does not fit by 400: the words
    for that are looked for wherever their bodies hold error types and codes.
    """
    words = set(_words(content, 0))
    if words & _SPENT:
        return Refusal("spend-limit", f"the account's spend limit is reached (HTTP {status})", fatal=True)
    if status < 500 and words & _TOO_LONG:
        return Refusal("does-not-fit", f"the request does not fit the model's context (HTTP {status})")
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if status >= 500:
        return Refusal("server-error", f"the server failed (HTTP {status})", again=True)
    if 300 <= status < 400:
        return Refusal("redirected", f"the server redirects (HTTP {status}), which is not followed; name its target")
    return Refusal("unexpected-status", f"the server answered HTTP {status}, not 200")


def _words(content: Any, depth: int) -> Iterator[str]:
    """Error types and codes of the shapes that providers use, from objects at most four deep."""
    if not isinstance(content, dict) or depth >= _DEEPEST:
        return
    for key, value in content.items():
        if key in ("error_type", "error_code", "type", "code") and isinstance(value, str):
            yield value
        elif key == "message" and isinstance(value, str) and _TOO_LONG_IN_WORDS.search(value[:200]):
            yield "context_length_exceeded"
        elif key in ("error", "detail", "details"):
            yield from _words(value, depth + 1)
