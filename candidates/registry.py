"""The shipped candidates by name; nothing is imported before a candidate is built."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Final

from decibench.candidates.adapter import Candidate
from decibench.candidates.remote.wire import Wire
from decibench.candidates.settings import Settings
from decibench.candidates.setup import Setup


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a candidate's factory lives, what it needs, and what may be set.

    ``target`` names a function of a Setup, or for a ``remote`` candidate the class of its wire format. ``settings``
    names the model of what may be set. ``preflight`` names a function of those settings that returns the remedy where
    the candidate cannot be built.
    """

    target: str
    about: str
    needs: str = "nothing beyond decibench"
    settings: str = "decibench.candidates.settings:Settings"
    preflight: str | None = None
    remote: bool = False

    @property
    def settings_model(self) -> type[Settings]:
        """The model of what may be set."""
        model: type[Settings] = _named(self.settings)
        return model

    def check(self, settings: Settings) -> str | None:
        """The remedy where the candidate cannot be built with ``settings``, else None; builds nothing."""
        if self.preflight is None:
            return None
        remedy: str | None = _named(self.preflight)(settings)
        return remedy

    def wire(self, settings: Settings) -> Wire:
        """The wire format of a ``remote`` candidate: without a key, and without a connection."""
        wire: Wire = _named(self.target)(settings)
        return wire

    def create(self, setup: Setup) -> Candidate:
        """Import the factory and build the candidate."""
        if self.remote:
            from decibench.candidates.remote.candidate import RemoteCandidate

            return RemoteCandidate(self.wire(setup.settings), setup.allowance)
        candidate: Candidate = _named(self.target)(setup)
        return candidate


def _named(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


REGISTRY: Final[dict[str, Entry]] = {
    "baseline": Entry("decibench.candidates.baseline:create", "Word overlap between state and option, softmax."),
    "uniform": Entry("decibench.candidates.references:create_uniform", "The same probability for every option."),
    "first-option": Entry("decibench.candidates.references:create_first_option", "Always the first option."),
    "majority": Entry(
        "decibench.candidates.references:create_majority",
        "The commonest answer per set of options in the development split.",
    ),
    "fitted": Entry(
        "decibench.candidates.fitted:create",
        "TF-IDF and logistic regression over (state, option) pairs, fitted on the development split.",
    ),
    "sparrow": Entry(
        "decibench.candidates.sparrow:create",
        "A 2.2 MB distilled model: pooled static word embeddings and an MLP, blind to word order.",
        needs="the extra sparrow (pip install 'decibench[sparrow]'); its weights come inside the wheel",
        settings="decibench.candidates.settings:ModelSettings",
        preflight="decibench.candidates.sparrow:preflight",
    ),
    "systemone": Entry(
        "decibench.candidates.remote.systemone:SystemOne",
        "Any server that speaks the System One protocol: POST {endpoint}/v1/systemone.",
        needs="endpoint and model, by a candidates file or by --endpoint and --model",
        settings="decibench.candidates.remote.systemone:SystemOneSettings",
        remote=True,
    ),
    "jev": Entry(
        "decibench.candidates.remote.systemone:SystemOne",
        "TypeSafe's Jev, pinned to jev-1.13.0.",
        needs="a key in TYPESAFE_API_KEY",
        settings="decibench.candidates.remote.systemone:JevSettings",
        remote=True,
    ),
    "decisions": Entry(
        "decibench.candidates.remote.decisions:Decisions",
        "Any server that speaks the OpenAI-style decisions API: POST {endpoint}/v1/decisions.",
        needs="endpoint and model, by a candidates file or by --endpoint and --model",
        settings="decibench.candidates.remote.decisions:DecisionsSettings",
        remote=True,
    ),
    "llm-probabilities": Entry(
        "decibench.candidates.remote.llm.probabilities:Probabilities",
        "A language model that states a choice and the probability of every option, held to a JSON schema.",
        needs="provider, endpoint, model and max_tokens, by a candidates file",
        settings="decibench.candidates.remote.llm.settings:ProbabilitiesSettings",
        remote=True,
    ),
    "llm-labels": Entry(
        "decibench.candidates.remote.llm.labels:Labels",
        "A language model that states choices only, held to a JSON schema: no probability metrics.",
        needs="provider, endpoint, model and max_tokens, by a candidates file",
        settings="decibench.candidates.remote.llm.settings:LabelsSettings",
        remote=True,
    ),
    "llm-final": Entry(
        "decibench.candidates.remote.llm.final:FinalLine",
        "A language model that ends its text with a line FINAL: X: no probability metrics.",
        needs="provider, endpoint, model and max_tokens, by a candidates file",
        settings="decibench.candidates.remote.llm.settings:FinalSettings",
        remote=True,
    ),
}
