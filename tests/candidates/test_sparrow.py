"""``sparrow``: the real model, read without the rounding and the silent cut of its own interface."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.candidates.adapter import Candidate, CandidateError
from decibench.candidates.config import resolve_candidates
from decibench.candidates.registry import REGISTRY
from decibench.candidates.settings import ModelSettings
from decibench.candidates.setup import Setup
from decibench.cases.distribution import check_distribution
from decibench.cases.door import UsageError
from decibench.cases.loading import find_suite, load_suite
from decibench.cases.request import request_of
from decibench.cases.schema import Choice, Noul, Question, Score

sparrow_decider = pytest.importorskip("sparrow_decider", reason="the extra sparrow is not installed")

Ask = Callable[..., Any]
MakeChoice = Callable[..., Choice]
STATE = "I was charged twice for order 1180 and want one of the two payments back by Friday."
INTENT: dict[str, str | None] = {"billing": "charges, invoices", "bug": "a broken feature", "praise": None}


@pytest.fixture(scope="module")
def sparrow() -> Candidate:
    return REGISTRY["sparrow"].create(Setup("cpu", ModelSettings()))


@pytest.fixture(scope="module")
def sdk() -> Any:
    return sparrow_decider.Decider.load()


def test_probabilities_are_unrounded_and_round_to_what_the_sdk_answers(
    sparrow: Candidate, sdk: Any, ask: Ask, choice: MakeChoice
) -> None:
    question = choice("What is it about?", **INTENT)
    own = ask(sparrow, STATE, question)
    reported = sdk.ask(STATE, {"q": question.to_wire()})["q"]["probabilities"]
    assert {option: round(value, 4) for option, value in own.probabilities.items()} == reported
    assert any(value != reported[option] for option, value in own.probabilities.items())
    assert sum(own.probabilities.values()) == pytest.approx(1, abs=1e-6)


def test_over_255_options_nothing_is_rounded_away_and_the_sum_stays_one(sparrow: Candidate, sdk: Any, ask: Ask) -> None:
    criteria: dict[str, str | None] = {f"option-{n}": f"topic number {n} of the list" for n in range(255)}
    question = Choice(type="choice", instructions="Which topic?", criteria=criteria)
    own = ask(sparrow, STATE, question).probabilities
    assert sum(own.values()) == pytest.approx(1, abs=1e-5)
    assert min(own.values()) > 0
    assert len(set(own.values())) > len(set(sdk.ask(STATE, {"q": question.to_wire()})["q"]["probabilities"].values()))


@pytest.mark.parametrize(
    "question",
    [
        Choice(type="choice", instructions="Which?", criteria=dict(INTENT)),
        Noul(type="noul", instructions="The writer asks for money."),
        Noul.model_validate({"type": "noul", "instructions": "Money?", "criteria": {"true": "It is about money."}}),
        Score(type="score", instructions="How urgent?", criteria=["not urgent", "soon", "now"]),
    ],
    ids=["choice", "noul", "noul-with-one-side", "score"],
)
@pytest.mark.parametrize("state", [STATE, {"order": 1180, "notes": ["charged twice", None]}, ["a", 2]])
def test_every_kind_of_question_and_state_gets_a_legal_answer(
    sparrow: Candidate, ask: Ask, question: Question, state: Any
) -> None:
    answer = ask(sparrow, state, question)
    checked = check_distribution(question.options, answer.probabilities, answer.choice)
    assert list(checked.probabilities) == list(question.options)
    assert all(type(value) is float for value in answer.probabilities.values())


def test_the_side_of_a_noul_is_the_one_the_sdk_reports(sparrow: Candidate, sdk: Any, ask: Ask) -> None:
    question = Noul(type="noul", instructions="The writer wants money back.")
    reported = sdk.ask(STATE, {"q": {"type": "noul", "instructions": question.instructions}})["q"]["noul"]
    assert round(ask(sparrow, STATE, question).probabilities["true"], 4) == reported


def test_the_order_of_options_moves_no_probability_by_more_than_a_millionth(
    sparrow: Candidate, ask: Ask, choice: MakeChoice
) -> None:
    first = ask(sparrow, STATE, choice("What is it about?", **INTENT)).probabilities
    for order in itertools.permutations(INTENT):
        other = ask(sparrow, STATE, choice("What is it about?", **{key: INTENT[key] for key in order})).probabilities
        assert list(other) == list(order)
        assert all(abs(other[option] - first[option]) <= 1e-6 for option in INTENT)


def test_the_same_request_gets_the_same_bits(sparrow: Candidate, ask: Ask, choice: MakeChoice) -> None:
    question = choice("What is it about?", **INTENT)
    assert ask(sparrow, STATE, question) == ask(
        REGISTRY["sparrow"].create(Setup("cpu", ModelSettings())), STATE, question
    )


def test_a_state_beyond_the_window_is_an_error_where_the_sdk_cuts_it_silently(
    sparrow: Candidate, sdk: Any, ask: Ask, choice: MakeChoice
) -> None:
    question = choice("What is it about?", **INTENT)
    fits = "door " * 512
    long = fits + "refund invoice charge " * 50
    wire = {"q": question.to_wire()}
    assert sdk.ask(long, wire) == sdk.ask(fits, wire), "the SDK no longer cuts at 512 tokens"
    ask(sparrow, fits, question)
    with pytest.raises(CandidateError) as caught:
        ask(sparrow, long, question)
    assert caught.value.code == "state-too-long"
    assert not caught.value.fatal
    assert "512 tokens" in caught.value.detail
    assert "refund" not in caught.value.detail


def test_one_token_beyond_the_window_is_too_long(sparrow: Candidate, ask: Ask, choice: MakeChoice) -> None:
    question = choice("Which?", left="", right="")
    ask(sparrow, " ".join(["door"] * 512), question)
    with pytest.raises(CandidateError, match="state-too-long"):
        ask(sparrow, " ".join(["door"] * 513), question)


def test_a_json_state_is_measured_as_the_model_reads_it(sparrow: Candidate, ask: Ask, choice: MakeChoice) -> None:
    question = choice("Which?", left="", right="")
    ask(sparrow, {"words": ["door"] * 50}, question)
    with pytest.raises(CandidateError, match="state-too-long"):
        ask(sparrow, {"words": ["door"] * 200}, question)


def test_few_characters_that_become_many_tokens_are_too_long(
    sparrow: Candidate, sdk: Any, ask: Ask, choice: MakeChoice
) -> None:
    # A Korean syllable is taken apart into two or three tokens, so that 480 characters do not fit either.
    question = choice("Which?", left="", right="")
    korean = "한국어말씀 " * 80
    assert len(korean) < 512
    wire = {"q": question.to_wire()}
    assert sdk.ask(korean, wire) == sdk.ask(korean + "한국어말씀 " * 80, wire), "the SDK no longer cuts at 512 tokens"
    with pytest.raises(CandidateError, match="state-too-long"):
        ask(sparrow, korean, question)


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("question-too-long", {"instructions": "door " * 513, "criteria": {"left": "", "right": ""}}),
        ("option-too-long", {"instructions": "Which?", "criteria": {"left": "", "right": "door " * 512}}),
    ],
)
def test_questions_and_options_beyond_the_window_are_errors_too(
    sparrow: Candidate, ask: Ask, code: str, question: dict[str, Any]
) -> None:
    with pytest.raises(CandidateError) as caught:
        ask(sparrow, STATE, Choice.model_validate({"type": "choice"} | question))
    assert caught.value.code == code


def test_every_case_of_the_shipped_suite_fits(sparrow: Candidate) -> None:
    for case in load_suite(find_suite("decisions-v0")).cases:
        assert list(sparrow.decide(request_of(case)).questions) == list(case.questions)


def test_the_identity_names_model_versions_and_the_published_weights(sparrow: Candidate, shared: Path) -> None:
    facts = (shared / "facts" / "small-models.md").read_text("utf-8")
    published = dict(re.findall(r"(sparrow-\S+)\.sparrow ([0-9a-f]{64})", facts))
    identity = sparrow.identity
    assert identity.model == "sparrow-nano-general-v1.1"
    assert identity.file_sha256 == published["sparrow-nano-general-v1.1"]
    assert set(identity.packages) == {"sparrow-decider", "numpy"}
    assert (identity.device, identity.dtype, identity.decimals) == ("cpu", "float32", None)
    assert identity.settings == {"window_tokens": 512}


def test_a_named_configuration_with_another_model_is_another_candidate(
    sparrow: Candidate, ask: Ask, choice: MakeChoice, tmp_path: Path
) -> None:
    file = tmp_path / "decibench.toml"
    file.write_text('[candidates.robot]\nadapter = "sparrow"\nmodel = "nano-robot"\n', "utf-8")
    [spec] = resolve_candidates(["robot"], file=file, device=None)
    robot = spec.create(())
    assert (spec.name, robot.identity.model) == ("robot", "sparrow-nano-robot-v1.2")
    assert robot.identity.file_sha256 != sparrow.identity.file_sha256
    question = choice("What is it about?", **INTENT)
    assert ask(robot, STATE, question).probabilities != ask(sparrow, STATE, question).probabilities


def test_an_unknown_model_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    file = tmp_path / "decibench.toml"
    file.write_text('[candidates.big]\nadapter = "sparrow"\nmodel = "giant"\n', "utf-8")
    with pytest.raises(
        UsageError, match=r"field candidates\.big: sparrow bundles no model 'giant'; use sparrow-nano"
    ) as e:
        resolve_candidates(["big"], file=file, device=None)
    assert "sparrow-nano-robot-v1.2" in str(e.value)


@pytest.mark.parametrize("model", ["**", "nano-*", "[", "../x"])
def test_the_name_of_a_model_is_no_pattern(tmp_path: Path, model: str) -> None:
    file = tmp_path / "decibench.toml"
    file.write_text(f'[candidates.any]\nadapter = "sparrow"\nmodel = "{model}"\n', "utf-8")
    with pytest.raises(UsageError) as caught:
        resolve_candidates(["any"], file=file, device=None)
    assert f"sparrow bundles no model {model!r}; use sparrow-nano" in str(caught.value)
