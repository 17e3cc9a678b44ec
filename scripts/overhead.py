"""What the harness adds to pytest: N generated cases asked of ``uniform`` against N empty parametrized items.

Both run alternately in the same environment, in processes of their own. Wall time is taken from the start of the
process to the end of the last item, so it includes collection, the run and the journal, and not the pass after
the session, which is timed beside it. Machines differ and are shared: quote the ratio, not the seconds.

    python scripts/overhead.py [--cases 10000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from decibench.cases.freezing import freeze
from decibench.cases.schema import SPLITS

_PROBE = """
import json, os, time
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    entered = time.time()
    result = yield
    with open(os.environ["OVERHEAD_OUT"], "w") as file:
        json.dump({"ran": entered, "done": time.time()}, file)
    return result
"""

_EMPTY = """
import pytest

@pytest.mark.parametrize("number", range({cases}), ids=[f"empty-case-{{n:05}}-original" for n in range({cases})])
def test_nothing(number):
    pass
"""


def main() -> None:
    """Run both sides and print seconds and ratios."""
    parser = argparse.ArgumentParser(description="Measure what the harness adds to pytest.")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "overhead_probe.py").write_text(_PROBE)
        (home / "test_empty.py").write_text(_EMPTY.format(cases=options.cases))
        (home / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
        suite = _generate(home, options.cases)
        bare_arguments = ["test_empty.py"]
        own_arguments = ["-p", "decibench.bench_tests.plugin", "--pyargs", "decibench.bench_tests.test_decisions"]
        own_arguments += ["--suite", str(suite), "--candidate", "uniform"]
        ratios, passes = [], []
        for repeat in range(options.repeats):
            bare, _ = _time(home, bare_arguments)
            own, after = _time(home, [*own_arguments, "--run-dir", str(home / f"run-{repeat}")])
            ratios.append(own / bare)
            passes.append(after)
            _say(f"{options.cases} items: bare pytest {bare:.2f} s, decibench {own:.2f} s, ratio {own / bare:.2f}")
    _say(f"median ratio {statistics.median(ratios):.2f}; pass after the session {statistics.median(passes):.2f} s")


def _time(home: Path, arguments: list[str]) -> tuple[float, float]:
    out = home / "times.json"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(home), "OVERHEAD_OUT": str(out)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "overhead_probe", *arguments]
    start = time.time()
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    times = json.loads(out.read_text())
    return times["ran"] - start, times["done"] - times["ran"]


def _generate(home: Path, cases: int) -> Path:
    folder = home / "generated"
    folder.mkdir()
    with (folder / "cases.jsonl").open("w") as file:
        for number in range(cases):
            file.write(json.dumps(_case(number)) + "\n")
    freeze(folder, "generated", "1", "MIT-0", {})
    return folder


def _case(number: int) -> dict[str, Any]:
    group = f"generated-case-{number:05}"
    options = {label: f"What {label} stands for in case {number}." for label in ("north", "south", "east", "west")}
    return {
        "id": f"{group}-original",
        "group": group,
        "family": "generated",
        "variant": "original",
        "split": SPLITS[number % 3],
        "state": f"Case {number}: " + "somebody describes a situation in a few plain words. " * 8,
        "questions": {"where": {"type": "choice", "instructions": "Where to?", "criteria": options}},
        "references": {"where": {"expected": list(options)[number % 4], "unsafe": []}},
    }


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
