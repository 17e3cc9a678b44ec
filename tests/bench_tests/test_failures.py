"""Candidates that fail: failed items, failed decisions in every denominator, and nothing private in any output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

SECRET = "sk-live-2f9c"
STATE = "Patient Quillfeather asks which way"

# What the candidate does, and the code its decisions fail with.
FAILING = {
    "raises": (f'raise RuntimeError("{SECRET}" + str(request.state))', "exception"),
    "raises-its-own": ('raise CandidateError("too-long", "beyond the window")', "too-long"),
    "exits": (f'raise SystemExit("{SECRET}" + str(request.state))', "exception"),
    "returns-text": (f'return "{SECRET}" + str(request.state)', "wrong-type"),
    "returns-nothing": ("return None", "wrong-type"),
    "questions-no-mapping": ("return Answer([request.state])", "wrong-type"),
    "answer-no-object": ('return Answer({"way": {"left": 1.0, "right": 0.0}})', "wrong-type"),
    "leaves-out": ("return Answer({})", "missing-answer"),
    "unasked": (
        "return Answer({request.state: QuestionAnswer({}), 'way': even(request.questions['way'])})",
        "unasked-question",
    ),
    "other-model": (
        f"return Answer({{'way': even(request.questions['way'])}}, model='{SECRET}' + request.state)",
        "wrong-model",
    ),
    "nan": ('return Answer({"way": QuestionAnswer({"left": math.nan, "right": 0.5})})', "not-finite"),
    "boolean": ('return Answer({"way": QuestionAnswer({"left": True, "right": False})})', "not-a-number"),
    "text-number": ('return Answer({"way": QuestionAnswer({"left": request.state, "right": 0})})', "not-a-number"),
    "missing-option": ('return Answer({"way": QuestionAnswer({"left": 1.0})})', "missing-option"),
    "extra-option": (
        'return Answer({"way": QuestionAnswer({"left": 1.0, "right": 0.0, request.state: 0.0})})',
        "extra-option",
    ),
    "sum": ('return Answer({"way": QuestionAnswer({"left": 0.2, "right": 0.5})})', "sum"),
    "negative": ('return Answer({"way": QuestionAnswer({"left": 1.5, "right": -0.5})})', "out-of-range"),
    "unknown-choice": (
        'return Answer({"way": QuestionAnswer({"left": 1.0, "right": 0.0}, choice=request.state)})',
        "unknown-choice",
    ),
    "not-the-top": (
        'return Answer({"way": QuestionAnswer({"left": 0.7, "right": 0.3}, choice="right")})',
        "choice-not-top",
    ),
    "not-a-mapping": ('return Answer({"way": QuestionAnswer([0.5, 0.5])})', "not-a-mapping"),
    "bad-confidence": (
        'return Answer({"way": QuestionAnswer({"left": 0.5, "right": 0.5}, confidence="high")})',
        "not-a-number",
    ),
    "mapping-that-raises": (
        f"""
        class Lazy(dict):
            def get(self, key, default=None):
                raise RuntimeError("{SECRET}" + str(request.state))
        return Answer(Lazy(way=None))
        """,
        "exception",
    ),
}


@pytest.fixture
def private_suite(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Four calibration cases whose state must not appear anywhere; ``left`` is right in all."""
    return make_suite([row(f"way-{n:03}", state=f"{STATE} {n}") for n in range(4)], "confidential")


@pytest.mark.parametrize(("decide", "code"), FAILING.values(), ids=FAILING)
def test_a_failing_candidate_fails_its_item_and_counts_as_wrong(
    bench: Bench, own: Own, private_suite: Path, pytester: pytest.Pytester, decide: str, code: str
) -> None:
    run = bench(private_suite, "--candidate", own(decide), "--junitxml", "junit.xml", "--showlocals", "-rA")
    assert run.code == 1
    run.result.assert_outcomes(failed=4)
    for record in run.records("own"):
        (decision,) = record["decisions"]
        assert decision["failure"]["code"] == code
        assert decision["choice"] is None
        assert decision["probabilities"] is None
    assert f"own failed on demo-way-000-original: {code}: " in run.output
    overall = run.report("own")["metrics"]["calibration"]["overall"]
    assert (overall["decisions"], overall["valid"], overall["failed"], overall["accuracy"]) == (4, 0, 4, 0.0)
    assert overall["brier_score"] is None
    assert overall["log_loss"] is None
    assert run.report("own")["complete"]
    assert _leaks(run.output, run.folder, pytester.path / "junit.xml") == []


@pytest.mark.parametrize("kind", ["raises", "exits", "unasked"])
def test_failures_are_alike_and_silent_in_every_mode(
    bench: Bench, own: Own, private_suite: Path, pytester: pytest.Pytester, mode: list[str], kind: str
) -> None:
    decide, code = FAILING[kind]
    run = bench(private_suite, "--candidate", own(decide), "--junitxml", "junit.xml", *mode)
    assert run.code == 1
    run.result.assert_outcomes(failed=4)
    assert {record["decisions"][0]["failure"]["code"] for record in run.records("own")} == {code}
    assert _leaks(run.output, run.folder, pytester.path / "junit.xml") == []


def test_the_place_of_an_exception_is_named_without_its_message(bench: Bench, own: Own, private_suite: Path) -> None:
    path = own(FAILING["raises"][0])
    line = next(n for n, text in enumerate(path.read_text("utf-8").splitlines(), start=1) if SECRET in text)
    run = bench(private_suite, "--candidate", path)
    assert run.records("own")[0]["decisions"][0]["failure"]["detail"] == f"RuntimeError raised in own.py, line {line}"


def test_accuracy_is_over_all_attempted_decisions(bench: Bench, own: Own, private_suite: Path) -> None:
    # Of four cases one fails and one is wrong.
    path = own("""
        if request.state.endswith("0"):
            raise CandidateError("unavailable", "not now")
        option = "right" if request.state.endswith("1") else "left"
        return Answer({"way": sure(request.questions["way"], option)})
    """)
    run = bench(private_suite, "--candidate", path)
    assert run.code == 1
    run.result.stdout.fnmatch_lines(["*1 failed, 2 passed, 1 missed*"])
    overall = run.report("own")["metrics"]["calibration"]["overall"]
    assert overall["accuracy"] == 0.5
    assert overall["accuracy_answered"] == pytest.approx(2 / 3)
    assert overall["validity"] == 0.75
    assert overall["brier_score"] == pytest.approx(2 / 3)  # 2 where it is wrong with certainty, else 0.


def test_one_bad_answer_of_two_fails_its_own_question_only(
    bench: Bench, own: Own, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]
) -> None:
    question = row("way-000")["questions"]["way"]
    questions = {"way": question, "back": question}
    references = {name: {"expected": "left"} for name in questions}
    suite = make_suite([row("way-000", questions=questions, references=references)])
    path = own("""
        return Answer({"way": sure(request.questions["way"], "left"), "back": QuestionAnswer({"left": 1.0})})
    """)
    run = bench(suite, "--candidate", path)
    assert run.code == 1
    way, back = run.records("own")[0]["decisions"]
    assert (way["question"], way["choice"], way["failure"]) == ("way", "left", None)
    assert (back["question"], back["failure"]["code"]) == ("back", "missing-option")
    assert run.report("own")["metrics"]["calibration"]["overall"]["accuracy"] == 0.5


def test_calibration_with_failed_decisions_has_no_gate(bench: Bench, own: Own, private_suite: Path) -> None:
    path = own("""
        if request.state.endswith("0"):
            raise CandidateError("unavailable", "not now")
        return Answer({"way": sure(request.questions["way"], "left")})
    """)
    run = bench(private_suite, "--candidate", path, "--min-accepted", "1")
    gate = run.json("own", "gate.json")
    assert (gate["status"], gate["threshold"]) == ("refused", None)
    assert "1 of 4 calibration decisions failed" in gate["reason"]


def test_a_fatal_failure_stops_the_run_with_exit_2(bench: Bench, own: Own, suite: Path, mode: list[str]) -> None:
    path = own('raise CandidateError("credentials", "the key was refused", fatal=True)')
    run = bench(suite, "--candidate", path, *mode)
    assert run.code == 2
    assert 1 <= len(run.records("own")) < 24
    report = run.report("own")
    assert not report["complete"]
    assert report["incomplete_reasons"]
    assert "STOPPED: own cannot go on: the key was refused" in run.output


def test_a_detail_that_is_no_valid_unicode_is_escaped(
    bench: Bench, own: Own, private_suite: Path, mode: list[str]
) -> None:
    run = bench(private_suite, "--candidate", own(r'raise CandidateError("no-file", "caf\udce9.bin")'), *mode)
    assert run.code == 1
    run.result.assert_outcomes(failed=4)
    assert {record["decisions"][0]["failure"]["detail"] for record in run.records("own")} == {r"caf\udce9.bin"}


def test_numpy_numbers_are_numbers(bench: Bench, own: Own, private_suite: Path, mode: list[str]) -> None:
    path = own("""
        import numpy
        left, right = numpy.array([0.75, 0.25], dtype=numpy.float32)
        usage = Usage(numpy.int64(7), numpy.int32(2))
        return Answer({"way": QuestionAnswer({"left": left, "right": right}, str("left"), left)}, usage)
    """)
    run = bench(private_suite, "--candidate", path, *mode)
    assert run.code == 0
    for record in run.records("own"):
        assert record["decisions"][0]["probabilities"] == {"left": 0.75, "right": 0.25}
        assert record["decisions"][0]["confidence"] == 0.75
        assert record["usage"] == {"input_tokens": 7, "output_tokens": 2, "cached_tokens": None}


def _leaks(output: str, *places: Path) -> list[str]:
    """Where the secret, the state or a part of them can be found."""
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*")) if file.is_file()]
    texts = {"output": output} | {file.name: file.read_text("utf-8") for file in files}
    return [f"{word} in {name}" for name, text in texts.items() for word in (SECRET, "Quillfeather") if word in text]
