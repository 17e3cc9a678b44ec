"""``llm-final``: free text whose last line states the choice, as ``FINAL: X``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from decibench.candidates.adapter import CandidateError, QuestionAnswer, QuestionFailure
from decibench.candidates.remote.llm.prompts import TASK, Prompt, user_text
from decibench.candidates.remote.llm.readout import Answers, Readout
from decibench.cases.request import Request
from decibench.cases.schema import Question

_MARK: Final = "FINAL:"
_DECORATION: Final = "*_` \t"
"""What a lenient reading takes off both ends: marks of emphasis and of code, and blanks."""

_SYSTEM: Final = (
    f"{TASK} You may reason first. The last line of your reply must be\n{_MARK} X\nwhere X is the name of the option "
    "that is the right answer. That line holds nothing else, and there is only one such line."
)


class FinalLine(Readout):
    """One request per question, so that every reply has one last line."""

    readout = "final"
    probability_readout = False

    def prompts(self, request: Request) -> Sequence[Prompt]:
        """A prompt per question; CandidateError (not-askable) where the name of an option is no line of its own."""
        for question in request.questions.values():
            if any(option.splitlines() != [option] for option in question.options):
                raise CandidateError("not-askable", "the name of an option spans several lines, which FINAL: X cannot")
        return [Prompt(_SYSTEM, user_text(request.state, {key: q})) for key, q in request.questions.items()]

    def answers(self, request: Request, contents: Sequence[Mapping[str, Any]]) -> Answers:
        """The answer in each reply."""
        return {
            key: self._answer(question, content)
            for (key, question), content in zip(request.questions.items(), contents, strict=True)
        }

    def _answer(self, question: Question, content: Mapping[str, Any]) -> QuestionAnswer | QuestionFailure:
        try:
            text = str(self._api.said(content, by_tool=False))
        except CandidateError as error:
            return QuestionFailure(error.code, error.detail)
        choice = strict_choice(text, question.options)
        if choice is not None:
            return QuestionAnswer(None, choice)
        detail = f"the reply does not end with exactly one line {_MARK} X that names an option"
        return QuestionFailure("format", detail, lenient_choice(text, question.options))


def strict_choice(text: str, options: Sequence[str]) -> str | None:
    r"""X of the last line that is not blank, where that is ``FINAL: X`` to the letter, X an option, and the only such.

    >>> strict_choice("Left is free.\nFINAL: left\n", ["left", "right"])
    'left'
    >>> strict_choice("FINAL: left\nFINAL: right", ["left", "right"])
    """
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(_MARK)]
    if len(marked) != 1 or marked[0] is not lines[-1]:
        return None
    return next((option for option in options if marked[0] == f"{_MARK} {option}"), None)


def lenient_choice(text: str, options: Sequence[str]) -> str | None:
    """The one option that lines name after ``FINAL:``, wherever they stand, without decoration and a full stop.

    Case counts. None where no line names an option, or lines name several.

    >>> lenient_choice("**FINAL: left.** I hope this helps.", ["left", "right"])
    >>> lenient_choice("**FINAL:** `left`.", ["left", "right"])
    'left'
    """
    bare: dict[str, set[str]] = {}
    for option in options:
        bare.setdefault(_bare(option), set()).add(option)
    named = [line.partition(_MARK)[2] for line in map(_bare, text.splitlines()) if line.startswith(_MARK)]
    found = set().union(*(bare.get(_bare(name), set()) for name in named))
    return found.pop() if len(found) == 1 else None


def _bare(text: str) -> str:
    return text.strip(_DECORATION).removesuffix(".").strip(_DECORATION)
