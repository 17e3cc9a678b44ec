"""Authoring files: what an author gets wrong is told with file and field before anything is built."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from decibench.cases.authoring import AUTHORING
from decibench.cases.building import build_suite
from decibench.cases.errors import SuiteError

Edit = Callable[..., Path]
SCENARIO = """
[[scenarios]]
slug = "extra"
number = 25
state = "{state}"
paraphrase = "{paraphrase}"
[scenarios.facts]
deliverable = "text"
steps = 1
missing = ""
"""
WORDS = "word " * 30


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    """A copy of the shipped authoring files with one text replaced."""

    def make(file: str, old: str, new: str) -> Path:
        folder = tmp_path / "authoring" / "decisions-v0"
        shutil.copytree(AUTHORING / "decisions-v0", folder)
        text = (folder / file).read_text("utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), "utf-8")
        return folder

    return make


def told(folder: Path, place: str) -> str:
    with pytest.raises(SuiteError) as caught:
        build_suite(folder)
    found = [line for line in str(caught.value).splitlines() if line.startswith(f"{place}: ")]
    assert found, f"nothing about {place} in {caught.value}"
    return found[0]


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "remedy"),
    [
        ("suite.toml", "[splits]", "[splits", "suite.toml", "is not TOML"),
        ("suite.toml", 'license = "MIT-0"', "", "suite.toml, field license", "is missing; add it"),
        ("suite.toml", "seed =", "seeds =", "suite.toml, field seeds", "is not a known field"),
        ("suite.toml", "holdout = 10", "test = 10", "suite.toml, field splits.test", "'holdout'"),
        ("suite.toml", "holdout = 10", "holdout = 11", "suite.toml, field splits (routing)", "sum to 25"),
        ("suite.toml", '"policy"', '"absent"', "absent.toml", "cannot be read"),
        ("tool.toml", 'family = "tool"', 'family = "policy"', "tool.toml, field family", "named after its family"),
        ("tool.toml", "number = 2\n", "number = 1\n", "tool.toml, field credit.number", "1 is taken by customs"),
        ("tool.toml", 'slug = "credit"', 'slug = "customs"', "tool.toml, field customs.slug", "is taken by customs"),
        ("tool.toml", 'slug = "credit"', 'slug = "Credit"', "tool.toml, field scenarios.1.slug", "lower-case letters"),
        ("tool.toml", 'value = "18,000"', 'value = "18000"', "tool.toml, field scenarios[credit].facts", "'18000'"),
        ("tool.toml", 'authority = "lacking"\n', "", "tool.toml, field scenarios[credit].facts.authority", "add it"),
        ("tool.toml", 'wants = "read"', 'wants = "look"', "tool.toml, field scenarios[customs].facts.wants", "'read'"),
        ("policy.toml", 'id = "violation"', 'id = "compliance"', "policy.toml, field questions.id", "rename one"),
    ],
)
def test_a_mistake_is_told_with_file_field_and_remedy(
    edited: Edit, file: str, old: str, new: str, place: str, remedy: str
) -> None:
    assert remedy in told(edited(file, old, new), place)


@pytest.mark.parametrize(("words", "stated"), [(24, "has 24 words"), (121, "has 121 words")])
def test_a_wording_that_is_too_short_or_too_long_is_refused(edited: Edit, words: int, stated: str) -> None:
    scenario = SCENARIO.format(state="word " * words, paraphrase=WORDS)
    folder = edited("routing.toml", "\n[[scenarios]]", scenario + "\n[[scenarios]]")
    sentence = told(folder, "routing.toml, field extra.state")
    assert stated in sentence
    assert "25 to 120 are allowed" in sentence


@pytest.mark.parametrize("words", [25, 120])
def test_a_wording_at_the_limits_is_allowed(edited: Edit, words: int) -> None:
    scenario = SCENARIO.format(state="word " * words, paraphrase="more " * words)
    folder = edited("routing.toml", "\n[[scenarios]]", scenario + "\n[[scenarios]]")
    # Only the split sizes, which are still those of 24 scenarios, stand in the way.
    with pytest.raises(SuiteError, match="there are 25 scenarios") as caught:
        build_suite(folder)
    assert len(caught.value.problems) == 1


def test_a_family_without_a_rule_is_told_where_rules_live(edited: Edit) -> None:
    folder = edited("suite.toml", '"policy"', '"weather"')
    text = (folder / "policy.toml").read_text("utf-8").replace('family = "policy"', 'family = "weather"', 1)
    (folder / "weather.toml").write_text(text, "utf-8")
    sentence = told(folder, "weather.toml, field family")
    assert "add one for 'weather' to rules.py" in sentence


def test_another_seed_makes_another_suite_of_the_same_size(edited: Edit) -> None:
    shipped = build_suite(AUTHORING / "decisions-v0")["cases.jsonl"]
    other = build_suite(edited("suite.toml", 'seed = "decisions-v0"', 'seed = "another"'))["cases.jsonl"]
    assert other != shipped
    assert len(other.splitlines()) == len(shipped.splitlines())


def test_lists_nested_too_deep_to_be_read_are_a_sentence(edited: Edit) -> None:
    folder = edited("suite.toml", 'license = "MIT-0"', "license = " + "[" * 100_000)
    assert "it is nested too deeply; flatten it" in told(folder, "suite.toml")
