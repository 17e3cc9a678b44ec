"""Settings of the readouts: mistakes are sentences, and what can change an answer makes another candidate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from decibench.candidates.config import resolve_candidates
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.llm import prompts
from decibench.candidates.remote.llm.labels import Labels
from decibench.cases.door import UsageError

if TYPE_CHECKING:
    from tests.candidates.remote.llm.conftest import Make

ADAPTERS = ["llm-probabilities", "llm-labels", "llm-final"]
NEEDED = 'endpoint = "https://api.example.com"\nmodel = "m"\nprovider = "{provider}"\nmax_tokens = 2000\n'


@pytest.fixture
def refusal(tmp_path: Path) -> Callable[[str, str], str]:
    """What a candidates file with one table ``x`` is refused with."""

    def of(adapter: str, text: str) -> str:
        file = tmp_path / "decibench.toml"
        file.write_text(f'[candidates.x]\nadapter = "{adapter}"\n{text}', "utf-8")
        with pytest.raises(UsageError) as caught:
            resolve_candidates(["x"], file=file, device=None)
        return str(caught.value).replace(f"{file}, field ", "")

    return of


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_has_to_be_said_is_asked_for(refusal: Callable[[str, str], str], adapter: str) -> None:
    said = refusal(adapter, "")
    for name in ("endpoint", "model", "provider", "max_tokens"):
        assert f"candidates.x: {adapter} needs {name}" in said


def test_what_no_option_can_say_is_to_be_set_in_a_file() -> None:
    with pytest.raises(UsageError) as caught:
        resolve_candidates(["llm-labels"], file=None, device=None, shorthand={"model": "m"})
    assert str(caught.value).splitlines() == [
        "--candidate llm-labels: llm-labels needs endpoint; give --endpoint, or set it in a candidates file",
        "--candidate llm-labels: llm-labels needs provider; set it in a candidates file",
        "--candidate llm-labels: llm-labels needs max_tokens; set it in a candidates file",
    ]


@pytest.mark.parametrize(
    ("adapter", "provider", "more", "sentence"),
    [
        ("llm-labels", "google", "", "candidates.x.provider: "),
        ("llm-labels", "openai", "temperature = 3", "candidates.x.temperature: "),
        ("llm-labels", "openai", "colour = 1", "candidates.x.colour: llm-labels takes "),
        ("llm-final", "openai", 'schema_mode = "tool"', "candidates.x.schema_mode: llm-final takes "),
        ("llm-labels", "openai", 'schema_mode = "auto"', "candidates.x.schema_mode: "),
        ("llm-labels", "openai", 'path = "v1/chat"', "candidates.x.path: "),
        ("llm-labels", "openai", "decimals = 2", "candidates.x.decimals: "),
        (
            "llm-labels",
            "openai",
            'thinking = "adaptive"',
            'candidates.x.thinking: goes with provider = "anthropic" only; remove it',
        ),
        (
            "llm-final",
            "anthropic",
            'max_tokens_field = "max_tokens"',
            'candidates.x.max_tokens_field: goes with provider = "openai" only; remove it',
        ),
        ("llm-final", "anthropic", "thinking_budget_tokens = 1000", "candidates.x.thinking_budget_tokens: "),
        (
            "llm-final",
            "anthropic",
            "thinking_budget_tokens = 2000",
            "candidates.x.thinking_budget_tokens: must be less than max_tokens, which thinking counts towards",
        ),
        (
            "llm-final",
            "anthropic",
            'thinking = "disabled"\nthinking_budget_tokens = 1024',
            "candidates.x.thinking_budget_tokens: already switches thinking on; remove thinking",
        ),
    ],
)
def test_a_mistake_is_told_with_its_field(
    refusal: Callable[[str, str], str], adapter: str, provider: str, more: str, sentence: str
) -> None:
    [line] = refusal(adapter, NEEDED.format(provider=provider) + more).splitlines()
    assert line.startswith(sentence)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_everything_that_can_change_an_answer_is_in_the_identity(make: Make, adapter: str) -> None:
    base = make(adapter, "anthropic", max_tokens=2000).identity
    assert base.probability_readout is (adapter == "llm-probabilities")
    assert (base.model, base.alias, base.device) == ("asked-model", True, "remote")
    changes: list[dict[str, Any]] = [
        {"max_tokens": 2001},
        {"temperature": 0},
        {"effort": "low"},
        {"thinking": "adaptive"},
        {"thinking_budget_tokens": 1024},
        {"path": "/v2/messages"},
        {"model": "other"},
        {"expect_model": "asked-model"},
    ]
    if adapter != "llm-final":
        changes += [{"schema_mode": "tool"}, {"schema_mode": "none"}]
    hashes = [base, *(make(adapter, "anthropic", **{"max_tokens": 2000, **change}).identity for change in changes)]
    assert len({str(identity.to_json()) for identity in hashes}) == len(changes) + 1
    same = make(adapter, "anthropic", max_tokens=2000, deadline_s=5, key_env=None).identity
    assert same == base


def test_the_identity_tells_the_settings_one_by_one(make: Make) -> None:
    settings = make("llm-probabilities", "openai", temperature=0, effort="low", schema_mode="tool").identity.settings
    expected = {
        "readout": "probabilities",
        "api": "chat",
        "provider": "openai",
        "asked_model": "asked-model",
        "max_tokens": 500,
        "temperature": 0,
        "effort": "low",
        "schema_mode": "tool",
    }
    assert expected.items() <= settings.items()


def test_another_prompt_is_another_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    def hashes() -> dict[str, object]:
        given = {"endpoint": "http://127.0.0.1:1", "model": "m", "provider": "openai", "max_tokens": 9}
        wires = {name: REGISTRY[name].wire(REGISTRY[name].settings_model.model_validate(given)) for name in ADAPTERS}
        return {name: wire.identity.settings["wire_sha256"] for name, wire in wires.items()}

    before = hashes()
    assert len(set(before.values())) == 3
    monkeypatch.setattr(Labels, "task", "Choose for every question.")
    after = hashes()
    assert [adapter for adapter in ADAPTERS if before[adapter] != after[adapter]] == ["llm-labels"]
    for kind in ("choice", "noul", "score"):
        with monkeypatch.context() as patch:
            patch.setitem(prompts._KINDS, kind, "choose")
            assert not set(hashes().values()) & set(after.values())


def test_the_key_is_missed_before_anything_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    file = tmp_path / "decibench.toml"
    text = NEEDED.format(provider="anthropic") + 'key_env = "NO_SUCH_KEY"\n'
    file.write_text(f'[candidates.x]\nadapter = "llm-final"\n{text}', "utf-8")
    [spec] = resolve_candidates(["x"], file=file, device=None)
    assert spec.lacks is not None
    assert "NO_SUCH_KEY" in spec.lacks
