"""Coherence of two questions that ask for the same thing from opposite sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats

_LEAST: Final = 10
"""Scenarios that each answer needs: two unrelated questions with ten of each agree once in C(20, 10) = 184,756."""


def complement_pairing(expected: Iterable[tuple[str, str]]) -> dict[str, str] | None:
    """Which option of a first question goes with which of a second, learnt from the references of both.

    ``expected`` holds the two references of each scenario. The pairing exists where each of two options of the
    first question always comes with an option of its own of the second, each in at least ten scenarios; else None.
    Own definition: a suite does not declare what its references show, and ten of each make it unlikely by chance.

    >>> complement_pairing([("within", "proceed")] * 10 + [("breaks", "block")] * 12)
    {'breaks': 'block', 'within': 'proceed'}
    >>> complement_pairing([("within", "proceed")] * 10 + [("breaks", "block"), ("breaks", "proceed")] * 12)
    """
    counts = Counter(expected)
    pairing = dict(sorted(counts))
    if len(counts) != 2 or len(pairing) != 2 or len(set(pairing.values())) != 2 or min(counts.values()) < _LEAST:
        return None
    return pairing


def complement_gap(first: Floats, second: Floats) -> Floats:
    """``|P(a) + P(not b) - 1|`` for options a and b that go together, which is ``|P(a) - P(b)|``; 0 to 1.

    ``first`` and ``second``, of shape (cases,), are the probabilities of a and b, each of a question with two
    options. 0 where the answers are coherent: the probability that something holds and that it does not make 1
    (de Finetti 1937). Between two trials of one question it is what noise alone makes.
    ValueError where the shapes differ.

    >>> import numpy as np
    >>> complement_gap(np.array([0.75, 0.5]), np.array([0.5, 0.5])).tolist()
    [0.25, 0.0]
    """
    import numpy as np

    if first.shape != second.shape:
        raise ValueError(f"both questions need one probability per case, not {first.shape} and {second.shape}")
    return np.abs(first - second)
