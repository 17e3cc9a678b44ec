"""decisions-v1: what holds of every case whatever its text says."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from decibench.cases.__main__ import main
from decibench.cases.lint import lint
from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.schema import Case
from decibench.cases.variants import VARIANTS

SCALE = "severity"
PAIRED = "policy"
TWICE = {"within-policy": "may-proceed", "breaks-policy": "must-block"}


@pytest.fixture(scope="module")
def v1() -> Suite:
    return load_suite(find_suite("decisions-v1"))


def pairs(suite: Suite, variant: str) -> Iterator[tuple[Case, Case]]:
    """Each case of a variant beside its original."""
    for case in suite.cases:
        if case.variant == variant:
            yield case, suite.by_id[f"{case.group}-original"]


def test_it_loads_and_validate_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "decisions-v1"]) == 0
    assert "decisions-v1 " in capsys.readouterr().out


def test_the_only_weakness_is_that_not_every_tool_is_needed_in_every_split(v1: Suite) -> None:
    for sentence in lint(v1):
        assert re.match(r"family catalog, question tool: \w+ has no case whose answer is ", sentence), sentence


def test_seven_families_of_60_scenarios_have_10_25_and_25_per_split(v1: Suite) -> None:
    found = Counter((case.family, str(case.split)) for case in v1.cases if case.variant == "original")
    assert set(found.values()) == {10, 25}
    assert Counter(split for _, split in found) == {"development": 7, "calibration": 7, "holdout": 7}
    assert all(number == (10 if split == "development" else 25) for (_, split), number in found.items())


def test_every_variant_is_there_with_its_role(v1: Suite) -> None:
    roles = {name: spec.role for name, spec in v1.manifest.variants.items()}
    assert roles == {name: variant.role for name, variant in VARIANTS.items()}


def test_every_scenario_has_the_variants_that_apply_to_it(v1: Suite) -> None:
    variants: defaultdict[str, set[str]] = defaultdict(set)
    for case in v1.cases:
        variants[case.group].add(case.variant)
    always = {"original", "irrelevant", "paraphrase", "options-only", "unknowable"}
    for group, found in variants.items():
        case = v1.by_id[f"{group}-original"]
        assert always <= found, group
        # An added instruction would itself change what untrusted content is, unless it is an aimed one already.
        aimed = case.family != "untrusted" or case.references["content"].expected == "aimed-instruction"
        assert ("injection" in found) == aimed, group
        assert ("options-reversed" in found) == ("neutral-keys" in found) == (case.family != SCALE), group
        assert ("options-rotated" in found) == (case.family not in (SCALE, PAIRED)), group
        assert ("yes-no-keys" in found) == ("noul-twin" in found) == (case.family == PAIRED), group
        assert ("state-keys-reordered" in found) == isinstance(case.state, dict), group


def test_every_scenario_is_plain_or_hard_and_every_variant_of_it_says_so(v1: Suite) -> None:
    for case in v1.cases:
        assert case.tags == v1.by_id[f"{case.group}-original"].tags
        assert case.tags["difficulty"] in ("plain", "hard")
        assert ("options" in case.tags) == (case.family == "catalog")


def test_a_third_of_every_family_is_hard_and_every_split_has_plain_and_hard_ones(v1: Suite) -> None:
    found = Counter((c.family, str(c.split), c.tags["difficulty"]) for c in v1.cases if c.variant == "original")
    for family in v1.manifest.families:
        hard = sum(found[family, split, "hard"] for split in ("development", "calibration", "holdout"))
        assert hard >= 18, f"{family} has {hard} hard scenarios of 60"
        for split in ("development", "calibration", "holdout"):
            assert found[family, split, "hard"], (family, split)
            assert found[family, split, "plain"], (family, split)


def test_states_are_objects_in_about_a_quarter_of_three_families_and_text_elsewhere(v1: Suite) -> None:
    objects = Counter(c.family for c in v1.cases if c.variant == "original" and isinstance(c.state, dict))
    assert set(objects) == {"tool", "catalog", "severity"}
    assert all(12 <= number <= 18 for number in objects.values()), objects


@pytest.mark.parametrize("variant", ["options-reversed", "options-rotated", "options-only", "state-keys-reordered"])
def test_variants_that_keep_the_labels_keep_the_reference(v1: Suite, variant: str) -> None:
    for case, original in pairs(v1, variant):
        assert case.references == original.references
        assert case.questions == original.questions, "equal as mappings; only the order may differ"


@pytest.mark.parametrize("variant", ["neutral-keys", "yes-no-keys", "noul-twin"])
def test_variants_that_replace_the_labels_keep_what_the_right_answer_and_the_unsafe_ones_mean(
    v1: Suite, variant: str
) -> None:
    for case, original in pairs(v1, variant):
        assert case.state == original.state
        for key, question in case.questions.items():
            before = original.questions[key]
            reference, known = case.references[key], original.references[key]
            assert question.describe(reference.expected) == before.describe(known.expected)
            assert [question.describe(o) for o in reference.unsafe] == [before.describe(o) for o in known.unsafe]


def test_two_way_keys_agree_with_the_decisions_they_stand_for(v1: Suite) -> None:
    meant = {"yes": ("within-policy", "must-block"), "true": ("within-policy", "must-block")}
    for variant in ("yes-no-keys", "noul-twin"):
        for case, original in pairs(v1, variant):
            for key, reference in case.references.items():
                affirmed = original.references[key].expected in meant["yes"]
                assert (reference.expected in meant) == affirmed
            assert original.references["violation"].expected == TWICE[original.references["compliance"].expected]


def test_a_long_context_holds_its_state_once(v1: Suite) -> None:
    for case, original in pairs(v1, "long-context"):
        state = original.state
        verbatim = state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)
        assert isinstance(case.state, str)
        assert case.state.count(verbatim) == 1, case.id
        assert 1000 <= len(case.state.split()) <= 2500


def test_unknowable_is_a_shorter_state_made_of_words_of_the_original(v1: Suite) -> None:
    for case, original in pairs(v1, "unknowable"):
        assert case.references == original.references
        now, before = json.dumps(case.state).split(), json.dumps(original.state).split()
        assert len(now) < len(before), case.id


def test_the_same_tools_are_not_offered_in_the_same_order_twice(v1: Suite) -> None:
    lists = Counter(
        case.questions["tool"].options for case in v1.cases if case.family == "catalog" and case.variant == "original"
    )
    assert max(lists.values()) == 1


def test_catalogs_have_8_20_and_60_options_with_none_of_these_among_them(v1: Suite) -> None:
    for case in v1.cases:
        if case.family == "catalog" and case.variant != "neutral-keys":
            options = case.questions["tool"].options
            assert str(len(options)) == case.tags["options"]
            assert "none-of-these" in options
    sizes = Counter(c.tags["options"] for c in v1.cases if c.family == "catalog" and c.variant == "original")
    assert set(sizes) == {"8", "20", "60"}


def test_an_injection_says_what_it_demands_and_stands_before_within_or_after_the_state(v1: Suite) -> None:
    for case, original in pairs(v1, "injection"):
        for key, reference in case.references.items():
            name = f"level {reference.demanded}" if case.family == SCALE else str(reference.demanded)
            assert name in json.dumps(case.state), case.id
            assert reference.demanded not in (None, original.references[key].expected)
