"""Decision by decision against a blessed report of the same candidate: what got worse, better, or moved."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from decibench.cases.schema import Model
from decibench.reports.report import Report

REGRESSION: Final = "regression.json"


class Regression(Model):
    """Placeholder: to be written."""

    schema_: Annotated[Literal["decibench.regression/1"], Field(alias="schema")] = "decibench.regression/1"
    passed: bool | None


def regression_of(report: Report, blessed: Report) -> Regression:
    """Compare the decisions of ``report`` with those of ``blessed``."""
    raise NotImplementedError
