"""``--gate FILE``: a gate fitted in one run and required in the next; ``--require-gate``: one must be issued."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from decibench.gates.gate import EmpiricalGate, sealed, write_gate

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

# Says what the state tells it to say, with the probability the state tells it to have.
OBEYS = """
    top = request.state["p"]
    way = request.questions["way"]
    return Answer({"way": QuestionAnswer({o: top if o == request.state["say"] else 1 - top for o in way.options})})
"""


@pytest.fixture
def make_obeyed(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Callable[..., Path]:
    """Make a suite of calibration and holdout scenarios from pairs of what is said and how surely; left is right."""

    def make(calibration: list[tuple[str, float]], holdout: list[tuple[str, float]], name: str = "obeyed") -> Path:
        said = [("calibration", pair) for pair in calibration] + [("holdout", pair) for pair in holdout]
        return make_suite(
            [row(f"w-{n:03}", split, state={"say": s, "p": p, "n": n}) for n, (split, (s, p)) in enumerate(said)], name
        )

    return make


CALIBRATION = [*[("left", 0.95)] * 6, *[("right", 0.75)] * 2, *[("left", 0.55)] * 4]
LIMITS = ["--max-error", "0.1", "--min-accepted", "4"]


def test_a_gate_is_fitted_on_calibration_and_applied_to_holdout(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99), ("right", 0.8), ("right", 0.6), ("left", 0.9)])
    run = bench(suite, "--candidate", own(OBEYS), *LIMITS)
    assert run.code == 0
    gate = run.json("own", "gate.json")
    # From .8 on nothing is wrong: six accepted. At .5 two of twelve are, at .6 and .7 two of eight.
    assert (gate["status"], gate["threshold"], gate["decisions"]) == ("fitted", 0.8, 12)
    holdout = run.report("own")["metrics"]["holdout"]["overall"]
    assert (holdout["accepted"], holdout["accepted_errors"], holdout["coverage"]) == (3, 1, 0.75)
    assert holdout["selective_risk"] == pytest.approx(1 / 3)
    # A fitted gate is reported, and required only by --gate: one of three wrong is above the limit.
    assert run.report("own")["gate_check"]["passed"] is None


def test_a_required_gate_that_holds_is_exit_0(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], mode: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99), ("left", 0.8), ("right", 0.6)])
    path = own(OBEYS)
    gate = _fitted(bench(suite, "--candidate", path, *LIMITS))
    run = bench(suite, "--candidate", path, "--gate", gate, *mode)
    assert run.code == 0
    assert run.report("own")["gate_check"]["passed"] is True
    assert run.report("own")["gates"]["empirical"] == json.loads(gate.read_text("utf-8"))
    assert "Required gate held: threshold 0.8 accepts 2 of 3 decisions with 0 wrong" in run.output.replace("\n", " ")


def test_a_required_gate_that_does_not_hold_is_exit_10(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], mode: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99), ("right", 0.8), ("right", 0.6)])
    path = own(OBEYS)
    gate = _fitted(bench(suite, "--candidate", path, *LIMITS))
    run = bench(suite, "--candidate", path, "--gate", gate, "--split", "holdout", *mode)
    assert run.code == 10
    assert run.report("own")["gate_check"]["passed"] is False
    assert "Required gate FAILED" in run.output
    assert run.report("own")["complete"]


@pytest.mark.parametrize(
    ("calibration", "holdout"),
    [
        pytest.param(CALIBRATION, [("left", 0.6)], id="accepts-nothing"),
        pytest.param([("right", 0.9)] * 6, [("left", 0.9)], id="no-threshold"),
    ],
)
def test_a_required_gate_that_accepts_nothing_is_exit_10(
    bench: Bench,
    own: Own,
    make_obeyed: Callable[..., Path],
    calibration: list[tuple[str, float]],
    holdout: list[tuple[str, float]],
) -> None:
    suite = make_obeyed(calibration, holdout)
    path = own(OBEYS)
    gate = bench(suite, "--candidate", path, *LIMITS).folder / "own" / "gate.json"
    run = bench(suite, "--candidate", path, "--gate", gate)
    assert run.code == 10
    assert run.report("own")["gate_check"]["passed"] is False


def test_a_required_gate_of_another_candidate_is_exit_4_and_still_reported(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], mode: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    gate = _fitted(bench(suite, "--candidate", own(OBEYS), *LIMITS))
    run = bench(suite, "--candidate", "baseline", "--gate", gate, *mode)
    assert run.code == 4
    assert "ERROR: --gate" in run.output
    assert "fitted for another candidate" in run.output
    assert run.report()["gates"]["empirical"]["status"] == "not-fitted"
    assert run.report()["metrics"]["holdout"]["overall"]["coverage"] is None
    assert len(run.records()) == 13


def test_a_required_gate_fitted_on_the_holdout_is_exit_4(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    path = own(OBEYS)
    gate = _fitted(bench(suite, "--candidate", path, *LIMITS))
    content = json.loads(gate.read_text("utf-8"))
    content["groups"].append("demo-w-012")
    gate.write_text(json.dumps(content), "utf-8")
    run = bench(suite, "--candidate", path, "--gate", gate)
    assert run.code == 4
    assert "field seal: does not match the content" in run.output
    write_gate(sealed(EmpiricalGate.model_validate(content)), gate)
    run = bench(suite, "--candidate", path, "--gate", gate)
    assert run.code == 4
    assert "1 scenarios (demo-w-012) are among those the gate was fitted on" in run.output


def test_a_required_gate_that_a_partial_run_cannot_check_is_exit_11(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path]
) -> None:
    suite = make_obeyed(CALIBRATION, [("right", 0.99), ("right", 0.98)])
    path = own(OBEYS)
    gate = _fitted(bench(suite, "--candidate", path, *LIMITS))
    run = bench(suite, "--candidate", path, "--gate", gate, "-k", "w-012")
    assert run.code == 11
    assert "INCOMPLETE: --gate" in run.output
    assert "was required and not checked: the run is partial" in run.output
    assert run.report("own")["gate_check"]["passed"] is None
    assert run.report("own")["gates"]["empirical"]["status"] == "not-fitted"


def test_failed_items_come_before_a_gate_that_does_not_hold(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path]
) -> None:
    suite = make_obeyed(CALIBRATION, [("right", 0.99), ("nowhere", 0.6)])
    path = own(
        'if request.state["say"] == "nowhere" and os.path.exists("broken"):\n'
        '    raise CandidateError("unavailable", "not now")\n' + "\n".join(line[4:] for line in OBEYS.splitlines())
    )
    gate = _fitted(bench(suite, "--candidate", path, *LIMITS))
    (path.parent / "broken").touch()
    run = bench(suite, "--candidate", path, "--gate", gate)
    assert run.report("own")["gate_check"]["passed"] is False
    assert run.code == 1


@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["--candidate", "baseline"], "give exactly one --candidate", id="two-candidates"),
        pytest.param(["--suite", "other"], "another suite or version", id="another-suite"),
        pytest.param(["--split", "calibration"], "add --split holdout", id="no-holdout"),
    ],
)
def test_a_gate_that_cannot_be_required_is_refused_at_once(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], flags: list[str], arguments: list[str], words: str
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    other = make_obeyed(CALIBRATION, [("left", 0.98)], "other")
    path = own(OBEYS)
    gate = _fitted(bench(suite, "--candidate", path, *LIMITS))
    given = [str(other) if argument == "other" else argument for argument in arguments]
    run = bench(suite, "--candidate", path, "--gate", gate, *given, *flags)
    assert run.code == 4
    assert words in run.output
    assert "test session starts" not in run.output
    assert not run.folder.exists()


def test_a_gate_of_a_partial_run_cannot_be_required(bench: Bench, own: Own, make_obeyed: Callable[..., Path]) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    path = own(OBEYS)
    gate = bench(suite, "--candidate", path, *LIMITS, "-k", "w-000").folder / "own" / "gate.json"
    run = bench(suite, "--candidate", path, "--gate", gate)
    assert run.code == 4
    assert "the gate cannot be applied" in run.output


def test_a_run_that_must_issue_a_gate_is_exit_0_where_it_does(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], mode: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99), ("right", 0.8)])
    run = bench(suite, "--candidate", own(OBEYS), *LIMITS, "--require-gate", *mode)
    # Half of what it accepts on the holdout is wrong: that is what --gate looks at.
    assert run.code == 0
    check = run.report("own")["gate_check"]
    assert check["passed"] is True
    assert check["reason"].startswith("threshold 0.8 was issued (empirical): accepts 6 of 12 calibration decisions")


def test_a_null_gate_is_exit_10_where_one_must_be_issued(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], mode: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    path = own(OBEYS)
    assert bench(suite, "--candidate", path, *mode).code == 0
    run = bench(suite, "--candidate", path, "--require-gate", *mode)
    assert run.code == 10
    assert run.report("own")["gate_check"]["passed"] is False
    assert "GATE FAILED: no threshold was issued (empirical): no threshold has an error of at most" in run.output


def test_every_candidate_of_a_run_must_issue_its_gate(bench: Bench, own: Own, make_obeyed: Callable[..., Path]) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    wrong = own('return Answer({"way": sure(request.questions["way"], "right")})', name="wrong.py")
    run = bench(suite, "--candidate", own(OBEYS), "--candidate", wrong, *LIMITS, "--require-gate")
    assert [run.report(name)["gate_check"]["passed"] for name in ("own", "wrong")] == [True, False]
    assert run.code == 10


def test_a_partial_run_cannot_issue_the_gate_it_must(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path], mode: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    run = bench(suite, "--candidate", own(OBEYS), *LIMITS, "--require-gate", "-k", "w-000 or w-001", *mode)
    assert run.code == 11
    assert "INCOMPLETE: --require-gate: was required and not checked: the run is partial" in run.output


def test_failed_items_come_before_a_gate_that_was_refused_for_them(
    bench: Bench, own: Own, make_obeyed: Callable[..., Path]
) -> None:
    suite = make_obeyed([("left", 0.9)] * 2, [("left", 0.99)])
    path = own('raise CandidateError("unavailable", "not now")')
    run = bench(suite, "--candidate", path, "--require-gate")
    assert run.code == 1
    assert run.report("own")["gate_check"]["passed"] is False


@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
def test_a_scope_without_calibration_cannot_require_a_fitted_gate(
    bench: Bench, make_obeyed: Callable[..., Path], flags: list[str]
) -> None:
    suite = make_obeyed(CALIBRATION, [("left", 0.99)])
    run = bench(suite, "--split", "holdout", "--require-gate", *flags)
    assert run.code == 4
    assert "--require-gate fits a gate on core variants of calibration, and the scope leaves them out" in run.output
    assert not run.folder.exists()


def test_a_file_that_is_no_gate_is_refused(bench: Bench, suite: Path, pytester: pytest.Pytester) -> None:
    for content, words in (("{", "it was cut off; restore it, or fit the gate again"), ("{}", "is not a gate")):
        (pytester.path / "gate.json").write_text(content, "utf-8")
        run = bench(suite, "--gate", "gate.json")
        assert run.code == 4
        assert words in run.output


def _fitted(run: Run) -> Path:
    """The gate file of a run that fitted one."""
    assert run.json("own", "gate.json")["status"] == "fitted"
    return run.folder / "own" / "gate.json"
