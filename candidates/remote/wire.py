"""What an adapter of a remote model has to offer: requests as JSON bodies, and replies read as answers.

A wire format does no I/O and holds no key: what it reads can be read again from kept replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from decibench.candidates.adapter import Answer, CandidateError, Identity, Usage
from decibench.candidates.remote.prices import ApiName
from decibench.candidates.remote.settings import RemoteSettings
from decibench.cases.request import Request


class Wire(Protocol):
    """A wire format with its settings."""

    @property
    def identity(self) -> Identity:
        """What exactly is asked."""
        ...

    @property
    def settings(self) -> RemoteSettings:
        """Endpoint, key variable and deadline."""
        ...

    @property
    def api(self) -> ApiName:
        """Name of the API as prices are looked up by."""
        ...

    @property
    def url(self) -> str:
        """Where requests are posted."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers beside the content type and the key."""
        ...

    @property
    def key_header(self) -> tuple[str, str]:
        """Name of the header that carries the key, and what stands before the key, as ("Authorization", "Bearer ")."""
        ...

    @property
    def most_output_tokens(self) -> int | None:
        """The most output tokens that the reply to one body can hold; None where the format does not bound them."""
        ...

    def bodies(self, request: Request) -> Sequence[Mapping[str, Any]]:
        """The JSON bodies that ask ``request``: one, or one per question; CandidateError where it cannot be asked."""
        ...

    def usage(self, content: Any) -> Usage:
        """The tokens that one reply states; unknown where it states none. Never raises."""
        ...

    def read(self, request: Request, contents: Sequence[Any]) -> Answer:
        """The answer in the JSON values of the replies to ``bodies``, without usage and traffic.

        CandidateError where they are no answer: its ``code`` and ``detail`` are free of what the replies say.
        """
        ...


def answer_in(wire: Wire, request: Request, contents: Sequence[Any]) -> Answer:
    """What ``wire`` reads in ``contents``; CandidateError (invalid-reply) also where reading them fails unforeseen."""
    try:
        return wire.read(request, contents)
    except CandidateError:
        raise
    except Exception as error:
        # What a reader stumbles over is in its message: a part of the reply.
        detail = f"the reply is not what it has to be ({type(error).__name__})"
        raise CandidateError("invalid-reply", detail) from None
