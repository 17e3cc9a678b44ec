"""A user's own file: what its candidate must offer, and that it runs as an ordinary module."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from decibench.candidates.adapter import Candidate, Identity, QuestionAnswer
from decibench.candidates.config import CandidateSpec, resolve_candidates
from decibench.cases.door import UsageError
from decibench.cases.request import Request
from decibench.cases.schema import Choice

Own = Callable[..., CandidateSpec]
REQUEST = Request("go", {"q": Choice(type="choice", instructions="?", criteria={"left": "", "right": ""})})
HEAD = "from decibench.candidates.adapter import Answer, Identity, LocalCandidate, QuestionAnswer\n"
METHODS = {
    "identity": "    identity = Identity(model='mine')\n",
    "decide": (
        "    def decide(self, request):\n"
        "        return Answer({k: QuestionAnswer({'left': 0.9, 'right': 0.1}) for k in request.questions})\n"
    ),
    "synchronize": "    def synchronize(self): ...\n",
    "close": "    def close(self): ...\n",
}
FACTORY = "def create_candidate(device):\n    return Mine()\n"


@pytest.fixture
def own(tmp_path: Path) -> Own:
    """Write a candidate file and resolve it."""

    def make(text: str, device: str | None = None, name: str = "mine.py") -> CandidateSpec:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        [spec] = resolve_candidates([str(path)], file=None, device=device)
        return spec

    return make


def mine(**changes: str) -> str:
    return HEAD + "class Mine:\n" + "".join((METHODS | changes).values()) + FACTORY


def test_a_class_with_the_four_members_is_a_candidate(own: Own) -> None:
    candidate = own(mine()).create(())
    assert candidate.identity == Identity(model="mine")
    assert candidate.decide(REQUEST).questions == {"q": QuestionAnswer({"left": 0.9, "right": 0.1})}


@pytest.mark.parametrize("method", ["decide", "synchronize", "close"])
@pytest.mark.parametrize("instead", ["", "    {} = None\n"])
def test_a_missing_method_is_named_with_the_file(own: Own, method: str, instead: str) -> None:
    spec = own(mine(**{method: instead.format(method)}))
    with pytest.raises(TypeError, match=rf"mine\.py: the candidate has no {method}\(\); see candidates/adapter\.py"):
        spec.create(())


@pytest.mark.parametrize("instead", ["", "    identity = 'mine'\n", "    identity = {'model': 'mine'}\n"])
def test_a_missing_or_foreign_identity_is_named_with_the_file(own: Own, instead: str) -> None:
    spec = own(mine(identity=instead))
    with pytest.raises(TypeError, match=r"mine\.py: the candidate's identity must be an Identity\(model=\.\.\.\)"):
        spec.create(())


def test_a_factory_that_returns_nothing_is_told_what_is_missing(own: Own) -> None:
    spec = own("def create_candidate(device): ...\n")
    with pytest.raises(TypeError, match=r"mine\.py: the candidate has no decide\(\)"):
        spec.create(())


def test_what_a_file_raises_passes_through(own: Own) -> None:
    with pytest.raises(ZeroDivisionError):
        own("1 / 0\n" + mine()).create(())
    with pytest.raises(LookupError, match="no weights"):
        own(HEAD + "def create_candidate(device):\n    raise LookupError('no weights')\n").create(())


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_the_factory_gets_the_device(own: Own, device: str) -> None:
    text = mine(identity="    def __init__(self, device): self.identity = Identity(model='mine', device=device)\n")
    spec = own(text.replace("return Mine()", "return Mine(device)"), device)
    assert spec.create(()).identity.device == device


def test_dataclasses_with_deferred_annotations_work_in_a_file(own: Own) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import KW_ONLY, dataclass, field\n"
        + HEAD
        + "@dataclass\nclass Weights:\n    left: float = 0.75\n    _: KW_ONLY\n"
        + "    names: list[str] = field(default_factory=list)\n"
        + "@dataclass(frozen=True, slots=True)\nclass Mine(LocalCandidate):\n    weights: Weights\n"
        + "    @property\n    def identity(self):\n        return Identity(model='mine')\n"
        + "    def decide(self, request):\n        p = self.weights.left\n"
        + "        return Answer({'q': QuestionAnswer({'left': p, 'right': 1 - p})})\n"
        + "def create_candidate(device):\n    return Mine(Weights())\n"
    )
    answer = own(text).create(()).decide(REQUEST)
    assert answer.questions == {"q": QuestionAnswer({"left": 0.75, "right": 0.25})}


def test_two_files_of_one_stem_are_two_modules(own: Own) -> None:
    built: list[Candidate] = []
    for folder, model in (("a", "one"), ("b", "two")):
        text = mine(identity=f"    identity = Identity(model={model!r})\n")
        built.append(own(text, name=f"{folder}/mine.py").create(()))
    assert [candidate.identity.model for candidate in built] == ["one", "two"]


def test_a_file_called_like_a_library_does_not_replace_it(own: Own) -> None:
    import json

    own(mine(), name="json.py").create(())
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = " + "-" * 200_000 + "1\n", id="signs"),
        pytest.param("x = " + "1 + " * 30_000 + "1\n", id="sum"),
        pytest.param("x = " + "(" * 5_000 + ")" * 5_000 + "\n", id="brackets"),
    ],
)
def test_a_file_that_is_nested_too_deeply_is_a_sentence(own: Own, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        own(text + mine())
    assert "mine.py is n" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_too_long_for_a_folder_is_refused(own: Own) -> None:
    with pytest.raises(UsageError, match=r"has 150 characters; use at most 100"):
        own(mine(), name="m" * 150 + ".py")


def test_a_relative_path_holds_wherever_the_process_goes(
    own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(mine())
    monkeypatch.chdir(tmp_path)
    [spec] = resolve_candidates(["./mine.py"], file=None, device=None)
    monkeypatch.chdir("/")
    assert spec.create(()).identity == Identity(model="mine")


def test_the_source_of_a_file_is_hashed_and_that_of_a_shipped_candidate_is_not(own: Own) -> None:
    spec = own(mine())
    assert spec.path is not None
    assert spec.source_sha256 == hashlib.sha256(spec.path.read_bytes()).hexdigest()
    [shipped] = resolve_candidates(["baseline"], file=None, device=None)
    assert shipped.source_sha256 is None
