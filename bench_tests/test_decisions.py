"""Every case of the suite, asked of every candidate."""

from __future__ import annotations

import unittest
from typing import Final

import pytest

from decibench.bench_tests.explain import failure_text, miss_text, unasked_text
from decibench.bench_tests.plan import Item
from decibench.bench_tests.pool import Pool

_STEERING: Final = (pytest.exit.Exception, unittest.SkipTest)
"""Raised by a test these would end the session or skip the item; so would all that is no Exception."""


def test_decision(decision: Item, candidates: Pool) -> None:
    """Ask one case once. A wrong answer is recorded, and fails only with ``--on-miss=fail``.

    What the run may not ask is skipped: nothing failed.
    """
    outcome = candidates.measure(decision)
    developing = candidates.on_miss == "fail"
    if outcome.unasked:
        pytest.skip(unasked_text(outcome.record))
    if outcome.record.failed:
        if developing and isinstance(outcome.error, Exception) and not isinstance(outcome.error, _STEERING):
            raise outcome.error
        pytest.fail(failure_text(decision, outcome.record), pytrace=False)
    if developing and outcome.record.missed:
        pytest.fail(miss_text(decision, outcome.record), pytrace=False)
