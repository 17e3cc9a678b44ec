"""What a shipped candidate's factory gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.settings import Settings
from decibench.cases.schema import Case


@dataclass(frozen=True, slots=True)
class Setup:
    """Device and settings of a candidate, and how it may use the network.

    ``development`` are the original cases of the development split, the only ones a candidate may be fitted on.
    """

    device: str
    settings: Settings = field(default_factory=Settings)
    development: Sequence[Case] = ()
    allowance: Allowance = field(default_factory=Allowance)
