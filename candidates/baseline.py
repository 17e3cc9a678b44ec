"""``baseline``: lexical overlap between the state and each option, the floor any real model must clear."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from decibench.candidates.adapter import Answer, Identity, LocalCandidate, QuestionAnswer
from decibench.candidates.setup import Setup
from decibench.cases.request import Request
from decibench.cases.schema import Question

_TOKEN = re.compile(r"[a-z]{3,}")


class LexicalOverlap(LocalCandidate):
    """Scores an option by 4 x shared / max(1, sqrt(option tokens x state tokens)), distinct tokens; softmax.

    Tokens are runs of three or more letters a-z after lower-casing; an option's text is its label, a space and
    its description.
    """

    identity = Identity(model="lexical-overlap-v1", settings={"scale": 4, "least_letters": 3})

    def decide(self, request: Request) -> Answer:
        """Answer each question from the words of the state; instructions are not read."""
        words = _words(request.state)
        return Answer({key: QuestionAnswer(_overlap(words, q)) for key, q in request.questions.items()})


def create(setup: Setup) -> LexicalOverlap:
    """Build the candidate."""
    return LexicalOverlap()


def tokens(text: str) -> set[str]:
    """Distinct runs of three or more letters a-z of the lower-cased text.

    >>> sorted(tokens("No refund of the 20 EUR fee"))
    ['eur', 'fee', 'refund', 'the']
    """
    return set(_TOKEN.findall(text.lower()))


def softmax(scores: Sequence[float]) -> list[float]:
    """Exponentials of ``scores`` normalised to sum to 1.

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    total = math.fsum(exponentials)
    return [value / total for value in exponentials]


def _overlap(words: set[str], question: Question) -> dict[str, float]:
    scores = []
    for option in question.options:
        own = tokens(f"{option} {question.describe(option)}")
        scores.append(4 * len(own & words) / max(1.0, math.sqrt(len(own) * len(words))))
    return dict(zip(question.options, softmax(scores), strict=True))


def _words(content: Any) -> set[str]:
    """The tokens of a state; of JSON those of its keys and values, where no escape can stick to a word."""
    if isinstance(content, dict):
        return set().union(*(tokens(key) | _words(value) for key, value in content.items()))
    if isinstance(content, list):
        return set().union(*map(_words, content))
    return tokens(content if isinstance(content, str) else json.dumps(content))
