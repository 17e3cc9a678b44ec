"""A report that cannot be trusted is refused by every door, with a sentence that says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.gates.__main__ import main as gates
from decibench.reports.__main__ import main as reports
from decibench.reports.comparisons.comparison import compare, comparison_json
from decibench.reports.report import SCHEMA, Report, write_report

Change = Callable[[dict[str, Any]], object]

DOORS: dict[str, Callable[[str], int]] = {
    "score": lambda file: reports(["score", file]),
    "compare": lambda file: reports(["compare", file, file]),
    "fit": lambda file: gates(["fit", file]),
}


@pytest.fixture(params=DOORS)
def refusal(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """What a door says of a file that it does not take."""

    def refuse(path: Path) -> str:
        assert DOORS[request.param](str(path)) == 4
        return capsys.readouterr().err

    return refuse


@pytest.fixture
def report(make_report: Any, tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    write_report(make_report("one", {"a-1": [True, False], "a-2": [None, True], "b-1": [True, True]}), path)
    return path


def edit(path: Path, change: Change) -> Path:
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_a_report_as_written_is_read(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reports(["score", str(report)]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["decisions"] == 6


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("decibench.report/99", ["was written by a newer decibench (schema decibench.report/99)", "update decibench"]),
        ("decibench.report/1", ["was written by an older decibench (schema decibench.report/1)", "--resume RUN"]),
    ],
    ids=["newer", "older"],
)
def test_another_version_is_named_before_its_fields_are(
    report: Path, refusal: Callable[[Path], str], stated: str, words: list[str]
) -> None:
    message = refusal(edit(report, lambda r: (r.update(schema=stated, more=1), r.pop("scope"))))
    assert all(word in message for word in [*words, f"this one reads {SCHEMA}", "run again"])
    assert "scope" not in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9, 0.999])
def test_a_report_that_was_cut_off_is_said_to_be_with_its_last_line(
    report: Path, refusal: Callable[[Path], str], share: float
) -> None:
    content = report.read_bytes()
    cut = content[: int(len(content) * share)]
    report.write_bytes(cut)
    assert f"{report}, line {len(cut.splitlines())}: ends in the middle: it was cut off; restore it" in refusal(report)


def test_every_place_to_cut_json_is_told_from_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    whole = '{"a": [1.5e-3, true, null], "é😀": {"b": "\\u00e9\\" }", "c": []},\n "d": -12}'.encode()
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        assert reports(["compare", str(path), str(path)]) == 4
        assert "it was cut off" in capsys.readouterr().err, whole[:end]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; restore it"),
        (b" \n", "is empty; restore it"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "is not JSON: byte 1 is not UTF-8"),
        (b'{"schema": "decibench.report/3", "schema": "decibench.report/3"}', "the key 'schema' appears twice"),
        (b'{"schema": }', "is not JSON: Expecting value: line 1 column 12"),
        (b'{"schema": 1} more', "is not JSON: Extra data"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is not JSON: it holds a whole number of more than 4300 digits"),
        (b'{"a": ' + b"9" * 5000, "is not JSON: it holds a whole number of more than 4300 digits"),
    ],
    ids=["empty", "blank", "binary", "twice", "damaged", "more", "huge", "huge-and-cut-off"],
)
def test_what_is_no_json_is_refused(report: Path, refusal: Callable[[Path], str], content: bytes, words: str) -> None:
    report.write_bytes(content)
    assert words in refusal(report)


def test_a_directory_and_a_missing_file_are_named(tmp_path: Path, refusal: Callable[[Path], str]) -> None:
    assert f"{tmp_path / 'gone.json'}: cannot be read (No such file or directory)" in refusal(tmp_path / "gone.json")
    (tmp_path / "folder").mkdir()
    assert "; name " in refusal(tmp_path / "folder")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"schema": "decibench.comparison/2"}, "is the comparison of a run, not the report of a candidate"),
        ({"schema": "decibench.gate/1", "threshold": 1}, "is a gate, not the report of a candidate"),
        ({"schema": "decibench.suite/1"}, "is the manifest of a suite, not the report of a candidate"),
    ],
    ids=["comparison", "gate", "suite"],
)
def test_other_files_of_ours_are_called_by_their_name(
    report: Path, refusal: Callable[[Path], str], content: object, words: str
) -> None:
    report.write_text(json.dumps(content), "utf-8")
    assert words in refusal(report)


@pytest.mark.parametrize("name", ["journal.jsonl", "report.json"])
def test_compare_says_of_a_journal_that_it_is_one(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / "run" / name
    path.parent.mkdir()
    path.write_text('{"kind":"run","schema":"decibench.journal/1"}\n{"kind":"load"}\n', "utf-8")
    assert reports(["compare", str(report), str(path)]) == 4
    assert f"{path}: is a journal; name the report.json beside it" in capsys.readouterr().err


def test_compare_says_of_rows_and_of_other_json_what_they_lack(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    for content, words in (
        ({"row_fields": [], "rows": []}, "is a file of rows, not the report of a candidate"),
        ([1], f"is not the report of a candidate: it states no schema {SCHEMA}"),
        ({"schema": 2}, f"it states no schema {SCHEMA}"),
    ):
        other.write_text(json.dumps(content), "utf-8")
        assert reports(["compare", str(report), str(other)]) == 4
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r["metrics"]["holdout"]["overall"].update(accuracy=0.99), "field metrics.holdout.overall.accuracy"),
        (lambda r: r["latency"]["overall"].update(p50_s=9.0), "field latency.overall.p50_s"),
        (lambda r: r["records"][0]["decisions"][0].update(choice="right"), "its records give"),
        (lambda r: r["records"][0].update(case="a-3-original"), "field seal: does not match the content"),
        (lambda r: r["gates"]["empirical"].update(threshold=0.71), "edited or damaged"),
        (lambda r: r.update(seal="0" * 64), "field seal: does not match the content"),
        (lambda r: r["records"][0]["decisions"][0].update(expected="up"), "its figures cannot be computed anew"),
        (lambda r: r["records"][0]["decisions"][0].update(probabilities={}), "its figures cannot be computed anew"),
        (lambda r: r["gates"].update(empirical="open"), "field gates.empirical: must be an object"),
        (lambda r: r["records"].pop(), "its records give"),
    ],
    ids=["figure", "latency", "choice", "case", "gate", "seal", "reference", "distribution", "gates", "lost"],
)
def test_an_edited_report_is_refused_by_field(
    report: Path, refusal: Callable[[Path], str], change: Change, words: str
) -> None:
    message = refusal(edit(report, change))
    assert words in message
    assert "edited or damaged" in message
    assert len(message.splitlines()) <= 10
    assert max(map(len, message.splitlines())) < 400


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.pop("scope"), "field scope: is missing; "),
        (lambda r: r["cost"].pop("prices"), "field cost.prices: is missing; "),
        (lambda r: r.update(more=1), "field more: is not a known field; "),
        (lambda r: r.update(created=1), "field created: must be a string; "),
    ],
    ids=["missing", "nested", "unknown", "type"],
)
def test_a_field_is_not_to_be_set_right_by_hand(
    report: Path, refusal: Callable[[Path], str], change: Change, words: str
) -> None:
    remedy = "it was edited or damaged: restore it, or make it anew from its journal by --resume RUN"
    assert f"{report}, {words}{remedy}\n" in refusal(edit(report, change))


def _point(**fields: Any) -> dict[str, Any]:
    point = {"threshold": 0.5, "scenarios": 1, "accepted": 1, "errors": 0, "error": 0, "coverage": 1, "qualifies": True}
    return point | fields


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.update(gates={}), "field gates.empirical: is missing"),
        (lambda r: r["protocol"].update(gate_method="auto"), "states no certified gate"),
        (lambda r: r["gates"]["empirical"].update(status="issued"), "field gates.empirical.status: must be 'fitted'"),
        (lambda r: r["gates"]["empirical"].pop("reason"), "field gates.empirical.reason: is missing"),
        (lambda r: r["gates"]["empirical"].update(reason=""), "field gates.empirical.reason: must not be empty"),
        (lambda r: r["gates"]["empirical"].pop("min_accepted"), "field gates.empirical.min_accepted: is missing"),
        (lambda r: r["gates"]["empirical"].update(grid=[_point(errors="0")]), "field gates.empirical.grid.0.errors"),
        (lambda r: r["gates"].update(certified={"status": "x"}), "field gates.certified.method: is missing"),
        (lambda r: r["gates"].update(certified=None), "field gates.certified: must be an object"),
        (lambda r: r["gates"].pop("holdout_tests"), "field gates.holdout_tests: is missing"),
        (lambda r: r["gates"].update(holdout_tests={"empirical": 1}), "field gates.holdout_tests.empirical: must be"),
        (lambda r: r["gates"].update(transfer={"rows": 1}), "field gates.transfer.rows: must be a list"),
        (lambda r: r["gates"].update(cost={}), "field gates.cost.sentence: is missing"),
        (lambda r: r["candidate"]["identity"].update(revision=[1]), "field candidate.identity.revision: must be a str"),
        (lambda r: r["candidate"]["identity"].update(model=1), "field candidate.identity.model: must be a string"),
        (lambda r: r["candidate"]["identity"].update(settings=["x"]), "field candidate.identity.settings: must be"),
        (
            lambda r: r["candidate"]["identity"].update(settings={"asked_model": 1}),
            "field candidate.identity.settings.asked_model: must be a string",
        ),
    ],
)
def test_what_no_run_states_of_gates_and_candidate_is_refused_whatever_the_seal_says(
    report: Path, refusal: Callable[[Path], str], change: Change, words: str
) -> None:
    edit(report, change)
    write_report(Report.model_validate_json(report.read_text("utf-8")), report)
    message = refusal(report)
    assert words in message
    assert "it was edited or damaged: restore it" in message


def test_the_comparison_of_another_version_is_not_guessed_at(
    make_report: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = [make_report(name, {"a-1": [True, False], "b-1": [True, True]}, run=name) for name in ("one", "two")]
    for made in pair:
        (tmp_path / made.candidate.name).mkdir()
        write_report(made, tmp_path / made.candidate.name / "report.json")
    comparison = tmp_path / "comparison.json"
    comparison.write_text(comparison_json(compare(pair)), "utf-8")
    assert reports(["compare", str(tmp_path)]) == 0
    capsys.readouterr()
    edit(comparison, lambda c: c.update(schema="decibench.comparison/99"))
    assert reports(["compare", str(tmp_path)]) == 4
    assert "was written by a newer decibench (schema decibench.comparison/99)" in capsys.readouterr().err
    comparison.write_text(comparison.read_text("utf-8")[:200], "utf-8")
    assert reports(["compare", str(tmp_path)]) == 4
    assert "it was cut off" in capsys.readouterr().err
