"""Records: what one item of a run measured, in exact JSON types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from decibench.cases.jsonio import MOST_EXACT
from decibench.cases.schema import Case, Counterfactual, Model, Role, Split

_EXACT: Final = frozenset({str, bool, int, float, type(None)})
_CODE_LENGTH: Final = 60
_DETAIL_LENGTH: Final = 300

Outcome: TypeAlias = Literal["correct", "missed", "failed"]

MOST_TOKENS: Final = MOST_EXACT
"""More is no count: neither JSON readers nor a float would keep it exact."""


class Failure(Model):
    """Why a decision could not be scored: a code, and a detail free of states, responses and keys."""

    code: str
    detail: str
    fatal: bool = False


class Decision(Model):
    """One question answered, or not: ``failure`` is set exactly where ``choice`` is not.

    ``probabilities`` are normalised and in the order in which the options were asked; ``raw_sum`` is what they
    summed to before. ``tie`` tells that several options shared the maximum. ``confidence`` and ``score`` are as
    the model reported them. A model without a probability readout has a ``choice`` only, and ``probabilities`` and
    ``raw_sum`` are null. ``lenient_choice`` is what a lenient reading of a reply that failed would have found.
    """

    question: str
    type: Literal["choice", "noul", "score"]
    options: list[str]
    expected: str
    unsafe: list[str] = []
    demanded: str | None = None
    choice: str | None = None
    probabilities: dict[str, float] | None = None
    raw_sum: float | None = None
    tie: bool = False
    confidence: float | None = None
    score: float | None = None
    failure: Failure | None = None
    lenient_choice: str | None = None

    @property
    def outcome(self) -> Outcome:
        """What became of it; a failed decision is neither correct nor missed."""
        return "failed" if self.failure is not None else "correct" if self.choice == self.expected else "missed"


Count = Annotated[int, Field(ge=0, le=MOST_TOKENS)]
Seconds = Annotated[float, Field(ge=0)]


class TokenUsage(Model):
    """Tokens of one request; None where unknown. ``cached_tokens`` are part of ``input_tokens``."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None


class EarlierAttempt(Model):
    """An attempt at an item that failed and was repeated.

    ``seconds`` is None where it was never timed; ``waited_s`` is what was waited before it, such as for a server that
    asked for that. ``code`` is the reason of its failure.
    """

    seconds: Seconds | None
    waited_s: Seconds = 0.0
    code: str
    usage: TokenUsage = TokenUsage()


class Record(Model):
    """One item: a case asked once in a trial. ``latency_s`` is None where nothing came back to be timed.

    ``earlier`` are the attempts at the same item before the one that counts, in order: repeated by the candidate
    itself, or when a run was resumed, of which ``attempt`` is the number. ``waited_s`` is what was waited between the
    last of them and the one that counts; ``latency_s`` and ``usage`` are of that one alone. ``model`` is the model that
    said it answered.
    ``counterfactual`` is the link of the case to another, whose record of the same trial it is compared with.
    """

    case: str
    group: str
    family: str
    variant: str
    role: Role
    split: Split
    tags: dict[str, str] = {}
    counterfactual: Counterfactual | None = None
    trial: Annotated[int, Field(ge=1)]
    attempt: Annotated[int, Field(ge=1)] = 1
    request_hash: str
    candidate_hash: str | None
    model: str | None = None
    latency_s: Seconds | None
    earlier: list[EarlierAttempt] = []
    waited_s: Seconds = 0.0
    usage: TokenUsage = TokenUsage()
    decisions: Annotated[list[Decision], Field(min_length=1)]

    @property
    def key(self) -> tuple[str, str, int, str | None]:
        """What makes a record the answer to an item: case, request, trial and candidate hash."""
        return (self.case, self.request_hash, self.trial, self.candidate_hash)

    @property
    def with_retries_s(self) -> float | None:
        """The seconds of all attempts and of the waits between them; None where any is unknown."""
        earlier = self.earlier_s
        if self.latency_s is None or earlier is None:
            return None
        return earlier + self.waited_s + self.latency_s

    @property
    def earlier_s(self) -> float | None:
        """The seconds of the earlier attempts and of the waits before them; None where any is unknown."""
        known = [attempt.seconds + attempt.waited_s for attempt in self.earlier if attempt.seconds is not None]
        return sum(known, 0.0) if len(known) == len(self.earlier) else None

    @property
    def failed(self) -> bool:
        """True when any decision failed."""
        return any(decision.failure is not None for decision in self.decisions)

    @property
    def scored(self) -> bool:
        """True when any decision was scored."""
        return any(decision.failure is None for decision in self.decisions)

    @property
    def missed(self) -> bool:
        """True when any scored decision differs from its reference."""
        return any(d.outcome == "missed" for d in self.decisions)

    @property
    def outcome(self) -> Outcome:
        """The worst of its decisions."""
        return "failed" if self.failed else "missed" if self.missed else "correct"

    @property
    def fatal(self) -> Failure | None:
        """The failure that must stop the run, if there is one."""
        return next((d.failure for d in self.decisions if d.failure is not None and d.failure.fatal), None)


def record_of(
    case: Case,
    role: Role,
    *,
    trial: int,
    request_hash: str,
    candidate_hash: str | None,
    decisions: list[Decision],
    latency_s: float | None = None,
    usage: TokenUsage | None = None,
    attempt: int = 1,
    earlier: Sequence[EarlierAttempt] = (),
    waited_s: float = 0.0,
    model: str | None = None,
) -> Record:
    """The record of ``case``, whose variant has ``role``, with what was measured."""
    return Record(
        case=case.id,
        group=case.group,
        family=case.family,
        variant=case.variant,
        role=role,
        split=case.split,
        tags=case.tags,
        counterfactual=case.counterfactual,
        trial=trial,
        attempt=attempt,
        request_hash=request_hash,
        candidate_hash=candidate_hash,
        model=model,
        latency_s=latency_s,
        earlier=list(earlier),
        waited_s=waited_s,
        usage=usage or TokenUsage(),
        decisions=decisions,
    )


def failure_of(code: object, detail: object, *, fatal: bool = False) -> Failure:
    """A failure in the words of a candidate, kept to one short line that every file, log and terminal can hold.

    >>> failure_of("no-file", "caf\\udce9.bin\\nnot there").detail
    'caf\\\\udce9.bin\\\\nnot there'
    """
    return Failure(code=_line(code, _CODE_LENGTH), detail=_line(detail, _DETAIL_LENGTH), fatal=fatal)


def _line(value: object, limit: int) -> str:
    shown = str(value)[: limit + 1]
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def open_decisions(case: Case) -> list[dict[str, Any]]:
    """The decisions of ``case`` before an answer is known: everything but the answer."""
    return [
        {
            "question": key,
            "type": question.type,
            "options": list(question.options),
            "expected": case.references[key].expected,
            "unsafe": list(case.references[key].unsafe),
            "demanded": case.references[key].demanded,
        }
        for key, question in case.questions.items()
    ]


def failed_decisions(case: Case, failure: Failure) -> list[Decision]:
    """Every decision of ``case`` failed for the same reason."""
    return [Decision(**fields, failure=failure) for fields in open_decisions(case)]


def check_exact(value: object, name: str = "record") -> None:
    """Raise TypeError naming the place where ``value`` holds anything but exact JSON types.

    A numpy scalar or a str subclass passes in one process and kills the channel between two.
    """
    if not _is_exact(value):
        raise TypeError(next(_inexact(value, name)))


def _is_exact(value: object) -> bool:
    kind = type(value)
    if kind is dict:
        assert isinstance(value, dict)
        return all(type(key) is str for key in value) and all(map(_is_exact, value.values()))
    if kind is list:
        assert isinstance(value, list)
        return all(map(_is_exact, value))
    return kind in _EXACT


def _inexact(value: object, path: str) -> Iterator[str]:
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                yield f"{path} has a key of type {type(key).__name__}"
            yield from _inexact(item, f"{path}.{key}")
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _inexact(item, f"{path}[{index}]")
    elif type(value) not in _EXACT:
        yield f"{path} is {type(value).__name__}, not an exact JSON type"
