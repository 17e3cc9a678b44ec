"""Flips: pairs of distributions with different top options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.ragged import check_pairs, sizes_of

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints


def flips(first: Floats, second: Floats, starts: Ints) -> tuple[Bools, Bools]:
    """Whether the top option differs, and whether either side has a shared maximum, pair by pair.

    ``first`` and ``second`` hold the distributions of all pairs end to end, each pair's options in the order of their
    ids on both sides, so that a tie goes to the first id whatever order was asked in; ``starts``, of shape (pairs,),
    tells where a pair begins. The flip share is the mean of the first array of shape (pairs,); both are empty where
    there is no pair. ValueError where the shapes do not fit. Own definition: were ties left to the order asked in, a
    model that answers alike in every order would seem to flip.

    >>> import numpy as np
    >>> a, b = np.array([0.75, 0.25, 0.5, 0.5]), np.array([0.25, 0.75, 0.75, 0.25])
    >>> [column.tolist() for column in flips(a, b, np.array([0, 2]))]
    [[True, False], [False, True]]
    """
    check_pairs(first, second, starts)
    (top, tied), (other_top, other_tied) = _tops(first, starts), _tops(second, starts)
    return top != other_top, tied | other_tied


def _tops(probability: Floats, starts: Ints) -> tuple[Ints, Bools]:
    """The place of the first maximum of each piece, and whether it is shared."""
    import numpy as np

    if not starts.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    largest = np.repeat(np.maximum.reduceat(probability, starts), sizes_of(starts, probability.size))
    places = np.flatnonzero(probability == largest)
    at = np.searchsorted(places, starts)
    return places[at], np.diff(at, append=places.size) > 1
