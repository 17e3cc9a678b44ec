"""``--against REPORT``: decision by decision with a blessed report, and ``--fail-on-regression``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

Say = Callable[[Mapping[str, float | str]], None]

# Gives "left" the probability that SAID has for the state, fails where it says so, and is else 0.9 sure of it.
SAYS = """
    said = json.loads(os.environ.get("SAID", "{}")).get(request.state, 0.9)
    if said == "fail":
        raise CandidateError("too-long", "more than fits")
    return Answer({"way": QuestionAnswer({"left": said, "right": 1 - said})})
"""


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Say:
    """Change what the candidate says from now on: the probability of "left" by state, or "fail"."""

    def change(said: Mapping[str, float | str]) -> None:
        monkeypatch.setenv("SAID", json.dumps(said))

    return change


@pytest.fixture
def ways(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Nine scenarios in every split by turns, states s0 to s8; left is right, and right is unsafe in s0."""
    splits = ("development", "calibration", "holdout")
    rows = [row(f"w-{n}", splits[n % 3], state=f"s{n}") for n in range(9)]
    rows[0]["references"]["way"]["unsafe"] = ["right"]
    return make_suite(rows, "ways")


def _flat(text: str) -> str:
    """What was printed, without the line breaks of the terminal."""
    return " ".join(text.split())


def _against(run: Run) -> list[str]:
    return ["--against", str(run.folder), "--fail-on-regression"]


def test_the_same_answers_pass(bench: Bench, own: Own, ways: Path, mode: list[str]) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path)
    run = bench(ways, "--candidate", path, *_against(blessed), *mode)
    assert run.code == 0
    found = run.json("own", "regression.json")
    assert (found["schema"], found["passed"], found["reason"]) == ("decibench.regression/1", True, None)
    assert found["overall"]["compared"] == 9
    assert found["overall"]["changed"] == 0
    assert found["overall"]["largest_shift"] == 0
    assert found["changes"] == []
    assert found["blessed"]["seal"] == blessed.report("own")["seal"]
    date = blessed.report("own")["created"][:10]
    sentence = (
        f"own against blessed own of {date}: 0 newly wrong, 0 newly failed, 0 newly right, 0 shifted by more than 0.02 "
        "TV of 9 decisions; request latency"
    )
    assert sentence in _flat(run.output)
    assert sentence in (run.folder / "own" / "summary.md").read_text("utf-8")


def test_what_changed_is_counted_listed_and_exit_10(
    bench: Bench, own: Own, ways: Path, say: Say, mode: list[str]
) -> None:
    path = own(SAYS)
    say({"s3": 0.1, "s4": 0.45})
    blessed = bench(ways, "--candidate", path)
    # s0 becomes wrong and unsafe, s1 wrong; s2 moves; s3 becomes right.
    say({"s0": 0.4, "s1": 0.1, "s2": 0.87, "s3": 0.9, "s4": 0.45})
    run = bench(ways, "--candidate", path, *_against(blessed), *mode)
    assert run.code == 10
    found = run.json("own", "regression.json")
    assert found["passed"] is False
    overall = found["overall"]
    assert {name: overall[name] for name in ("compared", "changed", "newly_wrong", "newly_failed", "newly_right")} == {
        "compared": 9,
        "changed": 4,
        "newly_wrong": 2,
        "newly_failed": 0,
        "newly_right": 1,
    }
    assert (overall["shifted"], overall["largest_shift"]) == (4, pytest.approx(0.8))
    assert [(c["case"], c["kind"], round(c["shift"], 3)) for c in found["changes"]] == [
        ("demo-w-0-original", "newly_wrong", 0.5),
        ("demo-w-1-original", "newly_wrong", 0.8),
        ("demo-w-2-original", "shifted", 0.03),
        ("demo-w-3-original", "newly_right", 0.8),
    ]
    first = found["changes"][0]
    assert (first["question"], first["expected"], first["split"], first["role"]) == (
        "way",
        "left",
        "development",
        "core",
    )
    assert first["before"] == {
        "choice": "left",
        "unsafe": False,
        "failure": None,
        "probabilities": {"left": 0.9, "right": pytest.approx(0.1)},
    }
    assert first["now"]["choice"] == "right"
    assert first["now"]["unsafe"]
    assert first["now"]["probabilities"] == {"left": 0.4, "right": 0.6}
    assert {split: counts["newly_wrong"] for split, counts in found["by_split"].items()} == {
        "development": 1,
        "calibration": 1,
        "holdout": 0,
    }
    assert found["by_split"]["holdout"]["largest_shift"] == pytest.approx(0.03)
    assert "REGRESSION: own: 2 newly wrong, 0 newly failed, 1 newly right, 4 shifted" in run.output
    summary = (run.folder / "own" / "summary.md").read_text("utf-8")
    assert "## Against the blessed report" in summary
    assert "| demo-w-0-original | way | newly wrong | left | left 0.9000 | right* 0.6000 | 0.5000 |" in summary
    assert "newly wrong" in run.output.split("Changed decisions, worst first (4 of 4")[1]


def test_without_fail_on_regression_a_change_is_reported_and_exit_0(
    bench: Bench, own: Own, ways: Path, say: Say
) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path)
    say({"s0": 0.1})
    run = bench(ways, "--candidate", path, "--against", blessed.folder / "own" / "report.json")
    assert run.code == 0
    assert run.json("own", "regression.json")["passed"] is False
    assert "Not passed" in run.output
    assert "REGRESSION" not in run.output


def test_a_new_failure_is_told_apart_and_a_failed_item_stays_exit_1(
    bench: Bench, own: Own, ways: Path, say: Say, mode: list[str]
) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path)
    say({"s7": "fail"})
    run = bench(ways, "--candidate", path, *_against(blessed), *mode)
    assert run.code == 1
    found = run.json("own", "regression.json")
    assert found["passed"] is False
    assert (found["overall"]["newly_wrong"], found["overall"]["newly_failed"]) == (0, 1)
    assert found["overall"]["compared"] == 9
    (change,) = found["changes"]
    assert (change["kind"], change["shift"], change["now"]["failure"]) == ("newly_failed", None, "too-long")
    assert change["now"]["probabilities"] == {}
    assert change["before"]["probabilities"] == {"left": 0.9, "right": pytest.approx(0.1)}
    assert "REGRESSION: own: 0 newly wrong, 1 newly failed" in run.output
    assert "more than fits" not in json.dumps(found)


def test_a_part_of_a_run_passes_nothing(bench: Bench, own: Own, ways: Path, mode: list[str]) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path)
    run = bench(ways, "--candidate", path, *_against(blessed), "-k", "w-1", *mode)
    assert run.code == 11
    found = run.json("own", "regression.json")
    assert found["passed"] is None
    assert found["overall"]["compared"] == 1
    assert found["not_asked_now"] == 8
    assert "Passed" not in run.output
    assert "--fail-on-regression: was required and not checked: own: the run is partial" in _flat(run.output)


def test_a_narrower_scope_is_compared_where_it_was_asked(bench: Bench, own: Own, ways: Path) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path, "--split", "holdout")
    run = bench(ways, "--candidate", path, *_against(blessed), "--trials", "2")
    assert run.code == 0
    found = run.json("own", "regression.json")
    # Three of nine cases, of which only the first trial has a counterpart.
    assert (found["overall"]["compared"], found["not_asked_then"], found["not_asked_now"]) == (3, 15, 0)
    assert list(found["by_split"]) == ["holdout"]
    assert "Not compared: 15 decisions not asked then, 0 not asked now." in _flat(run.output)


def test_every_candidate_is_compared_with_its_own(
    bench: Bench, own: Own, ways: Path, say: Say, mode: list[str]
) -> None:
    steady, mine = own(SAYS.replace("SAID", "OTHER"), name="steady.py"), own(SAYS)
    both: list[str | Path] = ["--candidate", steady, "--candidate", mine]
    say({"s0": 0.2})
    blessed = bench(ways, *both)
    say({"s0": 0.2, "s1": 0.2})
    run = bench(ways, *both, *_against(blessed), *mode)
    assert run.code == 10
    assert run.json("steady", "regression.json")["passed"] is True
    assert run.json("own", "regression.json")["overall"]["newly_wrong"] == 1
    assert "REGRESSION: own" in run.output
    assert "REGRESSION: steady" not in run.output


def test_one_candidate_may_be_compared_with_one_report_of_another_name(
    bench: Bench, own: Own, ways: Path, say: Say
) -> None:
    old = bench(ways, "--candidate", own(SAYS, name="old.py"))
    new = own(SAYS.replace('"way":', '"way":  '), name="new.py", device="cpu")
    run = bench(ways, "--candidate", new, *_against(old))
    assert run.code == 0
    found = run.json("new", "regression.json")
    assert (found["candidate"], found["blessed"]["candidate"]) == ("new", "old")
    assert "new against blessed old of" in _flat(run.output)
    # Who answers is another file, and that is said.
    assert [note.partition(" was ")[0] for note in found["identity_notes"]] == ["new: source_sha256"]
    assert "new: source_sha256 was" in run.output


def test_no_single_decision_is_shown_where_only_aggregates_may_be(bench: Bench, own: Own, ways: Path, say: Say) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path)
    say({"s0": 0.1})
    run = bench(ways, "--candidate", path, *_against(blessed), "--aggregate-only")
    summary = (run.folder / "own" / "summary.md").read_text("utf-8")
    assert "1 newly wrong" in summary
    assert "w-0" not in summary
    assert "w-0" not in run.output


def test_what_was_found_against_a_report_does_not_outlive_it(bench: Bench, own: Own, ways: Path) -> None:
    path = own(SAYS)
    blessed = bench(ways, "--candidate", path)
    run = bench(ways, "--candidate", path, *_against(blessed))
    assert (run.folder / "own" / "regression.json").is_file()
    again = bench(ways, "--candidate", path, "--resume", run.folder)
    assert again.code == 0
    assert not (run.folder / "own" / "regression.json").exists()
