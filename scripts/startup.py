"""What collecting the benchmark imports: the slowest packages, and a failure where a heavy one is among them.

python scripts/startup.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

HEAVY = ("numpy", "scipy", "sklearn", "torch", "transformers", "sparrow_decider", "rich.table")
_LINE = re.compile(r"import time:\s*(\d+) \|\s*(\d+) \|(\s*)(\S+)")


def imports(*arguments: str) -> dict[str, int]:
    """Microseconds (cumulated) per module that ``pytest --collect-only`` with ``arguments`` imports."""
    command = [sys.executable, "-X", "importtime", "-m", "pytest", "-p", "decibench.bench_tests.plugin", "--pyargs"]
    command += ["decibench.bench_tests", "--collect-only", "-q", *arguments]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    return {match[4]: int(match[2]) for match in map(_LINE.match, done.stderr.splitlines()) if match}


def heavy(modules: dict[str, int]) -> list[str]:
    """The modules among ``modules`` that collecting must not need."""
    return [name for name in modules if any(name == top or name.startswith(f"{top}.") for top in HEAVY)]


def main() -> int:
    """Print the slowest imports; 1 where a heavy one is among all of them."""
    modules = imports("--candidate", "baseline")
    for name, microseconds in sorted(modules.items(), key=lambda item: -item[1])[:15]:
        sys.stdout.write(f"{microseconds / 1000:8.1f} ms  {name}\n")
    found = heavy(modules)
    sys.stdout.write(f"{len(modules)} modules; heavy ones: {', '.join(found) or 'none'}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
