"""What a server tells of its cache: counters of hits and misses under ``GET {endpoint}/health``, where it has them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from decibench.candidates.remote.settings import RemoteSettings
from decibench.cases.jsonio import read_json
from decibench.reports.load import CacheCounts
from decibench.reports.record import MOST_TOKENS

_NAMES: Final = ("cache", "prefix_cache")
_DEADLINE_S: Final = 5.0
_MOST_BYTES: Final = 64 * 1024


@dataclass
class CacheReader:
    """Reads the counters of the server behind ``settings``, without a key; one that reports none is not asked again."""

    settings: RemoteSettings
    _silent: bool = False

    def read(self) -> CacheCounts | None:
        """Hits and misses since the server began; None where it does not report them."""
        if self._silent:
            return None
        counts = counts_in(self._health())
        self._silent = counts is None
        return counts

    def _health(self) -> Any:
        """The JSON value under ``/health``; None where there is none."""
        import httpx

        from decibench.candidates.remote.connection import Connections, until

        url, received = f"{self.settings.endpoint}/health", bytearray()
        extensions = until(time.monotonic() + _DEADLINE_S)
        try:
            with (
                httpx.Client(transport=Connections(url), follow_redirects=False) as client,
                client.stream("GET", url, headers={"Accept-Encoding": "identity"}, extensions=extensions) as reply,
            ):
                for piece in reply.iter_raw():
                    received += piece
                    if len(received) > _MOST_BYTES:
                        return None
                return read_json(bytes(received)) if reply.status_code == httpx.codes.OK else None
        except Exception:  # Whatever stands in the way, counters are an extra: the load itself is measured without.
            return None


def counts_in(health: Any) -> CacheCounts | None:
    """The counters in what ``/health`` answers: the first pair under these names, else None.

    ``cache`` or ``prefix_cache`` with ``hits`` and ``misses`` inside, or ``cache_hits`` and ``cache_misses`` (with
    ``prefix_cache`` alike). A rate alone is not read: it is of the server's whole life, and not of a test.

    >>> counts_in({"status": "ok", "cache": {"hits": 3, "misses": 1}})
    CacheCounts(hits=3, misses=1)
    >>> counts_in({"cache": {"hit_rate": 0.75}}) is None
    True
    """
    if not isinstance(health, Mapping):
        return None
    for hits, misses in _pairs(health):
        if _is_count(hits) and _is_count(misses):
            return CacheCounts(hits=hits, misses=misses)
    return None


def _pairs(health: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for name in _NAMES:
        inner = health.get(name)
        if isinstance(inner, Mapping):
            yield inner.get("hits"), inner.get("misses")
        yield health.get(f"{name}_hits"), health.get(f"{name}_misses")


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def moved(before: CacheCounts | None, after: CacheCounts | None) -> CacheCounts | None:
    """What was counted between two readings; None where one is missing, or the counters began anew."""
    if before is None or after is None or after.hits < before.hits or after.misses < before.misses:
        return None
    return CacheCounts(hits=after.hits - before.hits, misses=after.misses - before.misses)


def total(parts: Sequence[CacheCounts | None]) -> CacheCounts | None:
    """The sum of ``parts``; None where one of them is unknown."""
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    return CacheCounts(hits=sum(part.hits for part in known), misses=sum(part.misses for part in known))
