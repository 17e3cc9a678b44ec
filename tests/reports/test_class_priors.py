"""Class priors: what the reference of a skill knows, and what it never does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decibench.reports.metrics.class_priors import class_prior, label_counts

LABELS = st.lists(st.tuples(st.sampled_from("gh"), st.sampled_from("qr"), st.sampled_from("abc")), max_size=20)


@given(LABELS, st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
def test_a_prior_is_a_distribution_over_the_options_asked_without_a_zero(
    labels: list[tuple[str, str, str]], options: list[str]
) -> None:
    prior = class_prior(label_counts(labels), "q", options)
    assert list(prior) == options
    assert sum(prior.values()) == pytest.approx(1)
    assert min(prior.values()) > 0


@given(LABELS)
def test_repeating_the_cases_of_a_scenario_changes_nothing(labels: list[tuple[str, str, str]]) -> None:
    assert label_counts(labels * 3) == label_counts(labels)


def test_only_labels_of_the_same_question_count() -> None:
    counts = label_counts([("g1", "q", "a"), ("g2", "q", "a"), ("g1", "other", "b"), ("g2", "other", "b")])
    assert class_prior(counts, "q", ["a", "b"]) == {"a": 0.75, "b": 0.25}


def test_a_question_never_seen_gets_the_uniform_distribution() -> None:
    assert class_prior(label_counts([]), "q", ["a", "b", "c", "d"]) == dict.fromkeys("abcd", 0.25)


def test_labels_that_are_not_asked_take_no_share() -> None:
    counts = label_counts([(f"g{n}", "q", "a") for n in range(9)])
    assert class_prior(counts, "q", ["b", "c"]) == {"b": 0.5, "c": 0.5}
