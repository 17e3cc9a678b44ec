"""``sparrow``: the sparrow-decider models whose weights ship inside their wheel (Apache-2.0, numpy only).

Small distilled models of mean-pooled static embeddings and an MLP. Word order is ignored, and their author says
that yes/no questions are near chance.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from decibench.candidates.adapter import (
    Answer,
    CandidateError,
    Identity,
    LocalCandidate,
    QuestionAnswer,
)
from decibench.candidates.settings import ModelSettings, Settings
from decibench.candidates.setup import Setup
from decibench.cases.request import Request

DEFAULT_MODEL = "sparrow-nano-general-v1.1"


class Sparrow(LocalCandidate):
    """A sparrow-decider model read through its unrounded probabilities."""

    def __init__(self, model: str) -> None:
        import sparrow_decider

        path = _weights(model)
        self._decider = sparrow_decider.Decider.load(str(path))
        static = self._decider.static
        if static is None:
            raise CandidateError("unsupported-model", f"{path.stem} is not one of the static models read here")
        self._window: int = static.max_len
        self._tokenize: Callable[[str, int], list[int]] = static.tok.encode
        self.identity = Identity(
            model=self._decider.name,
            file_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            packages={name: importlib.metadata.version(name) for name in ("sparrow-decider", "numpy")},
            dtype="float32",
            settings={"window_tokens": self._window},
        )

    def decide(self, request: Request) -> Answer:
        """Ask each question; a text beyond the window is an error, because the model would cut it silently."""
        wire = request.to_wire()
        self._check_fit("state", wire["state"])
        answers = {key: self._ask(wire["state"], question) for key, question in wire["questions"].items()}
        return Answer(answers, model=self.identity.model)

    def _ask(self, state: Any, question: dict[str, Any]) -> QuestionAnswer:
        self._check_fit("question", question["instructions"])
        _, names, descriptions, values = self._decider.probs(state, question)
        for name, description in zip(names, descriptions, strict=True):
            self._check_fit("option", f"{name} {description}")
        return QuestionAnswer({name: float(value) for name, value in zip(names, values, strict=True)})

    def _check_fit(self, what: str, content: Any) -> None:
        # The way the model itself turns content into text. In ASCII a token holds at least one character;
        # elsewhere one character can become several tokens (a Korean syllable is taken apart).
        text = content.strip() if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
        short = text.isascii() and len(text) <= self._window
        if not short and len(self._tokenize(text, self._window + 1)) > self._window:
            raise CandidateError(f"{what}-too-long", f"the {what} does not fit the window of {self._window} tokens")


def create(setup: Setup) -> Sparrow:
    """Load the model that the settings name, by default the general one."""
    return Sparrow(_model(setup.settings))


def preflight(settings: Settings) -> str | None:
    """The remedy where the package or the model is not there, found without importing the package."""
    if importlib.util.find_spec("sparrow_decider") is None:
        return "needs the package sparrow-decider: pip install 'decibench[sparrow]'"
    try:
        _weights(_model(settings))
    except CandidateError as error:
        return error.detail
    return None


def _model(settings: Settings) -> str:
    assert isinstance(settings, ModelSettings)
    return settings.model or DEFAULT_MODEL


def _weights(model: str) -> Path:
    """The newest bundled weights whose name starts with ``model``; ``sparrow-`` may be left out."""
    spec = importlib.util.find_spec("sparrow_decider")
    assert spec is not None
    folder = Path(next(iter(spec.submodule_search_locations or ()))) / "models"
    bundled = sorted(folder.glob("*.sparrow"))
    # Compared as text: a model's name is no pattern.
    found = [path for path in bundled if path.stem.startswith(f"sparrow-{model.removeprefix('sparrow-')}")]
    if not found:
        known = ", ".join(path.stem for path in bundled)
        raise CandidateError("unknown-model", f"bundles no model {model!r}; use {known}")
    return found[-1]
