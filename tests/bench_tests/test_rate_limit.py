"""``--rate-limit``: requests arrive no faster, from all workers together, and the waiting is no latency."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jevcompat.mock import MockConfig, Running

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench

PER_MINUTE = 300
DISTANCE_S = 60 / PER_MINUTE


@dataclass
class Watched:
    """A server, and when each request arrived."""

    url: str
    arrivals: list[float] = field(default_factory=list)

    def note(self, *_: Any) -> bool:
        """Note a request, and let it pass."""
        self.arrivals.append(time.monotonic())
        return True


@pytest.fixture
def server() -> Iterator[Watched]:
    """A server that is stopped at the end."""
    with Running(MockConfig()) as running:
        watched = Watched(running.url)
        # It speaks HTTP/1.0: a connection is a request.
        running.server.verify_request = watched.note
        yield watched


def asked(server: Watched) -> list[str]:
    return ["--candidate", "systemone", "--endpoint", server.url, "--model", "jev-latest"]


def test_requests_keep_their_distance_and_waiting_is_no_latency(
    bench: Bench, suite: Path, server: Watched, mode: list[str]
) -> None:
    run = bench(suite, *asked(server), "--split", "calibration", "--rate-limit", str(PER_MINUTE), *mode)
    assert run.code == 0
    workers = 2 if "-n" in mode else 1
    assert len(server.arrivals) == 8 + 4 * workers
    # Each worker begins at once, and none goes faster than its share. A busy machine may hold the first request up on
    # its way; workers that took no share would need half the time.
    took = max(server.arrivals) - min(server.arrivals)
    assert took >= 0.7 * DISTANCE_S * (len(server.arrivals) - workers)
    if workers == 1:
        # One that is held up comes close to the next: most keep their distance.
        gaps = [after - before for before, after in zip(server.arrivals, server.arrivals[1:], strict=False)]
        assert statistics.median(gaps) >= 0.5 * DISTANCE_S
    # With the waiting in it the latency of none would be less than about the distance.
    assert min(record["latency_s"] for record in run.records("systemone")) < 0.5 * DISTANCE_S
    latency = run.report("systemone")["latency"]
    assert latency["with_retries"] == latency["overall"]
