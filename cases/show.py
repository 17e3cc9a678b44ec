"""A case as text: what the model sees, then the reference it never sees."""

from __future__ import annotations

import json
from collections.abc import Iterator

from decibench.cases.schema import Case, State


def show_case(case: Case) -> str:
    """The state, questions and options in the order the model sees them, then split and references."""
    return "\n".join([*what_the_model_sees(case), "", *_reference(case)])


def what_the_model_sees(case: Case) -> Iterator[str]:
    """Lines of the request: state, then each question with its options."""
    yield "State"
    yield from (f"  {line}".rstrip() for line in state_text(case.state).splitlines())
    for key, question in case.questions.items():
        yield ""
        yield f"Question {key} ({question.type}): {question.instructions}"
        width = max(len(option) for option in question.options)
        for option in question.options:
            yield f"  {option:<{width}}  {question.describe(option)}".rstrip()


def state_text(state: State) -> str:
    """A state as text: itself, or indented JSON."""
    return state if isinstance(state, str) else json.dumps(state, indent=2, ensure_ascii=False)


def _reference(case: Case) -> Iterator[str]:
    yield f"Reference of {case.id} (never shown to a model; group {case.group}, {case.split})"
    for key, reference in case.references.items():
        line = f"  {key}: expected {reference.expected}"
        if reference.unsafe:
            line += f"; unsafe {', '.join(reference.unsafe)}"
        if reference.demanded is not None:
            line += f"; the injected text demands {reference.demanded}"
        yield line
    if (link := case.counterfactual) is not None:
        yield f"  against {link.of}: {link.option} of {link.question} should go {link.direction}"
