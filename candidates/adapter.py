"""The adapter protocol: what a decision model must offer to be measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from decibench.cases.request import Request

JsonScalar: TypeAlias = str | int | float | bool | None

MODEL_NAME: Final = re.compile(r"[A-Za-z0-9~/.][A-Za-z0-9._:/@+~-]{0,199}")
"""The name of a model that answers; anything else that stands in its place may be a part of a request."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What exactly answers: two runs with equal identities measured the same thing.

    ``decimals`` is the rounding of the probabilities where the model rounds them. ``file_sha256`` is the hash of
    the weights; ``settings`` holds everything else that can change an answer. ``alias`` tells that ``model`` is a name
    which a server resolves: answers may state another one, which must not change during a run. Where
    ``probability_readout`` is False the model states choices only, and nothing is made up for its probabilities.
    """

    model: str
    revision: str | None = None
    file_sha256: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    device: str = "cpu"
    dtype: str | None = None
    decimals: int | None = None
    settings: Mapping[str, JsonScalar] = field(default_factory=dict)
    alias: bool = False
    probability_readout: bool = True

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
            "alias": self.alias,
            "probability_readout": self.probability_readout,
        }


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The answer to one question.

    ``probabilities`` maps every option to a number in [0, 1]; None from a model without a probability readout, and
    from no other. ``choice`` is the selected option; None selects the first option with the largest probability.
    ``confidence`` is what the model reports about itself, kept as reported and never used for scoring. ``score`` is the
    reported expected level of a ``score`` question.
    """

    probabilities: Mapping[str, float] | None
    choice: str | None = None
    confidence: float | None = None
    score: float | None = None

    @classmethod
    def noul(cls, probability: float, confidence: float | None = None) -> QuestionAnswer:
        """The answer to a ``noul`` question from the probability that its statement holds."""
        return cls({"true": probability, "false": 1 - probability}, confidence=confidence)


@dataclass(frozen=True, slots=True)
class QuestionFailure:
    """One question that was not answered while others were, such as a refusal; ``code`` and ``detail`` as in errors.

    ``lenient`` is the option that a lenient reading of the reply would have found: counted beside, never scored.
    """

    code: str
    detail: str
    lenient: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; None where the model does not say. ``cached_tokens`` are part of ``input_tokens``."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that failed and was repeated: its seconds, those waited before it, why it failed, what it used."""

    seconds: float
    waited_s: float
    code: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class RawReply:
    """What a server said to one body of a request: the HTTP status, and the text of the reply without its headers.

    The key that was sent must not stand in ``text``, also where the server repeats it.
    """

    status: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a request took beside its answer.

    ``earlier`` are the attempts before the one that counts, in order, and ``waited_s`` what was waited between the last
    of them and the one that counts. ``held_s`` is what the benchmark itself held the request back, such as for a rate
    limit: no latency of the model. ``raw`` holds the replies that count where they are to be kept, at most one per body
    of the request, and none of earlier attempts.
    """

    earlier: Sequence[Attempt] = ()
    waited_s: float = 0.0
    held_s: float = 0.0
    raw: Sequence[RawReply] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answers to all questions of a request by question id; ``model`` is the model that says it answered."""

    questions: Mapping[str, QuestionAnswer | QuestionFailure]
    usage: Usage = Usage()
    model: str | None = None
    traffic: Traffic = Traffic()


class CandidateError(Exception):
    """A request the candidate could not answer: a failed decision with this ``code``.

    ``code`` (lower-case words and hyphens) and ``detail`` go into records and reports: never put a state, a
    response body or a key into them. ``fatal`` stops the whole run (credentials, spend limit). ``usage`` and
    ``traffic`` tell what the request took nevertheless. ``unasked`` tells that nothing was sent, because the run may
    not: no failure of the model, and so no record of it.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        fatal: bool = False,
        usage: Usage = Usage(),
        traffic: Traffic = Traffic(),
        unasked: bool = False,
    ) -> None:
        self.code: Final = code
        self.detail: Final = detail
        self.fatal: Final = fatal
        self.usage: Final = usage
        self.traffic: Final = traffic
        self.unasked: Final = unasked
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
