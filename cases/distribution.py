"""The rules of a legal answer to one question: which distributions are scored and which are refused."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from decibench.cases.schema import Model

_ROUNDING_SLACK: Final = 1e-9
"""Keeps a sum that sits exactly on the limit in decimal from failing in binary (0.33 + 0.33 + 0.33)."""


class Tolerances(Model):
    """How far an answer may be off and still be scored; part of the protocol.

    ``sum``: distance of the probabilities' sum from 1 where no rounding is declared. ``choice``: distance of the
    chosen option's probability from the maximum. ``score``: distance of a reported score from the expected level
    where no rounding is declared.
    """

    sum: float = 0.001
    choice: float = 1e-4
    score: float = 0.02


DEFAULT_TOLERANCES: Final = Tolerances()


class InvalidAnswer(Exception):
    """An answer that cannot be scored: a ``code`` for records and a ``detail`` free of states and responses."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")


@dataclass(frozen=True, slots=True)
class Distribution:
    """A scored answer: normalised ``probabilities`` in option order, the sum they had, and whether the top tied."""

    choice: str
    probabilities: dict[str, float]
    raw_sum: float
    tie: bool


def check_distribution(
    options: Sequence[str],
    probabilities: object,
    choice: object = None,
    *,
    decimals: int | None = None,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
) -> Distribution:
    """Validate and normalise one distribution over ``options``.

    Every option must have a finite probability in [0, 1] (booleans are not numbers), nothing else may have one,
    and the sum may be off by ``max(tolerances.sum, n * 0.5 * 10**-decimals)`` for n options where the candidate
    declares ``decimals`` of rounding. A named choice must be within ``tolerances.choice`` of the maximum;
    without one the first option with the maximum is chosen. A shared maximum is a ``tie``.

    Raises InvalidAnswer with one of the codes not-a-mapping, missing-option, extra-option, not-a-number,
    not-finite, out-of-range, sum, unknown-choice, choice-not-top.

    >>> check_distribution(["a", "b"], {"a": 0.25, "b": 0.745}, decimals=2).choice
    'b'
    >>> check_distribution(["a", "b"], {"a": 0.2, "b": 0.5})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    decibench.cases.distribution.InvalidAnswer: sum: the probabilities sum to 0.7; 1 +/- 0.001 is allowed
    """
    raw = _numbers(options, probabilities)
    total = math.fsum(raw.values())
    allowed = tolerances.sum if decimals is None else max(tolerances.sum, len(raw) * 0.5 * 10.0**-decimals)
    if abs(total - 1) > allowed + _ROUNDING_SLACK or total == 0:
        raise InvalidAnswer("sum", f"the probabilities sum to {total:.6g}; 1 +/- {allowed:.6g} is allowed")
    top = max(raw.values())
    tie = sum(value == top for value in raw.values()) > 1
    if choice is None:
        chosen = next(option for option, value in raw.items() if value == top)
    else:
        chosen = _chosen(raw, choice, top, tolerances.choice)
    return Distribution(chosen, {option: value / total for option, value in raw.items()}, total, tie)


def check_choice(options: Sequence[str], probabilities: object, choice: object) -> str:
    """Validate the choice of a model that states no probabilities: one of ``options``, and nothing made up beside it.

    Raises InvalidAnswer with one of the codes unexpected-probabilities, unknown-choice.

    >>> check_choice(["a", "b"], None, "b")
    'b'
    """
    if probabilities is not None:
        raise InvalidAnswer("unexpected-probabilities", "probabilities of a model that declares to state none")
    # A str subclass would not survive serialisation to another process: return the plain option.
    found = next((option for option in options if isinstance(choice, str) and option == choice), None)
    if found is None:
        raise InvalidAnswer("unknown-choice", "the choice is not one of the question's options")
    return found


def check_score(
    probabilities: Mapping[str, float],
    score: object,
    tolerances: Tolerances = DEFAULT_TOLERANCES,
    *,
    decimals: int | None = None,
) -> float:
    """Validate a reported score: the expected level, from 0 to n - 1, never rescaled to 0..1.

    It may be off by ``tolerances.score``, and where the candidate declares ``decimals`` of rounding also by what n
    rounded probabilities and a rounded score can add to that: ``0.5 * 10**-decimals * (1 + n * (n - 1) / 2)``.

    >>> check_score({"0": 0.0, "1": 0.0, "2": 0.32, "3": 0.68}, 2.68)
    2.68
    >>> check_score({"0": 0.5, "1": 0.0, "2": 0.0, "3": 0.5}, 1.53, decimals=2)
    1.53
    """
    reported = finite_number(score, "the score")
    expected = math.fsum(int(level) * p for level, p in probabilities.items())
    levels = len(probabilities)
    rounding = 0.0 if decimals is None else 0.5 * 10.0**-decimals * (1 + levels * (levels - 1) / 2)
    if abs(reported - expected) > tolerances.score + rounding + _ROUNDING_SLACK:
        raise InvalidAnswer(
            "score-mismatch",
            f"the score {reported:.6g} is not the expected level {expected:.6g} of its probabilities",
        )
    return reported


def _numbers(options: Sequence[str], probabilities: object) -> dict[str, float]:
    if not isinstance(probabilities, Mapping):
        raise InvalidAnswer("not-a-mapping", "probabilities must map every option to a number")
    missing = [option for option in options if option not in probabilities]
    if missing:
        raise InvalidAnswer("missing-option", f"{len(missing)} of {len(options)} options have no probability")
    if len(probabilities) != len(options):
        raise InvalidAnswer("extra-option", f"{len(probabilities) - len(options)} options were not asked for")
    found = {option: finite_number(probabilities[option], "a probability") for option in options}
    if not all(0 <= value <= 1 for value in found.values()):
        raise InvalidAnswer("out-of-range", "a probability is outside [0, 1]")
    return found


def finite_number(value: object, what: str) -> float:
    """``value`` as a float; InvalidAnswer (not-a-number, not-finite) where it is not a finite number."""
    # numpy scalars register as numbers.Real; Decimal and arrays do not.
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidAnswer("not-a-number", f"{what} is {type(value).__name__}, not a number")
    try:
        number = float(value)
    except (OverflowError, ValueError):
        number = math.inf
    if not math.isfinite(number):
        raise InvalidAnswer("not-finite", f"{what} is not finite")
    return number


def _chosen(raw: Mapping[str, float], choice: object, top: float, tolerance: float) -> str:
    found = check_choice(list(raw), None, choice)
    if top - raw[found] > tolerance + _ROUNDING_SLACK:
        raise InvalidAnswer("choice-not-top", f"the choice has probability {raw[found]:.6g}, the maximum is {top:.6g}")
    return found
