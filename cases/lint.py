"""Warnings about a suite that loads: weaknesses that make its figures mean less than they seem to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from decibench.cases.loading import Suite
from decibench.cases.request import request_hash
from decibench.cases.schema import SPLITS, Case

_BARE_ANSWERS = {"yes", "no", "true", "false", "y", "n"}


def lint(suite: Suite) -> Iterator[str]:
    """Yield one sentence per weakness, worst first by kind; an empty result means none was found."""
    for case in suite.cases:
        yield from _numeric_keys(case)
    yield from _bare_keys(suite)
    yield from _missing_classes(suite)
    yield from _same_requests(suite)


def _numeric_keys(case: Case) -> Iterator[str]:
    for key, question in case.questions.items():
        expected = case.references[key].expected
        if question.type == "choice" and expected.isdigit() and question.describe(expected).strip() == expected:
            yield (
                f"{case.id}, question {key}: the options are keyed by numbers and the key {expected} equals the "
                "content of the right answer; a model that repeats the key looks right. Use neutral or named keys."
            )


def _bare_keys(suite: Suite) -> Iterator[str]:
    asked: Counter[tuple[str, str]] = Counter()
    for case in suite.cases:
        for key, question in case.questions.items():
            if suite.role(case) == "core" and question.type == "choice":
                labels = {label.lower() for label in question.options}
                asked[case.family, key] += labels <= _BARE_ANSWERS
    for (family, key), number in asked.items():
        if number:
            yield (
                f"family {family}, question {key}: {number} core cases have yes/no keys, which measure the label "
                "words as much as the decision. Use keys that name the decision."
            )


def _missing_classes(suite: Suite) -> Iterator[str]:
    expected: defaultdict[tuple[str, str], dict[str, set[str]]] = defaultdict(
        lambda: {split: set() for split in SPLITS}
    )
    for case in suite.cases:
        for key, reference in case.references.items():
            expected[case.family, key][case.split].add(reference.expected)
    for (family, key), by_split in expected.items():
        every = set().union(*by_split.values())
        for split in SPLITS:
            missing = sorted(every - by_split[split])
            if missing and split in suite.manifest.splits:
                shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
                yield f"family {family}, question {key}: {split} has no case whose answer is {shown}."


def _same_requests(suite: Suite) -> Iterator[str]:
    same: defaultdict[str, list[Case]] = defaultdict(list)
    for case in suite.cases:
        if suite.role(case) == "probe":
            continue  # A blanked state is the same request by design.
        same[request_hash(case)].append(case)
    for cases in same.values():
        ids = ", ".join(case.id for case in cases[:4])
        if len({frozenset((k, r.expected) for k, r in case.references.items()) for case in cases}) > 1:
            yield f"{ids}: the same request with different references; no model can answer all of them right."
        elif len({case.split for case in cases}) > 1:
            yield f"{ids}: the same request in several splits; the holdout is not independent of the others."
