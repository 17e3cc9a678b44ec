"""What zero events in a sample still allow."""

from __future__ import annotations


def zero_event_bound(trials: int, confidence: float = 0.95) -> float | None:
    """Upper bound on the probability of an event that did not occur in ``trials`` independent ones; 0 to 1.

    The exact one-sided bound of Clopper and Pearson (1934), about 3 / trials at 95% confidence; None without trials.

    >>> round(zero_event_bound(59), 3)
    0.05
    """
    return float(1 - (1 - confidence) ** (1 / trials)) if trials else None
