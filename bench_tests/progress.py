"""One line on a terminal that says how far the run is, how fast, and how long it will take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

_REFRESH_S = 0.1


@dataclass
class Progress:
    """Rewrites its line through ``write`` at most ten times a second, and once at the end."""

    total: int
    write: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _start: float = field(init=False)
    _shown: float = field(init=False, default=-1.0)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def update(self, counts: Counter[str], candidate: str) -> None:
        """Show ``counts`` of outcomes (correct, missed, failed) so far."""
        now, done = self.clock(), counts.total()
        if done < self.total and now - self._shown < _REFRESH_S:
            return
        self._shown = now
        self.write(progress_line(counts, self.total, now - self._start, candidate))


def progress_line(counts: Counter[str], total: int, seconds: float, candidate: str) -> str:
    """The line itself.

    >>> progress_line(Counter(correct=30, missed=18, failed=2), 100, 5.0, "baseline")
    'baseline 50/100, 10.0/s, 0:05 left, 18 missed, 2 failed'
    """
    done = counts.total()
    rate = done / seconds if seconds > 0 else 0.0
    left = round((total - done) / rate) if rate else 0
    return (
        f"{candidate} {done}/{total}, {rate:.1f}/s, {left // 60}:{left % 60:02} left, "
        f"{counts['missed']} missed, {counts['failed']} failed"
    )
