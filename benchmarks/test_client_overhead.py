"""Requests to a fast local server: a remote candidate beside a bare loop of httpx, 16 at a time.

Run by ``pytest benchmarks``. Both post the same 1,000 bodies to a server in a process of its own and read JSON; rounds
of the two take turns. Budget: what a decision takes is at most 1.5 times what a bare request does, by the median round.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.candidate import RemoteCandidate
from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
from decibench.cases.request import Request
from decibench.cases.schema import Choice

REQUESTS, CONCURRENCY, ROUNDS, MOST_TIMES = 1_000, 16, 7, 1.5
OPTIONS = ("hand-off", "ask-user", "read-record", "update-record")
ANSWER = {
    "model": "own-1",
    "answers": {
        "action": {
            "type": "choice",
            "choice": "hand-off",
            "probabilities": dict(zip(OPTIONS, (0.5, 0.25, 0.125, 0.125), strict=True)),
            "confidence": 0.25,
        }
    },
    "usage": {"input_tokens": 310, "output_tokens": 3},
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A server that has its answer ready, in a process of its own."""
    server = subprocess.Popen([sys.executable, Path(__file__)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    server.kill()
    server.wait()
    server.stdout.close()


def test_client_overhead(endpoint: str, benchmark: BenchmarkFixture) -> None:
    """Seven rounds of both; the milliseconds per request are those that pass with 16 at a time."""
    requests = [_request(number) for number in range(REQUESTS)]
    bodies = [{**request.to_wire(), "model": "own-1"} for request in requests]
    wire = SystemOne(SystemOneSettings(endpoint=endpoint, model="own-1"))
    candidate = RemoteCandidate(wire, Allowance())
    limits = httpx.Limits(max_keepalive_connections=CONCURRENCY)
    ours: list[float] = []
    bare: list[float] = []
    with httpx.Client(limits=limits) as client, ThreadPoolExecutor(CONCURRENCY) as threads:

        def post(body: dict[str, Any]) -> str:
            model: str = client.post(wire.url, json=body).raise_for_status().json()["model"]
            return model

        def seconds(ask: Callable[[Any], object], asked: list[Any]) -> float:
            start = time.perf_counter()
            assert len(list(threads.map(ask, asked))) == REQUESTS
            return time.perf_counter() - start

        def alternate() -> None:
            bare.append(seconds(post, bodies))
            ours.append(seconds(candidate.decide, requests))

        assert candidate.decide(requests[0]).model == post(bodies[0]) == "own-1"
        once: Callable[..., None] = benchmark.pedantic
        once(alternate, rounds=ROUNDS, iterations=1, warmup_rounds=1)
    candidate.close()
    ratio = statistics.median(mine / theirs for mine, theirs in zip(ours[1:], bare[1:], strict=True))
    benchmark.extra_info["times_bare_httpx"] = round(ratio, 2)
    benchmark.extra_info["ours_ms"] = round(statistics.median(ours[1:]) / REQUESTS * 1000, 3)
    benchmark.extra_info["bare_ms"] = round(statistics.median(bare[1:]) / REQUESTS * 1000, 3)
    assert ratio <= MOST_TIMES, benchmark.extra_info


def _request(number: int) -> Request:
    state = f"Ticket {number}. " + "The customer asks for a refund of a parcel that came nine days late. " * 12
    criteria: dict[str, str | None] = dict.fromkeys(OPTIONS, "What an assistant may do next with a request.")
    return Request(state, {"action": Choice(type="choice", instructions="What is to be done?", criteria=criteria)})


async def _serve() -> None:
    body = json.dumps(ANSWER).encode()
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                writer.write(reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
