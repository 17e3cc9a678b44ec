"""The example of a workflow: its command does what docs/ci.md says, on a tiny suite."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Own

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = (ROOT / "docs" / "examples" / "decibench.yml").read_text("utf-8")

ANSWERS = """
    if os.environ.get("WORSE") and request.state == "Which way?":
        return Answer({key: sure(question, "right") for key, question in request.questions.items()})
    return Answer({key: sure(question, "left") for key, question in request.questions.items()})
"""


def command(suite: Path) -> list[str]:
    """The words of the benchmark step, which fold into one line, with the tiny suite."""
    block = re.search(r"- name: Benchmark\n +run: >-\n((?: {10}\S.*\n)+) {6}-", EXAMPLE)
    assert block
    words = shlex.split(block[1])
    assert words[:3] == ["python", "-m", "pytest"]
    words[words.index("--suite") + 1] = str(suite)
    return [sys.executable, *words[1:]]


def run(words: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    environment = {**kept, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / "step.md"), **environment}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_command_pins_a_candidate_and_leaves_its_files(suite: Path, own: Own, pytester: pytest.Pytester) -> None:
    folder = pytester.path
    own(ANSWERS, name="my_model.py")
    words = command(suite)
    at = words.index("--against")
    first = run([*words[:at], *words[at + 3 :]], folder)
    assert first.returncode == 0, first.stdout + first.stderr
    shutil.copytree(folder / "runs" / "ci" / "my-model", folder / words[at + 1])
    for worse, status in (("", 0), ("1", 10)):
        shutil.rmtree(folder / "runs" / "ci")
        (folder / "step.md").unlink()
        pinned = run(words, folder, WORSE=worse)
        assert pinned.returncode == status, pinned.stdout + pinned.stderr
        files = {path.name for path in (folder / "runs" / "ci" / "my-model").iterdir()}
        assert {"report.json", "report.html", "summary.md", "decisions.csv", "regression.json"} <= files
        assert (folder / "step.md").read_text("utf-8").startswith("# my-model\n")
    assert (folder / "runs" / "junit.xml").is_file()
    assert (folder / "runs" / "ledger.jsonl").read_text("utf-8").count("\n") == 3


def test_the_example_is_plain_block_yaml() -> None:
    for line in EXAMPLE.splitlines():
        assert "\t" not in line
        indent = len(line) - len(line.lstrip(" "))
        assert indent % 2 == 0
        assert re.fullmatch(r" *(#.*|(- )?[\w-]+:( \S.*)?|(python -m|--)\S* ?.*)", line), line
