"""``python -m decibench.reports reparse``: kept replies are scored again, and nobody is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from decibench.reports.__main__ import main
from decibench.reports.journal import read_journal
from decibench.reports.record import Failure, Record
from decibench.reports.report import Report, read_report

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Asked, Bench, Run, Said, Serve

CANDIDATE = "systemone"
MakeRun = Callable[..., "Run"]


@pytest.fixture
def run_of(
    bench: Bench,
    suite: Path,
    serve: Serve,
    served: Callable[[Asked], Said],
    monkeypatch: pytest.MonkeyPatch,
) -> MakeRun:
    """Make a run with kept replies; afterwards the key is gone and the server refuses."""

    def make(*options: str, answer: Callable[[Asked], Said] = served) -> Run:
        monkeypatch.setenv("GONE_KEY", "a-key")
        over = False
        server = serve(lambda asked: (500, {}, "") if over else answer(asked))
        remote = ["--candidate", CANDIDATE, "--endpoint", server.url, "--model", "m-1", "--key-env", "GONE_KEY"]
        run = bench(suite, *remote, "--keep-raw", *options)
        over = True
        monkeypatch.delenv("GONE_KEY")
        return run

    return make


@pytest.fixture
def reparse(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[Report, str]]:
    """Score a run again: the report that follows, and what is printed."""
    number = 0

    def again(run: Run) -> tuple[Report, str]:
        nonlocal number
        number += 1
        out = tmp_path / f"again-{number}"
        capsys.readouterr()
        assert main(["reparse", str(run.folder), "--out", str(out), "--suite", str(suite)]) == 0
        return read_report(out / CANDIDATE / "report.json"), capsys.readouterr().out

    return again


def rewrite(run: Run, name: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Change the lines of a file of the candidate, as an older parser would have written them."""
    path = run.folder / CANDIDATE / name
    lines = [change(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if line is not None), "utf-8")


def older(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A change of every decision of original cases in a journal."""

    def change(line: dict[str, Any]) -> dict[str, Any]:
        if line["kind"] == "record" and line["variant"] == "original":
            line["decisions"] = [decision | changes for decision in line["decisions"]]
        return line

    return change


def test_the_same_parser_gives_the_same_report_without_key_or_server(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]], mode: list[str]
) -> None:
    run = run_of("--trials", "2", *mode)
    before = read_report(run.folder / CANDIDATE / "report.json")
    after, said = reparse(run)
    assert f"{CANDIDATE}: 48 of 48 records have kept replies" in said
    assert "0 of 48 decisions changed" in said
    differing = {name for name in Report.model_fields if getattr(after, name) != getattr(before, name)}
    assert differing <= {"created", "environment", "gate_check", "seal"}
    assert after.environment["scored_again_by"].startswith("decibench ")


@pytest.mark.parametrize(
    ("earlier", "what"),
    [
        (
            {"choice": None, "probabilities": None, "raw_sum": None, "failure": {"code": "old", "detail": "old"}},
            "failed before, scored now: 12",
        ),
        ({"choice": "right", "probabilities": {"left": 0.0, "right": 1.0}}, "another choice: 12"),
        ({"raw_sum": 0.99}, "the same choice by other figures: 12"),
    ],
)
def test_what_an_older_parser_made_of_replies_is_told_and_set_right(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]], earlier: dict[str, Any], what: str
) -> None:
    run = run_of()
    before = read_report(run.folder / CANDIDATE / "report.json")
    rewrite(run, "journal.jsonl", older(**earlier))
    after, said = reparse(run)
    assert "12 of 24 decisions changed" in said
    assert what in said
    assert after.records == before.records
    assert after.metrics == before.metrics


def test_replies_that_are_no_answers_any_more_fail_with_the_reason_of_now(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]]
) -> None:
    run = run_of()
    texts = iter([(200, "no JSON"), (200, "{}"), (400, '{"detail":{"error_type":"max_tokens_exceeded"}}'), (200, "[]")])

    def spoil(line: dict[str, Any]) -> dict[str, Any]:
        status, text = next(texts, (None, None))
        return line if text is None else line | {"replies": [{"status": status, "text": text}]}

    rewrite(run, "raw.jsonl", spoil)
    after, said = reparse(run)
    assert "scored before, failed now: 4" in said
    failures = [record.decisions[0].failure for record in after.records[:5]]
    codes = [failure and failure.code for failure in failures]
    assert codes[0] == "invalid-json"
    assert codes[2] == "does-not-fit"
    assert None not in codes[:4]
    assert codes[4] is None
    assert sum(split.overall.failed for split in after.metrics.values()) > 0


def test_failures_without_a_reply_and_records_without_kept_ones_stay_as_they_are(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]], served: Callable[[Asked], Said]
) -> None:
    refusals = iter([400, 422, 500])

    def answer(asked: Asked) -> Said:
        status = None if "warm-up" in asked.body["questions"] else next(refusals, None)
        return served(asked) if status is None else (status, {"Content-Type": "text/html"}, "<p>not found</p>")

    run = run_of(answer=answer)
    before = read_report(run.folder / CANDIDATE / "report.json")
    assert sum(record.failed for record in before.records) == 3
    dropped = before.records[5].case
    rewrite(run, "raw.jsonl", lambda line: None if line["case"] == dropped else line)
    rewrite(
        run, "journal.jsonl", lambda line: line | {"attempt": 9} if line.get("case") == before.records[6].case else line
    )
    after, said = reparse(run)
    assert "22 of 24 records have kept replies; the others stay as they were" in said
    assert "0 of 24 decisions changed" in said
    assert after.records[:6] == before.records[:6]


def test_a_model_that_changed_during_the_run_is_told_again(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]], served: Callable[[Asked], Said]
) -> None:
    names = iter(["served-1"] * 20)

    def answer(asked: Asked) -> Said:
        status, headers, body = served(asked)
        return status, headers, json.dumps({**json.loads(body), "model": next(names, "served-2")})

    run = run_of(answer=answer)
    after, said = reparse(run)
    assert "0 of 24 decisions changed" in said
    wrong: list[Record] = [record for record in after.records if record.failed]
    assert {record.model for record in wrong} == {"served-2"}
    assert {failure.code for record in wrong if isinstance(failure := record.decisions[0].failure, Failure)} == {
        "wrong-model"
    }


def test_what_comes_out_can_be_scored_again_and_stands_beside_what_was(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]], suite: Path, tmp_path: Path
) -> None:
    run = run_of()
    reparse(run)
    folder = tmp_path / "again-1" / CANDIDATE
    written = {path.name for path in folder.iterdir()}
    assert written >= {"journal.jsonl", "raw.jsonl", "report.json", "gate.json", "summary.md", "report.html"}
    assert len(read_journal(folder / "journal.jsonl").records) == 24
    assert main(["reparse", str(folder), "--out", str(tmp_path / "third"), "--suite", str(suite)]) == 0
    assert main(["compare", str(run.folder / CANDIDATE), str(folder)]) == 0


def test_the_same_answers_are_no_new_look_at_the_holdout(
    run_of: MakeRun, reparse: Callable[..., tuple[Report, str]], pytester: pytest.Pytester
) -> None:
    run = run_of()
    ledger = pytester.path / "runs" / "ledger.jsonl"
    before = ledger.read_bytes()
    after, _ = reparse(run)
    assert ledger.read_bytes() == before
    assert after.holdout_looks.this_candidate == 1


def test_what_cannot_be_scored_again_is_a_sentence(
    run_of: MakeRun, bench: Bench, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of()

    def refusal(source: Path, *options: str) -> str:
        capsys.readouterr()
        assert main(["reparse", str(source), *options]) == 4
        return capsys.readouterr().err

    out = ["--out", str(tmp_path / "out")]
    named = ["--suite", str(suite)]
    assert "is there already" in refusal(run.folder, "--out", str(run.folder), *named)
    assert "was recorded on tiny 1" in refusal(run.folder, *out, "--suite", "decisions-v0")
    assert "run with --keep-raw" in refusal(bench(suite, "--candidate", "uniform").folder, *out, *named)
    assert "run with --keep-raw" in refusal(tmp_path / "nowhere", *out, *named)
    (run.folder / CANDIDATE / "raw.jsonl").open("a").write("{}\n")
    assert "raw.jsonl, line 25, field case: is missing" in refusal(run.folder, *out, *named)
    (run.folder / CANDIDATE / "report.json").unlink()
    assert "report.json" in refusal(run.folder, *out, *named)
    assert not (tmp_path / "out").exists()


def test_records_of_cases_that_the_suite_does_not_hold_are_refused(
    run_of: MakeRun, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of()
    journal = run.folder / CANDIDATE / "journal.jsonl"
    case = run.records(CANDIDATE)[0]["case"]
    journal.write_text(journal.read_text("utf-8").replace(case, f"{case}-else"), "utf-8")
    assert main(["reparse", str(run.folder), "--out", str(tmp_path / "out"), "--suite", str(suite)]) == 4
    assert f"journal.jsonl: tells of a request {case}-else that the suite does not hold" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("report.json", '"complete": true', '"complete": false', "was edited or damaged"),
        ("report.json", '"case":', '"cast":', "is missing"),
        ("journal.jsonl", '"candidate":"', '"candidate":"../../', "names a candidate that can be no folder"),
        (
            "journal.jsonl",
            '"device":"remote"',
            '"device":"here"',
            "does not say who answered",
        ),
        ("journal.jsonl", '{"kind":"load"', '{"kind":"lead"', "unexpected kind"),
        ("raw.jsonl", '"trial":1', '"trial":2', "holds no reply to a request of the journal"),
    ],
)
def test_a_run_that_was_edited_is_not_made_whole(
    run_of: MakeRun,
    suite: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    old: str,
    new: str,
    said: str,
) -> None:
    run = run_of()
    file = run.folder / CANDIDATE / name
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    assert main(["reparse", str(run.folder), "--out", str(tmp_path / "a" / "out"), "--suite", str(suite)]) == 4
    assert said in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


def test_a_report_of_another_run_does_not_go_with_the_journal(
    run_of: MakeRun, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = run_of(), run_of()
    arguments = ["--out", str(tmp_path / "out"), "--suite", str(suite)]
    report = first.folder / CANDIDATE / "report.json"
    report.write_bytes((second.folder / CANDIDATE / "report.json").read_bytes())
    assert main(["reparse", str(first.folder), *arguments]) == 4
    assert "is of another run or candidate than the journal beside it" in capsys.readouterr().err
    journal = second.folder / CANDIDATE / "journal.jsonl"
    journal.write_text("".join(journal.read_text("utf-8").splitlines(keepends=True)[:-2]), "utf-8")
    assert main(["reparse", str(second.folder), *arguments]) == 4
    assert "has 22 of the 24 records of the report beside it" in capsys.readouterr().err
    assert main(["reparse", str(second.folder), "--out", str(second.folder / "out"), "--suite", str(suite)]) == 4
    assert "lies in what is read" in capsys.readouterr().err


def test_where_one_of_two_candidates_cannot_be_read_nothing_is_written(
    bench: Bench,
    suite: Path,
    serve: Serve,
    served: Callable[[Asked], Said],
    pytester: pytest.Pytester,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = f'adapter = "systemone"\nendpoint = "{serve(served).url}"\nmodel = "m-1"\n'
    text = "".join(f"[candidates.{name}]\n{table}" for name in ("far", "near"))
    (pytester.path / "decibench.toml").write_text(text, "utf-8")
    run = bench(suite, "--candidate", "far", "--candidate", "near", "--keep-raw")
    arguments = ["reparse", str(run.folder), "--out", str(tmp_path / "out"), "--suite", str(suite)]
    replies = run.folder / "near" / "raw.jsonl"
    whole = replies.read_text("utf-8")
    replies.write_text(whole + "{}\n", "utf-8")
    assert main(arguments) == 4
    assert not (tmp_path / "out").exists()
    replies.write_text(whole, "utf-8")
    assert main(arguments) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"far", "near"}
    said = capsys.readouterr().out
    assert [f"{name}: 24 of 24 records have kept replies" in said for name in ("far", "near")] == [True, True]


def test_replies_to_several_bodies_of_a_request_are_read_together(
    bench: Bench,
    make_suite: Callable[..., Path],
    row: Callable[..., dict[str, Any]],
    serve: Serve,
    pytester: pytest.Pytester,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(f"way-{number:03}") for number in range(4)]
    for each in rows:
        each["questions"] = dict.fromkeys(("one", "two"), each["questions"]["way"])
        each["references"] = dict.fromkeys(("one", "two"), each["references"]["way"])
    suite = make_suite(rows, "pairs")
    number = iter(range(10**6))

    def answer(asked: Asked) -> Said:
        """Some replies are refusals, some too large to be read; every third has no last line as it is asked for."""
        n = next(number)
        if n % 5 == 3:
            return 200, {}, "x" * (2 * 1024**2 + 1)
        if n % 7 == 6:
            return 500, {}, '{"error":{"code":"down"}}'
        message = {"role": "assistant", "content": "Turn.\nleft" if n % 3 == 2 else "Turn.\nFINAL: left"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 3}
        return 200, {}, json.dumps({"id": "1", "model": "m-1", "choices": [choice], "usage": usage})

    table = f'adapter = "llm-final"\nprovider = "openai"\nendpoint = "{serve(answer).url}"\nmodel = "m-1"\n'
    table += "max_tokens = 50\n"
    (pytester.path / "decibench.toml").write_text(f"[candidates.far]\n{table}", "utf-8")
    run = bench(suite, "--candidate", "far", "--keep-raw")
    before = read_report(run.folder / "far" / "report.json")
    decisions = [decision for record in before.records for decision in record.decisions]
    assert {decision.failure is None for decision in decisions} == {True, False}
    out = tmp_path / "again"
    assert main(["reparse", str(run.folder), "--out", str(out), "--suite", str(suite)]) == 0
    assert "0 of 8 decisions changed" in capsys.readouterr().out
    assert read_report(out / "far" / "report.json").records == before.records
