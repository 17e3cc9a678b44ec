"""Skill: a score against that of a reference forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def skill_score(scores: Floats, references: Floats) -> float | None:
    """1 - mean score / mean score of the reference on the same decisions; below 1, without a lower limit.

    For scores that are better when lower. 1 is perfect, 0 no better than the reference, below 0 worse; None where the
    reference scores 0 or there is no decision (Murphy 1988).

    >>> import numpy as np
    >>> skill_score(np.array([0.25, 0.25]), np.array([0.5, 0.5]))
    0.5
    """
    total = float(references.sum())
    return 1 - float(scores.sum()) / total if total > 0 else None
