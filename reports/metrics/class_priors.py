"""Class priors: a reference forecast that knows how common each label is, and nothing of the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence


def label_counts(labels: Iterable[tuple[str, str, str]]) -> Counter[tuple[str, str]]:
    """In how many groups each (question, label) is expected, from (group, question, label) of every decision.

    A group counts a label once, however many of its variants and trials repeat it: they are one situation.

    >>> label_counts([("g1", "q", "yes"), ("g1", "q", "yes"), ("g2", "q", "no")])[("q", "yes")]
    1
    """
    return Counter((question, label) for _, question, label in set(labels))


def class_prior(counts: Mapping[tuple[str, str], int], question: str, options: Sequence[str]) -> dict[str, float]:
    """The frequency of each of ``options`` among those of the same question, with one added to every count.

    Adding one (Laplace 1814) keeps a label that was never expected above 0, where one such case would make the
    reference's log loss infinite and any skill perfect. Restricting to the options asked gives a reference that
    answers the same question as the model; a question never seen before gets the uniform distribution.

    >>> class_prior({("q", "yes"): 2, ("q", "no"): 0}, "q", ["yes", "no"])
    {'yes': 0.75, 'no': 0.25}
    """
    raised = {option: counts.get((question, option), 0) + 1 for option in options}
    total = sum(raised.values())
    return {option: count / total for option, count in raised.items()}
