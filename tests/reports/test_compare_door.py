"""``python -m decibench.reports compare``: what it takes, what it refuses, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.reports.__main__ import main
from decibench.reports.protocol import Protocol
from decibench.reports.report import Report, write_report

RIGHT = {f"only-{index:03}": [index < 8, index < 6] for index in range(12)}
WRONG = {f"only-{index:03}": [index < 7, index < 6] for index in range(12)}

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write a report to ``<run>/<candidate>/report.json`` and return its path."""

    def write(report: Report, run: str = "run") -> Path:
        folder = tmp_path / run / report.candidate.name
        folder.mkdir(parents=True)
        write_report(report, folder / "report.json")
        return folder / "report.json"

    return write


@pytest.fixture
def pair(make_report: Any, save: Save) -> list[str]:
    """Two reports of one run."""
    return [str(save(make_report("first", WRONG))), str(save(make_report("second", RIGHT)))]


def test_two_reports_print_what_was_compared_and_what_is_known(pair: list[str], capsys: Any) -> None:
    assert main(["compare", *pair]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Compared on tiny 1 (aaaaaaaaaaaa), holdout, 1 trial, protocol default" in printed
    assert "The reference is first." in printed
    assert "No difference in macro_accuracy between second and first is shown" in printed
    assert "Dropped from the differences: 0 of 24 core decisions" in printed


def test_out_and_markdown_are_written_and_then_nothing_is_printed(pair: list[str], tmp_path: Path, capsys: Any) -> None:
    out, markdown = tmp_path / "c.json", tmp_path / "c.md"
    assert main(["compare", *pair, "--out", str(out), "--markdown", str(markdown), "--reference", "second"]) == 0
    assert capsys.readouterr().out == ""
    content = json.loads(out.read_text("utf-8"))
    assert content["reference"] == "second"
    seals = [json.loads(Path(path).read_text("utf-8"))["seal"] for path in pair]
    assert [compared["seal"] for compared in content["compared"]] == seals[::-1]
    assert markdown.read_text("utf-8").startswith("# Comparison\n")


def test_a_candidates_folder_and_a_run_stand_for_their_reports(pair: list[str], tmp_path: Path, capsys: Any) -> None:
    outputs = []
    for given in (pair, [str(Path(path).parent) for path in pair], [str(tmp_path / "run")]):
        out = tmp_path / "out.json"
        assert main(["compare", *given, "--out", str(out)]) == 0
        outputs.append(json.loads(out.read_text("utf-8")) | {"created": None})
    assert outputs[0] == outputs[1] == outputs[2]


def test_a_candidate_that_was_not_run_has_a_column_without_figures(
    pair: list[str], tmp_path: Path, capsys: Any
) -> None:
    run = tmp_path / "run"
    (run / "third").mkdir()
    (run / "third" / "journal.jsonl").write_text("", "utf-8")
    (run / "comparison.json").write_text(
        json.dumps({"schema": "decibench.comparison/2", "not_run": ["fourth"]}), "utf-8"
    )
    out = tmp_path / "out.json"
    assert main(["compare", str(run), "--out", str(out), "--markdown", str(tmp_path / "out.md")]) == 0
    content = json.loads(out.read_text("utf-8"))
    assert sorted(content["not_run"]) == ["fourth", "third"]
    assert content["not_run_reasons"] is None
    assert [standing["candidate"] for standing in content["standings"]] == ["first", "second"]
    lines = (tmp_path / "out.md").read_text("utf-8").splitlines()
    assert [line.count("not run") for line in lines if line.startswith("| macro_accuracy |")] == [2]


@pytest.mark.parametrize(("written", "shown"), [("2026-12-02T00:00:00Z", False), ("2026-11-30T00:00:00Z", True)])
def test_scores_of_an_earlier_run_are_not_borrowed(
    make_report: Any, save: Save, tmp_path: Path, written: str, shown: bool
) -> None:
    for name in ("first", "second", "third"):
        save(make_report(name, RIGHT, run=name))
    said = {"schema": "decibench.comparison/2", "not_run": ["third"], "created": written}
    (tmp_path / "run" / "comparison.json").write_text(json.dumps(said), "utf-8")
    out = tmp_path / "out.json"
    assert main(["compare", str(tmp_path / "run"), "--out", str(out)]) == 0
    content = json.loads(out.read_text("utf-8"))
    assert ("third" in [standing["candidate"] for standing in content["standings"]]) is shown
    assert content["not_run"] == ([] if shown else ["third"])


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("complete", "second: partial or incomplete, so no difference is tested"),
        ("partial", "second: partial or incomplete, so no difference is tested"),
    ],
)
def test_unfinished_reports_are_listed_and_not_contrasted(
    make_report: Any, save: Save, capsys: Any, field: str, message: str
) -> None:
    changes = {"complete": False, "partial": field == "partial"}
    paths = [save(make_report("first", WRONG)), save(make_report("second", RIGHT, **changes))]
    assert main(["compare", *map(str, paths)]) == 11
    printed = capsys.readouterr().out
    assert message in " ".join(printed.split())
    assert ("PARTIAL" if field == "partial" else "INCOMPLETE") in printed
    assert "is shown" not in printed


def test_dropped_decisions_end_as_incomplete(make_report: Any, save: Save, capsys: Any) -> None:
    failing = RIGHT | {"only-000": [None, True]}
    paths = [save(make_report("first", WRONG)), save(make_report("second", failing))]
    assert main(["compare", *map(str, paths)]) == 11
    assert "INCOMPLETE COMPARISON" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "field", "values"),
    [
        ({"suite": {"version": "2"}}, "suite.version", ("'2'", "'1'")),
        ({"suite": {"hash": "b"}}, "suite.hash", ("'b'", "'aaaa")),
        ({"scope": {"splits": ["calibration", "holdout"]}}, "scope.splits", ("calibration", "['holdout']")),
        ({"scope": {"families": ["other"]}}, "scope.families", ("['other']", "['only']")),
        ({"scope": {"variants": ["original"]}}, "scope.variants", ("['original']", "irrelevant")),
        ({"scope": {"trials": 2}}, "scope.trials", ("is 2", "it is 1")),
    ],
)
def test_reports_that_do_not_match_are_refused_by_field(
    make_report: Any, save: Save, capsys: Any, changes: dict[str, dict[str, Any]], field: str, values: tuple[str, str]
) -> None:
    first, second = make_report("first", WRONG), make_report("second", RIGHT)
    for part, fields in changes.items():
        second = second.model_copy(update={part: getattr(second, part).model_copy(update=fields)})
    paths = [save(first), save(second)]
    assert main(["compare", *map(str, paths)]) == 4
    message = capsys.readouterr().err
    assert f"{paths[1]}, field {field}: is " in message
    assert str(paths[0]) in message
    assert all(value in message for value in values)
    assert "run both" in message
    assert message.count("field ") == 1


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ({"alpha": 0.1}, "protocol.alpha"),
        ({"gate_method": "betting"}, "protocol.gate_method"),
        ({"estimand": "any"}, "protocol.estimand"),
        ({"seed": 5}, "protocol.seed"),
    ],
)
def test_another_rule_of_the_protocol_is_named(
    make_report: Any, save: Save, capsys: Any, rules: dict[str, Any], field: str
) -> None:
    gates = {name: {"status": "fitted", "threshold": 0.7} for name in ("empirical", "certified")}
    other = make_report("second", RIGHT, rules=Protocol(**rules), gates=gates)
    assert main(["compare", str(save(make_report("first", WRONG))), str(save(other))]) == 4
    message = capsys.readouterr().err
    assert f"field {field}: is {next(iter(rules.values()))!r}, in " in message
    assert message.count("field ") == 1


def test_a_report_is_compared_once(pair: list[str], capsys: Any) -> None:
    assert main(["compare", *pair, pair[0]]) == 4
    assert "is the same report as" in capsys.readouterr().err


def test_one_report_is_not_enough(pair: list[str], tmp_path: Path, capsys: Any) -> None:
    assert main(["compare", pair[0]]) == 4
    assert "1 with figures; name two reports or more" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["compare", *pair, str(tmp_path / "empty")]) == 4
    assert "holds neither report.json nor folders of candidates" in capsys.readouterr().err
    assert main(["compare", *pair, str(tmp_path / "absent.json")]) == 4
    said = capsys.readouterr().err
    assert "absent.json: cannot be read (No such file or directory); name a report, the folder of a candidate" in said


def test_an_edited_report_is_refused(pair: list[str], capsys: Any) -> None:
    path = Path(pair[1])
    path.write_text(path.read_text("utf-8").replace('"run": "0"', '"run": "1"'), "utf-8")
    assert main(["compare", *pair]) == 4
    assert "edited or damaged" in capsys.readouterr().err


def test_a_margin_that_is_no_share_is_refused(pair: list[str], capsys: Any) -> None:
    assert main(["compare", *pair, "--margin", "5"]) == 4
    assert "--margin 5: must be a share between 0 and 1" in capsys.readouterr().err
