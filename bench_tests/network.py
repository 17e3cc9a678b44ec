"""How a run may use the network, as its options say, and what of it each of its processes may."""

from __future__ import annotations

from dataclasses import dataclass, field

from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.budget import Budget
from decibench.candidates.remote.prices import PriceTable
from decibench.candidates.remote.settings import RemoteSettings
from decibench.candidates.settings import Settings


@dataclass(frozen=True, slots=True)
class Network:
    """Options about remote candidates: ``rate_limit`` in requests per minute, ``max_usd`` for the whole run.

    ``given`` names those that were given.
    """

    retries: int = 0
    deadline_s: float | None = None
    rate_limit: float | None = None
    max_usd: float | None = None
    prices: PriceTable = field(default_factory=PriceTable)
    keep_raw: bool = False
    given: tuple[str, ...] = ()

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

    def deadline_of(self, settings: RemoteSettings) -> float:
        """Seconds that an attempt may take: what the run says goes before what the candidate says."""
        return self.deadline_s or settings.deadline_s

    def terms(self, settings: Settings) -> dict[str, float | int]:
        """What of the network is a term of a candidate's run, by its name in a journal; nothing of a local one."""
        if not isinstance(settings, RemoteSettings):
            return {}
        return {"deadline_s": self.deadline_of(settings), "retries": self.retries}
