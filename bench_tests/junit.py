"""Properties of a case in JUnit XML, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.junitxml import bin_xml_escape, xml_key

from decibench.bench_tests.options import Options
from decibench.reports.record import Decision, Record


def add_properties(
    config: pytest.Config, options: Options, report: pytest.TestReport, candidate: str, record: str
) -> None:
    """Add what ``record`` (JSON) of ``candidate`` says to the XML entry of ``report``; nothing without ``--junitxml``.

    Properties are ``candidate`` and ``outcome`` (correct, missed or failed; failed goes before missed), and of the
    question ``expected``, and ``chosen`` and ``top_probability`` or ``failure``; a model that states no probabilities
    has no ``top_probability``. Where a case has several questions these are called ``expected[QUESTION]`` and so on,
    and each has an ``outcome[QUESTION]``. ``--aggregate-only`` leaves all of them out.
    """
    # The properties of a report itself would be printed by every plugin that writes reports.
    xml = config.stash.get(xml_key, None)
    if xml is None or options.view == "aggregate-only":
        return
    entry = xml.node_reporter(report)
    for name, value in _properties(Record.model_validate_json(record), candidate):
        entry.add_property(bin_xml_escape(name), value)


def _properties(record: Record, candidate: str) -> Iterator[tuple[str, object]]:
    yield "candidate", candidate
    yield "outcome", record.outcome
    several = len(record.decisions) > 1
    for decision in record.decisions:
        suffix = f"[{decision.question}]" if several else ""
        if several:
            yield f"outcome{suffix}", decision.outcome
        for name, value in _answer(decision):
            yield f"{name}{suffix}", value


def _answer(decision: Decision) -> Iterator[tuple[str, object]]:
    yield "expected", decision.expected
    if decision.failure is not None:
        yield "failure", decision.failure.code
        return
    yield "chosen", decision.choice
    if decision.probabilities is not None:
        yield "top_probability", max(decision.probabilities.values())
