"""``systemone`` and ``jev``: the System One protocol, ``POST {endpoint}/v1/systemone``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from decibench.candidates.adapter import Answer, Usage
from decibench.candidates.remote.identity import remote_identity
from decibench.candidates.remote.prices import ApiName
from decibench.candidates.remote.reading import stated_usage
from decibench.candidates.remote.settings import Endpoint, RemoteSettings, UrlPath, Variable
from decibench.candidates.remote.systemone_reply import read_reply
from decibench.cases.request import Request

Jev: TypeAlias = Literal["jev-1.13.0"]
JEV: Final[Jev] = "jev-1.13.0"


class SystemOneSettings(RemoteSettings):
    """A server of the System One protocol.

    ``path`` is where it is asked below the endpoint: a gateway may serve this protocol under the path of another.
    """

    path: UrlPath = "/v1/systemone"


class JevSettings(SystemOneSettings):
    """TypeSafe's own endpoint and one version of its model, which rounds to two decimals.

    Other versions, and the names that gateways give this one, are asked through ``systemone``.
    """

    endpoint: Endpoint = "https://api.typesafe.ai"
    model: Jev = JEV
    key_env: Variable | None = "TYPESAFE_API_KEY"
    expect_model: Jev = JEV
    decimals: Literal[2] = 2


class SystemOne:
    """The System One wire format."""

    api: ApiName = "systemone"
    headers: Mapping[str, str] = {}
    key_header = ("Authorization", "Bearer ")
    most_output_tokens = None

    def __init__(self, settings: SystemOneSettings) -> None:
        self.settings = settings
        self.url = settings.endpoint + settings.path
        self.identity = remote_identity(self)

    def bodies(self, request: Request) -> Sequence[Mapping[str, Any]]:
        """One body for all questions, with members in the order of the official client."""
        wire = request.to_wire()
        for question in wire["questions"].values():
            # The criteria of a noul may be left out; that they may be empty is said nowhere.
            if not question["criteria"]:
                del question["criteria"]
        return [{"state": wire["state"], "model": self.settings.model, "questions": wire["questions"]}]

    def usage(self, content: Any) -> Usage:
        """The tokens that a reply states; unknown where it counts none."""
        return stated_usage(content)

    def read(self, request: Request, contents: Sequence[Any]) -> Answer:
        """The answers of all questions; see ``read_reply``."""
        [content] = contents
        return read_reply(request, content)
