"""Brier score of one distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping


def brier_score(probabilities: Mapping[str, float], expected: str) -> float:
    """Multi-class Brier score, the squared distance to the one-hot reference; 0 (best) to 2 (Brier 1950).

    >>> brier_score({"a": 0.25, "b": 0.75}, "b")
    0.125
    """
    return math.fsum((p - (option == expected)) ** 2 for option, p in probabilities.items())
