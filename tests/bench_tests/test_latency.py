"""The latency grid: what is asked, what is timed, and what becomes of requests that fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Bench: TypeAlias = Callable[..., Any]
Own: TypeAlias = Callable[..., Path]

GRID = "decibench.bench_tests.test_latency"
ONE = "words-30-options-2-questions-1"

LOGGING = """
with open("asked.jsonl", "a") as file:
    file.write(json.dumps({"state": request.state, "options": [len(q.options) for q in request.questions.values()]}))
    file.write("\\n")
return Answer({key: even(question) for key, question in request.questions.items()})
"""
COUNTING = """
self.asked = getattr(self, "asked", 0) + 1
answers = {key: even(question) for key, question in request.questions.items()}
"""
FAILING = {
    "error": 'raise CandidateError("too-long", "does not fit")',
    "exception": 'raise RuntimeError("secret")',
    "invalid": 'answers["question-1"] = QuestionAnswer({"harbour": 0.1, "crane": 0.1})',
    "missing": "answers.clear()",
}


def asked() -> list[dict[str, Any]]:
    """What LOGGING was asked, in order."""
    return [json.loads(line) for line in Path("asked.jsonl").read_text("utf-8").splitlines()]


def entries(path: str = "grid.json") -> list[dict[str, Any]]:
    """What pytest-benchmark saved."""
    found: list[dict[str, Any]] = json.loads(Path(path).read_text("utf-8"))["benchmarks"]
    return found


def test_every_request_was_never_asked_before(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, GRID, "--latency", "--candidate", own(LOGGING))
    assert run.code == 0
    requests = asked()
    assert len(requests) == len({request["state"] for request in requests}) == 18 * 23
    sizes = {(len(r["state"].split()), r["options"][0], len(r["options"])) for r in requests}
    assert sizes == {(w, o, q) for w in (30, 300, 3000) for o in (2, 8, 32) for q in (1, 4)}


def test_two_sessions_ask_the_same_requests(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own(LOGGING)
    for _ in range(2):
        bench(suite, GRID, "--latency", "--candidate", candidate, "-k", ONE)
    assert len(asked()) == 46
    assert asked()[:23] == asked()[23:]


def test_the_grid_alone_leaves_no_run_behind(bench: Bench, suite: Path) -> None:
    run = bench(suite, GRID, "--latency", "--candidate", "baseline")
    assert run.code == 0
    assert not run.folder.exists()
    assert "decibench: " not in run.output


def test_the_decisions_come_first_and_their_run_is_complete(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, "--latency", "--candidate", own(LOGGING))
    assert run.code == 0
    report = run.report("own")
    assert report["complete"] is True
    assert report["latency"]["overall"]["requests"] == len(report["records"]) == 24
    states = [request["state"] for request in asked()]
    assert len(states) == 24 + 18 * 23
    assert set(states[:24]) == {"Which way?"}


@pytest.mark.parametrize("options", [["--trials", "2"], ["--split", "holdout"], ["--smoke"]], ids=lambda o: str(o[0]))
def test_options_of_the_run_leave_the_grid_as_it_is(bench: Bench, own: Own, suite: Path, options: list[str]) -> None:
    assert bench(suite, GRID, "--latency", "--candidate", own(LOGGING), *options).code == 0
    assert len(asked()) == 18 * 23


def test_a_resumed_run_measures_the_grid_anew(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own(LOGGING)
    first = bench(suite, "--latency", "--candidate", candidate)
    before = asked()
    again = bench(suite, "--latency", "--candidate", candidate, "--resume", first.folder)
    assert again.code == 0
    assert asked()[len(before) :] == before[24:]


@pytest.mark.parametrize("way", FAILING)
def test_failed_requests_are_timed_and_counted_and_fail_the_item_in_the_end(
    bench: Bench, own: Own, suite: Path, way: str
) -> None:
    # Of requests 4 to 23, which are timed, six are a multiple of three.
    body = f"{COUNTING}\nif self.asked % 3 == 0:\n    {FAILING[way]}\nreturn Answer(answers)"
    run = bench(suite, GRID, "--latency", "--candidate", own(body), "-k", ONE, "--benchmark-json=grid.json")
    assert run.code == 1
    assert "6 of 20 requests failed: " in run.output
    assert "secret" not in run.output
    (entry,) = entries()
    assert (entry["extra_info"]["requests"], entry["extra_info"]["failed"]) == (20, 6)
    assert entry["stats"]["rounds"] == 20


def test_the_reason_stands_once(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, GRID, "--latency", "--candidate", own(FAILING["error"]), "-k", ONE)
    assert "20 of 20 requests failed: too-long: does not fit\n" in run.output


def test_what_fails_while_warming_up_does_not_count(bench: Bench, own: Own, suite: Path) -> None:
    body = f"{COUNTING}\nif self.asked <= 3:\n    {FAILING['error']}\nreturn Answer(answers)"
    run = bench(suite, GRID, "--latency", "--candidate", own(body), "-k", ONE, "--benchmark-json=grid.json")
    assert run.code == 0
    assert entries()[0]["extra_info"]["failed"] == 0


def test_a_request_asked_under_the_profiler_does_not_count(bench: Bench, own: Own, suite: Path) -> None:
    body = f"{COUNTING}\nif self.asked > 23:\n    {FAILING['error']}\nreturn Answer(answers)"
    flags = ["-k", ONE, "--benchmark-json=grid.json", "--benchmark-cprofile=tottime"]
    assert bench(suite, GRID, "--latency", "--candidate", own(body), *flags).code == 0
    assert entries()[0]["extra_info"]["requests"] == 20


def test_an_identity_that_changes_fails_the_requests(bench: Bench, own: Own, suite: Path) -> None:
    body = f"{COUNTING}\nself.identity = Identity(model=f'own-{{self.asked}}')\nreturn Answer(answers)"
    run = bench(suite, GRID, "--latency", "--candidate", own(body), "-k", ONE)
    assert run.code == 1
    assert "20 of 20 requests failed: identity-changed" in run.output


def test_what_is_kept_beside_the_statistics(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own(LOGGING)
    flags = ["--benchmark-json=grid.json", "-k", "words-300-options-8-questions-4"]
    assert bench(suite, GRID, "--latency", "--candidate", candidate, *flags).code == 0
    (entry,) = entries()
    facts = entry["extra_info"]
    assert entry["name"] == "test_latency[own-words-300-options-8-questions-4]"
    assert entry["group"] == "words-300-options-8-questions-4"
    assert entry["params"] == {"candidate": "own", "words": 300, "options": 8, "questions": 4}
    assert {key: facts[key] for key in ("candidate", "device", "model", "words", "options", "questions")} == {
        "candidate": "own",
        "device": "cpu",
        "model": "own-1",
        "words": 300,
        "options": 8,
        "questions": 4,
    }
    assert facts["candidate_hash"] == bench(suite, "--candidate", candidate).report("own")["candidate"]["hash"]
    assert 0 < facts["p50_s"] <= entry["stats"]["max"]


def test_the_device_is_idle_on_both_sides_of_a_request(bench: Bench, own: Own, suite: Path) -> None:
    create = """
    def log(word):
        with open("events.txt", "a") as file:
            file.write(word + "\\n")

    class Waiting(Own):
        def decide(self, request):
            log("decide")
            return super().decide(request)

        def synchronize(self):
            log("synchronize")

    return Waiting()
    """
    body = "return Answer({key: even(question) for key, question in request.questions.items()})"
    run = bench(suite, GRID, "--latency", "--candidate", own(body, create=create), "-k", ONE)
    assert run.code == 0
    events = Path("events.txt").read_text().split()[-3 * 23 :]
    assert events == ["synchronize", "decide", "synchronize"] * 23


def test_candidates_stand_beside_each_other(bench: Bench, suite: Path) -> None:
    names = ["--candidate", "uniform", "--candidate", "baseline"]
    run = bench(suite, GRID, "--latency", *names, "-k", "words-30-", "--benchmark-json=grid.json", "-p", "no:xdist")
    assert run.code == 0
    assert f"benchmark '{ONE}': 2 tests" in run.output
    assert [entry["extra_info"]["candidate"] for entry in entries()][::6] == ["uniform", "baseline"]


def test_a_candidate_that_cannot_be_built_fails_every_item(bench: Bench, own: Own, suite: Path) -> None:
    candidate = own("return None", create='raise CandidateError("no-weights", "the file is gone")')
    run = bench(suite, GRID, "--latency", "--candidate", candidate)
    assert run.code == 1
    assert run.result.parseoutcomes()["failed"] == 18
    assert "own could not be built: no-weights: the file is gone" in run.output
    assert "Warning" not in run.output


def test_a_fatal_failure_stops_the_session_at_once(bench: Bench, own: Own, suite: Path) -> None:
    body = LOGGING.replace("return", 'raise CandidateError("refused", "the key is not valid", fatal=True)\nreturn')
    run = bench(suite, GRID, "--latency", "--candidate", own(body), "--benchmark-json=grid.json")
    assert run.code == 2
    assert "own cannot go on: the key is not valid" in run.output
    assert len(asked()) == 1
