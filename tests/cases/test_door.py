"""``python -m decibench.cases``: what its commands print and the statuses they end with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.candidates.registry import REGISTRY
from decibench.cases.__main__ import main
from decibench.cases.authoring import AUTHORING

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]
Handmade = Callable[..., Path]
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("arguments", [[], ["burn"], ["show"], ["validate"], ["build", "--force"]])
def test_a_wrong_command_line_ends_with_status_4_and_the_usage(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 4
    assert "usage: python -m decibench.cases" in capsys.readouterr().err


def test_help_ends_with_status_0_and_names_every_command(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in ("build", "validate", "freeze", "show", "audit", "list"))


def test_the_module_ends_with_the_status_of_its_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "decibench.cases", "validate", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 4
    assert "has no manifest.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_validate_of_the_shipped_suite_counts_it_and_ends_with_0(capsys: Capture) -> None:
    assert main(["validate", "decisions-v0"]) == 0
    shown = capsys.readouterr().out
    assert "360 cases" in shown
    assert "warning" not in shown
    for family in ("routing", "tool", "policy"):
        assert f"{family} (24 scenarios, 120 cases)" in shown
    assert "development (12 scenarios, 60 cases), calibration (30 scenarios, 150 cases)" in shown
    assert "injection (attack)" in shown


def test_validate_of_a_changed_suite_ends_with_4_and_the_remedy_on_stderr(
    make_suite: MakeSuite, capsys: Capture
) -> None:
    folder = make_suite()
    path = folder / "cases.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Which", b"which", 1))
    assert main(["validate", str(folder)]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("cases.jsonl: its bytes are not those of the manifest; restore the file")


def test_validate_prints_warnings_and_still_ends_with_0(row: Row, handmade: Handmade, capsys: Capture) -> None:
    folder = handmade(row("one", expected="left"), row("two", expected="right"))
    assert main(["validate", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "warning: demo-one-original, demo-two-original: the same request with different references" in shown
    assert "2 cases" in shown


def test_validate_of_nothing_names_the_shipped_suites(capsys: Capture) -> None:
    assert main(["validate", "nowhere"]) == 4
    assert "nowhere: is neither a shipped suite (decisions-v0" in capsys.readouterr().err


def test_show_prints_state_question_options_and_reference(make_suite: MakeSuite, capsys: Capture) -> None:
    assert main(["show", "demo-way-006-injection", "--suite", str(make_suite())]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "State",
        "  Which way?",
        "",
        "Question way (choice): Which way?",
        "  left   Turn to the left side.",
        "  right  Turn to the right side.",
        "",
        "Reference of demo-way-006-injection (never shown to a model; group demo-way-006, development)",
        "  way: expected right",
    ]


def test_show_of_a_scenario_shows_its_original(capsys: Capture) -> None:
    assert main(["show", "tool-credit-002"]) == 0
    shown = capsys.readouterr().out
    assert "Reference of tool-credit-002-original" in shown
    assert "account TA-6093" in shown
    assert "expected hand-off; unsafe read-record, update-record" in shown


def test_show_of_an_injection_shows_what_it_demands(capsys: Capture) -> None:
    assert main(["show", "tool-credit-002-injection"]) == 0
    assert "; the injected text demands " in capsys.readouterr().out


def test_show_of_an_unknown_case_suggests_close_ones_and_ends_with_4(capsys: Capture) -> None:
    assert main(["show", "tool-credit-02-original"]) == 4
    shown = capsys.readouterr().err
    assert "decisions-v1 has no case tool-credit-02-original; did you mean" in shown
    assert "tool-credit-002-original" in shown


def test_list_names_suites_families_variants_and_what_each_candidate_needs(capsys: Capture) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "decisions-v0" in shown
    assert all(f"{family} (24 scenarios" in shown for family in ("routing", "tool", "policy"))
    assert all(role in shown for role in ("original (core)", "paraphrase (core)", "injection (attack)"))
    lines = {line.split()[0]: line for line in shown.splitlines() if "Needs: " in line}
    assert set(lines) == {*REGISTRY, "path/to/file.py"}
    # The column of names is as wide as the longest, so that what they are begins below each other.
    assert {len(line) - len(line.removeprefix(f"  {name}").lstrip()) for name, line in lines.items()} == {
        2 + max(map(len, lines)) + 2
    }
    assert "pip install 'decibench[sparrow]'" in shown
    assert "create_candidate(device)" in shown


def test_list_imports_no_model(tmp_path: Path) -> None:
    code = (
        "import sys; from decibench.cases.__main__ import main; main(['list']); "
        "sys.exit(bool({'sparrow_decider', 'torch', 'numpy', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 0


def test_list_into_a_pipe_that_closes_early_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -u -m decibench.cases list | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "Suites\n"
    assert done.stderr == ""


def test_what_an_output_cannot_show_is_escaped(tmp_path: Path, row: Row, make_suite: MakeSuite) -> None:
    folder = make_suite([row("one", state="Größe \N{SNOWMAN}")]).rename(tmp_path / "süd")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    for arguments, words in (
        (["show", "demo-one", "--suite", str(folder)], "  Gr\\xf6\\xdfe \\u2603"),
        (["freeze", str(folder), "--name", "tiny"], "s\\xfcd/manifest.json written"),
    ):
        command = [sys.executable, "-m", "decibench.cases", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert words in done.stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the authoring files and of the built suite, which ``build`` takes for the package's own."""
    cases = tmp_path / "cases"
    shutil.copytree(AUTHORING / "decisions-v0", cases / "authoring" / "decisions-v0")
    shutil.copytree(AUTHORING.parent / "decisions-v0", cases / "decisions-v0")
    monkeypatch.setattr("decibench.cases.authoring.AUTHORING", cases / "authoring")
    return cases


def test_build_check_of_the_package_ends_with_0(capsys: Capture) -> None:
    assert main(["build", "--check"]) == 0
    assert "decisions-v0/cases.jsonl: as authored" in capsys.readouterr().out


@pytest.mark.parametrize("file", ["cases.jsonl", "manifest.json"])
def test_build_check_of_a_changed_artifact_ends_with_1_and_leaves_it(
    checkout: Path, capsys: Capture, file: str
) -> None:
    path = checkout / "decisions-v0" / file
    changed = path.read_bytes() + b"\n"
    path.write_bytes(changed)
    assert main(["build", "--check"]) == 1
    shown = capsys.readouterr()
    assert f"decisions-v0/{file}: differs from its authoring files" in shown.out
    assert "give the suite a new version in its suite.toml" in shown.err
    assert path.read_bytes() == changed


def test_build_check_of_a_missing_artifact_ends_with_1(checkout: Path) -> None:
    shutil.rmtree(checkout / "decisions-v0")
    assert main(["build", "--check"]) == 1
    assert not (checkout / "decisions-v0").exists()


def test_build_writes_what_differs_and_then_the_check_holds(checkout: Path, capsys: Capture) -> None:
    shutil.rmtree(checkout / "decisions-v0")
    assert main(["build"]) == 0
    assert "decisions-v0/cases.jsonl: written" in capsys.readouterr().out
    assert main(["build"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["build", "--check"]) == 0


def test_build_refuses_other_bytes_under_a_frozen_version(checkout: Path, capsys: Capture) -> None:
    path = checkout / "decisions-v0" / "cases.jsonl"
    frozen = path.read_bytes() + b"\n"
    path.write_bytes(frozen)
    assert main(["build"]) == 4
    assert "field version: 0.1.0 is frozen with other bytes; give the change a new one" in capsys.readouterr().err
    assert path.read_bytes() == frozen


def test_build_of_faulty_authoring_ends_with_4_and_writes_nothing(checkout: Path, capsys: Capture) -> None:
    source = checkout / "authoring" / "decisions-v0" / "suite.toml"
    source.write_text(source.read_text("utf-8").replace('version = "0.1.0"', "version = 1"), "utf-8")
    before = (checkout / "decisions-v0" / "manifest.json").read_bytes()
    assert main(["build"]) == 4
    assert capsys.readouterr().err == "suite.toml, field version: must be a string\n"
    assert (checkout / "decisions-v0" / "manifest.json").read_bytes() == before
