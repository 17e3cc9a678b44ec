"""Building from authoring files of one's own: catalogs, JSON states, tags, and what authors get wrong there."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.building import build_suite
from decibench.cases.errors import SuiteError

Build = Callable[..., list[dict[str, Any]]]

THINGS = ("parcel", "lorry", "driver", "route", "ramp", "invoice", "shift", "claim")
ACTS = ("find", "change", "close", "list", "send", "print", "share", "count")
TOOLS = [(f"{act}-{thing}", act, thing) for act in ACTS for thing in THINGS]
SIZES = (8, 20, 60)

SUITE = """
name = "own"
version = "1"
license = "private"
seed = "own"
families = ["{family}"]
variants = {variants}
[splits]
{splits}
[texts]
irrelevant = ["The lift is out of order."]
injections = ["Answer {{demand}}."]
"""
ALL = ["original", "state-keys-reordered", "unknowable", "neutral-keys", "options-reversed"]
STATE = "word " * 24


def toml(value: object) -> str:
    """JSON is TOML where no object is involved; an object is written inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def scenario(number: int, facts: dict[str, object], **changes: object) -> str:
    fields = {
        "slug": f"s{number}",
        "number": number,
        "state": f"{STATE} state {number}",
        "paraphrase": f"{STATE} paraphrase {number}",
        **changes,
    }
    lines = [f"{key} = {toml(value)}" for key, value in fields.items()]
    return "\n".join(["[[scenarios]]", *lines, f"facts = {toml(facts)}"])


def catalog(scenarios: list[str], tools: list[tuple[str, str, str]] = TOOLS) -> str:
    """A catalog family; the tools of the default list are named after what they do."""
    listed = [
        "\n".join(
            [
                "[[tools]]",
                f'name = "{name}"',
                f'description = "About {name}."',
                f'operation = "{act}"',
                f'object = "{thing}"',
                'scope = ""',
            ]
        )
        for name, act, thing in tools
    ]
    question = '[[questions]]\nid = "tool"\ntype = "choice"\ninstructions = "Which tool?"'
    return "\n".join(['family = "catalog"', question, *listed, *scenarios])


def needs(number: int, size: int = 8, *, offered: bool = True, **changes: object) -> dict[str, object]:
    _, act, thing = TOOLS[number * 7 % len(TOOLS)]
    return {"operation": act, "object": thing, "scope": "", "offered": offered, "size": size, **changes}


SEVERITY = """
family = "severity"
[[questions]]
id = "level"
type = "score"
instructions = "How severe?"
criteria = ["Nothing.", "A nuisance.", "Serious.", "Critical."]
"""
NUISANCE: dict[str, object] = {
    "danger": False,
    "resolved": False,
    "extent": "minor",
    "workaround": False,
    "loss": False,
}


@pytest.fixture
def author(tmp_path: Path) -> Callable[..., Path]:
    """Write the authoring files of one family, with all scenarios in calibration and holdout."""

    def write(family: str, text: str, *, variants: list[str] = ALL, splits: tuple[int, int] = (1, 1)) -> Path:
        quotas = f"calibration = {splits[0]}\nholdout = {splits[1]}"
        head = SUITE.format(family=family, variants=json.dumps(variants), splits=quotas)
        (tmp_path / "suite.toml").write_text(head, "utf-8")
        (tmp_path / f"{family}.toml").write_text(text, "utf-8")
        return tmp_path

    return write


@pytest.fixture
def build(author: Callable[..., Path]) -> Build:
    """Build those files and return the rows of the suite."""

    def rows(family: str, text: str, **options: Any) -> list[dict[str, Any]]:
        data = build_suite(author(family, text, **options))["cases.jsonl"]
        return [json.loads(line) for line in data.decode().splitlines()]

    return rows


@pytest.fixture
def complaints(author: Callable[..., Path]) -> Callable[..., list[str]]:
    """The sentences with which those files are refused."""

    def of(family: str, text: str, **options: Any) -> list[str]:
        folder = author(family, text, **options)
        with pytest.raises(SuiteError) as caught:
            build_suite(folder)
        return str(caught.value).splitlines()

    return of


@pytest.fixture
def rows(build: Build) -> list[dict[str, Any]]:
    """The original cases of 48 catalogs: 16 of each size, a quarter of them without the tool."""
    scenarios = [scenario(n + 1, needs(n, SIZES[n % 3], offered=n % 4 != 0)) for n in range(48)]
    return build("catalog", catalog(scenarios), variants=["original"], splits=(24, 24))


def needed_by(row: dict[str, Any]) -> str:
    return TOOLS[(int(row["group"].rpartition("-")[2]) - 1) * 7 % len(TOOLS)][0]


def test_a_catalog_offers_exactly_as_many_options_as_asked_for_with_none_of_these(rows: list[dict[str, Any]]) -> None:
    found = Counter(len(row["questions"]["tool"]["criteria"]) for row in rows)
    assert found == dict.fromkeys(SIZES, 16)
    for row in rows:
        options = row["questions"]["tool"]["criteria"]
        assert row["tags"]["options"] == str(len(options))
        assert options.pop("none-of-these") == "No tool in this list serves the request."
        assert options == {name: f"About {name}." for name in options}
        assert set(options) <= {name for name, _, _ in TOOLS}


def test_the_needed_tool_is_there_exactly_when_it_is_offered(rows: list[dict[str, Any]]) -> None:
    absent = 0
    for row in rows:
        expected = row["references"]["tool"]["expected"]
        offered = needed_by(row) in row["questions"]["tool"]["criteria"]
        assert expected == (needed_by(row) if offered else "none-of-these")
        absent += not offered
    assert absent == 12


def test_tools_that_resemble_the_needed_one_are_offered_with_others(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        act, thing = needed_by(row).split("-")
        options = set(row["questions"]["tool"]["criteria"]) - {needed_by(row), "none-of-these"}
        alike = {name for name in options if name.startswith(f"{act}-") or name.endswith(f"-{thing}")}
        # A third of the list comes from each of three neighbourhoods; the needed tool's has fourteen members.
        assert len(alike) >= min(len(options) // 3 - 1, 14)


def test_the_right_position_is_spread_evenly_within_split_and_size(rows: list[dict[str, Any]]) -> None:
    positions: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for row in rows:
        options = list(row["questions"]["tool"]["criteria"])
        positions[row["split"], len(options)].append(options.index(row["references"]["tool"]["expected"]))
    for (_, size), used in positions.items():
        if size >= len(used):
            assert len(set(used)) == len(used)
            gaps = [b - a for a, b in zip(sorted(used), sorted(used)[1:], strict=False)]
            assert max(gaps) - min(gaps) <= 1
        else:
            counts = [used.count(position) for position in range(size)]
            assert max(counts) - min(counts) <= 1


def test_sizes_and_missing_tools_are_shared_out_over_the_splits(rows: list[dict[str, Any]]) -> None:
    found = Counter(
        (row["split"], row["tags"]["options"], row["references"]["tool"]["expected"] == "none-of-these") for row in rows
    )
    expected = {
        (split, str(size), none): 2 if none else 6
        for split in ("calibration", "holdout")
        for size in SIZES
        for none in (True, False)
    }
    assert found == expected


def test_a_json_state_is_kept_reordered_and_deprived_of_its_decisive_key(build: Build) -> None:
    state = {"ticket": {"note": f"  {STATE}", "id": 7}, "open": True}
    text = SEVERITY + "\n".join(
        scenario(n, NUISANCE, state=state, paraphrase={"all": STATE + "more"}, decisive="ticket.note", difficulty=kind)
        for n, kind in ((1, "hard"), (2, "plain"))
    )
    made = {row["id"]: row for row in build("severity", text)}
    assert set(made) == {
        f"severity-s{n}-00{n}-{variant}"
        for n in (1, 2)
        for variant in ("original", "state-keys-reordered", "unknowable")
    }, "a scale has neither labels nor an order to change"
    original = made["severity-s1-001-original"]
    assert original["state"] == {"ticket": {"note": STATE.strip(), "id": 7}, "open": True}
    assert list(made["severity-s1-001-state-keys-reordered"]["state"]) == ["open", "ticket"]
    assert made["severity-s1-001-unknowable"]["state"] == {"ticket": {"id": 7}, "open": True}
    assert {row["tags"]["difficulty"] for id_, row in made.items() if "-s1-" in id_} == {"hard"}
    assert {row["tags"]["difficulty"] for id_, row in made.items() if "-s2-" in id_} == {"plain"}


def test_without_difficulty_there_are_no_tags(build: Build) -> None:
    rows = build("severity", SEVERITY + "\n".join(scenario(n, NUISANCE) for n in (1, 2)), variants=["original"])
    assert all("tags" not in row for row in rows)


def test_an_unknown_variant_is_told_with_the_known_ones(complaints: Callable[..., list[str]]) -> None:
    text = SEVERITY + "\n".join(scenario(n, NUISANCE) for n in (1, 2))
    (sentence,) = complaints("severity", text, variants=["original", "sideways"])
    assert sentence.startswith("suite.toml, field variants: sideways is unknown; use original, options-reversed, ")


@pytest.mark.parametrize("decisive", ["not in the state", "ticket.colour"])
def test_a_decisive_passage_that_does_not_stand_in_the_state_is_told(
    complaints: Callable[..., list[str]], decisive: str
) -> None:
    for state in (STATE + "end", {"ticket": {"note": STATE + "end"}}):
        text = SEVERITY + scenario(1, NUISANCE, state=state, decisive=decisive) + "\n" + scenario(2, NUISANCE)
        (sentence,) = complaints("severity", text)
        assert sentence == "severity.toml, field s1.decisive: does not stand in the state word for word"


@pytest.mark.parametrize("offered", [True, False])
def test_a_purpose_that_no_tool_has_is_told(complaints: Callable[..., list[str]], offered: bool) -> None:
    facts = needs(1, offered=offered, operation="paint")
    (sentence,) = complaints("catalog", catalog([scenario(1, facts), scenario(2, needs(2))]))
    assert sentence.startswith("catalog.toml, field scenarios[s1].facts: 0 tools are for paint ")


def test_a_purpose_that_two_tools_have_is_told(complaints: Callable[..., list[str]]) -> None:
    name, act, thing = TOOLS[7]
    tools = [*TOOLS, (f"{name}-again", act, thing)]
    (sentence,) = complaints("catalog", catalog([scenario(1, needs(1)), scenario(2, needs(2))], tools))
    assert sentence.startswith(f"catalog.toml, field scenarios[s1].facts: 2 tools are for {act} {thing} ")


def test_two_tools_of_one_name_and_a_tool_named_like_none_are_told(complaints: Callable[..., list[str]]) -> None:
    tools = [*TOOLS, (TOOLS[0][0], "weigh", "parcel"), ("none-of-these", "do", "nothing")]
    sentences = complaints("catalog", catalog([scenario(1, needs(1)), scenario(2, needs(2))], tools))
    assert sorted(sentences) == [
        f"catalog.toml, field tools.name: {TOOLS[0][0]} is taken; every tool needs a name of its own",
        "catalog.toml, field tools.name: none-of-these is taken; every tool needs a name of its own",
    ]


def test_more_options_than_there_are_tools_are_told(complaints: Callable[..., list[str]]) -> None:
    scenarios = [scenario(1, {**needs(0), "size": 20}), scenario(2, needs(0))]
    (sentence,) = complaints("catalog", catalog(scenarios, TOOLS[:10]))
    assert sentence.startswith("catalog.toml, field scenarios[s1].facts: 10 tools do not make 20 options")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"difficulty": "easy"}, "severity.toml, field scenarios.0.difficulty: must be 'plain' or 'hard'"),
        ({"state": {"note": "too short"}}, "severity.toml, field s1.state: has 2 words; 25 to 120 are allowed"),
    ],
)
def test_a_wrong_difficulty_or_a_short_json_state_is_told(
    complaints: Callable[..., list[str]], change: dict[str, object], place: str
) -> None:
    text = SEVERITY + scenario(1, NUISANCE, **change) + "\n" + scenario(2, NUISANCE)
    assert place in complaints("severity", text)


@pytest.mark.parametrize(
    ("options", "affirmative"),
    [('yea = "Y."\nnay = "N."', "yes"), ('yea = "Y."\nnay = "N."\nmaybe = "M."', "yea")],
)
def test_an_affirmative_that_is_not_one_of_two_options_is_told(
    complaints: Callable[..., list[str]], options: str, affirmative: str
) -> None:
    question = f'[[questions]]\nid = "claim"\ntype = "choice"\ninstructions = "Is it?"\naffirmative = "{affirmative}"\n'
    facts: dict[str, object] = {"asks": "x", "passage_says": "y", "claim_says": "y"}
    text = f'family = "evidence"\n{question}[questions.criteria]\n{options}\n' + scenario(1, facts)
    assert any(
        sentence.startswith(f"evidence.toml, field questions.affirmative: {affirmative} is not one of two options")
        for sentence in complaints("evidence", text)
    )
