"""Properties of a case in JUnit XML, and nowhere else."""

from __future__ import annotations

import pytest

from decibench.bench_tests.options import Options


def add_properties(config: pytest.Config, options: Options, report: pytest.TestReport, record: str) -> None:
    """Add outcome, top probability, expected and chosen of ``record`` (JSON) to the XML entry of ``report``."""
