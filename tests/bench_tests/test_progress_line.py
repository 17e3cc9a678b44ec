"""The line that a person at a terminal sees while a run goes on."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Argv = Callable[..., list[str]]
LINE = re.compile(r"baseline (\d+)/24, (?:[\d.]+/s, \d+:\d\d left, )?(\d+) missed, (\d+) failed")


@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
def test_a_terminal_shows_rate_remaining_time_and_counts_and_no_dots(
    bench_argv: Argv, suite: Path, pytester: pytest.Pytester, flags: list[str]
) -> None:
    code, shown = _on_a_terminal(bench_argv(suite, *flags), pytester.path)
    assert code == 0
    counts = [tuple(map(int, match.groups())) for match in LINE.finditer(shown)]
    assert counts[-1] == (24, 12, 0)
    assert [done for done, _, _ in counts] == sorted(done for done, _, _ in counts)
    assert re.search(r"baseline 24/24, [\d.]+/s, 0:00 left, 12 missed, 0 failed", shown)
    assert not re.search(r"[.m]{3}", shown.replace("...", ""))  # pytest writes "bringing up nodes...".
    assert "macro accuracy 50.0%" in re.sub(r"\s+", " ", shown)


def test_a_failure_is_counted_on_the_line(bench_argv: Argv, suite: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "baseline.py").write_text("def create_candidate(device): raise RuntimeError\n", "utf-8")
    code, shown = _on_a_terminal(bench_argv(suite, "--candidate", "baseline.py"), pytester.path)
    assert code == 1
    assert [match.groups() for match in LINE.finditer(shown)][-1] == ("24", "0", "24")
    # A letter after the line would wrap, and leave a line behind for each failure.
    assert not re.search(r"failed\s*(\x1b\[\d*m)*F", shown)
    assert "24 failed in" in re.sub(r"\x1b\[\d*m", "", shown)


def test_verbose_output_on_a_terminal_names_each_item(bench_argv: Argv, suite: Path, pytester: pytest.Pytester) -> None:
    code, shown = _on_a_terminal(bench_argv(suite, "-v", "-k", "way-006-original"), pytester.path)
    assert code == 0
    assert re.search(r"demo-way-006-original\].*MISSED", shown)
    assert not LINE.search(shown)


def test_without_pytests_terminal_plugin_a_run_is_silent_and_written(
    bench_argv: Argv, suite: Path, pytester: pytest.Pytester
) -> None:
    argv = bench_argv(suite, "--run-dir", "run", "-p", "no:terminal")
    assert _on_a_terminal(argv, pytester.path) == (0, "")
    assert (pytester.path / "run" / "baseline" / "report.json").is_file()


def test_a_pipe_gets_dots_and_no_progress_line(bench_argv: Argv, suite: Path, pytester: pytest.Pytester) -> None:
    done = subprocess.run(bench_argv(suite), cwd=pytester.path, capture_output=True, text=True, check=True)
    assert "............mmmmmmmmmmmm" in done.stdout
    assert " left, " not in done.stdout
    assert "\r" not in done.stdout
    assert "\x1b" not in done.stdout


def _on_a_terminal(argv: list[str], cwd: Path) -> tuple[int, str]:
    """Exit status and output of ``argv`` run with a pseudo-terminal as its standard streams."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI")}
    environment |= {"COLUMNS": "120", "TERM": "xterm"}
    with subprocess.Popen(argv, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux reports the closed other end as an error.
                break
            if not part:
                break
            parts.append(part)
    os.close(ours)
    return process.returncode, b"".join(parts).decode("utf-8", "replace")
