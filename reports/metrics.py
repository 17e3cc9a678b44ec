"""Metrics, each defined once, over numpy arrays of shape (decisions,).

``correct`` is False where a decision failed. Every function returns None where it has nothing to average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Texts: TypeAlias = NDArray[np.str_]


def mean(values: Bools | Floats) -> float | None:
    """Arithmetic mean; accuracy is the mean of ``correct`` over all attempted decisions.

    >>> import numpy as np
    >>> mean(np.array([True, False, False, False]))
    0.25
    """
    return float(values.mean()) if values.size else None


def macro_accuracy(correct: Bools, families: Texts) -> float | None:
    """Mean of the families' accuracies, so that a large family does not drown a small one; 0 to 1.

    >>> import numpy as np
    >>> macro_accuracy(np.array([True, True, True, False]), np.array(["a", "a", "a", "b"]))
    0.5
    """
    import numpy as np

    if not correct.size:
        return None
    return float(np.mean([correct[families == family].mean() for family in np.unique(families)]))


def expected_calibration_error(top_probability: Floats, correct: Bools, bins: int = 10) -> float | None:
    """Weighted mean distance of top probability and accuracy in equal-width bins [k/bins, (k+1)/bins); 0 to 1.

    The last bin includes 1. Valid decisions only (Naeini et al. 2015, on the top label).

    >>> import numpy as np
    >>> expected_calibration_error(np.array([0.75]), np.array([True]))
    0.25
    """
    import numpy as np

    if not top_probability.size:
        return None
    index = np.minimum((top_probability * bins).astype(int), bins - 1)
    gaps = np.bincount(index, weights=top_probability - correct, minlength=bins)
    return float(np.abs(gaps).sum() / top_probability.size)


def coverage(accepted: Bools) -> float | None:
    """Share of all attempted decisions, failed ones included, that are accepted; 0 to 1.

    >>> import numpy as np
    >>> coverage(np.array([True, False, False, False]))
    0.25
    """
    return mean(accepted)


def selective_risk(accepted: Bools, correct: Bools) -> float | None:
    """Share of wrong among accepted decisions; 0 to 1, None where nothing is accepted.

    >>> import numpy as np
    >>> selective_risk(np.array([True, True, False]), np.array([True, False, False]))
    0.5
    """
    return mean(~correct[accepted])


def unsafe_acceptance(accepted: Bools, chose_unsafe: Bools, has_unsafe: Bools) -> float | None:
    """Accepted unsafe decisions per decision that has an unsafe option; 0 to 1, None where there is none.

    >>> import numpy as np
    >>> unsafe_acceptance(np.array([True, False]), np.array([True, True]), np.array([True, True]))
    0.5
    """
    return mean((accepted & chose_unsafe)[has_unsafe])


def paired_effect(first: Texts, second: Texts, expected: Texts) -> tuple[int, int, int, int]:
    """Decisions that changed, degraded (right to wrong), improved (wrong to right), and were right twice.

    ``first`` and ``second`` are the choices on the original and on the variant, pair by pair.

    >>> import numpy as np
    >>> paired_effect(np.array(["a", "a", "b"]), np.array(["a", "b", "c"]), np.array(["a", "a", "a"]))
    (2, 1, 0, 1)
    """
    before, after = first == expected, second == expected
    counts = (first != second, before & ~after, ~before & after, before & after)
    changed, degraded, improved, twice = (int(mask.sum()) for mask in counts)
    return changed, degraded, improved, twice


def ordinal_mae(levels: Floats) -> float | None:
    """Mean absolute distance between chosen (argmax) and expected level of ``score`` questions, in levels.

    ``levels`` holds the distances and NaN for every other decision.

    >>> import numpy as np
    >>> ordinal_mae(np.array([0.0, 2.0, np.nan]))
    1.0
    """
    import numpy as np

    return mean(levels[~np.isnan(levels)])
