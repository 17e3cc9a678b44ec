"""Prices of hosted models: a dated table in one TOML file, which a user's own table goes before."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, ValidationError

from decibench.candidates.adapter import Usage
from decibench.cases.door import UsageError
from decibench.cases.errors import Problem, problems_of
from decibench.cases.schema import Model, Text

ApiName: TypeAlias = Literal["systemone", "decisions", "chat", "messages"]
"""An API as prices know it."""

SHIPPED: Final = Path(__file__).with_name("prices.toml")
"""The table that comes with decibench."""

HIGHEST: Final = 1e6
"""Most US dollars per million tokens: more is a slip of the pen."""

MOST_ADDED_TOKENS: Final = 1_000
"""The most input tokens that a provider is taken to count beyond the body: its own text around a request.

A byte of a body makes at most one token, as tokenisers join bytes and never split them; but the model also reads text
of the provider. For a question of one line that was about 300 tokens, and a thousand leaves room for more.
"""

_MILLION: Final = 1e6

_Usd = Annotated[float, Field(ge=0, le=HIGHEST)]
_Key: TypeAlias = tuple[str | None, str, str]


class PriceEntry(Model):
    """A ``[[price]]`` of a table, in US dollars per million tokens; without ``host`` it holds at any.

    ``host`` is written as in the endpoint, with a port where that has one. ``date`` is the day on which ``source``
    stated the price.
    """

    host: Text | None = None
    api: ApiName
    model: Text
    input: _Usd
    output: _Usd
    cached_input: _Usd | None = None
    date: date
    source: Text


class PriceFile(Model):
    """A table of prices."""

    price: Annotated[list[PriceEntry], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, and where and when that was stated.

    ``cached_input`` is the price of input tokens read from the provider's cache; None where it is not known.
    """

    input: float
    output: float
    cached_input: float | None
    stated: str

    def of(self, usage: Usage) -> float | None:
        """What ``usage`` costs in US dollars; None where a part of it is unknown.

        Output that costs nothing need not be known. Cached tokens must be, where they have a price of their own.

        >>> Price(0.5, 2.0, 0.1, "an example").of(Usage(1_000_000, 10, cached_tokens=500_000))
        0.30002
        >>> Price(0.5, 2.0, None, "an example").of(Usage(1_000, 10, cached_tokens=500)) is None
        True
        """
        cached = usage.cached_tokens
        if cached is None and self.cached_input is None:
            cached = 0
        if usage.input_tokens is None or cached is None or cached > usage.input_tokens:
            return None
        if cached and self.cached_input is None:
            return None
        if usage.output_tokens is None and self.output:
            return None
        read = (usage.input_tokens - cached) * self.input + cached * (self.cached_input or 0.0)
        return (read + (usage.output_tokens or 0) * self.output) / _MILLION

    def most(self, body_bytes: int, most_output_tokens: int | None) -> float | None:
        """The most US dollars that a request with such a body can cost; None where nothing bounds its output.

        That is an upper bound as long as the provider adds at most ``MOST_ADDED_TOKENS`` of its own.
        """
        if most_output_tokens is None and self.output:
            return None
        read = (body_bytes + MOST_ADDED_TOKENS) * max(self.input, self.cached_input or 0.0)
        return (read + (most_output_tokens or 0) * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by the host and the API that are asked, and the model that is meant; earlier ``layers`` go first."""

    layers: tuple[Mapping[_Key, Price], ...] = ()

    def find(self, host: str, api: str, model: str) -> Price | None:
        """The price of ``model``; None where it is not known."""
        keys: tuple[_Key, ...] = ((host, api, model), (None, api, model))
        return next((layer[key] for layer in self.layers for key in keys if key in layer), None)


def read_prices(file: Path | None) -> PriceTable:
    """The shipped table, behind that of ``file`` where one is named; UsageError names what is wrong in it."""
    shipped = _read(SHIPPED, "prices.toml of decibench")
    return PriceTable((shipped,)) if file is None else PriceTable((_read(file, file.name), shipped))


def _read(file: Path, name: str) -> dict[_Key, Price]:
    try:
        entries = PriceFile.model_validate(tomllib.loads(file.read_bytes().decode())).price
    except OSError as error:
        raise UsageError(f"--prices {file}: cannot be read ({error.strerror}); name a readable file") from error
    except ValidationError as error:
        raise UsageError("\n".join(str(problem) for problem in problems_of(error, str(file)))) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--prices {file}: is not TOML: {error}; write tables [[price]]") from error
    keys: list[_Key] = [(entry.host and entry.host.lower(), entry.api, entry.model) for entry in entries]
    if (repeated := Counter(keys).most_common(1)[0])[1] > 1:
        place = keys.index(repeated[0], keys.index(repeated[0]) + 1)
        message = "has host, api and model of an earlier one; keep one of them"
        raise UsageError(str(Problem(str(file), message, None, f"price.{place}")))
    return {key: _price(entry, name) for key, entry in zip(keys, entries, strict=True)}


def _price(entry: PriceEntry, name: str) -> Price:
    stated = f"{name}: {entry.source}, {entry.date:%Y-%m-%d}"
    return Price(entry.input, entry.output, entry.cached_input, stated)
