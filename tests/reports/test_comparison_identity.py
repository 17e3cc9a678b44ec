"""Who is compared: one name for two models, two reports of one candidate, and aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from decibench.reports.__main__ import main
from decibench.reports.comparisons.comparison import compare
from decibench.reports.report import CandidateRef, Report, write_report

OUTCOMES = {f"only-{index:03}": [index < 8] for index in range(12)}


@pytest.fixture
def jev(make_report: Any) -> Any:
    """A report of the candidate ``jev`` with some identity and candidate hash."""

    def make(hash_: str, seal: str = "", **identity: Any) -> Report:
        candidate = CandidateRef(name="jev", hash=hash_ * 64, identity=identity)
        report: Report = make_report("jev", OUTCOMES, candidate=candidate, seal=seal * 64)
        return report

    return make


def test_a_changed_model_is_flagged_before_anything_is_compared(jev: Any, tmp_path: Path, capsys: Any) -> None:
    reports = [jev("a", model="jev-1.13.0"), jev("b", model="typesafe/jev-1.13-20260917")]
    for number, report in enumerate(reports):
        write_report(report, tmp_path / f"{number}.json")
    assert main(["compare", str(tmp_path / "0.json"), str(tmp_path / "1.json")]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed.startswith("IDENTITY: jev: model was jev-1.13.0, is typesafe/jev-1.13-20260917.")


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        ({"revision": "1"}, {"revision": "2"}, "revision was 1, is 2"),
        ({"revision": None}, {"revision": "2"}, "revision was not stated, is 2"),
        ({"settings": {"t": 0}}, {"settings": {"t": 1}}, "settings.t was 0, is 1"),
        ({"device": "cpu"}, {"device": "cuda"}, "device was cpu, is cuda"),
    ],
)
def test_every_changed_field_of_an_identity_is_named(
    jev: Any, before: dict[str, Any], now: dict[str, Any], sentence: str
) -> None:
    notes = compare([jev("a", model="m", **before), jev("b", model="m", **now)]).identity_notes
    assert notes == [f"jev: {sentence}"]


def test_an_alias_is_not_taken_for_a_version(jev: Any) -> None:
    alias = compare([jev("a", "1", model="jev-latest"), jev("a", "2", model="jev-latest")]).identity_notes
    assert alias == [
        "jev: model is jev-latest in both, without a revision or a file hash; whether the same version answered is "
        "not known"
    ]
    fixed = [jev("a", seal, model="jev", revision="20260917") for seal in "12"]
    assert compare(fixed).identity_notes == []


def test_reports_of_one_name_are_told_apart_by_hash_and_if_need_be_by_seal(jev: Any, make_report: Any) -> None:
    other = make_report("other", OUTCOMES)
    by_hash = compare([jev("a", "1", model="m"), other, jev("b", "2", model="m")])
    assert [s.candidate for s in by_hash.standings] == ["jev@aaaaaaaa", "other", "jev@bbbbbbbb"]
    by_seal = compare([jev("a", "1", model="m"), jev("a", "2", model="m")], reference="jev@aaaaaaaa@22222222")
    assert [s.candidate for s in by_seal.standings] == ["jev@aaaaaaaa@22222222", "jev@aaaaaaaa@11111111"]
