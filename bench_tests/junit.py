"""Properties of a case in JUnit XML, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.junitxml import bin_xml_escape, xml_key

from decibench.bench_tests.options import Options
from decibench.bench_tests.recorder import item_id
from decibench.reports.record import Decision, Record


def add_properties(config: pytest.Config, options: Options, report: pytest.TestReport, record: str) -> None:
    """Add what ``record`` (JSON) says to the XML entry of ``report``; nothing without ``--junitxml``.

    Properties are ``candidate`` and ``outcome`` (correct, missed or failed; failed goes before missed), and of the
    question ``expected``, and ``chosen`` and ``top_probability`` or ``failure``. Where a case has several questions
    these are called ``expected[QUESTION]`` and so on, and each has an ``outcome[QUESTION]``. ``--aggregate-only``
    leaves all of them out.
    """
    # The properties of a report itself would be printed by every plugin that writes reports.
    xml = config.stash.get(xml_key, None)
    if xml is None or options.view == "aggregate-only":
        return
    entry = xml.node_reporter(report)
    measured = Record.model_validate_json(record)
    for name, value in _properties(measured, _candidate(report, measured)):
        entry.add_property(bin_xml_escape(name), value)


def _properties(record: Record, candidate: str) -> Iterator[tuple[str, object]]:
    yield "candidate", candidate
    yield "outcome", "failed" if record.failed else "missed" if record.missed else "correct"
    several = len(record.decisions) > 1
    for decision in record.decisions:
        suffix = f"[{decision.question}]" if several else ""
        if several:
            yield f"outcome{suffix}", _outcome(decision)
        for name, value in _answer(decision):
            yield f"{name}{suffix}", value


def _outcome(decision: Decision) -> str:
    if decision.failure is not None:
        return "failed"
    return "correct" if decision.choice == decision.expected else "missed"


def _answer(decision: Decision) -> Iterator[tuple[str, object]]:
    yield "expected", decision.expected
    if decision.failure is not None:
        yield "failure", decision.failure.code
    elif decision.probabilities is not None:
        yield "chosen", decision.choice
        yield "top_probability", max(decision.probabilities.values())


def _candidate(report: pytest.TestReport, record: Record) -> str:
    """What stands before the case and the trial in the id of the item."""
    trial = f"-t{record.trial}" if record.trial > 1 else ""
    return item_id(report.nodeid).removesuffix(f"-{record.case}{trial}")
