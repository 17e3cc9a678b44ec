"""How a run may use the network: what each of its processes allows its remote candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

from decibench.candidates.remote.budget import Budget
from decibench.candidates.remote.prices import PriceTable


@dataclass(frozen=True, slots=True)
class Allowance:
    """Rules of the run for every remote candidate.

    ``deadline_s`` is that of each attempt, None for what the candidate says. ``requests_per_minute`` is the share of
    this process, for each candidate. ``budget`` is shared by all candidates of this process. With ``keep_raw`` the
    text of replies is kept.
    """

    retries: int = 0
    deadline_s: float | None = None
    requests_per_minute: float | None = None
    budget: Budget = field(default_factory=Budget)
    prices: PriceTable = field(default_factory=PriceTable)
    keep_raw: bool = False
