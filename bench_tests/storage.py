"""Request times of a run in the storage format of pytest-benchmark, which compares such files with its own tools.

The times of single requests stay out, as pytest-benchmark leaves them out of what it saves: they are in the report, and
would make megabytes of a large run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from decibench.cases.writing import write_text
from decibench.reports.latency import latency_stats
from decibench.reports.record import Record
from decibench.reports.report import Report

BENCHMARK: Final = "benchmark.json"


def write_benchmark(report: Report, path: Path) -> None:
    """Write the request times of ``report`` so that ``pytest-benchmark compare`` reads them; no file if none is known.

    There is one entry for all requests and one for each family, of the same names whoever the candidate is. The machine
    is that of the report, the commit that of the directory the run was started in.
    """
    entries = list(_entries(report))
    if not entries:
        path.unlink(missing_ok=True)
        return
    import pytest_benchmark
    from pytest_benchmark.utils import get_commit_info

    commit_info: Callable[[], dict[str, Any]] = get_commit_info
    content = {
        "machine_info": report.environment,
        "commit_info": commit_info(),
        "benchmarks": entries,
        "datetime": report.created,
        "version": pytest_benchmark.__version__,
    }
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _entries(report: Report) -> Iterator[dict[str, Any]]:
    by_family: dict[str, list[Record]] = {}
    for record in report.records:
        by_family.setdefault(record.family, []).append(record)
    yield from _entry(report, report.records, None)
    for family, records in by_family.items():
        yield from _entry(report, records, family)


def _entry(report: Report, records: Sequence[Record], family: str | None) -> Iterator[dict[str, Any]]:
    """The entry of ``records``, unless nothing of them was timed."""
    from pytest_benchmark.stats import Stats

    latency = latency_stats([record.latency_s for record in records])
    if latency is None:
        return
    make_stats: Callable[[], Any] = Stats
    stats = make_stats()
    stats.data = [record.latency_s for record in records if record.latency_s is not None]
    name = "request" if family is None else f"request[{family}]"
    suite = f"{report.suite.name} {report.suite.version}"
    yield {
        "group": f"{suite}, {family or 'all families'}",
        "name": name,
        "fullname": f"{suite}::{name}",
        "params": None if family is None else {"family": family},
        "param": family,
        "extra_info": {
            "candidate": report.candidate.name,
            "candidate_hash": report.candidate.hash,
            "device": report.candidate.identity.get("device"),
            "model": report.candidate.identity.get("model"),
            "requests": latency.requests,
            "untimed": latency.untimed,
            "failed": sum(record.failed for record in records),
            "p50_s": latency.p50_s,
            "p95_s": latency.p95_s,
            "p99_s": latency.p99_s,
        },
        "options": {},
        "stats": stats.as_dict() | {"iterations": 1},
    }
