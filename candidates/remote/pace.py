"""When the next request may go: a rate limit, and the wait before a request is repeated."""

from __future__ import annotations

import email.utils
import math
import random
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

_FIRST_WAIT_S: Final = 0.5
_LONGEST_BACKOFF_S: Final = 8.0


class Pace:
    """Lets through ``per_minute`` requests per minute, evenly spaced; None never waits. Safe between threads."""

    def __init__(self, per_minute: float | None) -> None:
        self._distance = None if per_minute is None else 60 / per_minute
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Wait for the next free moment; the seconds it took."""
        if self._distance is None:
            return 0.0
        with self._lock:
            now = time.monotonic()
            moment = max(now, self._next)
            self._next = moment + self._distance
        time.sleep(moment - now)
        return moment - now


def wait_before(repetition: int, headers: Mapping[str, str]) -> float:
    """Seconds to wait before ``repetition`` (from 1) of a request that was refused with ``headers`` (lower-case names).

    What the server asks for by ``retry-after-ms``, else by ``Retry-After`` in seconds or as an HTTP date (RFC 9110,
    10.2.3); without a word of that 0.5 s, twice as long each time up to 8 s, less up to a quarter at random.

    >>> wait_before(1, {"retry-after": "2"})
    2.0
    >>> 0.75 <= wait_before(2, {}) <= 1.0
    True
    """
    asked = _asked_s(headers)
    if asked is not None:
        return asked
    backoff = min(_LONGEST_BACKOFF_S, _FIRST_WAIT_S * 2.0 ** (repetition - 1))
    return backoff * random.uniform(0.75, 1.0)


def _asked_s(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    try:
        moment = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        # A date without a zone is in GMT, as all of HTTP's are.
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (OverflowError, ValueError):
        return None
