"""Candidates in a session: named, built once, warmed up apart, and alone in their failure to load."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

RIGHT_AWAY = "return Answer({key: even(question) for key, question in request.questions.items()})"

# Writes a line per call of anything, with the process it happened in.
LOGGING = """
import os
from decibench.candidates.adapter import Answer, Identity, QuestionAnswer

NAME = {name!r}


def log(what):
    with open("calls.log", "a") as file:
        file.write(f"{{NAME}} {{what}} {{os.getpid()}}\\n")


class Logging:
    identity = Identity(model=NAME)

    def decide(self, request):
        log("decide")
        return Answer({{k: QuestionAnswer(dict.fromkeys(q.options, 0.5)) for k, q in request.questions.items()}})

    def synchronize(self):
        pass

    def close(self):
        log("close")


def create_candidate(device):
    log("create")
    return Logging()
"""


def test_each_candidate_is_built_and_closed_once_per_process(
    bench: Bench, suite: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    for name in ("one", "two"):
        (pytester.path / f"{name}.py").write_text(LOGGING.format(name=name), "utf-8")
    run = bench(suite, "--candidate", "one.py", "--candidate", "two.py", "--trials", "2", *mode)
    assert run.code == 0
    calls = [tuple(line.split()) for line in (pytester.path / "calls.log").read_text("utf-8").splitlines()]
    for name in ("one", "two"):
        built = [pid for who, what, pid in calls if (who, what) == (name, "create")]
        assert 1 <= len(built) <= (2 if mode == ["-n", "2"] else 1)
        assert len(set(built)) == len(built)
        assert sorted(pid for who, what, pid in calls if (who, what) == (name, "close")) == sorted(built)
        loads = [line for line in run.journal(name) if line["kind"] == "load"]
        assert len(loads) == len(built)
        assert len({load["candidate_hash"] for load in loads}) == 1


def test_warm_ups_and_first_probe_are_timed_apart_and_are_no_records(
    bench: Bench, suite: Path, pytester: pytest.Pytester
) -> None:
    (pytester.path / "one.py").write_text(LOGGING.format(name="one"), "utf-8")
    run = bench(suite, "--candidate", "one.py")
    calls = (pytester.path / "calls.log").read_text("utf-8").count("one decide")
    assert calls == 1 + 3 + 24
    assert len(run.records("one")) == 24
    (load,) = (line for line in run.journal("one") if line["kind"] == "load")
    assert load["first_probe_s"] > 0
    assert len(load["warm_ups_s"]) == 3
    assert load["load_s"] > 0
    latency = run.report("one")["latency"]
    assert latency["overall"]["requests"] == 24
    assert latency["loads"] == [{key: load[key] for key in ("worker", "load_s", "first_probe_s", "warm_ups_s")}]


def test_a_warm_up_asks_nothing_of_the_suite(bench: Bench, own: Own, suite: Path, pytester: pytest.Pytester) -> None:
    path = own(RIGHT_AWAY)
    spy = path.read_text("utf-8").replace(
        'if "warm-up" in request.questions:',
        'if "warm-up" in request.questions:\n            Path("warm.json").write_text(json.dumps(request.to_wire()))',
    )
    path.write_text(spy, "utf-8")
    assert bench(suite, "--candidate", path).code == 0
    wire = json.loads((pytester.path / "warm.json").read_text("utf-8"))
    assert "Which way?" not in json.dumps(wire)
    assert not {"left", "right"} & set(wire["questions"]["warm-up"]["criteria"])


def test_a_warm_up_that_fails_does_not_end_the_run(
    bench: Bench, own: Own, suite: Path, pytester: pytest.Pytester
) -> None:
    path = own(RIGHT_AWAY)
    path.write_text(
        path.read_text("utf-8").replace(
            'if "warm-up" in request.questions:',
            'if "warm-up" in request.questions:\n            raise RuntimeError("cold")',
        ),
        "utf-8",
    )
    run = bench(suite, "--candidate", path)
    assert run.code == 0
    (load,) = run.report("own")["latency"]["loads"]
    assert (load["first_probe_s"], load["warm_ups_s"]) == (None, [])


def test_a_file_is_named_by_its_stem_in_ids_and_folders(bench: Bench, own: Own, suite: Path) -> None:
    run = bench(suite, "--candidate", own(RIGHT_AWAY, name="My Model_v2.py"), "-k", "way-000", "-v")
    assert run.code == 0
    assert "test_decision[my-model-v2-demo-way-000-original]" in run.output
    assert run.report("my-model-v2")["candidate"]["name"] == "my-model-v2"


def test_model_label_names_the_candidate_in_ids_and_folders(
    bench: Bench, own: Own, suite: Path, mode: list[str]
) -> None:
    run = bench(suite, "--candidate", own(RIGHT_AWAY), "--model-label", "team-x", "-k", "way-000", "-v", *mode)
    assert run.code == 0
    assert "test_decision[team-x-demo-way-000-original]" in run.output
    assert [path.name for path in run.folder.iterdir()] == ["team-x"]
    assert run.report("team-x")["candidate"]["name"] == "team-x"


def test_a_label_is_no_part_of_what_is_measured(bench: Bench, own: Own, suite: Path) -> None:
    path = own(RIGHT_AWAY)
    plain = bench(suite, "--candidate", path).report("own")["candidate"]
    labelled = bench(suite, "--candidate", path, "--model-label", "team-x").report("team-x")["candidate"]
    assert labelled["hash"] == plain["hash"]
    path.write_text(path.read_text("utf-8") + "\n# Another file.\n", "utf-8")
    assert bench(suite, "--candidate", path).report("own")["candidate"]["hash"] != plain["hash"]


def test_a_candidates_file_names_several_configurations_of_one_adapter(
    bench: Bench, own: Own, suite: Path, pytester: pytest.Pytester
) -> None:
    (pytester.path / "models").mkdir()
    own(RIGHT_AWAY, name="models/own.py", create='Own.identity = Identity(model="m", device=device)\nreturn Own()')
    (pytester.path / "decibench.toml").write_text(
        """
        [candidates.on-cpu]
        adapter = "models/own.py"

        [candidates.on-mps]
        adapter = "models/own.py"
        device = "mps"

        [candidates.words]
        adapter = "baseline"
        """,
        "utf-8",
    )
    run = bench(suite, "--candidate", "on-cpu", "--candidate", "words", "-k", "way-000")
    assert run.code == 0
    assert {path.name for path in run.folder.iterdir() if path.is_dir()} == {"on-cpu", "words"}
    assert run.report("words")["candidate"]["identity"]["model"] == "lexical-overlap-v1"
    both = bench(suite, "--candidate", "on-cpu", "--candidate", "on-mps", "-k", "way-000")
    assert [both.report(name)["candidate"]["identity"]["device"] for name in ("on-cpu", "on-mps")] == ["cpu", "mps"]
    assert both.report("on-cpu")["candidate"]["hash"] != both.report("on-mps")["candidate"]["hash"]


def test_paths_in_a_candidates_file_are_relative_to_it(
    bench: Bench, own: Own, suite: Path, pytester: pytest.Pytester
) -> None:
    (pytester.path / "conf").mkdir()
    own(RIGHT_AWAY, name="conf/mine.py")
    (pytester.path / "conf" / "bench.toml").write_text('[candidates.a]\nadapter = "mine.py"\n', "utf-8")
    run = bench(suite, "--candidates", "conf/bench.toml", "--candidate", "a", "-k", "way-000")
    assert run.code == 0
    assert run.report("a")["candidate"]["identity"]["model"] == "own-1"


LOADING = {
    "raises": ('raise RuntimeError("sk-live-2f9c")', "load-failed", "RuntimeError raised in own.py"),
    "exits": ('raise SystemExit("sk-live-2f9c")', "load-failed", "SystemExit raised in own.py"),
    "says-why": ('raise CandidateError("no-weights", "the checkpoint is missing")', "no-weights", "the checkpoint"),
    "no-candidate": ("return object()", "load-failed", "TypeError"),
    "nothing": ("return None", "load-failed", "TypeError"),
    "no-identity": ('Own.identity = "own"\nreturn Own()', "load-failed", "TypeError"),
    "inexact-identity": (
        'import numpy\nOwn.identity = Identity(model="m", settings={"t": numpy.float64(1)})\nreturn Own()',
        "load-failed",
        "identity.settings.t is float64",
    ),
    "identity-raises": (
        "Own.identity = property(lambda own: 1 / 0)\nreturn Own()",
        "load-failed",
        "ZeroDivisionError",
    ),
    "identity-no-unicode": (
        'Own.identity = Identity(model="caf\\udce9")\nreturn Own()',
        "load-failed",
        "surrogates not allowed",
    ),
    "identity-without-a-hash": (
        'Own.identity = Identity(model="m", settings={"t": math.nan})\nreturn Own()',
        "load-failed",
        "not JSON compliant",
    ),
}


@pytest.mark.parametrize(("create", "code", "detail"), LOADING.values(), ids=LOADING)
def test_a_candidate_that_does_not_load_fails_all_of_its_items(
    bench: Bench, own: Own, suite: Path, create: str, code: str, detail: str
) -> None:
    path = own(RIGHT_AWAY, create=f'open("built.log", "a").write("x")\n{create}')
    run = bench(suite, "--candidate", path)
    assert run.code == 1
    run.result.assert_outcomes(failed=24)
    failures = [record["decisions"][0]["failure"] for record in run.records("own")]
    assert {failure["code"] for failure in failures} == {code}
    assert all(detail in failure["detail"] for failure in failures)
    assert (path.parent / "built.log").read_text("utf-8") == "x"
    report = run.report("own")
    assert report["candidate"]["hash"] is None
    assert report["metrics"]["holdout"]["overall"]["accuracy"] == 0.0
    assert report["latency"]["overall"] is None
    assert "sk-live-2f9c" not in run.output
    assert all("sk-live-2f9c" not in file.read_text("utf-8") for file in (run.folder / "own").iterdir())


def test_other_candidates_go_on_when_one_does_not_load(bench: Bench, own: Own, suite: Path, mode: list[str]) -> None:
    path = own(RIGHT_AWAY, create='raise RuntimeError("no weights")')
    run = bench(suite, "--candidate", path, "--candidate", "uniform", *mode)
    assert run.code == 1
    run.result.stdout.fnmatch_lines(["*24 failed, 12 passed, 12 missed*"])
    assert run.report("own")["metrics"]["holdout"]["overall"]["failed"] == 4
    uniform = run.report("uniform")
    assert uniform["complete"]
    assert uniform["metrics"]["holdout"]["overall"]["failed"] == 0
    assert run.json("comparison.json")["not_run"] == []


def test_a_file_that_breaks_on_import_fails_to_load(bench: Bench, suite: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "own.py").write_text("import not_there\n\ndef create_candidate(device): ...\n", "utf-8")
    run = bench(suite, "--candidate", "own.py")
    assert run.code == 1
    assert {record["decisions"][0]["failure"]["code"] for record in run.records("own")} == {"load-failed"}


def test_a_candidate_that_cannot_be_closed_is_an_error_and_keeps_no_other_open(
    bench: Bench, own: Own, suite: Path, pytester: pytest.Pytester, mode: list[str]
) -> None:
    create = """
    def close():
        raise RuntimeError("sk-live-2f9c")
    own = Own()
    own.close = close
    return own
    """
    (pytester.path / "two.py").write_text(LOGGING.format(name="two"), "utf-8")
    run = bench(suite, "--candidate", own(RIGHT_AWAY, create=create), "--candidate", "two.py", *mode)
    assert run.code == 1
    assert "own could not be closed: RuntimeError raised in own.py, line " in run.output
    assert "sk-live-2f9c" not in run.output
    calls = (pytester.path / "calls.log").read_text("utf-8")
    assert calls.count("two close") == calls.count("two create") > 0
    assert run.report("own")["complete"]
    assert run.report("own")["metrics"]["holdout"]["overall"]["failed"] == 0


def test_majority_is_fitted_on_development_whatever_the_scope(
    bench: Bench, make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]
) -> None:
    rows = [row(f"d-{n}", "development", expected="right") for n in range(3)]
    suite = make_suite([*rows, row("h-0", "holdout", expected="right")])
    run = bench(suite, "--candidate", "majority", "--split", "holdout")
    assert run.report("majority")["metrics"]["holdout"]["overall"]["accuracy"] == 1.0
