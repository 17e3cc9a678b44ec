"""The adapter protocol: what a decision model must offer to be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from decibench.cases.request import Request
from decibench.cases.schema import Case

JsonScalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Identity:
    """What exactly answers: two runs with equal identities measured the same thing.

    ``decimals`` is the rounding of the probabilities where the model rounds them. ``file_sha256`` is the hash of
    the weights; ``settings`` holds everything else that can change an answer.
    """

    model: str
    revision: str | None = None
    file_sha256: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    device: str = "cpu"
    dtype: str | None = None
    decimals: int | None = None
    settings: Mapping[str, JsonScalar] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary of all fields."""
        return {
            "model": self.model,
            "revision": self.revision,
            "file_sha256": self.file_sha256,
            "packages": dict(self.packages),
            "device": self.device,
            "dtype": self.dtype,
            "decimals": self.decimals,
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The answer to one question.

    ``probabilities`` maps every option to a number in [0, 1]. ``choice`` is the selected option; None selects
    the first option with the largest probability. ``confidence`` is what the model reports about itself, kept as
    reported and never used for scoring. ``score`` is the reported expected level of a ``score`` question.
    """

    probabilities: Mapping[str, float]
    choice: str | None = None
    confidence: float | None = None
    score: float | None = None

    @classmethod
    def noul(cls, probability: float, confidence: float | None = None) -> QuestionAnswer:
        """The answer to a ``noul`` question from the probability that its statement holds."""
        return cls({"true": probability, "false": 1 - probability}, confidence=confidence)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; None where the model does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answers to all questions of a request by question id; ``model`` is the model that says it answered."""

    questions: Mapping[str, QuestionAnswer]
    usage: Usage = Usage()
    model: str | None = None


class CandidateError(Exception):
    """A request the candidate could not answer: a failed decision with this ``code``.

    ``code`` (lower-case words and hyphens) and ``detail`` go into records and reports: never put a state, a
    response body or a key into them. ``fatal`` stops the whole run (credentials, spend limit).
    """

    def __init__(self, code: str, detail: str, *, fatal: bool = False) -> None:
        self.code: Final = code
        self.detail: Final = detail
        self.fatal: Final = fatal
        super().__init__(f"{code}: {detail}")


class Candidate(Protocol):
    """A decision model behind one method."""

    @property
    def identity(self) -> Identity:
        """What exactly answers."""
        ...

    def decide(self, request: Request) -> Answer:
        """Answer every question of ``request``; raise CandidateError where that is impossible."""
        ...

    def synchronize(self) -> None:
        """Wait until the device is idle, so that a clock read next to it is right; nothing to do on a CPU."""
        ...

    def close(self) -> None:
        """Release what the candidate holds."""
        ...


class LocalCandidate:
    """Base of candidates that compute on the CPU and hold nothing open."""

    def synchronize(self) -> None:
        """Nothing runs in the background."""

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a shipped candidate's factory gets.

    ``development`` are the original cases of the development split, the only ones a candidate may be fitted on.
    """

    device: str
    model: str | None = None
    development: Sequence[Case] = ()
