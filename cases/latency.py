"""The latency grid: requests of fixed shapes, each with a state of its own.

The texts are made of a frozen list of words by a seeded hash, so that they are the same everywhere, and no two states
share their first three words, so that nothing kept from an earlier state of a run can answer a later one. The questions
of a shape stay the same, as they do in use. Nothing here has a right answer: only the time counts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import product
from typing import Final

from decibench.cases.schema import Case, Choice, Question, Reference

_SEED: Final = "decibench-latency-1"
_SENTENCE: Final = 12
_TEXT: Final = """
harbour crane barge pilot anchor ferry rope lantern tide jetty buoy cargo hull deck captain compass orchard apple
ladder basket cider blossom frost hedge beehive pruning meadow gate barn tractor harvest straw kitchen kettle oven
ladle pepper bread recipe butter spoon apron pantry onion vinegar saucer napkin pastry library shelf catalogue reader
margin binding ink parchment librarian archive chapter index folio desk lamp silence station platform signal carriage
timetable whistle conductor tunnel junction ticket luggage porter bridge clock bench arrival workshop hammer chisel
bolt drill plank varnish saw apprentice vice hinge screw sander pencil ruler drawer garden spade rake tulip compost
trellis fountain gravel sparrow hose fern bulb lawn shears seedling robin theatre curtain actor costume rehearsal
balcony prompter scene applause mask orchestra violin ballet usher programme stage hospital ward nurse chart bandage
surgeon clinic pharmacy visitor thermometer stretcher corridor pillow blanket remedy dosage school chalk pupil lesson
satchel atlas globe exam blackboard teacher recess notebook essay grammar choir trophy market stall vendor scale coin
bargain cheese basketful awning crate fishmonger receipt customer flour honey queue mountain ridge glacier summit
boulder trail cabin avalanche eagle valley stream pass shepherd snow cairn echo weather cloud thunder drizzle
barometer breeze fog hail forecast rainbow storm sunrise dusk drought icicle shower letter envelope stamp courier
parcel address postcard ribbon sealing mailbox signature paragraph greeting reply postmark sender river otter reed dam
canoe waterfall heron delta ford mill lock paddle willow trout current bank museum statue gallery curator fossil
pottery tapestry portrait exhibit guide coat marble mosaic relic plinth vault
"""
_WORDS: Final = tuple(_TEXT.split())
"""256 of them, so that a byte chooses one."""
_INSTRUCTIONS: Final = (
    "Which desk should take this up first?",
    "Which list should this be entered in?",
    "Which shelf does the reply belong on?",
    "Which team should hear of it afterwards?",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a request: words in the state, options of each question, questions."""

    words: int
    options: int
    questions: int

    @property
    def id(self) -> str:
        """The shape in lower-case letters, digits and hyphens.

        >>> Shape(300, 8, 1).id
        'words-300-options-8-questions-1'
        """
        return f"words-{self.words}-options-{self.options}-questions-{self.questions}"


SHAPES: Final = tuple(Shape(*sizes) for sizes in product((30, 300, 3000), (2, 8, 32), (1, 4)))
"""The frozen grid: every combination of three lengths of the state, three numbers of options, and one or four
questions."""


def latency_case(shape: Shape, number: int) -> Case:
    """The request ``number`` of ``shape``, as a case whose references mean nothing.

    >>> case = latency_case(Shape(30, 2, 1), 0)
    >>> len(str(case.state).split()), [len(question.options) for question in case.questions.values()]
    (30, [2])
    """
    questions = _questions(shape)
    return Case(
        id=f"latency-{shape.id}-{number}",
        group=f"latency-{shape.id}",
        family="latency",
        variant="original",
        split="development",
        state=_state(shape, number),
        questions=questions,
        references={key: Reference(expected=question.options[0]) for key, question in questions.items()},
    )


def _state(shape: Shape, number: int) -> str:
    """Sentences of twelve words, each word chosen by a byte of the hash."""
    blocks = range(shape.words // 32 + 1)
    seed = f"{_SEED}|{shape.id}|{number}"
    stream = b"".join(hashlib.sha256(f"{seed}|{block}".encode()).digest() for block in blocks)
    words = [_WORDS[byte] for byte in stream[: shape.words]]
    starts = range(0, shape.words, _SENTENCE)
    return " ".join(" ".join(words[start : start + _SENTENCE]).capitalize() + "." for start in starts)


def _questions(shape: Shape) -> dict[str, Question]:
    questions: dict[str, Question] = {}
    for place, instructions in enumerate(_INSTRUCTIONS[: shape.questions]):
        first = place * len(_WORDS) // len(_INSTRUCTIONS)
        criteria: dict[str, str | None] = {
            word: f"Everything that has to do with the {word}." for word in _WORDS[first : first + shape.options]
        }
        questions[f"question-{place + 1}"] = Choice(type="choice", instructions=instructions, criteria=criteria)
    return questions
