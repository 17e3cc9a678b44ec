"""The requests of the load test: a hundred questions each, on a state that no other request shares.

The states are texts of the latency grid, of a length that is no shape of it, so that neither asks what the other did,
and no two of them share their first three words. The questions are the same in every request, as they are in use: two
choices, two statements and a scale about each of twenty topics. Nothing here has a right answer: only the time counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from decibench.cases.latency import Shape, latency_case
from decibench.cases.schema import Case, Choice, Noul, NoulCriteria, Question, Reference, Score

REQUESTS: Final = 10
"""Requests of a tick."""

QUESTIONS: Final = 100
"""Questions of a request: 40 choices of three or four options, 40 statements, 20 scales of five levels."""

_STATE: Final = Shape(words=120, options=2, questions=1)
_TOPICS: Final = (
    "harbour",
    "ferry",
    "orchard",
    "harvest",
    "kitchen",
    "bread",
    "library",
    "archive",
    "station",
    "luggage",
    "workshop",
    "garden",
    "theatre",
    "orchestra",
    "hospital",
    "school",
    "market",
    "mountain",
    "weather",
    "museum",
)
_PARTS: Final = {"beginning": "In its first third.", "middle": "In its second third.", "end": "In its last third."}
_DESKS: Final = {
    "front-desk": "Answers questions of visitors.",
    "planning": "Decides what is done when.",
    "repairs": "Mends what is broken.",
    "records": "Keeps what was written down.",
}
_LEVELS: Final = ("Not at all.", "In passing.", "In one sentence.", "In several sentences.", "Almost throughout.")


def load_case(number: int) -> Case:
    """The request ``number`` (from 0) of the load test, as a case whose references mean nothing.

    >>> case = load_case(0)
    >>> len(str(case.state).split()), len(case.questions)
    (120, 100)
    """
    questions = dict(_questions())
    return Case(
        id=f"load-{number}",
        group="load",
        family="load",
        variant="original",
        split="development",
        state=latency_case(_STATE, number).state,
        questions=questions,
        references={key: Reference(expected=question.options[0]) for key, question in questions.items()},
    )


def _questions() -> Iterator[tuple[str, Question]]:
    for topic in _TOPICS:
        where = f"Where in the text is the {topic} met first, or what comes nearest to it?"
        yield f"{topic}-where", Choice(type="choice", instructions=where, criteria=dict(_PARTS))
        named = NoulCriteria(true=f"The word {topic} stands in the text.", false=f"The word {topic} does not.")
        yield f"{topic}-named", Noul(type="noul", instructions=f"The text names the {topic}.", criteria=named)
        much = f"How much of the text has to do with the {topic}?"
        yield f"{topic}-much", Score(type="score", instructions=much, criteria=list(_LEVELS))
        desk = f"Which desk should take up what the text says about the {topic}?"
        yield f"{topic}-desk", Choice(type="choice", instructions=desk, criteria=dict(_DESKS))
        today = f"Someone has to look after the {topic} today."
        yield f"{topic}-today", Noul(type="noul", instructions=today, criteria=NoulCriteria())
