"""How a run may use the network, as its options say, and what of it each of its processes may."""

from __future__ import annotations

from dataclasses import dataclass, field

from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.budget import Budget
from decibench.candidates.remote.prices import PriceTable


@dataclass(frozen=True, slots=True)
class Network:
    """Options about remote candidates: ``rate_limit`` in requests per minute, ``max_usd`` for the whole run."""

    retries: int = 0
    deadline_s: float | None = None
    rate_limit: float | None = None
    max_usd: float | None = None
    prices: PriceTable = field(default_factory=PriceTable)
    keep_raw: bool = False

    @property
    def chosen(self) -> list[str]:
        """The options that were given and are of no use without a remote candidate."""
        given = {
            "--retries": self.retries > 0,
            "--deadline": self.deadline_s is not None,
            "--rate-limit": self.rate_limit is not None,
            "--max-usd": self.max_usd is not None,
            "--keep-raw": self.keep_raw,
        }
        return [option for option, is_given in given.items() if is_given]

    def allowance(self, workers: int) -> Allowance:
        """What one of ``workers`` processes may do: rate and money are divided among them."""
        return Allowance(
            retries=self.retries,
            deadline_s=self.deadline_s,
            requests_per_minute=None if self.rate_limit is None else self.rate_limit / workers,
            budget=Budget(None if self.max_usd is None else self.max_usd / workers),
            prices=self.prices,
            keep_raw=self.keep_raw,
        )
