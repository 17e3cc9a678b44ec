"""What a process may spend: a request is refused before it could go beyond the limit."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from decibench.candidates.adapter import CandidateError, Usage
from decibench.candidates.remote.prices import Price


@dataclass
class Budget:
    """US dollars that this process may spend, over all its candidates; None sets no limit. Safe between threads.

    What is booked never goes beyond the limit by a request that was let through, unless a provider charged more than
    was set aside for it.
    """

    limit_usd: float | None = None
    _booked_usd: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def book(self, usd: float) -> float | None:
        """Book ``usd`` and return None; where that would go beyond the limit book nothing: what is left of it."""
        with self._lock:
            if self.limit_usd is not None and self._booked_usd + usd > self.limit_usd:
                return max(0.0, self.limit_usd - self._booked_usd)
            self._booked_usd += usd
            return None

    def correct(self, usd: float) -> None:
        """Add ``usd``, negative where less was spent than was booked."""
        with self._lock:
            self._booked_usd += usd


@dataclass(frozen=True, slots=True)
class Spending:
    """What one candidate spends of ``budget``, at ``price``."""

    budget: Budget
    price: Price | None
    most_output_tokens: int | None

    def reserve(self, body_bytes: int) -> float:
        """Set aside the most US dollars that a request can cost; CandidateError (budget-spent, fatal) if not there."""
        limit = self.budget.limit_usd
        if limit is None:
            return 0.0
        most = None if self.price is None else self.price.most(body_bytes, self.most_output_tokens)
        if most is None:
            raise _refused("what the next request can cost is not known")
        left = self.budget.book(most)
        if left is not None:
            raise _refused(f"the next request can cost {most:.6f} USD, and {left:.6f} USD of {limit:.6g} are left")
        return most

    def settle(self, reserved_usd: float, usage: Usage) -> None:
        """Book what a request cost instead of ``reserved_usd``; all of that where ``usage`` does not tell."""
        spent = None if self.price is None else self.price.of(usage)
        if spent is not None and self.budget.limit_usd is not None:
            self.budget.correct(spent - reserved_usd)


def _refused(reason: str) -> CandidateError:
    detail = f"this process has spent its share of --max-usd: {reason}"
    return CandidateError("budget-spent", detail, fatal=True, unasked=True)
