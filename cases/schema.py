"""The models of a suite: questions, references, cases, and the manifest that freezes them.

A question has the shape of the System One wire format (``type``, ``instructions``, ``criteria``), so that
a case shown to a person, stored in a suite and sent to a model is the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from decibench.cases.jsonio import canonical_json

MAX_OPTIONS: Final = 255
"""Most options of a ``choice`` question: the documented limit of the System One protocol."""

MAX_DEPTH: Final = 50
"""Most objects and lists inside each other in free-form content: far from where a recursive function gives up."""

SUITE_SCHEMA: Final = "decibench.suite/1"

Split: TypeAlias = Literal["development", "calibration", "holdout"]
SPLITS: Final[tuple[Split, ...]] = ("development", "calibration", "holdout")

Role: TypeAlias = Literal["core", "attack", "probe"]
"""``core``: a correct answer must not change; ``attack``: injected instructions; ``probe``: reported apart."""


_Content = TypeVar("_Content")


def check_content(content: _Content) -> _Content:
    """Refuse content that could not be hashed or sent: pydantic looks into neither a plain str nor into Any."""
    if _depth(content) > MAX_DEPTH:
        raise ValueError(f"is nested more than {MAX_DEPTH} deep; flatten it")
    try:
        canonical_json(content).encode()
    except UnicodeEncodeError:
        raise ValueError("holds a character that is not valid Unicode (a lone surrogate); remove it") from None
    except ValueError:
        raise ValueError("holds a number that is not finite; write a smaller one") from None
    return content


def _depth(content: object) -> int:
    depth = 0
    level: Sequence[object] = [content]
    while level := [part for part in level if isinstance(part, dict | list)]:
        depth += 1
        level = [child for part in level for child in (part.values() if isinstance(part, dict) else part)]
    return depth


def _check_state(state: object) -> object:
    if not isinstance(state, str | dict | list):
        raise ValueError("must be a string, an object or a list")
    return check_content(state)


def _check_file_name(name: str) -> str:
    if name in (".", "..") or any(character in name for character in "/\\\0"):
        raise ValueError("must be the plain name of a file beside the manifest, without a folder")
    return name


State: TypeAlias = Annotated[str | dict[str, Any] | list[Any], BeforeValidator(_check_state)]
Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
"""Lower-case letters, digits and single hyphens: what ``pytest -k`` can select."""
Text: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Description: TypeAlias = Annotated[str, StringConstraints(min_length=0)]
"""May be empty. The constraint makes pydantic refuse lone surrogates, which it lets pass in a plain str."""
FileName: TypeAlias = Annotated[Text, AfterValidator(_check_file_name)]
Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Model(BaseModel):
    """Base of everything read from a file: exact types, no unknown fields, immutable."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        serialize_by_alias=True,
        validate_by_name=True,
        allow_inf_nan=False,
    )


class Choice(Model):
    """One of 2 to 255 named options; ``criteria`` maps each label to its description, in option order."""

    type: Literal["choice"]
    instructions: Text
    criteria: Annotated[dict[Text, Description | None], Field(min_length=2, max_length=MAX_OPTIONS)]

    @property
    def options(self) -> tuple[str, ...]:
        """The labels in the order the model sees them."""
        return tuple(self.criteria)

    def describe(self, option: str) -> str:
        """The description of ``option``; empty when it has none."""
        return self.criteria[option] or ""

    def to_wire(self) -> dict[str, Any]:
        """The question as the System One protocol sends it."""
        return {"type": self.type, "instructions": self.instructions, "criteria": dict(self.criteria)}


class NoulCriteria(Model):
    """What the two sides of a ``noul`` question mean; either may be left out."""

    true: Description | None = None
    false: Description | None = None


class Noul(Model):
    """A statement that holds or does not; its options are ``true`` and ``false``."""

    type: Literal["noul"]
    instructions: Text
    criteria: NoulCriteria = NoulCriteria()

    @property
    def options(self) -> tuple[str, ...]:
        """``("true", "false")``, the order in which ties are resolved."""
        return ("true", "false")

    def describe(self, option: str) -> str:
        """The criterion of one side; empty when it has none."""
        return (self.criteria.true if option == "true" else self.criteria.false) or ""

    def to_wire(self) -> dict[str, Any]:
        """The question as the System One protocol sends it; a side without a criterion is left out."""
        criteria = self.criteria.model_dump(exclude_none=True)
        return {"type": self.type, "instructions": self.instructions, "criteria": criteria}


class Score(Model):
    """An ordered scale of 2 to 10 levels, lowest first; the options are the level indices ``"0"``, ``"1"``, ..."""

    type: Literal["score"]
    instructions: Text
    criteria: Annotated[list[Text], Field(min_length=2, max_length=10)]

    @property
    def options(self) -> tuple[str, ...]:
        """The level indices as strings, lowest first."""
        return tuple(str(level) for level in range(len(self.criteria)))

    def describe(self, option: str) -> str:
        """The description of the level with this index."""
        return self.criteria[int(option)]

    def to_wire(self) -> dict[str, Any]:
        """The question as the System One protocol sends it."""
        return {"type": self.type, "instructions": self.instructions, "criteria": list(self.criteria)}


Question: TypeAlias = Annotated[Choice | Noul | Score, Field(discriminator="type")]


class Reference(Model):
    """What counts as right for one question.

    ``unsafe`` labels are wrong options that would do harm when acted on. ``demanded`` is the wrong label that
    an injected instruction asks for.
    """

    expected: Text
    unsafe: list[Text] = []
    demanded: Text | None = None


class Counterfactual(Model):
    """What a case changes against the case ``of``: here ``option`` of ``question`` should be more or less probable."""

    of: Name
    question: Text
    option: Text
    direction: Literal["up", "down"]


class Case(Model):
    """One request: a scenario (``group``) in one variant, with a reference for every question.

    ``tags`` are slices of the report, as ``{"difficulty": "hard"}``, and ``counterfactual`` links the case to another
    that it changes; a model never sees either.
    """

    id: Name
    group: Name
    family: Name
    variant: Name
    split: Split
    state: State
    questions: Annotated[dict[Text, Question], Field(min_length=1)]
    references: dict[Text, Reference]
    tags: dict[Name, Name] = {}
    counterfactual: Counterfactual | None = None


class SuiteFile(Model):
    """A file of cases with the hash of its bytes."""

    path: FileName
    sha256: Sha256
    cases: Annotated[int, Field(ge=1)]


class Counts(Model):
    """How many scenarios (groups) and cases there are."""

    scenarios: Annotated[int, Field(ge=1)]
    cases: Annotated[int, Field(ge=1)]


class VariantSpec(Model):
    """What a variant is for."""

    role: Role
    cases: Annotated[int, Field(ge=1)]


class Manifest(Model):
    """The frozen facts of a suite: a changed byte, count or role makes another suite."""

    schema_: Annotated[Literal["decibench.suite/1"], Field(alias="schema")]
    name: Name
    version: Text
    license: Text
    files: Annotated[list[SuiteFile], Field(min_length=1)]
    families: Annotated[dict[Name, Counts], Field(min_length=1)]
    variants: Annotated[dict[Name, VariantSpec], Field(min_length=1)]
    splits: Annotated[dict[Split, Counts], Field(min_length=1)]
