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
    _start: float | None = field(init=False, default=None)
    _before: int = field(init=False, default=0)
    _shown: float = field(init=False, default=-1.0)

    def update(self, counts: Counter[str], candidate: str) -> None:
        """Show ``counts`` of outcomes (correct, missed, failed) so far."""
        now, done = self.clock(), counts.total()
        if self._start is None:
            # The first outcome had to wait for its candidate to load, which says nothing about those to come.
            self._start, self._before = now, done
        if done < self.total and now - self._shown < _REFRESH_S:
            return
        self._shown = now
        seconds = now - self._start
        rate = (done - self._before) / seconds if seconds > 0 else None
        self.write(progress_line(counts, self.total, rate, candidate))


def progress_line(counts: Counter[str], total: int, rate: float | None, candidate: str) -> str:
    """The line itself; ``rate`` is in items per second, None or 0 where it is not known yet.

    >>> progress_line(Counter(correct=30, missed=18, failed=2), 100, 10.0, "baseline")
    'baseline 50/100, 10.0/s, 0:05 left, 18 missed, 2 failed'
    >>> progress_line(Counter(correct=1), 100, None, "baseline")
    'baseline 1/100, 0 missed, 0 failed'
    """
    done = counts.total()
    pace = ""
    if rate:
        left = round((total - done) / rate)
        pace = f"{rate:.1f}/s, {left // 60}:{left % 60:02} left, "
    return f"{candidate} {done}/{total}, {pace}{counts['missed']} missed, {counts['failed']} failed"
