"""What an author writes: TOML files with questions, scenarios and facts, checked before anything is built."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.rules import FACTS, NO_TOOL, FamilyFacts, Tool
from decibench.cases.schema import Model, Name, Question, Split, Text
from decibench.cases.states import Position, quotes, without, words_of

AUTHORING: Final = Path(__file__).resolve().parent / "authoring"
WORDS: Final = range(25, 121)
"""Words allowed in a wording: enough for a situation, short enough for a 512-token window."""

M = TypeVar("M", bound=BaseModel)


class Texts(Model):
    """Passages that variants add: unrelated context, filler of long ones, injected instructions with a ``{demand}``."""

    irrelevant: Annotated[list[Text], Field(min_length=1)]
    filler: list[Text] = []
    injection_positions: Annotated[list[Position], Field(min_length=1)] = ["after"]
    injections: Annotated[list[Annotated[str, StringConstraints(pattern=r"\{demand\}")]], Field(min_length=1)]


class SuiteSource(Model):
    """The head of an authored suite: ``suite.toml``."""

    name: Name
    version: Text
    license: Text
    seed: Text
    families: Annotated[list[Name], Field(min_length=1)]
    splits: dict[Split, Annotated[int, Field(ge=1)]]
    variants: Annotated[list[Name], Field(min_length=1)]
    texts: Texts


class ScenarioSource(Model):
    """One situation in two wordings, with the facts its references follow from.

    ``decisive`` is a passage of the state, or a dotted key of a JSON state, without which the question is open.
    """

    slug: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+$")]
    number: Annotated[int, Field(ge=1, le=999)]
    difficulty: Literal["plain", "hard"] | None = None
    state: Text | dict[str, Any]
    paraphrase: Text | dict[str, Any]
    decisive: Text | None = None
    facts: dict[str, Any]


class QuestionSource(Model):
    """A question with its id; ``affirmative`` names the option that a yes would mean.

    The remaining fields are those of the question itself; a question about ``tools`` gets its criteria from them.
    """

    id: Text
    type: Literal["choice", "noul", "score"]
    instructions: Text
    criteria: Any = None
    affirmative: Text | None = None


class FamilySource(Model):
    """A family file: its questions and scenarios."""

    family: Name
    questions: Annotated[list[QuestionSource], Field(min_length=1)]
    tools: list[Tool] = []
    scenarios: Annotated[list[ScenarioSource], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Family:
    """A checked family: question models by id, and each scenario with its facts."""

    name: str
    questions: dict[str, Question]
    affirmative: dict[str, str]
    tools: tuple[Tool, ...]
    scenarios: tuple[tuple[ScenarioSource, FamilyFacts], ...]


class _Questions(Model):
    questions: dict[Text, Question]


def read_source(directory: Path) -> tuple[SuiteSource, list[Family]]:
    """Read ``suite.toml`` and the family files beside it; SuiteError lists everything that is wrong."""
    problems: list[Problem] = []
    source = _read(directory / "suite.toml", SuiteSource, problems)
    families: list[Family] = []
    for name in source.families if source else []:
        family = _read(directory / f"{name}.toml", FamilySource, problems)
        if family is not None:
            families.append(_check_family(family, name, problems))
    if problems or source is None:
        raise SuiteError(problems)
    return source, families


def _read(path: Path, model: type[M], problems: list[Problem]) -> M | None:
    try:
        return model.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        problems.append(Problem(path.name, f"cannot be read ({error.strerror}); it belongs in {path.parent}"))
    except ValidationError as error:
        problems += problems_of(error, path.name)
    except ValueError as error:
        problems.append(Problem(path.name, f"is not TOML: {error}"))
    except RecursionError:
        problems.append(Problem(path.name, "is not usable TOML: it is nested too deeply; flatten it"))
    return None


def _check_family(source: FamilySource, name: str, problems: list[Problem]) -> Family:
    file = f"{name}.toml"
    found = list(_check_scenarios(source, name, file))
    scenarios: list[tuple[ScenarioSource, FamilyFacts]] = []
    questions: dict[str, Question] = {}
    try:
        every = {tool.name: tool.description for tool in source.tools}
        bare = {
            q.id: q.model_dump(exclude={"id", "affirmative"}) | ({"criteria": every} if every else {})
            for q in source.questions
        }
        questions = _Questions.model_validate({"questions": bare}).questions
    except ValidationError as error:
        found += problems_of(error, file)
    rule = FACTS.get(source.family)
    if rule is None:
        known = ", ".join(FACTS)
        found.append(
            Problem(file, f"has no rule; add one for {source.family!r} to rules.py beside {known}", None, "family")
        )
    else:
        for scenario in source.scenarios:
            prefix = f"scenarios[{scenario.slug}].facts."
            try:
                facts = rule.model_validate(scenario.facts)
                facts.references(source.tools)
            except ValidationError as error:
                found += problems_of(error, file, prefix=prefix)
                continue
            except ValueError as error:
                found.append(Problem(file, str(error), None, prefix.rstrip(".")))
                continue
            scenarios.append((scenario, facts))
            for fact in facts.quoted():
                if not (quotes(scenario.state, fact) and quotes(scenario.paraphrase, fact)):
                    found.append(Problem(file, f"{fact!r} does not stand in both wordings", None, prefix.rstrip(".")))
    affirmative = {q.id: q.affirmative for q in source.questions if q.affirmative is not None}
    for key, option in affirmative.items():
        if key in questions and (len(questions[key].options) != 2 or option not in questions[key].options):
            found.append(
                Problem(
                    file,
                    f"{option} is not one of two options of {key}; name one or leave it out",
                    None,
                    "questions.affirmative",
                )
            )
    problems += found
    return Family(source.family, questions, affirmative, tuple(source.tools), tuple(scenarios))


def _check_scenarios(source: FamilySource, name: str, file: str) -> Iterator[Problem]:
    if source.family != name:
        yield Problem(file, f"is {source.family!r}; the file is named after its family", None, "family")
    ids = [question.id for question in source.questions]
    if len(set(ids)) != len(ids):
        yield Problem(file, "two questions share an id; rename one", None, "questions.id")
    tools = Counter(tool.name for tool in source.tools)
    for tool in (tool for tool, number in tools.items() if number > 1 or tool == NO_TOOL):
        yield Problem(file, f"{tool} is taken; every tool needs a name of its own", None, "tools.name")
    seen: dict[str | int, str] = {}
    for scenario in source.scenarios:
        for field, value in (("slug", scenario.slug), ("number", scenario.number)):
            if value in seen:
                yield Problem(file, f"{value} is taken by {seen[value]}; change one", None, f"{scenario.slug}.{field}")
            seen[value] = scenario.slug
        if scenario.decisive is not None:
            try:
                without(scenario.state, scenario.decisive)
            except KeyError:
                yield Problem(file, "does not stand in the state word for word", None, f"{scenario.slug}.decisive")
        for field, wording in (("state", scenario.state), ("paraphrase", scenario.paraphrase)):
            words = words_of(wording)
            if words not in WORDS:
                yield Problem(
                    file,
                    f"has {words} words; {WORDS[0]} to {WORDS[-1]} are allowed",
                    None,
                    f"{scenario.slug}.{field}",
                )
