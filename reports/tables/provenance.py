"""Where a report comes from: model, candidate, suite, protocol, and the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from decibench.cases.jsonio import canonical_json
from decibench.reports.latency import Prices
from decibench.reports.report import Report

_IDENTITY: Final = ("model", "revision", "file_sha256", "device", "dtype")
JSON_FACTS: Final = ("settings", "packages")
"""Facts whose value is JSON."""


def provenance(report: Report) -> Iterator[tuple[str, str]]:
    """Name and value of every fact that is known."""
    identity = report.candidate.identity
    yield from ((name, str(identity[name])) for name in _IDENTITY if identity.get(name) is not None)
    if report.answered_by:
        yield "answered by", ", ".join(report.answered_by)
    yield from ((name, canonical_json(identity[name])) for name in JSON_FACTS if identity.get(name))
    if report.candidate.hash is not None:
        yield "candidate hash", report.candidate.hash
    yield "suite", f"{report.suite.name} {report.suite.version}, {report.suite.hash}"
    yield "protocol", f"{report.protocol.name} {report.protocol.version}, {report.protocol_hash}"
    if report.cost.prices.stated is not None:
        yield "prices", _prices(report.cost.prices)
    yield "run", f"{report.run}, {report.created}"
    yield "environment", ", ".join(f"{name} {value}" for name, value in report.environment.items()) or "unknown"
    if report.seal:
        yield "seal", report.seal


def _prices(prices: Prices) -> str:
    stated = {
        "input": prices.input_usd_per_million,
        "output": prices.output_usd_per_million,
        "cached input": prices.cached_input_usd_per_million,
    }
    listed = ", ".join(f"{name} {usd:g}" for name, usd in stated.items() if usd is not None)
    return f"{listed} USD per million tokens ({prices.stated})"
