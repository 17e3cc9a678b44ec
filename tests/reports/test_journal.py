"""Journals as files: what is in them the moment it is written, what is left of a torn one, what damage says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.errors import SuiteError
from decibench.reports.__main__ import main as reports
from decibench.reports.journal import (
    Header,
    JournalWriter,
    SuiteRef,
    drop_torn_line,
    is_started,
    read_journal,
)
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, Failure, Record

HEADER = Header(
    run="r1", candidate="own", suite=SuiteRef(name="tiny", version="1", hash="0" * 64), protocol=DEFAULT_PROTOCOL
)
LOAD: dict[str, Any] = {
    "identity": {"model": "own-1"},
    "candidate_hash": "a" * 64,
    "worker": "main",
    "load_s": 0.25,
    "first_probe_s": None,
    "warm_ups_s": [],
}


def record(case: str, **changes: Any) -> Record:
    content: dict[str, Any] = {
        "case": case,
        "group": case,
        "family": "demo",
        "variant": "original",
        "role": "core",
        "split": "holdout",
        "trial": 1,
        "request_hash": "r" * 64,
        "candidate_hash": "a" * 64,
        "latency_s": 0.1 + 0.2,
        "decisions": [decision()],
    }
    return Record(**(content | changes))


def decision(**changes: Any) -> Decision:
    content: dict[str, Any] = {
        "question": "way",
        "type": "choice",
        "options": ["left", "right"],
        "expected": "left",
        "choice": "right",
        "probabilities": {"left": 1 / 3, "right": 2 / 3},
        "raw_sum": 1.0,
    }
    return Decision(**(content | changes))


FAILED = Decision(
    question="way",
    type="choice",
    options=["left", "right"],
    expected="left",
    failure=Failure(code="worker-crashed", detail="the process that asked this case died"),
)


def write(path: Path, *records: Record, load: dict[str, Any] | None = LOAD) -> Path:
    writer = JournalWriter(path, HEADER)
    if load is not None:
        writer.load(load)
    for entry in records:
        writer.record(entry.model_dump_json())
    writer.close()
    return path


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return write(tmp_path / "own" / "journal.jsonl", record("one"), record("two", latency_s=None), record("three"))


def test_a_record_can_be_read_back_exactly_before_the_journal_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "own" / "journal.jsonl"
    writer = JournalWriter(path, HEADER)
    for number in range(3):
        writer.record(record(f"case-{number}").model_dump_json())
        assert [entry.case for entry in read_journal(path).records] == [f"case-{n}" for n in range(number + 1)]
    assert read_journal(path).records[0] == record("case-0")
    assert read_journal(path).header == HEADER
    writer.close()


def test_a_second_writer_goes_on_without_a_second_header(journal: Path) -> None:
    write(journal, record("four"))
    found = read_journal(journal)
    assert [entry.case for entry in found.records] == ["one", "two", "three", "four"]
    assert len(found.loads) == 2
    assert [json.loads(line)["kind"] for line in journal.read_text().splitlines()].count("run") == 1


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_torn_last_line_is_no_record_and_is_cut_before_the_next_one(journal: Path, kept: int) -> None:
    whole = journal.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    journal.write_bytes(whole[:start] + whole[start:][:kept])
    assert [entry.case for entry in read_journal(journal).records] == ["one", "two"]
    drop_torn_line(journal)
    assert journal.read_bytes() == whole[:start]
    write(journal, record("again"), load=None)
    assert [entry.case for entry in read_journal(journal).records] == ["one", "two", "again"]


def test_a_whole_journal_has_nothing_to_cut(journal: Path) -> None:
    whole = journal.read_bytes()
    drop_torn_line(journal)
    assert journal.read_bytes() == whole


def test_a_journal_torn_in_its_first_line_has_not_started(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes()[:30])
    assert not is_started(journal)
    with pytest.raises(SuiteError, match=r"journal\.jsonl: holds no complete line; start a new run"):
        read_journal(journal)
    drop_torn_line(journal)
    write(journal, record("one"))
    assert is_started(journal)
    assert [entry.case for entry in read_journal(journal).records] == ["one"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"kind":"record","case":"on', "is not a journal line"),
        ("[]", "is not a journal line"),
        ("7", "is not a journal line"),
        ("", "is not a journal line"),
        ('{"kind":"recrod"}', "recrod"),
        ('{"case":"one"}', "one run line, then load and record lines"),
        ('{"kind":"record","kind":"record"}', "appears twice"),
        (json.dumps({"kind": "run", **HEADER.model_dump()}), "one run line"),
        (json.dumps({"kind": "record", **record("one").model_dump(), "trial": 0}), "field trial: must be at least 1"),
        (json.dumps({"kind": "record", **record("one").model_dump(), "latency_s": True}), "field latency_s"),
    ],
)
def test_a_damaged_middle_line_names_the_file_the_line_and_what_is_wrong(journal: Path, line: str, said: str) -> None:
    lines = journal.read_text().splitlines()
    lines[3] = line
    journal.write_text("\n".join(lines) + "\n")
    with pytest.raises(SuiteError) as caught:
        read_journal(journal)
    message = str(caught.value)
    assert message.startswith(f"{journal}, line 4")
    assert said in message


def test_bytes_that_are_not_text_are_damage_too(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes().replace(b'"case":"two"', b'"case":"\xff\xfe"'))
    with pytest.raises(SuiteError, match="line 4: is not a journal line"):
        read_journal(journal)


def test_records_before_the_run_line_are_refused_at_line_one(journal: Path) -> None:
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(lines[2:]) + "\n")
    with pytest.raises(SuiteError, match=r"line 1: is not a journal line \(unexpected kind 'record'"):
        read_journal(journal)


def test_scoring_a_damaged_journal_is_a_usage_error_with_the_line(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal.write_text(journal.read_text().replace('"case":"two"', '"case":2'))
    assert reports(["score", str(journal)]) == 4
    assert f"{journal}, line 4, field case: must be a string" in capsys.readouterr().err


def test_scoring_a_torn_journal_counts_what_was_finished(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal.write_bytes(journal.read_bytes()[:-20])
    assert reports(["score", str(journal)]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["decisions"] == 2


def test_a_later_attempt_takes_the_place_of_a_failed_one(tmp_path: Path) -> None:
    path = write(tmp_path / "j.jsonl", record("one", decisions=[FAILED]), record("two"), record("one", attempt=2))
    current = read_journal(path).current()
    assert [(entry.case, entry.attempt, entry.failed) for entry in current] == [("one", 2, False), ("two", 1, False)]


def test_the_failure_of_a_process_that_died_never_takes_the_place_of_an_answer(tmp_path: Path) -> None:
    lost = record("one", decisions=[FAILED], latency_s=None)
    path = write(tmp_path / "j.jsonl", record("one"), lost, lost.model_copy(update={"candidate_hash": None}))
    assert [(entry.case, entry.failed) for entry in read_journal(path).current()] == [("one", False)]


def test_records_of_an_earlier_candidate_do_not_count_and_those_of_nobody_do(tmp_path: Path) -> None:
    nobody = record("three", candidate_hash=None, decisions=[FAILED])
    path = write(tmp_path / "j.jsonl", record("one"), record("two"), nobody)
    write(path, record("one", candidate_hash="b" * 64), load=LOAD | {"candidate_hash": "b" * 64})
    found = read_journal(path)
    assert found.load is not None
    assert found.load.candidate_hash == "b" * 64
    assert {(entry.case, entry.candidate_hash) for entry in found.current()} == {("one", "b" * 64), ("three", None)}


def test_trials_of_one_case_are_items_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "j.jsonl", record("one"), record("one", trial=2))
    assert [entry.trial for entry in read_journal(path).current()] == [1, 2]
