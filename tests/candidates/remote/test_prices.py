"""Tables of prices: which price is found, what a request costs by it, and which tables are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from decibench.candidates.adapter import Usage
from decibench.candidates.remote.prices import SHIPPED, Price, read_prices
from decibench.cases.door import UsageError

Table: TypeAlias = Callable[..., Path]

ENTRY = {
    "host": '"api.example.com"',
    "api": '"chat"',
    "model": '"model-1"',
    "input": "2.0",
    "output": "8.0",
    "cached_input": "0.5",
    "date": "2026-11-30",
    "source": '"the contract"',
}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Write a table of one entry per mapping of changes to ``ENTRY``; None leaves a field out."""

    def write(*changes: dict[str, str | None]) -> Path:
        tables = []
        for change in changes:
            fields = {name: value for name, value in (ENTRY | change).items() if value is not None}
            tables.append("\n".join(["[[price]]", *(f"{name} = {value}" for name, value in fields.items())]))
        path = tmp_path / "mine.toml"
        path.write_text("\n\n".join(tables), "utf-8")
        return path

    return write


def test_the_shipped_table_knows_the_pinned_jev_and_where_its_price_comes_from() -> None:
    price = read_prices(None).find("api.typesafe.ai", "systemone", "jev-1.13.0")
    assert price is not None
    assert (price.input, price.output, price.cached_input) == (0.042, 0.0, None)
    assert "TypeSafe" in price.stated
    assert "2026-11-30" in price.stated


@pytest.mark.parametrize(
    ("host", "api", "model"),
    [
        pytest.param("api.typesafe.ai", "systemone", "jev-latest", id="alias"),
        pytest.param("api.typesafe.ai", "decisions", "jev-1.13.0", id="other-api"),
        pytest.param("127.0.0.1:8000", "systemone", "jev-1.13.0", id="other-host"),
        pytest.param("api.openai.com", "chat", "gpt-6-luna", id="other-price-by-api"),
    ],
)
def test_what_is_not_in_the_table_has_no_price(host: str, api: str, model: str) -> None:
    assert read_prices(None).find(host, api, model) is None


def test_every_shipped_price_says_when_and_where_it_was_stated() -> None:
    text = SHIPPED.read_text("utf-8")
    entries = text.count("[[price]]")
    assert entries >= 1
    assert len(re.findall(r"^date = \d{4}-\d\d-\d\d$", text, re.M)) == entries
    assert len(re.findall(r'^source = ".+"$', text, re.M)) == entries


def test_a_table_of_ones_own_goes_before_the_shipped_one(table: Table) -> None:
    jev = {"api": '"systemone"', "model": '"jev-1.13.0"'}
    own = read_prices(table(jev | {"host": '"API.typesafe.ai"'}))
    found = own.find("api.typesafe.ai", "systemone", "jev-1.13.0")
    assert found == Price(2.0, 8.0, 0.5, "mine.toml: the contract, 2026-11-30")
    anywhere = read_prices(table(jev | {"host": None}))
    assert anywhere.find("api.typesafe.ai", "systemone", "jev-1.13.0") == found
    assert anywhere.find("127.0.0.1:9", "systemone", "jev-1.13.0") == found
    # What it does not hold is looked up in the shipped one.
    assert own.find("openrouter.ai", "systemone", "typesafe/jev-1.13") is not None


def test_a_host_of_its_own_goes_before_any_host(table: Table) -> None:
    prices = read_prices(table({"host": None, "input": "1.0"}, {"input": "3.0"}))
    here, elsewhere = (prices.find(host, "chat", "model-1") for host in ("api.example.com", "other.example.com"))
    assert here is not None
    assert elsewhere is not None
    assert (here.input, elsewhere.input) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("price", "usage", "usd"),
    [
        pytest.param(Price(2, 8, None, ""), Usage(1_000_000, 500_000), 6.0, id="input-and-output"),
        pytest.param(Price(2, 0, None, ""), Usage(1_000_000), 2.0, id="free-output-need-not-be-known"),
        pytest.param(Price(2, 8, None, ""), Usage(1_000_000), None, id="output-unknown"),
        pytest.param(Price(2, 0, None, ""), Usage(None, 5), None, id="input-unknown"),
        pytest.param(Price(2, 0, None, ""), Usage(), None, id="nothing-known"),
        pytest.param(Price(2, 0, 0.5, ""), Usage(1_000_000, 0, 600_000), 1.1, id="cached-apart"),
        pytest.param(Price(2, 0, None, ""), Usage(1_000_000, 0, 1), None, id="cached-without-a-price"),
        pytest.param(Price(2, 0, None, ""), Usage(1_000_000, 0, 0), 2.0, id="nothing-cached"),
        pytest.param(Price(2, 0, 0.5, ""), Usage(1_000_000, 0), None, id="cached-not-told"),
        pytest.param(Price(2, 0, 0.5, ""), Usage(10, 0, 11), None, id="more-cached-than-read"),
        pytest.param(Price(0, 0, None, ""), Usage(10, 0), 0.0, id="free"),
    ],
)
def test_a_cost_is_known_only_where_every_part_is(price: Price, usage: Usage, usd: float | None) -> None:
    assert price.of(usage) == (None if usd is None else pytest.approx(usd))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"input": None}, "field price.0.input: is missing; add it"),
        ({"date": None}, "field price.0.date: is missing; add it"),
        ({"source": '""'}, "field price.0.source: must not be empty"),
        ({"input": '"2"'}, "field price.0.input: must be a number"),
        ({"input": "-1.0"}, "field price.0.input: must be at least 0"),
        ({"output": "nan"}, "field price.0.output: "),
        ({"output": "1e9"}, "field price.0.output: must be at most 1000000"),
        ({"date": '"yesterday"'}, "field price.0.date: "),
        ({"api": '"openai"'}, "field price.0.api: must be 'systemone', 'decisions', 'chat' or 'messages'"),
        ({"usd": "1.0"}, "field price.0.usd: is not a known field; remove it or correct its spelling"),
        ({"host": "unquoted"}, "is not TOML: "),
    ],
)
def test_a_table_that_is_wrong_is_refused_by_file_and_field(
    table: Table, change: dict[str, str | None], said: str
) -> None:
    path = table(change)
    with pytest.raises(UsageError) as refused:
        read_prices(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


def test_two_prices_of_one_model_are_refused(table: Table) -> None:
    path = table({}, {"model": '"model-2"'}, {"host": '"API.EXAMPLE.COM"'})
    with pytest.raises(UsageError, match=r"mine\.toml, field price\.2: has host, api and model of an earlier one"):
        read_prices(path)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[[price]]", b"price = 1"])
def test_what_is_no_table_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=re.escape(str(path))):
        read_prices(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--prices .*nowhere\.toml: cannot be read"):
        read_prices(tmp_path / "nowhere.toml")
