"""Scores of one distribution against one reference; every aggregate is a mean of these."""

from __future__ import annotations

import math
from collections.abc import Mapping


def brier_score(probabilities: Mapping[str, float], expected: str) -> float:
    """Multi-class Brier score, the squared distance to the one-hot reference; 0 (best) to 2 (Brier 1950).

    >>> brier_score({"a": 0.25, "b": 0.75}, "b")
    0.125
    """
    return math.fsum((p - (option == expected)) ** 2 for option, p in probabilities.items())


def log_loss(probabilities: Mapping[str, float], expected: str, floor: float = 1e-15) -> float:
    """Negative natural logarithm of the expected option's probability, which is raised to ``floor``; in nats.

    >>> round(log_loss({"a": 1.0, "b": 0.0}, "b", floor=0.005), 2)
    5.3
    """
    return -math.log(max(floor, probabilities[expected]))
