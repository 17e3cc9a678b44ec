"""What cannot be run is refused before anything is collected: exit 4 and one sentence, alike in every mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own, Run

PARALLEL = pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])

# Arguments, and words that the one line must hold.
WRONG = {
    "candidate": (
        ["--candidate", "bseline"],
        ["bseline", "baseline, uniform, first-option, majority, fitted, sparrow"],
    ),
    "candidate-file": (["--candidate", "gone.py"], ["gone.py", "cannot be read"]),
    "candidate-twice": (["--candidate", "uniform", "--candidate", "uniform"], ["uniform", "name of its own"]),
    "candidates-file": (["--candidates", "gone.toml"], ["gone.toml", "cannot be read", "--candidates"]),
    "suite": (["--suite", "gone"], ["gone", "decisions-v0"]),
    "split": (["--split", "train"], ["--split train", "development, calibration, holdout"]),
    "family": (["--family", "routing"], ["--family routing", "use demo"]),
    "variant": (["--variant", "typo"], ["--variant typo", "original, injection"]),
    "device": (["--device", "gpu"], ["--device gpu", "cpu, cuda, cuda:N or mps"]),
    "device-of-no-use": (["--device", "cuda"], ["--device cuda", "baseline can only run on cpu"]),
    "no-trials": (["--trials", "0"], ["--trials 0", "1 to 10"]),
    "many-trials": (["--trials", "11"], ["--trials 11", "1 to 10"]),
    "smoke-calls": (["--smoke", "--smoke-calls", "0"], ["--smoke-calls 0", "at least 1"]),
    "smoke-holdout": (["--smoke", "--split", "holdout"], ["--smoke", "leave --split out"]),
    "label-of-two": (
        ["--candidate", "uniform", "--candidate", "majority", "--model-label", "x"],
        ["--model-label", "exactly one --candidate"],
    ),
    "label": (["--model-label", "Team X"], ["--model-label 'Team X'", "lower-case letters, digits"]),
    "retry-failed": (["--retry-failed"], ["--retry-failed", "--resume RUN"]),
    "resume-nothing": (["--resume", "gone"], ["--resume", "gone", "no journal"]),
    "resume-and-run-dir": (["--resume", "a", "--run-dir", "b"], ["--run-dir and --resume exclude each other"]),
    "max-error": (["--max-error", "1"], ["--max-error", "[0, 1)"]),
    "max-error-nan": (["--max-error", "nan"], ["--max-error", "[0, 1)"]),
    "min-accepted": (["--min-accepted", "0"], ["--min-accepted", "at least 1"]),
    "token-price": (["--input-usd-per-million", "-1"], ["--input-usd-per-million", "0 or more"]),
    "hour-price": (["--compute-usd-per-hour", "nan"], ["--compute-usd-per-hour", "0 or more"]),
    "endless-price": (["--compute-usd-per-hour", "inf"], ["--compute-usd-per-hour", "at most 1000000"]),
    "huge-price": (["--input-usd-per-million", "1e300"], ["--input-usd-per-million", "at most 1000000"]),
    "empty-gate": (["--gate", ""], ["--gate: is empty; name a file or leave it out"]),
    "empty-candidates": (["--candidates", ""], ["--candidates: is empty; name a file or leave it out"]),
    "empty-label": (["--model-label", ""], ["--model-label: is empty"]),
    "empty-device": (["--device", ""], ["--device: is empty"]),
    "long-label": (["--model-label", "x" * 300], ["--model-label", "has 300 characters; use at most 100"]),
    "gate-gone": (["--gate", "gone.json"], ["gone.json", "cannot be read"]),
    "gate-and-limit": (["--gate", "gone.json", "--max-error", "0.1"], ["--gate brings its own limits"]),
}


@PARALLEL
@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused_in_one_line(
    bench: Bench, suite: Path, flags: list[str], arguments: list[str], words: list[str]
) -> None:
    _assert_refused(bench(suite, *arguments, *flags), words)


@pytest.mark.parametrize(
    "arguments", [["--trials", "many"], ["--on-miss", "shrug"], ["--max-error", "low"]], ids=lambda pair: pair[0]
)
def test_values_of_the_wrong_kind_are_exit_4(bench: Bench, suite: Path, arguments: list[str]) -> None:
    run = bench(suite, *arguments)
    assert run.code == 4
    assert f"argument {arguments[0]}: invalid" in run.output
    assert not run.folder.exists()


@PARALLEL
def test_a_run_directory_with_something_in_it_is_refused_and_kept(
    bench: Bench, suite: Path, pytester: pytest.Pytester, flags: list[str]
) -> None:
    used = pytester.path / "used"
    used.mkdir()
    (used / "notes.txt").write_text("mine", "utf-8")
    run = bench(suite, "--run-dir", "used", *flags)
    assert run.code == 4
    assert "is not an empty directory" in _line(run)
    assert "--resume" in _line(run)
    assert [path.name for path in used.iterdir()] == ["notes.txt"]


def test_an_empty_run_directory_is_used(bench: Bench, suite: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "empty").mkdir()
    run = bench(suite, "--run-dir", "empty", "-k", "way-000")
    assert run.code == 0
    assert len(run.records()) == 2


def test_a_device_other_than_the_cpu_is_refused_with_workers_only(bench: Bench, own: Own, suite: Path) -> None:
    path = own(
        "return Answer({key: even(question) for key, question in request.questions.items()})",
        create='Own.identity = Identity(model="m", device=device)\nreturn Own()',
    )
    parallel = bench(suite, "--candidate", path, "--device", "cuda", "-n", "2")
    _assert_refused(parallel, ["--device cuda with -n 2", "2 copies", "run without -n"])
    for flags in ([], ["-n", "0"], ["-p", "no:xdist"]):
        run = bench(suite, "--candidate", path, "--device", "cuda", "-k", "way-000", *flags)
        assert run.code == 0
        assert run.report("own")["candidate"]["identity"]["device"] == "cuda"


@PARALLEL
def test_a_candidates_file_with_a_wrong_field_is_refused(
    bench: Bench, suite: Path, pytester: pytest.Pytester, flags: list[str]
) -> None:
    (pytester.path / "decibench.toml").write_text('[candidates.a]\nadapter = "uniform"\nmodell = "x"\n', "utf-8")
    _assert_refused(
        bench(suite, "--candidate", "a", *flags), ["decibench.toml", "candidates.a.modell", "takes no settings; remove"]
    )


@pytest.mark.parametrize(("option", "what"), [("--run-dir", "a directory"), ("--resume", "a run")])
def test_an_empty_place_is_refused(pytester: pytest.Pytester, option: str, what: str) -> None:
    plugin = ["-p", "decibench.bench_tests.plugin", "--pyargs", "decibench.bench_tests"]
    result = pytester.runpytest_inprocess(*plugin, option, "")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {option}: is empty; name {what} or leave it out"])
    assert not (pytester.path / "runs").exists()


@pytest.mark.parametrize("kind", ["directory", "loop"])
def test_a_default_candidates_file_that_is_none_is_told(
    bench: Bench, suite: Path, pytester: pytest.Pytester, kind: str
) -> None:
    file = pytester.path / "decibench.toml"
    if kind == "directory":
        file.mkdir()
    else:
        file.symlink_to(file)
    _assert_refused(bench(suite), ["decibench.toml: cannot be read ("])


@PARALLEL
@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("def create(device): ...", ["own.py", "create_candidate(device)"], id="no-factory"),
        pytest.param("def create_candidate(:", ["own.py", "not valid Python"], id="syntax"),
    ],
)
def test_a_file_that_is_no_candidate_is_refused_before_it_runs(
    bench: Bench, suite: Path, pytester: pytest.Pytester, flags: list[str], source: str, words: list[str]
) -> None:
    (pytester.path / "own.py").write_text(f'open("ran", "w")\n{source}\n', "utf-8")
    _assert_refused(bench(suite, "--candidate", "own.py", *flags), words)
    assert not (pytester.path / "ran").exists()


@PARALLEL
def test_a_suite_with_a_changed_byte_is_refused(bench: Bench, suite: Path, flags: list[str]) -> None:
    cases = suite / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8").replace("Which way?", "What way?", 1), "utf-8")
    _assert_refused(bench(suite, *flags), ["cases.jsonl", "not those of the manifest"])


def test_every_problem_of_a_suite_is_listed(bench: Bench, suite: Path) -> None:
    cases = suite / "cases.jsonl"
    lines = [json.loads(line) for line in cases.read_text("utf-8").splitlines()]
    del lines[2]["split"]
    lines[4]["references"]["way"]["expected"] = "up"
    cases.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    run = bench(suite)
    assert run.code == 4
    assert "cases.jsonl, line 3, field split: is missing; add it" in run.output
    assert "cases.jsonl, line 5, field references.way.expected: 'up' is not an option" in run.output


def test_a_directory_without_a_manifest_says_how_to_freeze_it(
    bench: Bench, suite: Path, pytester: pytest.Pytester
) -> None:
    (suite / "manifest.json").unlink()
    _assert_refused(bench(suite), ["python -m decibench.cases freeze"])


def _assert_refused(run: Run, words: list[str]) -> None:
    assert run.code == 4
    line = _line(run)
    for word in words:
        assert word in line
    assert not run.folder.exists()
    assert not (run.folder.parent / "runs").exists()


def _line(run: Run) -> str:
    """The one line that was printed."""
    lines = [line for line in run.output.splitlines() if line.strip()]
    assert len(lines) == 1, run.output
    assert lines[0].startswith("ERROR: ")
    return lines[0]
