"""The second reading of decisions-v1: every present text was labelled from the text alone, and every label agrees."""

from __future__ import annotations

import hashlib
import json

from decibench.cases.authoring import AUTHORING
from decibench.cases.loading import load_suite, shipped_suites

FROZEN = "b47ea4054c2f83d6f63dfdd44dfa43c29461289eb64cd89419e9a89b11b82a11"


def test_every_wording_has_a_reading_of_these_very_words_that_agrees_with_the_rule() -> None:
    lines = (AUTHORING / "decisions-v1" / "readings.jsonl").read_text("utf-8").splitlines()
    readings = {reading["case"]: reading for reading in map(json.loads, lines)}
    suite = load_suite(shipped_suites()["decisions-v1"])
    wordings = [case for case in suite.cases if case.variant in ("original", "paraphrase")]
    assert len(readings) == len(wordings) == 840
    for case in wordings:
        text = case.state if isinstance(case.state, str) else json.dumps(case.state, ensure_ascii=False)
        reading = readings[case.id]
        assert reading["sha256"] == hashlib.sha256(text.encode()).hexdigest(), case.id
        assert reading["labels"] == {key: reference.expected for key, reference in case.references.items()}, case.id


def test_the_frozen_bytes_are_those_that_were_audited_and_scored() -> None:
    assert load_suite(shipped_suites()["decisions-v1"]).hash == FROZEN
