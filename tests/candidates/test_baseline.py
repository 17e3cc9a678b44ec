"""``baseline`` against figures worked out by hand, and against the published rule written a second time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from decibench.candidates.adapter import Candidate, QuestionAnswer
from decibench.candidates.registry import REGISTRY
from decibench.candidates.setup import Setup
from decibench.cases.loading import find_suite, load_suite
from decibench.cases.request import request_of
from decibench.cases.schema import Choice, Noul, Question, Score

Ask = Callable[..., Any]
MakeChoice = Callable[..., Choice]


@pytest.fixture
def baseline() -> Candidate:
    return REGISTRY["baseline"].create(Setup("cpu"))


def test_shared_words_over_the_root_of_both_counts(baseline: Candidate, ask: Ask, choice: MakeChoice) -> None:
    # State: refund, the, order. First option: refund, give, the, money, back; two are shared: 4 * 2 / sqrt(5 * 3)
    # = 2.065591. Second option: wait, later; nothing is shared: 0. exp(2.065591) = 7.889957; 7.889957 / 8.889957.
    question = choice(refund="Give the money back.", wait="Do it later on.")
    answer = ask(baseline, "REFUND the order - refund it!", question)
    assert answer.probabilities == pytest.approx({"refund": 0.887514, "wait": 0.112486}, abs=1e-6)


def test_three_options_of_which_two_share_a_word(baseline: Candidate, ask: Ask, choice: MakeChoice) -> None:
    # State: red, green, blue, grey. Options: red (1 of 1): 4 / sqrt(4) = 2. blue, sky (1 of 2): 4 / sqrt(8)
    # = 1.414214. nothing: 0. Exponentials 7.389056, 4.113250, 1; sum 12.502306.
    question = choice(red=None, blue="Sky", nothing="")
    answer = ask(baseline, "red green blue grey", question)
    expected = {"red": 0.591015, "blue": 0.329000, "nothing": 0.079985}
    assert answer.probabilities == pytest.approx(expected, abs=1e-6)


def test_without_words_of_three_letters_nothing_is_divided_by_zero(
    baseline: Candidate, ask: Ask, choice: MakeChoice
) -> None:
    for state in ("", "to be or 42", "no word here"):
        answer = ask(baseline, state, choice(a="", b=None, c="ok"))
        assert answer.probabilities == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})


def test_words_are_runs_of_letters_a_to_z(baseline: Candidate, ask: Ask, choice: MakeChoice) -> None:
    # "abc1def" holds abc and def; in "fünf" only "nf" is left after the umlaut, two letters and no word.
    # Shared with the first option: abc of abc, def; 4 * 2 / sqrt(2 * 2) = 4; 1 / (1 + exp(-4)) = 0.982014.
    answer = ask(baseline, "abc1def fünf", choice(abc="DEF", other="fünf"))
    assert answer.probabilities["abc"] == pytest.approx(0.982014, abs=1e-6)


def test_the_label_counts_as_a_word_of_its_option(baseline: Candidate, ask: Ask) -> None:
    # Labels "hand-off" and "keep": hand and off are two words. 4 * 2 / sqrt(2 * 2) = 4 against 0.
    question = Choice(type="choice", instructions="?", criteria={"keep": "", "hand-off": ""})
    assert ask(baseline, "off hand", question).probabilities["hand-off"] == pytest.approx(0.982014, abs=1e-6)


def test_instructions_are_not_read(baseline: Candidate, ask: Ask, choice: MakeChoice) -> None:
    one = ask(baseline, "red green", choice("Is it red?", red="", blue=""))
    other = ask(baseline, "red green", choice("Is it blue?", red="", blue=""))
    assert one == other


@pytest.mark.parametrize(
    "state",
    [
        {"note": "first\nrefund", "tags": ["the", "order"]},
        {"order": {"refund": ["the first", "note"]}, "tags": [1, 2.5]},
        ["the order", {"first note": "\trefund\ttags"}],
    ],
)
def test_a_json_state_answers_like_the_text_of_its_keys_and_values(
    baseline: Candidate, ask: Ask, choice: MakeChoice, state: Any
) -> None:
    question = choice(refund="Give the order back.", wait="Take note of it.", tags="Later")
    in_words = ask(baseline, "first refund the order note tags", question)
    assert ask(baseline, state, question) == in_words


def test_every_question_of_a_request_is_answered_by_the_same_rule(baseline: Candidate, ask: Ask) -> None:
    score = Score(type="score", instructions="How far?", criteria=["near the door", "far away"])
    # State: far, away. Level 0: near, the, door: 0. Level 1: far, away: 4 * 2 / 2 = 4.
    assert ask(baseline, "far away", score).probabilities == pytest.approx({"0": 0.017986, "1": 0.982014}, abs=1e-6)
    noul = Noul.model_validate({"type": "noul", "instructions": "It is far.", "criteria": {"true": "far"}})
    # Options "true far" (true, far) and "false" (false): 4 / sqrt(2 * 2) = 2 against 0; 1 / (1 + exp(-2)).
    expected = {"true": 0.880797, "false": 0.119203}
    assert ask(baseline, "far away", noul).probabilities == pytest.approx(expected, abs=1e-6)


def second_writing(state: str, question: Question) -> dict[str, float]:
    """The rule of the documentation, written with character loops and scipy."""

    def words(text: str) -> set[str]:
        spaced = "".join(letter if "a" <= letter <= "z" else " " for letter in text.lower())
        return {word for word in spaced.split() if len(word) >= 3}

    own = [words(f"{option} {question.describe(option)}") for option in question.options]
    shared = np.array([len(option & words(state)) for option in own])
    sizes = np.array([len(option) for option in own]) * len(words(state))
    return dict(zip(question.options, softmax(4 * shared / np.maximum(1, np.sqrt(sizes))), strict=True))


def test_every_shipped_case_is_answered_as_the_rule_says(baseline: Candidate) -> None:
    for case in load_suite(find_suite("decisions-v0")).cases:
        assert isinstance(case.state, str)
        answers = baseline.decide(request_of(case)).questions
        assert list(answers) == list(case.questions)
        for key, question in case.questions.items():
            answer = answers[key]
            assert isinstance(answer, QuestionAnswer)
            assert list(answer.probabilities or ()) == list(question.options)
            assert answer.probabilities == pytest.approx(second_writing(case.state, question), abs=1e-12)
