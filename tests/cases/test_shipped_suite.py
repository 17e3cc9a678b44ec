"""The suite that comes with the package: what its makers promise of it, checked on the files themselves."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from decibench.cases.authoring import AUTHORING, Family
from decibench.cases.building import build_suite
from decibench.cases.loading import Suite
from decibench.cases.schema import Case, Choice

SPLITS = {"development": 4, "calibration": 10, "holdout": 10}
FAMILIES = ("routing", "tool", "policy")
VARIANTS = {
    "original": "core",
    "options-reversed": "core",
    "irrelevant": "core",
    "paraphrase": "core",
    "injection": "attack",
}


def of_variant(suite: Suite, variant: str) -> Iterator[tuple[Case, Case]]:
    """Each case of a variant beside its original."""
    for case in suite.cases:
        if case.variant == variant:
            yield case, suite.by_id[f"{case.group}-original"]


def texts(case: Case) -> str:
    assert isinstance(case.state, str)
    return case.state


def test_building_it_again_gives_the_same_bytes(shipped: Suite) -> None:
    built = build_suite(AUTHORING / "decisions-v0")
    assert set(built) == {path.name for path in shipped.path.iterdir() if path.suffix in (".json", ".jsonl")}
    for name, data in built.items():
        assert data == (shipped.path / name).read_bytes(), f"{name} differs from its authoring files"


def test_every_family_has_24_scenarios_of_4_10_and_10_per_split(shipped: Suite) -> None:
    originals = [case for case in shipped.cases if case.variant == "original"]
    found = Counter((case.family, str(case.split)) for case in originals)
    assert found == {(family, split): size for family in FAMILIES for split, size in SPLITS.items()}
    assert len({case.state for case in originals}) == 72


def test_every_scenario_is_there_in_every_variant_with_its_role(shipped: Suite) -> None:
    assert Counter(case.variant for case in shipped.cases) == dict.fromkeys(VARIANTS, 72)
    assert {variant: spec.role for variant, spec in shipped.manifest.variants.items()} == VARIANTS
    by_group: defaultdict[str, set[str]] = defaultdict(set)
    for case in shipped.cases:
        by_group[case.group].add(case.variant)
    assert all(variants == set(VARIANTS) for variants in by_group.values())


def test_every_class_has_its_proportional_share_of_every_split(shipped: Suite) -> None:
    total: Counter[tuple[str, str, str]] = Counter()
    by_split: Counter[tuple[str, str, str, str]] = Counter()
    for case in shipped.cases:
        if case.variant == "original":
            for key, reference in case.references.items():
                total[case.family, key, reference.expected] += 1
                by_split[case.family, key, reference.expected, case.split] += 1
    for (family, key, label), number in total.items():
        for split, size in SPLITS.items():
            share = number * size / 24
            found = by_split[family, key, label, split]
            assert found >= 1
            assert share - 1 < found < share + 1, f"{found} of {label} in {split}, {share} would be even"


def test_the_right_answer_stands_in_every_position_as_often_as_division_allows(shipped: Suite) -> None:
    positions: defaultdict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
    for case in shipped.cases:
        if case.variant == "original":
            for key, reference in case.references.items():
                options = case.questions[key].options
                positions[case.family, key, case.split][options.index(reference.expected)] += 1
    for (family, key, split), found in positions.items():
        width = len(next(c for c in shipped.cases if c.family == family).questions[key].options)
        least, more = divmod(SPLITS[split], width)
        assert sorted(found.values()) == [least] * (width - more) + [least + 1] * more, (family, key, split)


def test_both_wordings_have_25_to_120_words_and_differ(authored: dict[str, Family]) -> None:
    for family in authored.values():
        for scenario, _ in family.scenarios:
            for wording in (scenario.state, scenario.paraphrase):
                assert isinstance(wording, str)
                assert 25 <= len(wording.split()) <= 120, scenario.slug
            assert scenario.state != scenario.paraphrase


def test_no_authored_state_contains_the_label_or_description_of_an_option(authored: dict[str, Family]) -> None:
    for family in authored.values():
        for question in family.questions.values():
            labels = "|".join(re.escape(option).replace(r"\-", "[- ]") for option in question.options)
            for scenario, _ in family.scenarios:
                for wording in (scenario.state, scenario.paraphrase):
                    assert isinstance(wording, str)
                    assert not re.search(rf"\b({labels})\b", wording, re.IGNORECASE), f"{family.name} {scenario.slug}"
                    assert not any(question.describe(option) in wording for option in question.options)


def test_no_option_has_a_numeric_or_a_yes_no_key(shipped: Suite) -> None:
    options = {option for case in shipped.cases for question in case.questions.values() for option in question.options}
    assert not any(re.search(r"\d", option) for option in options)
    assert not options & {"yes", "no", "true", "false", "y", "n"}


def test_policy_asks_two_questions_over_one_state_whose_answers_agree(shipped: Suite) -> None:
    agreement = {"within-policy": "may-proceed", "breaks-policy": "must-block"}
    for case in shipped.cases:
        if case.family == "policy":
            assert case.references["violation"].expected == agreement[case.references["compliance"].expected]
        else:
            assert len(case.questions) == 1


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant != "original"])
def test_every_variant_keeps_split_questions_and_reference(shipped: Suite, variant: str) -> None:
    for case, original in of_variant(shipped, variant):
        assert case.split == original.split
        for key, reference in original.references.items():
            assert case.references[key].expected == reference.expected
            assert case.references[key].unsafe == reference.unsafe
            question, before = case.questions[key], original.questions[key]
            assert isinstance(question, Choice)
            assert isinstance(before, Choice)
            assert question.instructions == before.instructions
            assert question.criteria == before.criteria


@pytest.mark.parametrize("variant", ["irrelevant", "paraphrase", "injection"])
def test_variants_of_the_text_keep_the_order_of_options(shipped: Suite, variant: str) -> None:
    for case, original in of_variant(shipped, variant):
        assert case.state != original.state
        for key, question in case.questions.items():
            assert question.options == original.questions[key].options


def test_options_reversed_is_the_exact_reverse_of_an_unchanged_state(shipped: Suite) -> None:
    for case, original in of_variant(shipped, "options-reversed"):
        assert case.state == original.state
        assert list(case.questions) == list(original.questions)
        for key, question in case.questions.items():
            assert question.options == original.questions[key].options[::-1]


def test_irrelevant_context_stands_before_about_half_of_the_states_and_after_the_others(shipped: Suite) -> None:
    before = after = 0
    for case, original in of_variant(shipped, "irrelevant"):
        before += texts(case).endswith("\n\n" + texts(original))
        after += texts(case).startswith(texts(original) + "\n\n")
    assert before + after == 72
    assert 24 <= before <= 48


def test_only_an_injection_demands_and_only_a_wrong_option_that_its_text_names(shipped: Suite) -> None:
    for case in shipped.cases:
        for reference in case.references.values():
            assert (reference.demanded is not None) == (case.variant == "injection")
            assert reference.demanded != reference.expected
    for case, original in of_variant(shipped, "injection"):
        assert texts(case).startswith(texts(original))
        injected = texts(case)[len(texts(original)) :]
        assert injected.strip()
        for key, reference in case.references.items():
            assert reference.demanded in case.questions[key].options
            assert str(reference.demanded) in injected


def test_about_half_of_the_injections_demand_an_unsafe_option_where_a_safe_wrong_one_exists_too(shipped: Suite) -> None:
    unsafe: list[bool] = []
    for case, _ in of_variant(shipped, "injection"):
        for key, reference in case.references.items():
            wrong = set(case.questions[key].options) - {reference.expected}
            if reference.unsafe and wrong - set(reference.unsafe):
                unsafe.append(reference.demanded in reference.unsafe)
    assert len(unsafe) >= 12
    assert 0.35 <= sum(unsafe) / len(unsafe) <= 0.65


def test_policy_injections_demand_answers_that_agree_with_each_other(shipped: Suite) -> None:
    agreement = {"within-policy": "may-proceed", "breaks-policy": "must-block"}
    for case, _ in of_variant(shipped, "injection"):
        if case.family == "policy":
            assert case.references["violation"].demanded == agreement[str(case.references["compliance"].demanded)]
