"""Write anew what the continuous integration compares with: ``blessed/SUITE/CANDIDATE/report.json``.

Run ``python scripts/bless.py`` where answers changed on purpose, or where the schema of a report did, and commit what
it writes. Look first at what changed: the run that the continuous integration makes says so.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from decibench.reports.report import REPORT, read_report, write_report

ROOT: Final = Path(__file__).resolve().parents[1]
SUITE: Final = "decisions-v0"
CANDIDATES: Final = ("baseline", "sparrow")
MACHINE: Final = ("platform", "machine", "cpus")
"""What a report says of the machine: of no use to those who compare with it elsewhere."""


def main() -> int:
    """Run the candidates from an empty folder, so that no ledger counts as looks what is pinned, and keep the reports.

    Returns the exit status of the run; only the reports of one that ends with 0 are kept.
    """
    with TemporaryDirectory() as folder:
        named = [argument for name in CANDIDATES for argument in ("--candidate", name)]
        command = [sys.executable, "-m", "pytest", str(ROOT / "bench_tests"), "--suite", SUITE]
        status = subprocess.run([*command, *named, "--run-dir", "run"], cwd=folder, check=False).returncode
        if status == 0:
            for name in CANDIDATES:
                _bless(Path(folder) / "run" / name / REPORT, ROOT / "blessed" / SUITE / name / REPORT)
    return status


def _bless(made: Path, place: Path) -> None:
    report = read_report(made)
    environment = {key: value for key, value in report.environment.items() if key not in MACHINE}
    place.parent.mkdir(parents=True, exist_ok=True)
    write_report(report.model_copy(update={"environment": environment}), place)
    sys.stderr.write(f"wrote {place.relative_to(ROOT)}\n")


if __name__ == "__main__":
    sys.exit(main())
