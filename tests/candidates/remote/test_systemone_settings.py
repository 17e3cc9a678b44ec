"""What may be set of ``systemone`` and ``jev``, and what the refusals say."""

from __future__ import annotations

from pathlib import Path

import pytest

from decibench.candidates.config import resolve_candidates
from decibench.cases.door import UsageError

HERE = 'endpoint = "http://127.0.0.1:1"\nmodel = "m"\n'


def refusal(tmp_path: Path, table: str, adapter: str = "systemone") -> str:
    file = tmp_path / "decibench.toml"
    file.write_text(f'[candidates.one]\nadapter = "{adapter}"\n{table}', "utf-8")
    with pytest.raises(UsageError) as caught:
        resolve_candidates(["one"], file=file, device=None)
    return str(caught.value)


@pytest.mark.parametrize("path", ["v1/systemone", "", "/v1/systemone?key=1", "/v1 /x", "/v1#x", "//\\u00e4"])
def test_a_path_is_a_path_of_a_url(tmp_path: Path, path: str) -> None:
    assert "candidates.one.path: " in refusal(tmp_path, f'{HERE}path = "{path}"\n')


@pytest.mark.parametrize("path", ["/v1/decisions", "/typesafe/v1/systemone", "/", "/a~b/%20"])
def test_a_gateway_may_have_a_path_of_its_own(tmp_path: Path, path: str) -> None:
    file = tmp_path / "decibench.toml"
    file.write_text(f'[candidates.one]\nadapter = "systemone"\n{HERE}path = "{path}"\n', "utf-8")
    [spec] = resolve_candidates(["one"], file=file, device=None)
    assert spec.entry is not None
    assert spec.entry.wire(spec.settings).url == f"http://127.0.0.1:1{path}"


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("model", '"jev-latest"', "'jev-1.13.0'"),
        ("expect_model", '"jev-1.14.0"', "'jev-1.13.0'"),
        ("decimals", "4", "2"),
        ("temperature", "0.0", "jev takes endpoint, model, key_env"),
    ],
)
def test_jev_is_one_version_of_one_model(tmp_path: Path, setting: str, value: str, says: str) -> None:
    message = refusal(tmp_path, f"{setting} = {value}\n", adapter="jev")
    assert f"candidates.one.{setting}: " in message
    assert says in message


def test_jev_needs_nothing_but_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    [spec] = resolve_candidates(["jev"], file=None, device=None)
    assert spec.lacks is not None
    assert "TYPESAFE_API_KEY" in spec.lacks
    monkeypatch.setenv("TYPESAFE_API_KEY", "sk-canary")
    [spec] = resolve_candidates(["jev"], file=None, device=None)
    assert spec.lacks is None
    assert spec.entry is not None
    wire = spec.entry.wire(spec.settings)
    assert wire.url == "https://api.typesafe.ai/v1/systemone"
    assert "sk-canary" not in repr(wire.identity)
