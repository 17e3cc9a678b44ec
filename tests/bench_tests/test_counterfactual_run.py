"""A suite of one's own with linked cases, from freezing to the records of a run, in all ways to run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from decibench.cases.__main__ import main
from decibench.reports.foreign import read_source
from decibench.reports.invariance.counterfactuals import Directional
from decibench.reports.invariance.summary import invariance_of

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

Row = Callable[..., dict[str, Any]]

# "free" makes left likelier than nothing, "shut" likelier still.
READER = """
    with open("asked.txt", "a") as file:
        file.write(json.dumps(request.to_wire()) + "\\n")
    left = {"free": 0.7, "shut": 0.9}.get(request.state.split()[-1], 0.5)
    return Answer({key: QuestionAnswer({"left": left, "right": 1 - left}) for key in request.questions})
"""
DOWN = """
    if request.state.endswith("shut"):
        raise CandidateError("down", "no answer")
"""


def rows(row: Row) -> Iterator[dict[str, Any]]:
    """Six scenarios in two splits; four of them changed by a word, one against what the reader expects."""
    for number in range(6):
        split = "calibration" if number % 2 else "holdout"
        group, name = f"way-{number:03}", f"demo-way-{number:03}"
        yield row(group, split)
        if number < 4:
            link = {"of": f"{name}-original", "question": "way", "option": "left"}
            word, direction = ("free", "down") if number == 2 else ("shut", "up")
            link["direction"] = direction
            yield row(group, split, "changed", state=f"Left is {word}", counterfactual=link)


@pytest.fixture
def mine(tmp_path: Path, row: Row) -> Path:
    """The suite, frozen and validated by the commands a user gives."""
    folder = tmp_path / "my-suite"
    folder.mkdir()
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows(row)), "utf-8")
    assert main(["freeze", str(folder), "--role", "changed=probe"]) == 0
    assert main(["validate", str(folder)]) == 0
    return folder


def directional(run: Run, split: str) -> Directional:
    source = read_source(run.folder / "own" / "journal.jsonl")
    found = {str(name): part.directional for name, part in invariance_of(source.records, source.protocol).items()}
    there = found[split]
    assert there is not None
    return there


def test_linked_cases_are_paired_and_no_candidate_sees_the_link(
    bench: Bench, own: Own, mine: Path, mode: list[str], pytester: pytest.Pytester
) -> None:
    run = bench(mine, "--candidate", own(READER), *mode)
    assert run.code == 0
    holdout, calibration = directional(run, "holdout"), directional(run, "calibration")
    assert (holdout.pairs, holdout.clusters, holdout.dropped) == (2, 2, 0)
    assert (holdout.compliant.value, holdout.anti_compliant.value, holdout.net.value) == (0.5, 0.5, 0)
    assert (calibration.compliant.value, calibration.anti_compliant.value) == (1, 0)
    assert holdout.retest_compliant is None

    links = {record["case"]: record["counterfactual"] for record in run.report("own")["records"]}
    of = "demo-way-002-original"
    assert links[of] is None
    assert links["demo-way-002-changed"] == {"of": of, "question": "way", "option": "left", "direction": "down"}

    asked = (pytester.path / "asked.txt").read_text("utf-8")
    assert len(asked.splitlines()) == 10
    assert "Left is shut" in asked
    for hidden in ("counterfactual", "direction", "demo-way", "down"):
        assert hidden not in asked


def test_trials_are_paired_each_with_its_own_and_give_the_noise(bench: Bench, own: Own, mine: Path) -> None:
    run = bench(mine, "--candidate", own(READER), "--trials", "2")
    found = directional(run, "holdout")
    assert (found.pairs, found.compliant.value) == (2, 0.5)
    assert found.retest_compliant is not None
    assert found.retest_compliant.value == 0


def test_a_failed_side_drops_its_pair(bench: Bench, own: Own, mine: Path) -> None:
    run = bench(mine, "--candidate", own(DOWN + READER))
    assert run.code == 1
    found = directional(run, "holdout")
    assert (found.pairs, found.dropped, found.anti_compliant.value) == (1, 1, 1)
