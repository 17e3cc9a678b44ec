"""Log loss of one distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping


def log_loss(probabilities: Mapping[str, float], expected: str, floor: float = 1e-15) -> float:
    """Negative natural logarithm of the expected option's probability, which is raised to ``floor``; in nats.

    >>> round(log_loss({"a": 1.0, "b": 0.0}, "b", floor=0.005), 2)
    5.3
    """
    return -math.log(max(floor, probabilities[expected]))
