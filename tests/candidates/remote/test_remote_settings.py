"""Settings of remote candidates: what an endpoint and a key may be, and what is said of one that may not."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from decibench.candidates.remote.settings import RemoteSettings, is_loopback
from decibench.candidates.remote.systemone import SystemOneSettings

SECRET = "sk-secret-0"


def settings(**given: object) -> RemoteSettings:
    return RemoteSettings.model_validate({"endpoint": "https://api.example.com", "model": "m", **given})


@pytest.mark.parametrize(
    ("given", "kept", "host"),
    [
        ("https://api.example.com/", "https://api.example.com", "api.example.com"),
        ("https://Gateway.Example.com/openai/v1/", "https://Gateway.Example.com/openai/v1", "gateway.example.com"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000", "[::1]:8000"),
        ("http://my_server:8000", "http://my_server:8000", "my_server:8000"),
    ],
)
def test_a_base_url_is_taken(given: str, kept: str, host: str) -> None:
    assert (settings(endpoint=given).endpoint, settings(endpoint=given).host) == (kept, host)


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("api.example.com", "begins with https:// or http://"),
        ("ftp://api.example.com", "begins with https:// or http://"),
        ("https://", "begins with https:// or http://"),
        ("https://:443", "begins with https:// or http://"),
        ("https://api.example.com:0", "a port from 1 to 65535"),
        ("https://api.example.com:99999", "a port from 1 to 65535"),
        ("https://api.example.com:https", "a port from 1 to 65535"),
        ("https://[::1", "names no host that can be asked"),
        ("https://[v1.a]", "names no host that can be asked"),
        ("https://api..example.com", "names no host that can be asked"),
        ("http://127.999.0.1:8000", "names no host that can be asked"),
        (f"https://user:{SECRET}@api.example.com", "must not hold a user or password"),
        (f"https://{SECRET}@api.example.com", "must not hold a user or password"),
        (f"https://api.example.com?key={SECRET}", "without ? and #"),
        (f"https://api.example.com/#{SECRET}", "without ? and #"),
        ("https://api. example.com", "ASCII characters without spaces"),
        ("https://api.example.com/\n", "ASCII characters without spaces"),
        ("https://äpi.example.com", "ASCII characters without spaces"),
        ("https://api.example.com/v1/../\x00", "ASCII characters without spaces"),
    ],
)
def test_an_endpoint_that_is_no_base_url_is_refused_and_not_quoted(endpoint: str, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(endpoint=endpoint)
    [problem] = caught.value.errors(include_input=False)
    assert said in problem["msg"]
    assert SECRET not in problem["msg"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"endpoint": "https://api.example.com/v1"}, "ends in /v1, with which the path begins"),
        ({"expect_model": "a b"}, "is no name that a reply may state"),
        ({"model": "a\nb"}, "must hold no line breaks"),
    ],
)
def test_what_no_run_could_be_made_with_is_refused(given: dict[str, str], said: str) -> None:
    whole = {"endpoint": "https://api.example.com", "model": "m"}
    with pytest.raises(ValidationError, match=said):
        SystemOneSettings.model_validate(whole | given)
    assert SystemOneSettings.model_validate({**whole, "endpoint": "https://api.example.com/v1", "path": "/systemone"})


@pytest.mark.parametrize("name", [SECRET, "own_key", "1KEY", "KEY=1", "", "KEY "])
def test_a_key_in_place_of_its_variable_is_refused_and_not_quoted(name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(key_env=name)
    [problem] = caught.value.errors(include_input=False)
    assert not name.strip() or name not in problem["msg"]


@pytest.mark.parametrize("given", [{"deadline_s": 0}, {"deadline_s": 3601}, {"decimals": 0}, {"decimals": 2.5}])
def test_figures_that_mean_nothing_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        settings(**given)


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ({}, None, None),
        ({"key_env": "OWN_KEY"}, SECRET, None),
        ({"key_env": "OWN_KEY"}, f" {SECRET}\n", None),
        ({"key_env": "OWN_KEY"}, None, "OWN_KEY is not set; put the key there"),
        ({"key_env": "OWN_KEY"}, " \n", "OWN_KEY is not set; put the key there"),
        ({"key_env": "OWN_KEY"}, f"{SECRET}é", "characters that no header can carry"),
        ({"key_env": "OWN_KEY"}, f"{SECRET}\nx: y", "characters that no header can carry"),
        ({"key_env": "OWN_KEY", "endpoint": "http://api.example.com"}, SECRET, "would send the key unencrypted"),
        ({"key_env": "OWN_KEY", "endpoint": "http://127.0.0.1.example.com"}, SECRET, "would send the key unencrypted"),
        ({"key_env": "OWN_KEY", "endpoint": "http://LOCALHOST:8000"}, SECRET, None),
        ({"key_env": "OWN_KEY", "endpoint": "http://[::1]:8000"}, SECRET, None),
        ({"endpoint": "http://api.example.com"}, None, None),
    ],
)
def test_what_a_place_lacks_to_run(given: dict[str, str], key: str | None, said: str | None) -> None:
    lacks = settings(**given).lacks({} if key is None else {"OWN_KEY": key})
    assert (lacks is None) == (said is None)
    assert said is None or said in str(lacks)
    assert SECRET not in str(lacks)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.255.0.3", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("1127.0.0.1", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_this_machine_is_told_by_its_name(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
