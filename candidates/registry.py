"""The shipped candidates by name; nothing is imported before a candidate is built."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from decibench.candidates.adapter import Candidate, Setup


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a candidate's factory lives, what it needs, and what may be set.

    ``module`` and ``extra`` name an import that must be there and the extra that installs it.
    """

    target: str
    about: str
    needs: str = "nothing beyond decibench"
    module: str | None = None
    extra: str | None = None
    takes_model: bool = False

    def missing(self) -> str | None:
        """The remedy where the needed package is not installed, else None."""
        if self.module is None or importlib.util.find_spec(self.module) is not None:
            return None
        return f"needs the package {self.module.replace('_', '-')}: pip install 'decibench[{self.extra}]'"

    def create(self, setup: Setup) -> Candidate:
        """Import the factory and build the candidate."""
        module, _, factory = self.target.partition(":")
        make: Callable[[Setup], Candidate] = getattr(importlib.import_module(module), factory)
        return make(setup)


REGISTRY: Final[dict[str, Entry]] = {
    "baseline": Entry("decibench.candidates.baseline:create", "Word overlap between state and option, softmax."),
    "uniform": Entry("decibench.candidates.references:create_uniform", "The same probability for every option."),
    "first-option": Entry("decibench.candidates.references:create_first_option", "Always the first option."),
    "majority": Entry(
        "decibench.candidates.references:create_majority",
        "The commonest answer per set of options in the development split.",
    ),
    "sparrow": Entry(
        "decibench.candidates.sparrow:create",
        "A 2.2 MB distilled model: pooled static word embeddings and an MLP, blind to word order.",
        needs="the extra sparrow (pip install 'decibench[sparrow]'); its weights come inside the wheel",
        module="sparrow_decider",
        extra="sparrow",
        takes_model=True,
    ),
}
