"""Settings that every remote candidate shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Final, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, model_validator

from decibench.candidates.adapter import MODEL_NAME
from decibench.candidates.settings import Settings
from decibench.cases.schema import Text

_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
_PATH: Final = re.compile(r"/[\w.~%:@/+-]*", re.ASCII)
_PLAIN: Final = re.compile(r"[!-~]+")
_VARIABLE_NAME: Final = "must be the NAME of an environment variable in capitals, never the key itself"


def is_loopback(host: str) -> bool:
    """Whether ``host``, in lower case, is this machine by its very name: nothing is looked up.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost.example.com")
    (True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check_endpoint(endpoint: str) -> str:
    """``endpoint`` without a slash at its end; ValueError, which never quotes it, where it is no plain base URL.

    >>> check_endpoint("https://api.example.com/")
    'https://api.example.com'
    """
    if not _PLAIN.fullmatch(endpoint):
        raise ValueError("must be a URL of ASCII characters without spaces; write other scripts as %.. and xn--")
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
        # What the look-up of a name does first: labels that are empty or too long fail here.
        host.encode("idna")
    except ValueError:
        raise ValueError("names no host that can be asked; write it as https://api.example.com") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("must be a URL that begins with https:// or http://")
    _check_host(host, bracketed=parts.netloc.startswith("["))
    _check_port(parts)
    if parts.username or parts.password or "@" in parts.netloc:
        raise ValueError("must not hold a user or password; name the variable of the key by key_env")
    if parts.query or parts.fragment:
        raise ValueError("must be a base URL without ? and #")
    return endpoint.rstrip("/")


def _check_host(host: str, *, bracketed: bool) -> None:
    """ValueError where ``host`` looks like an address and is none: what stands last in a name is no number."""
    if bracketed or host.rpartition(".")[2].isdecimal():
        try:
            ip_address(host)
        except ValueError:
            raise ValueError("names no host that can be asked: its address is none of IPv4 or IPv6") from None


def _check_port(parts: SplitResult) -> None:
    try:
        valid = parts.port is None or parts.port > 0
    except ValueError:
        valid = False
    if not valid:
        raise ValueError("must have a port from 1 to 65535, or none")


def check_path(path: str) -> str:
    """``path``; ValueError where it is no plain path of a URL.

    >>> check_path("/v1/decisions")
    '/v1/decisions'
    """
    if not _PATH.fullmatch(path):
        raise ValueError("must be a path such as /v1/decisions, without ? and #")
    return path


def check_variable(name: str) -> str:
    """``name``; ValueError, which never quotes it, where it is no name of an environment variable."""
    if not _VARIABLE.fullmatch(name):
        raise ValueError(_VARIABLE_NAME)
    return name


def check_model(name: str) -> str:
    """``name``; ValueError where no reply may state it as the model that answered."""
    if not MODEL_NAME.fullmatch(name):
        raise ValueError("is no name that a reply may state: 1 to 200 ASCII letters, digits and . _ : / @ + ~ -")
    return name


def check_printable(name: str) -> str:
    """``name``; ValueError where it holds a character that cannot be shown."""
    if not name.isprintable():
        raise ValueError("must hold no line breaks or other characters that cannot be shown")
    return name


Endpoint = Annotated[Text, AfterValidator(check_endpoint)]
UrlPath = Annotated[Text, AfterValidator(check_path)]
Variable = Annotated[Text, AfterValidator(check_variable)]


class RemoteSettings(Settings):
    """Where a model is asked and how.

    ``endpoint`` is a base URL. ``key_env`` names the environment variable that holds the key; without it none is sent.
    ``deadline_s`` is the time an attempt may take. ``decimals`` is the rounding that the provider is known to use. The
    model that answers must be ``expect_model`` where that is set; else it must not change during a run.
    """

    endpoint: Endpoint
    model: Annotated[Text, AfterValidator(check_printable)]
    key_env: Variable | None = None
    deadline_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    decimals: Annotated[int, Field(ge=1, le=17)] | None = None
    expect_model: Annotated[Text, AfterValidator(check_model)] | None = None

    @model_validator(mode="after")
    def _names_the_version_once(self) -> Self:
        path = getattr(self, "path", "/")
        if self.endpoint.endswith("/v1") and (path is None or path.startswith("/v1/")):
            raise ValueError("endpoint ends in /v1, with which the path begins: leave it out of the endpoint")
        return self

    @property
    def host(self) -> str:
        """Host and port, as prices are looked up by."""
        return urlsplit(self.endpoint).netloc.lower()

    def lacks(self, environment: Mapping[str, str]) -> str | None:
        """That the key is not there, or would travel unencrypted; None where neither is so."""
        if self.key_env is None:
            return None
        key = environment.get(self.key_env, "")
        if not key.strip():
            return f"the environment variable {self.key_env} is not set; put the key there"
        if not key.isascii() or not key.strip().isprintable():
            return f"the environment variable {self.key_env} holds characters that no header can carry; set it anew"
        parts = urlsplit(self.endpoint)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            return f"http:// to {parts.hostname} would send the key unencrypted; use https://, or leave key_env out"
        return None
