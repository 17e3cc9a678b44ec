"""The candidates file: configurations with names of their own, checked key by key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from decibench.candidates.config import resolve_candidates
from decibench.cases.door import UsageError

Tables = Callable[..., Path]
REMEDY = "make it a readable file, or name another by --candidates"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """Write a candidates file, and beside it a candidate of one's own."""

    def make(text: str) -> Path:
        folder = tmp_path / "config"
        folder.mkdir(exist_ok=True)
        (folder / "own.py").write_text("def create_candidate(device):\n    ...\n", "utf-8")
        (folder / "decibench.toml").write_text(text, "utf-8")
        return folder / "decibench.toml"

    return make


def refusal(file: Path, *names: str) -> str:
    with pytest.raises(UsageError) as caught:
        resolve_candidates(names or ["x"], file=file, device=None)
    return str(caught.value)


def test_a_table_is_found_by_its_name_and_shipped_candidates_beside_it(tables: Tables) -> None:
    file = tables(
        '[candidates.floor]\nadapter = "uniform"\n[candidates.robot]\nadapter = "sparrow"\nmodel = "nano-robot"\n'
    )
    specs = resolve_candidates(["robot", "floor", "baseline"], file=file, device=None)
    assert [(spec.name, spec.adapter) for spec in specs] == [
        ("robot", "sparrow"),
        ("floor", "uniform"),
        ("baseline", "baseline"),
    ]
    assert [spec.settings.model_dump() for spec in specs] == [{"model": "nano-robot"}, {}, {}]


def test_a_table_overrides_a_shipped_name(tables: Tables) -> None:
    file = tables('[candidates.baseline]\nadapter = "uniform"\n')
    [overridden] = resolve_candidates([], file=file, device=None)
    [shipped] = resolve_candidates([], file=None, device=None)
    assert overridden.create(()).identity.model == "uniform-v1"
    assert shipped.create(()).identity.model == "lexical-overlap-v1"


def test_a_relative_path_is_relative_to_the_file_and_one_on_the_command_line_to_the_folder(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tables('[candidates.mine]\nadapter = "own.py"\n[candidates.up]\nadapter = "../config/own.py"\n')
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "up"):
        [spec] = resolve_candidates([name], file=file, device=None)
        assert spec.path is not None
        assert spec.path.resolve() == (tmp_path / "config" / "own.py").resolve()
    assert "cannot be read" in refusal(file, "own.py")
    assert [spec.name for spec in resolve_candidates(["config/own.py"], file=file, device=None)] == ["own"]


def test_a_device_of_a_table_comes_before_the_option(tables: Tables) -> None:
    file = tables('[candidates.one]\nadapter = "own.py"\ndevice = "cuda:1"\n[candidates.two]\nadapter = "own.py"\n')
    specs = resolve_candidates(["one", "two"], file=file, device="mps")
    assert [spec.device for spec in specs] == ["cuda:1", "mps"]
    assert [spec.device for spec in resolve_candidates(["one", "two"], file=file, device=None)] == ["cuda:1", "cpu"]


@pytest.mark.parametrize(
    ("text", "field", "remedy"),
    [
        ('[candidates.x]\nadapter = "uniform"\ncolour = 1\n', "candidates.x.colour", "takes no settings; remove it"),
        ('[candidates.x]\nmodel = "m"\n', "candidates.x.adapter", "is missing; add it"),
        ("[candidates.x]\nadapter = 1\n", "candidates.x.adapter", "must be a string"),
        ('[candidates.x]\nadapter = ""\n', "candidates.x.adapter", "must not be empty"),
        ('[candidates."My X"]\nadapter = "uniform"\n', "candidates.My X", "use lower-case letters, digits and hyphens"),
        ('x = "uniform"\n', "x", "is not a known field; remove it"),
        ("[candidates]\n", "candidates", "at least 1 are needed"),
        ("", "candidates", "is missing; add it"),
        ('candidates = "uniform"\n', "candidates", "must be an object"),
        ('[candidates.x]\nadapter = "own.py"\ndevice = "gpu"\n', "candidates.x.device", "use cpu, cuda, cuda:N or mps"),
        (
            '[candidates.x]\nadapter = "uniform"\ndevice = "cuda"\n',
            "candidates.x.device",
            "runs on cpu only; remove it",
        ),
        ('[candidates.x]\nadapter = "uniform"\nmodel = "m"\n', "candidates.x.model", "takes no settings; remove it"),
        ('[candidates.x]\nadapter = "own.py"\nmodel = "m"\n', "candidates.x.model", "(device) takes none; remove it"),
        ('[candidates.x]\nadapter = "jev"\nendpoint = 1\n', "candidates.x.endpoint", "must be a string"),
        ('[candidates.x]\nadapter = "systemone"\nmodel = "m"\n', "candidates.x", "needs endpoint; give --endpoint"),
        ('[candidates.x]\nadapter = "gone.py"\n', "candidates.x", "gone.py cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_field_and_remedy(
    tables: Tables, text: str, field: str, remedy: str
) -> None:
    file = tables(text)
    [sentence] = [line for line in refusal(file).splitlines() if line.startswith(f"{file}, field {field}: ")]
    assert remedy in sentence


def test_a_mistake_in_a_table_that_is_not_asked_for_is_told_all_the_same(tables: Tables) -> None:
    file = tables('[candidates.x]\nadapter = "uniform"\n[candidates.y]\nadapter = "uniform"\ncolour = 1\n')
    assert f"{file}, field candidates.y.colour: uniform takes no settings" in refusal(file, "x")


def test_a_file_that_is_not_toml_is_told_with_the_line(tables: Tables) -> None:
    file = tables('[candidates.x]\nadapter = uniform"\n')
    sentence = refusal(file)
    assert sentence.startswith(f"{file}: is not TOML: ")
    assert "line 2" in sentence


def test_a_missing_file_is_told_with_the_option(tmp_path: Path) -> None:
    file = tmp_path / "absent.toml"
    assert refusal(file) == f"{file}: cannot be read (No such file or directory); {REMEDY}"


def test_a_file_that_is_nested_too_deeply_is_a_sentence(tables: Tables) -> None:
    file = tables("a=" + "[" * 100_000)
    assert refusal(file) == f"{file}: is nested too deeply; keep to tables of plain values"


ENDPOINT = 'endpoint = "https://127.0.0.1:9/base/"\nmodel = "m-1"\n'
LLM = ENDPOINT + 'provider = "openai"\nmax_tokens = 64\n'


@pytest.mark.parametrize(
    ("adapter", "more"),
    [
        ("baseline", ""),
        ("sparrow", 'model = "nano-robot"\n'),
        ("systemone", ENDPOINT + "decimals = 2\ndeadline_s = 4\n"),
        ("jev", ""),
        ("decisions", ENDPOINT),
        ("llm-probabilities", LLM + "temperature = 0\n"),
        ("llm-labels", LLM + 'schema_mode = "tool"\n'),
        ("llm-final", LLM.replace("openai", "anthropic") + 'thinking = "adaptive"\n'),
    ],
)
def test_settings_that_a_journal_recorded_are_the_same_when_they_are_read_again(
    tables: Tables, adapter: str, more: str
) -> None:
    [spec] = resolve_candidates(["x"], file=tables(f'[candidates.x]\nadapter = "{adapter}"\n{more}'), device=None)
    assert spec.entry is not None
    recorded = json.loads(json.dumps(spec.settings.model_dump(mode="json")))
    assert spec.entry.settings_model.model_validate(recorded) == spec.settings
