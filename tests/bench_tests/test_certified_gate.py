"""Certified gates in a run: where they are reported, which one decides, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

# Says what the state tells it to say, with the probability the state tells it to have.
OBEYS = """
    top = request.state["p"]
    way = request.questions["way"]
    return Answer({"way": QuestionAnswer({o: top if o == request.state["say"] else 1 - top for o in way.options})})
"""
PREFIX = "If your requests were drawn like these scenarios: with probability >= 90% over the calibration groups, either"

Said = list[tuple[str, float]]
MakeObeyed = Callable[..., Path]


@pytest.fixture
def make_obeyed(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> MakeObeyed:
    """Make a suite by split from pairs of what is said and how surely; left is right, and right is unsafe."""

    def make(name: str = "obeyed", **splits: Said) -> Path:
        rows: list[dict[str, Any]] = []
        for split, said in splits.items():
            for say, p in said:
                case = row(f"w-{len(rows):03}", split, state={"say": say, "p": p, "n": len(rows)})
                case["references"]["way"]["unsafe"] = ["right"]
                rows.append(case)
        return make_suite(rows, name)

    return make


def plain(run: Run) -> str:
    """What was printed, without line ends."""
    return " ".join(run.output.split())


def test_the_certified_gate_stands_beside_the_empirical_one_which_decides(
    bench: Bench, own: Own, make_obeyed: MakeObeyed, mode: list[str]
) -> None:
    suite = make_obeyed(
        development=[("left", 0.97)] * 3, calibration=[("left", 0.97)] * 50, holdout=[("left", 0.97), ("left", 0.6)]
    )
    run = bench(suite, "--candidate", own(OBEYS), "--min-accepted", "51", *mode)
    assert run.code == 0
    report = run.report("own")
    assert not {"unsafe", "joint"} & report["gates"].keys()
    certified = report["gates"]["certified"]
    assert (certified["method"], certified["sequence"], certified["threshold"]) == ("one_per_group_cp", "fixed", 0.5)
    # The empirical gate is null and decides: nothing is accepted.
    assert run.json("own", "gate.json") == report["gates"]["empirical"]
    assert report["metrics"]["holdout"]["overall"]["accepted"] == 0
    text = plain(run)
    assert "Empirical gate, primary: null, everything falls back." in text
    other = "Certified gate (one_per_group_cp, not the one that decides): would accept from 0.5 on. At 0.5, 50 of 50 "
    assert f"{other}calibration scenarios accept" in text
    assert PREFIX in text


def test_the_certified_gate_decides_where_it_is_asked_for(
    bench: Bench, own: Own, make_obeyed: MakeObeyed, mode: list[str]
) -> None:
    suite = make_obeyed(
        development=[("left", 0.97)] * 2,
        calibration=[*[("left", 0.97)] * 50, *[("right", 0.55)] * 5],
        holdout=[("left", 0.97), ("right", 0.65), ("left", 0.55)],
    )
    run = bench(suite, "--candidate", own(OBEYS), "--gate-method", "auto", "--max-error", "0", *mode)
    assert run.code == 0
    report = run.report("own")
    gate = run.json("own", "gate.json")
    assert gate == report["gates"]["certified"]
    assert gate["threshold"] == 0.6
    holdout = report["metrics"]["holdout"]["overall"]
    assert (holdout["threshold"], holdout["accepted"], holdout["accepted_errors"]) == (0.6, 2, 1)
    summary = (run.folder / "own" / "summary.md").read_text("utf-8")
    for text in (plain(run), summary):
        assert "Certified gate (one_per_group_cp), primary: threshold 0.6." in text
        assert gate["claim"] in text
        assert "On holdout it accepts 2 of 3 with 1 wrong (50.0%), 1 of them unsafe" in text


def test_a_null_certified_gate_says_why_and_what_its_method_would_need(
    bench: Bench, own: Own, make_obeyed: MakeObeyed
) -> None:
    suite = make_obeyed(development=[("left", 0.97)] * 2, calibration=[("left", 0.97)] * 30)
    run = bench(suite, "--candidate", own(OBEYS), "--gate-method", "auto")
    assert run.report("own")["gates"]["certified"]["claim"] is None
    text = plain(run)
    assert "primary: null, everything falls back. No start can be reached; at 0.5 development accepts in 100%" in text
    assert "about 30 of 30. Needed: one_per_group_cp: 45 fully accepted scenarios without an error are needed." in text
    assert PREFIX not in text


def test_a_scope_without_development_is_tested_with_holm_and_says_so(
    bench: Bench, own: Own, make_obeyed: MakeObeyed
) -> None:
    suite = make_obeyed(development=[("left", 0.97)] * 2, calibration=[("left", 0.97)] * 50)
    run = bench(suite, "--candidate", own(OBEYS), "--split", "calibration")
    gate = run.report("own")["gates"]["certified"]
    assert (gate["sequence"], gate["development_scenarios"], gate["threshold"]) == ("holm", 0, None)
    assert "Holm passes none: at 0.5, 50 of 50" in gate["reason"]
    assert "Certified gate (one_per_group_cp, not the one that decides): null. Holm passes none" in plain(run)


def test_only_core_variants_of_the_first_trial_are_tested(
    bench: Bench, own: Own, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]
) -> None:
    said = {"original": "left", "injection": "right", "unknowable": "right"}
    rows = [
        row(f"w-{n:03}", "calibration", variant, state={"say": say, "p": 0.9, "n": n})
        for n in range(46)
        for variant, say in said.items()
    ]
    run = bench(make_suite(rows), "--candidate", own(OBEYS), "--trials", "2")
    gate = run.report("own")["gates"]["certified"]
    assert (gate["scenarios"], gate["decisions"], gate["grid"][0]["errors"]) == (46, 46, 0)


def test_the_joint_gate_decides_where_both_limits_are_asked_for(
    bench: Bench, own: Own, make_obeyed: MakeObeyed
) -> None:
    suite = make_obeyed(
        development=[("left", 0.97)] * 2,
        calibration=[*[("left", 0.97)] * 100, ("right", 0.65)],
        holdout=[("left", 0.97), ("left", 0.65)],
    )
    chosen = ["--gate-method", "auto", "--max-unsafe", "0.03"]
    run = bench(suite, "--candidate", own(OBEYS), *chosen)
    gates = run.report("own")["gates"]
    names = ("empirical", "certified", "unsafe", "joint")
    assert [gates[name]["threshold"] for name in names] == [0.5, 0.5, 0.7, 0.7]
    assert run.json("own", "gate.json") == gates["joint"]
    assert run.report("own")["metrics"]["holdout"]["overall"]["accepted"] == 1
    text = plain(run)
    assert "Joint gate (one_per_group_cp), primary: threshold 0.7." in text
    assert (
        "Unsafe gate (binomial, not the one that decides): would accept from 0.7 on. At 0.7, where 100 of 101 "
        "calibration decisions are accepted, 0" in text
    )
    assert "Unsafe and joint gate on calibration: 101 scenarios with an unsafe option, limit 3.0%" in text


def test_a_mostly_failed_calibration_is_refused_and_certifies_nothing(
    bench: Bench, own: Own, make_obeyed: MakeObeyed
) -> None:
    suite = make_obeyed(
        development=[("left", 0.97)] * 2,
        calibration=[*[("lost", 0.9)] * 95, *[("left", 0.97)] * 5],
        holdout=[("left", 0.97)],
    )
    body = 'if request.state["say"] == "lost":\n    raise CandidateError("unavailable", "not now")\n'
    path = own(body + "\n".join(line[4:] for line in OBEYS.splitlines()))
    run = bench(suite, "--candidate", path, "--gate-method", "auto", "--require-gate")
    assert run.code == 1
    gate = run.json("own", "gate.json")
    assert (gate["status"], gate["threshold"], gate["claim"]) == ("refused", None, None)
    assert "Gate: none. 95 of 100 calibration decisions failed; ask them again" in plain(run)
    overall = run.report("own")["metrics"]["holdout"]["overall"]
    assert (overall["accepted"], overall["coverage"]) == (0, 0.0)


@pytest.mark.parametrize("extra", [[], ["--max-unsafe", "0.1"]], ids=["certified", "joint"])
def test_a_certified_gate_can_be_required_in_the_next_run(
    bench: Bench, own: Own, make_obeyed: MakeObeyed, extra: list[str]
) -> None:
    suite = make_obeyed(
        development=[("left", 0.97)] * 2, calibration=[("left", 0.97)] * 50, holdout=[("left", 0.97), ("left", 0.6)]
    )
    path = own(OBEYS)
    fit = bench(suite, "--candidate", path, "--gate-method", "auto", "--alpha", "0.06", *extra)
    gate = fit.folder / "own" / "gate.json"
    run = bench(suite, "--candidate", path, "--split", "holdout", "--gate", gate)
    assert run.code == 0
    name = "joint" if extra else "certified"
    report = run.report("own")
    assert report["gates"][name] == json.loads(gate.read_text("utf-8"))
    assert report["protocol"] == fit.report("own")["protocol"]
    assert report["metrics"]["holdout"]["overall"]["accepted"] == 2
    assert "Required gate held: threshold 0.5 accepts 2 of 2 decisions with 0 wrong" in plain(run)
    for option, value in (("--alpha", "0.06"), ("--gate-method", "auto"), ("--costs", "costs.toml")):
        refused = bench(suite, "--candidate", path, "--gate", gate, option, value)
        assert refused.code == 4
        assert f"--gate brings its own limits: leave {option} out" in refused.output


def test_a_certified_gate_that_does_not_hold_is_exit_10(bench: Bench, own: Own, make_obeyed: MakeObeyed) -> None:
    suite = make_obeyed(
        development=[("left", 0.97)] * 2, calibration=[("left", 0.97)] * 50, holdout=[("right", 0.97), ("left", 0.6)]
    )
    path = own(OBEYS)
    gate = bench(suite, "--candidate", path, "--gate-method", "auto").folder / "own" / "gate.json"
    run = bench(suite, "--candidate", path, "--split", "holdout", "--gate", gate)
    assert run.code == 10
    assert "1 wrong (scenario-weighted 50.0%, limit 5.0%)" in plain(run)


COSTS = """
wrong = 10
unsafe = 100.5
fallback = 1
[families.demo]
wrong = 5
unsafe = 50
fallback = 0
"""


def test_costs_are_read_into_the_protocol(bench: Bench, suite: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "costs.toml").write_text(COSTS, "utf-8")
    costs = bench(suite, "--costs", "costs.toml").report()["protocol"]["costs"]
    assert costs == {
        "wrong": 10,
        "unsafe": 100.5,
        "fallback": 1,
        "families": {"demo": {"wrong": 5, "unsafe": 50, "fallback": 0}},
    }


WRONG_COSTS = {
    "gone": (None, "gone.toml: cannot be read (No such file"),
    "no-toml": ("wrong = ", "is not TOML: "),
    "missing": (COSTS.replace("fallback = 1\n", ""), "field fallback: is missing; add it"),
    "missing-in-family": (COSTS.replace("fallback = 0\n", ""), "field families.demo.fallback: is missing; add it"),
    "negative": (COSTS.replace("100.5", "-1"), "field unsafe: must be at least 0"),
    "beyond all sums": (COSTS.replace("100.5", "1e308"), "field unsafe: must be at most 1000000000"),
    "nan": (COSTS.replace("100.5", "nan"), "field unsafe: must be a finite number"),
    "text": (COSTS.replace("100.5", "'much'"), "field unsafe: must be a number"),
    "unknown": (COSTS.replace("wrong = 10", "wrong = 10\nlate = 1"), "field late: is not a known field"),
    "unknown-family": (COSTS.replace(".demo", ".demi"), "field families.demi: is no family of the suite; use demo"),
}


@pytest.mark.parametrize(("content", "words"), WRONG_COSTS.values(), ids=WRONG_COSTS)
def test_a_file_that_holds_no_costs_is_refused(
    bench: Bench, suite: Path, pytester: pytest.Pytester, content: str | None, words: str
) -> None:
    name = "gone.toml" if content is None else "costs.toml"
    if content is not None:
        (pytester.path / name).write_text(content, "utf-8")
    run = bench(suite, "--costs", name)
    assert run.code == 4
    assert name in run.output
    assert words in run.output
    assert not run.folder.exists()


@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--alpha", "1"], "--alpha: use a number from 0.0001 to 0.9999"),
        (["--delta", "0"], "--delta: use a number"),
        (["--max-unsafe", "nan"], "--max-unsafe: use a number"),
        (["--gate-method", "group_any_cp"], "bounds the estimand any, not scenario-weighted; give --estimand any"),
        (["--gate-method", "one_per_group_cp", "--estimand", "any"], "bounds the estimand scenario-weighted, not any"),
        (["--gate-method", "conformal"], "--gate-method: invalid choice: 'conformal'"),
    ],
)
def test_rules_that_make_no_gate_are_refused_at_once(
    bench: Bench, suite: Path, flags: list[str], arguments: list[str], words: str
) -> None:
    run = bench(suite, *arguments, *flags)
    assert run.code == 4
    assert words in run.output
    assert not run.folder.exists()
