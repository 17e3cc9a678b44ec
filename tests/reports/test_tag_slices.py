"""Slices by tag: from the cases of a suite to reports and comparisons, equal to a plain recount."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]


@pytest.fixture
def run(make_suite: MakeSuite, row: Row, tmp_path: Path) -> Path:
    """A run of two candidates over 36 scenarios, a third of them hard, some with a number of options."""
    rows = []
    for number in range(36):
        split = ("development", "calibration", "holdout")[number % 3]
        # Every hard scenario is right, and among the others every second one: left is what first-option answers.
        hard = number % 4 == 0
        expected = "left" if hard or number % 8 in (1, 2, 3) else "right"
        tags = {"difficulty": "hard" if hard else "plain"}
        if number % 2:
            tags["options"] = ("8", "20", "200")[number % 9 // 3]
        rows += [
            row(f"way-{number:03}", split, variant, expected, tags=tags)
            for variant in ("original", "paraphrase", "injection", "options-only")
        ]
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "decibench.bench_tests.plugin", "-p", "no:cacheprovider"]
    command += ["--pyargs", "decibench.bench_tests", "--suite", str(make_suite(rows)), "--run-dir", str(folder)]
    command += ["--candidate", "first-option", "--candidate", "uniform"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def recount(run: Path, split: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Decisions and correct ones per tag and value, over core variants, counted from the journal."""
    total: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for line in (run / "first-option" / "journal.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "record" and record["split"] == split and record["variant"] in ("original", "paraphrase"):
            for tag in record["tags"].items():
                for decision in record["decisions"]:
                    total[tag] += 1
                    right[tag] += decision["choice"] == decision["expected"]
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for (key, value), number in total.items():
        found.setdefault(key, {})[value] = (number, right[key, value])
    return found


def test_slices_of_report_comparison_and_tables_equal_a_plain_recount(run: Path) -> None:
    report = json.loads((run / "first-option" / "report.json").read_text("utf-8"))
    for split in ("development", "calibration", "holdout"):
        slices = report["metrics"][split]["by_tag"]
        counts = {k: {v: (m["decisions"], m["correct"]) for v, m in of.items()} for k, of in slices.items()}
        assert counts == recount(run, split)
        assert {v: m["accuracy"] for v, m in slices["difficulty"].items()} == {
            value: right / number for value, (number, right) in recount(run, split)["difficulty"].items()
        }
        assert slices["difficulty"]["hard"]["accuracy"] == 1
        assert slices["difficulty"]["plain"]["accuracy"] < 1
        assert list(slices["options"]) == sorted(slices["options"], key=int), "numbers by size"

    comparison = json.loads((run / "comparison.json").read_text("utf-8"))
    (standing,) = (entry for entry in comparison["standings"] if entry["candidate"] == "first-option")
    holdout = report["metrics"]["holdout"]
    assert comparison["split"] == "holdout"
    assert standing["by_tag"] == {
        f"{key} {value}": right / number
        for key, values in recount(run, "holdout").items()
        for value, (number, right) in values.items()
    }
    assert standing["by_variant"] == {name: m["accuracy"] for name, m in holdout["by_variant"].items()}
    assert standing["by_family"] == {name: m["accuracy"] for name, m in holdout["by_family"].items()}

    text = (run / "first-option" / "summary.md").read_text("utf-8")
    hard = holdout["by_tag"]["difficulty"]["hard"]
    (line,) = (line for line in text.splitlines() if "difficulty hard" in line)
    assert [cell.strip() for cell in line.strip("|").split("|")][1] == str(hard["decisions"])
    side_by_side = (run / "comparison.md").read_text("utf-8")
    assert "options 200" in side_by_side
    assert "difficulty plain" in side_by_side


def test_probes_stand_in_a_table_of_their_own(run: Path) -> None:
    text = (run / "first-option" / "summary.md").read_text("utf-8")
    after = text.split("Accuracy by family and variant (holdout)")[1]
    core, probes = after.split("Accuracy under probes (holdout)")
    header = next(line for line in core.splitlines() if "family" in line)
    assert "injection" in header
    assert "options-only" not in header
    assert "options-only" in next(line for line in probes.splitlines() if "family" in line)
