"""The reports that ``--against`` names, read and checked before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping

from decibench.bench_tests.plan import Plan
from decibench.reports.report import Report


def read_blessed(plan: Plan) -> Mapping[str, Report]:
    """The blessed report of every candidate of ``plan``, by its name; empty without ``--against``."""
    if plan.options.against is None:
        return {}
    raise NotImplementedError
