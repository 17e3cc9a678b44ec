"""The card of the frozen suite says what the audits say."""

from __future__ import annotations

from pathlib import Path

import pytest

from decibench.cases.__main__ import main
from decibench.cases.loading import load_suite, shipped_suites


def test_the_card_of_decisions_v1_quotes_every_audit_and_all_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "decisions-v1"]) == 0
    card = (shipped_suites()["decisions-v1"] / "README.md").read_text()
    for line in capsys.readouterr().out.splitlines():
        # Figures of scikit-learn differ in the last digit between its versions; the statement has to be there.
        audit, _, figure = line.partition(": ")
        assert f"    {audit}: " in card
        if "TF-IDF" not in figure:
            assert line in card


@pytest.mark.parametrize("name", ["decisions-v0", "decisions-v1"])
def test_cards_and_readme_give_the_counts_of_the_manifest(name: str) -> None:
    suite = load_suite(shipped_suites()[name])
    card = (suite.path / "README.md").read_text()
    scenarios = sum(counts.scenarios for counts in suite.manifest.families.values())
    assert f"{scenarios} scenarios" in card
    assert f"{len(suite.cases):,} cases" in card
    assert f"ersion {suite.manifest.version}" in card
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    assert f"{len(suite.cases):,} cases" in readme or name == "decisions-v0"
