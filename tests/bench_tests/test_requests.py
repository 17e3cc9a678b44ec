"""What a candidate gets to see, proven by candidates that look around and that scribble on what they get."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import decibench

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Asked, Bench, Own, Said, Serve

# Walks everything that can be reached from the request by attributes, keys and items, and writes down the names it
# went through and the plain values it found. Functions and classes are left out: they are the same for every request.
SPY = """
    import types, warnings
    warnings.simplefilter("ignore")
    names, values, seen, open_ = [], [], set(), [request]
    while open_:
        thing = open_.pop()
        if thing is None or isinstance(thing, (str, int, float)):
            values.append(thing)
            continue
        if id(thing) in seen or isinstance(thing, (type, types.ModuleType)) or callable(thing):
            continue
        seen.add(id(thing))
        if isinstance(thing, dict):
            names += thing
            open_ += thing.values()
        elif isinstance(thing, (list, tuple, set, frozenset)):
            open_ += thing
        else:
            own = [name for name in dir(thing) if not (name.startswith("__") and name.endswith("__"))]
            for name in dict.fromkeys([*own, *getattr(thing, "__dict__", {}), *getattr(thing, "__slots__", ())]):
                names.append(name)
                open_.append(getattr(thing, name, None))
    seen = {"names": sorted(map(str, names)), "values": sorted(map(str, values)), "repr": repr(request),
            "wire": request.to_wire()}
    with open("spied.jsonl", "a") as file:
        file.write(json.dumps(seen) + "\\n")
    return Answer({key: even(question) for key, question in request.questions.items()})
"""

SCRIBBLE = """
    with open("spied.jsonl", "a") as file:
        file.write(json.dumps(request.to_wire()) + "\\n")
    answer = Answer({key: sure(question, question.options[0]) for key, question in request.questions.items()})
    for question in request.questions.values():
        criteria = question.criteria
        if hasattr(criteria, "clear"):
            criteria.clear()
        else:
            object.__setattr__(criteria, "true", "scribbled")
        object.__setattr__(question, "instructions", "scribbled")
    request.questions.clear()
    request.state["places"].append("scribbled")
    request.state.clear()
    return answer
"""


@pytest.fixture
def twins(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Two cases that differ in everything but state and questions."""
    state = {"text": "Which way?", "places": ["here", "there"]}
    unsafe = {"way": {"expected": "right", "unsafe": ["left"], "demanded": "left"}}
    return make_suite(
        [
            row("aardvark-001", "development", "original", family="zebra", state=state),
            row("bumblebee-002", "holdout", "injection", family="walrus", state=state, references=unsafe),
        ],
        "twins",
    )


def test_state_and_questions_are_all_that_can_be_reached_from_a_request(
    bench: Bench, own: Own, twins: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    assert bench(twins, "--candidate", own(SPY), *mode).code == 0
    first, second = _spied(pytester)
    # Were a reference, id, family, variant or split anywhere in it, the two could be told apart.
    assert first == second
    assert list(first["wire"]) == ["state", "questions"]
    assert first["wire"]["state"] == {"text": "Which way?", "places": ["here", "there"]}
    assert list(first["wire"]["questions"]["way"]) == ["type", "instructions", "criteria"]
    assert "Turn to the left side." in first["values"]  # The spy does look into the questions.
    for hidden in ("aardvark", "zebra", "development", "holdout", "bumblebee", "walrus", "injection"):
        assert hidden not in json.dumps(first)
    for name in ("expected", "unsafe", "demanded", "references", "reference", "group", "family", "variant", "split"):
        assert name not in first["names"]


def test_every_kind_of_question_reaches_the_candidate_in_order(
    bench: Bench, own: Own, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]],
    pytester: pytest.Pytester,
) -> None:  # fmt: skip
    questions = {
        "z-way": {"type": "choice", "instructions": "Which?", "criteria": {"b": "Second.", "a": None}},
        "holds": {"type": "noul", "instructions": "Does it hold?", "criteria": {"true": "Yes.", "false": None}},
        "grade": {"type": "score", "instructions": "How good?", "criteria": ["poor", "fair", "good"]},
    }
    references = {"z-way": {"expected": "a"}, "holds": {"expected": "true"}, "grade": {"expected": "2"}}
    suite = make_suite([row("way-000", questions=questions, references=references, state=["first", {"n": 2}])])
    run = bench(suite, "--candidate", own(SPY))
    assert run.code == 0
    (spied,) = _spied(pytester)
    assert list(spied["wire"]["questions"]) == ["z-way", "holds", "grade"]
    assert list(spied["wire"]["questions"]["z-way"]["criteria"].items()) == [("b", "Second."), ("a", None)]
    assert spied["wire"]["questions"]["grade"]["criteria"] == ["poor", "fair", "good"]
    assert spied["wire"]["state"] == ["first", {"n": 2}]
    assert [decision["options"] for decision in run.records("own")[0]["decisions"]] == [
        ["b", "a"],
        ["true", "false"],
        ["0", "1", "2"],
    ]


def test_scribbling_on_a_request_changes_neither_scoring_nor_later_requests(
    bench: Bench, own: Own, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]],
    pytester: pytest.Pytester, mode: list[str],
) -> None:  # fmt: skip
    questions = row("way-000")["questions"] | {
        "holds": {"type": "noul", "instructions": "Does it hold?", "criteria": {"true": "Yes."}},
        "grade": {"type": "score", "instructions": "How good?", "criteria": ["poor", "fair"]},
    }
    references = {"way": {"expected": "left"}, "holds": {"expected": "true"}, "grade": {"expected": "0"}}
    state = {"text": "Which way?", "places": ["here"]}
    suite = make_suite([row("way-000", questions=questions, references=references, state=state)])
    run = bench(suite, "--candidate", own(SCRIBBLE), "--trials", "3", *mode)
    assert run.code == 0
    run.result.assert_outcomes(passed=3)
    requests = _spied(pytester)
    assert len(requests) == 3
    assert requests[0] == requests[1] == requests[2]
    assert requests[0]["state"] == state
    assert len({record["request_hash"] for record in run.records("own")}) == 1
    assert run.records("own")[2]["decisions"][0]["options"] == ["left", "right"]


def _spied(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    text = (pytester.path / "spied.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_state_questions_and_model_are_all_that_leaves_the_machine(
    bench: Bench, twins: Path, serve: Serve, served: Callable[[Asked], Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "the-key")
    server = serve(served)
    options = ["--endpoint", server.url, "--model", "m-1", "--key-env", "A_KEY", "--model-label", "a-label"]
    run = bench(twins, "--candidate", "systemone", *options)
    assert run.code == 0
    asked = [asked for asked in server.asked if "warm-up" not in asked.body["questions"]]
    assert len(asked) == 2
    for request in asked:
        assert request.path == "/v1/systemone"
        assert set(request.headers) == {
            *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"),
            "user-agent",
        }
        assert request.headers["user-agent"] == f"decibench/{decibench.__version__}"
        assert request.headers["authorization"] == "Bearer the-key"
        assert request.headers["host"] == server.url.removeprefix("http://")
    # The two cases differ in id, group, family, variant, split, tags and references, and in nothing that is sent.
    assert asked[0].content == asked[1].content
    body = asked[0].body
    assert set(body) == {"state", "model", "questions"}
    assert body["state"] == {"text": "Which way?", "places": ["here", "there"]}
    assert body["model"] == "m-1"
    assert {key: set(question) for key, question in body["questions"].items()} == {
        "way": {"type", "instructions", "criteria"}
    }
