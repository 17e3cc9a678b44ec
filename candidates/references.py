"""Reference candidates that know nothing of the state: ``uniform``, ``first-option`` and ``majority``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from decibench.candidates.adapter import Answer, Identity, LocalCandidate, QuestionAnswer
from decibench.candidates.setup import Setup
from decibench.cases.jsonio import sha256_of
from decibench.cases.request import Request
from decibench.cases.schema import Case, Question


class Uniform(LocalCandidate):
    """The same probability for every option; the tie goes to the first."""

    identity = Identity(model="uniform-v1")

    def decide(self, request: Request) -> Answer:
        """Answer without looking at anything but the number of options."""
        return Answer({key: QuestionAnswer(_uniform(q)) for key, q in request.questions.items()})


class FirstOption(LocalCandidate):
    """Probability 1 for the first option."""

    identity = Identity(model="first-option-v1")

    def decide(self, request: Request) -> Answer:
        """Answer with whatever stands first."""
        return Answer({key: QuestionAnswer(_certain(q)) for key, q in request.questions.items()})


class Majority(LocalCandidate):
    """The commonest expected answer per set of options, as fitted on the development split.

    Probabilities are the class frequencies there. Options are told apart by label and description, the way a
    model sees them. Equal frequencies go to the label that sorts first, so that order does not matter; a set of
    options that was never seen is answered uniformly.
    """

    def __init__(self, development: Sequence[Case]) -> None:
        counts: defaultdict[frozenset[str], Counter[str]] = defaultdict(Counter)
        for case in development:
            for key, question in case.questions.items():
                counts[_seen(question)][case.references[key].expected] += 1
        self._counts = dict(counts)
        fitted = sorted((sorted(options), sorted(counter.items())) for options, counter in counts.items())
        self.identity = Identity(model="majority-v1", settings={"fitted_sha256": sha256_of(fitted)})

    def decide(self, request: Request) -> Answer:
        """Answer from the options alone."""
        return Answer({key: self._answer(question) for key, question in request.questions.items()})

    def _answer(self, question: Question) -> QuestionAnswer:
        counter = self._counts.get(_seen(question))
        if counter is None:
            return QuestionAnswer(_uniform(question))
        total = counter.total()
        choice = min(counter, key=lambda label: (-counter[label], label))
        return QuestionAnswer({option: counter[option] / total for option in question.options}, choice)


def create_uniform(setup: Setup) -> Uniform:
    """Build ``uniform``."""
    return Uniform()


def create_first_option(setup: Setup) -> FirstOption:
    """Build ``first-option``."""
    return FirstOption()


def create_majority(setup: Setup) -> Majority:
    """Fit ``majority`` on the development split."""
    return Majority(setup.development)


def _uniform(question: Question) -> dict[str, float]:
    return dict.fromkeys(question.options, 1 / len(question.options))


def _certain(question: Question) -> dict[str, float]:
    first = question.options[0]
    return {option: float(option == first) for option in question.options}


def _seen(question: Question) -> frozenset[str]:
    return frozenset(f"{option}\n{question.describe(option)}" for option in question.options)
