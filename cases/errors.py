"""Errors of this folder: sentences that name the file, line and field, and say what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file."""

    file: str
    message: str
    line: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f", line {self.line}"
        if self.field:
            place += f", field {self.field}"
        return f"{place}: {self.message}"


class SuiteError(Exception):
    """A suite, an authoring file or a selection that cannot be used; carries every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


_REMEDIES = {
    "missing": "is missing; add it",
    "extra_forbidden": "is not a known field; remove it or correct its spelling",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "does not match the pattern {pattern}",
    "string_unicode": "holds a character that is not valid Unicode (a lone surrogate); remove it",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "float_type": "must be a number",
    "too_short": "has {actual_length} entries; at least {min_length} are needed",
    "too_long": "has too many entries; at most {max_length} are allowed",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "union_tag_not_found": 'needs a "type": choice, noul or score',
    "union_tag_invalid": "has the unknown type {tag!r}; use choice, noul or score",
}


def problems_of(error: ValidationError, file: str, line: int | None = None, prefix: str = "") -> list[Problem]:
    """Turn a pydantic error into problems; values are never repeated, so nothing private leaks.

    The question type that pydantic adds to a location is left out of the field's name.
    """
    found: dict[str, Problem] = {}
    for detail in error.errors(include_url=False, include_input=False):
        steps = _steps(detail["loc"])
        if steps and steps[-1] == "[key]":
            steps.pop()
        field = prefix + ".".join(steps)
        found.setdefault(field, Problem(file, _sentence(detail), line, field or None))
    return list(found.values())


def _steps(loc: Sequence[int | str]) -> list[str]:
    # The type follows a question's id, and a question may itself be called "score".
    types = {"choice", "noul", "score"}
    return [
        str(step)
        for index, step in enumerate(loc)
        if not (step in types and index > 1 and loc[index - 2] == "questions")
    ]


def _sentence(detail: Any) -> str:
    template = _REMEDIES.get(detail["type"])
    if template is None:
        message: str = detail["msg"]
        return message.removeprefix("Value error, ")
    sentence = template.format(**detail.get("ctx", {}))
    if detail["type"] == "string_pattern_mismatch" and detail["ctx"]["pattern"].startswith("^[a-z0-9]"):
        sentence += "; use lower-case letters, digits and hyphens"
    return sentence
