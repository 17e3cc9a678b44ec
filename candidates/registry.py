"""The shipped candidates by name; nothing is imported before a candidate is built."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from decibench.candidates.adapter import Candidate, Setup


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a candidate's factory lives, what it needs, and what may be set.

    ``preflight`` names a function of the chosen model that returns the remedy where the candidate cannot be built.
    """

    target: str
    about: str
    needs: str = "nothing beyond decibench"
    preflight: str | None = None
    takes_model: bool = False

    def check(self, model: str | None) -> str | None:
        """The remedy where the candidate cannot be built with ``model``, else None; builds nothing."""
        if self.preflight is None:
            return None
        remedy: str | None = _named(self.preflight)(model)
        return remedy

    def create(self, setup: Setup) -> Candidate:
        """Import the factory and build the candidate."""
        candidate: Candidate = _named(self.target)(setup)
        return candidate


def _named(target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


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
        preflight="decibench.candidates.sparrow:preflight",
        takes_model=True,
    ),
}
