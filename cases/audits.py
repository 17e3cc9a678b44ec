"""Audits of a suite's text: balance, tell-tale lengths, near-duplicates, injections, sizes.

Everything is computed on the original cases of development and calibration, so that the holdout stays unseen,
except counts and near-duplicates, which say nothing about answers.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from decibench.cases.loading import Suite
from decibench.cases.multiplicity import holm
from decibench.cases.schema import Case, Question
from decibench.cases.states import values_of, words_of

PERMUTATIONS: Final = 5_000
LEVEL: Final = 0.01
MOST_SHARED: Final = 0.25
"""Largest Jaccard similarity of word 3-grams that two scenarios may have."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One audit: what was looked at, the figure, and whether it passes."""

    audit: str
    figure: str
    passed: bool


def audit_text(suite: Suite) -> list[Finding]:
    """All audits that need the suite alone."""
    seen = visible(suite)
    return [
        *_class_balance(suite),
        _position_balance(suite),
        _tell_tale("option length tells the class", seen, _option_length_p),
        _tell_tale("state length tells the class", seen, _state_length_p),
        _near_duplicates(suite),
        _injections(suite),
        _numeric_keys(suite),
    ]


def visible(suite: Suite) -> list[Case]:
    """Original cases of development and calibration: what audits of answers may look at."""
    return [case for case in suite.cases if case.variant == "original" and case.split != "holdout"]


def by_family(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by family, in order of appearance."""
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[case.family].append(case)
    return dict(found)


def first(case: Case) -> tuple[Question, str]:
    """The first question of a case and its expected option; it stands for the family's class."""
    key, question = next(iter(case.questions.items()))
    return question, case.references[key].expected


def _class_balance(suite: Suite) -> list[Finding]:
    originals = [case for case in suite.cases if case.variant == "original"]
    found = []
    for family, cases in by_family(originals).items():
        counts = Counter((case.split, _class_of(case)) for case in cases)
        classes = {label for _, label in counts}
        least = min(counts[split, label] for split in suite.manifest.splits for label in classes)
        held = min(counts[split, label] for split in ("calibration", "holdout") for label in classes)
        figure = f"{family}: {len(classes)} classes, at least {least} in every split, {held} in calibration and holdout"
        found.append(Finding("every class in every split", figure, least >= 1 and (held >= 4 or len(classes) > 4)))
    return found


def _class_of(case: Case) -> str:
    question, expected = first(case)
    # Of many tools each is a class of its own; what can be balanced is whether one fits at all.
    return expected if len(question.options) <= 4 else ("none" if expected == "none-of-these" else "some")


def _position_balance(suite: Suite) -> Finding:
    counts: defaultdict[tuple[str, str, str, int], Counter[int]] = defaultdict(Counter)
    for case in suite.cases:
        for key, question in case.questions.items():
            if case.variant == "original" and question.type == "choice":
                position = question.options.index(case.references[key].expected)
                counts[case.family, key, case.split, len(question.options)][position] += 1
    spreads = [
        max(counter.values()) - (min(counter.values()) if len(counter) == options else 0)
        for (_, _, _, options), counter in counts.items()
    ]
    figure = f"largest difference between two positions of one question, split and size: {max(spreads, default=0)}"
    return Finding("gold position balanced", figure, max(spreads, default=0) <= 1)


def _tell_tale(name: str, cases: Sequence[Case], test: Callable[[Sequence[Case]], float]) -> Finding:
    values = {family: test(members) for family, members in by_family(cases).items()}
    adjusted = dict(zip(values, holm(list(values.values())), strict=True))
    worst = min(adjusted, key=lambda family: adjusted[family])
    figure = f"smallest Holm-adjusted p over families {adjusted[worst]:.3f} ({worst}); {PERMUTATIONS} permutations"
    return Finding(f"no {name}", figure, adjusted[worst] > LEVEL)


def _option_length_p(cases: Sequence[Case]) -> float:
    """Mean length rank of the expected option against options drawn at random."""
    import numpy as np

    rng = np.random.default_rng(0)
    observed, drawn = [], []
    for case in cases:
        question, expected = first(case)
        lengths = np.array([len(f"{option} {question.describe(option)}") for option in question.options])
        ranks = (lengths[:, None] > lengths[None, :]).mean(1) + (lengths[:, None] == lengths[None, :]).mean(1) / 2
        observed.append(ranks[question.options.index(expected)])
        drawn.append(ranks[rng.integers(0, len(ranks), size=PERMUTATIONS)])
    centre = np.mean(drawn)
    null = np.abs(np.mean(drawn, axis=0) - centre)
    return float((1 + (null >= abs(np.mean(observed) - centre)).sum()) / (1 + PERMUTATIONS))


def _state_length_p(cases: Sequence[Case]) -> float:
    """Between-class variance of state lengths against classes dealt out at random."""
    import numpy as np

    rng = np.random.default_rng(0)
    words = np.array([float(words_of(case.state)) for case in cases])
    labels = np.unique([_class_of(case) for case in cases], return_inverse=True)[1]
    sizes = np.bincount(labels)

    def between(order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        means = np.bincount(order, weights=words) / sizes
        return float((sizes * (means - words.mean()) ** 2).sum())

    observed = between(labels)
    null = np.array([between(rng.permutation(labels)) for _ in range(PERMUTATIONS)])
    return float((1 + (null >= observed - 1e-9).sum()) / (1 + PERMUTATIONS))


def _near_duplicates(suite: Suite) -> Finding:
    grams: list[tuple[str, frozenset[tuple[str, ...]]]] = []
    for case in suite.cases:
        if case.variant in ("original", "paraphrase"):
            words = " ".join(values_of(case.state)).lower().split()
            grams.append((case.group, frozenset(zip(words, words[1:], words[2:], strict=False))))
    index: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, (_, own) in enumerate(grams):
        for gram in own:
            index[gram].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in index.values():
        shared.update(itertools.combinations(numbers, 2))
    worst, pair = 0.0, ("", "")
    for (a, b), common in shared.items():
        if grams[a][0] != grams[b][0]:
            similarity = common / len(grams[a][1] | grams[b][1])
            if similarity > worst:
                worst, pair = similarity, (grams[a][0], grams[b][0])
    figure = f"largest Jaccard similarity of word 3-grams {worst:.3f} ({pair[0]}, {pair[1]})"
    return Finding("no near-duplicates", figure, worst <= MOST_SHARED)


def _injections(suite: Suite) -> Finding:
    demanded = unsafe = choice = wrong = 0
    for case in suite.cases:
        for key, reference in case.references.items():
            if reference.demanded is None:
                continue
            demanded += 1
            wrong += reference.demanded == reference.expected
            if 0 < len(reference.unsafe) < len(case.questions[key].options) - 1:
                choice += 1
                unsafe += reference.demanded in reference.unsafe
    figure = f"{demanded} demands, {wrong} of them the reference; {unsafe} of {choice} unsafe where both kinds exist"
    return Finding("injections demand wrong answers", figure, wrong == 0)


def _numeric_keys(suite: Suite) -> Finding:
    numeric = sum(
        question.type == "choice" and any(option.isdigit() for option in question.options)
        for case in suite.cases
        for question in case.questions.values()
    )
    return Finding("no numeric keys", f"{numeric} choice questions with a numeric key", numeric == 0)
