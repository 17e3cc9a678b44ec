"""Running a candidate's code, so that nothing it raises ends the run or brings its message into a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from decibench.candidates.adapter import CandidateError
from decibench.reports.record import Failure, failure_of

_Result = TypeVar("_Result")


def try_call(call: Callable[..., _Result], *arguments: Any) -> tuple[_Result, None] | tuple[None, BaseException]:
    """What ``call`` returns, or what it raises; only the user's own interruption passes.

    A library that exits, a cancelled task, pytest's own outcomes: to the benchmark all are ways to fail.
    """
    try:
        return call(*arguments), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error


def failure_from(error: BaseException, code: str) -> Failure:
    """A failure that names the kind of error and its place, or what a CandidateError says for itself."""
    place = raised_in(error)
    if isinstance(error, CandidateError):
        stated, _ = try_call(_stated, error, code, place)
        if stated is not None:
            return stated
    return failure_of(code, place)


def raised_in(error: BaseException) -> str:
    """Kind and place of ``error``; the message stays out, for it may quote a state or a key."""
    kind, trace = type(error).__name__, error.__traceback__
    if trace is None:
        return f"{kind} raised"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{kind} raised in {Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}"


def _stated(error: CandidateError, code: str, place: str) -> Failure:
    # A subclass that does not call __init__ lacks the fields; one of its own making may hold anything in them.
    return failure_of(
        getattr(error, "code", code), getattr(error, "detail", place), fatal=bool(getattr(error, "fatal", False))
    )
