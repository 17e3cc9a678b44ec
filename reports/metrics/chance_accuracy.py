"""Accuracy of guessing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Ints, Texts


def chance_accuracy(options: Ints, families: Texts) -> float | None:
    """Macro accuracy to expect of a guess that gives every option of a question the same chance; 0 to 1.

    A guess among k options is right with probability 1/k: the mean of 1/k over the decisions of a family, then over
    families, as in ``macro_accuracy``. ``options`` holds the number of options of each decision, at least 1.

    >>> import numpy as np
    >>> chance_accuracy(np.array([2, 2, 2, 4]), np.array(["a", "a", "a", "b"]))
    0.375
    """
    import numpy as np

    if not options.size:
        return None
    return float(np.mean([(1 / options[families == family]).mean() for family in np.unique(families)]))
