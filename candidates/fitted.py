"""``fitted``: a classical reference, TF-IDF and logistic regression over (state, option) pairs.

Fitted on the original cases of the development split only, as any user could do with a few labelled examples.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import Any

from decibench.candidates.adapter import Answer, Identity, LocalCandidate, QuestionAnswer
from decibench.candidates.baseline import softmax
from decibench.candidates.setup import Setup
from decibench.cases.jsonio import sha256_of
from decibench.cases.request import Request, request_of
from decibench.cases.schema import Case, Question
from decibench.cases.states import values_of


class Fitted(LocalCandidate):
    """Scores every option by a logistic regression on pair features; softmax over the options.

    The features of a pair are TF-IDF terms of the state crossed with the option's label, so that a word can speak
    for one option and against another, and the TF-IDF overlap of state and option text.
    """

    def __init__(self, development: Sequence[Case]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        pairs, labels = _pairs(development)
        self._vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\S+", lowercase=False)
        self._model = LogisticRegression(C=10.0, max_iter=1000)
        self._model.fit(self._vectorizer.fit_transform(pairs), labels)
        self.identity = Identity(
            model="tfidf-logistic-v1",
            packages={"scikit-learn": importlib.metadata.version("scikit-learn")},
            settings={"fitted_sha256": sha256_of(sorted(zip(pairs, labels, strict=True))), "regularization_c": 10.0},
        )

    def decide(self, request: Request) -> Answer:
        """Answer each question from the words of state and options; instructions are not read."""
        return Answer({key: self._answer(request, question) for key, question in request.questions.items()})

    def _answer(self, request: Request, question: Question) -> QuestionAnswer:
        pairs = [pair_text(request, question, option) for option in question.options]
        scores: Any = self._model.decision_function(self._vectorizer.transform(pairs))
        return QuestionAnswer(dict(zip(question.options, softmax(scores.tolist()), strict=True)))


def create(setup: Setup) -> Fitted:
    """Fit on the development split."""
    return Fitted(setup.development)


def pair_text(request: Request, question: Question, option: str) -> str:
    """The features of a pair as words: state words marked with the option, and words that both share."""
    words = [word.strip(".,;:!?\"'()").lower() for word in " ".join(values_of(request.state)).split()]
    own = {word.strip(".,;:").lower() for word in f"{option.replace('-', ' ')} {question.describe(option)}".split()}
    crossed = [f"{option}={word}" for word in words if word]
    shared = [f"shared={word}" for word in words if word in own]
    return " ".join([*crossed, *shared, *["SHARED"] * len(shared), f"option={option}"])


def _pairs(development: Sequence[Case]) -> tuple[list[str], list[int]]:
    pairs: list[str] = []
    labels: list[int] = []
    for case in development:
        request = request_of(case)
        for key, question in case.questions.items():
            for option in question.options:
                pairs.append(pair_text(request, question, option))
                labels.append(int(option == case.references[key].expected))
    return pairs, labels
