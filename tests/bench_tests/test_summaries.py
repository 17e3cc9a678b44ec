"""What a run prints and writes for people: every table, with the figures of its report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Bench = Callable[..., Any]
Row = Callable[..., dict[str, Any]]
SCALE = {"type": "score", "instructions": "How bad?", "criteria": ["fine", "bad", "worse"]}


def test_terminal_and_summary_hold_every_table(bench: Bench, suite: Path) -> None:
    run = bench(suite, "--trials", "2")
    summary = (run.folder / "baseline" / "summary.md").read_text()
    for title in (
        "Overall",
        "Accuracy by family and variant (calibration)",
        "Accuracy by family and variant (holdout)",
        "Variants against the original (holdout)",
        "Empirical gate on calibration",
        "Latency (warm-ups apart)",
        "Most confident errors",
    ):
        assert title in run.output, title
        assert f"## {title}" in summary, title
    for trial in ("all trials", "trial 1", "trial 2"):
        assert f"| {trial} |" in summary


def test_the_overall_table_sets_counts_beside_shares(bench: Bench, suite: Path) -> None:
    run = bench(suite, "--candidate", "first-option", "--max-error", "0.6", "--min-accepted", "1")
    overall = run.report("first-option")["metrics"]["holdout"]["overall"]
    assert overall["accepted"]
    rows: dict[str, list[str]] = {}
    for line in (run.folder / "first-option" / "summary.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")][1:-1]
        if cells:
            rows.setdefault(cells[0], cells[1:])
    columns = rows["metric"]
    holdout = columns.index("holdout core")
    for name in ("decisions", "valid", "failed", "ties", "accepted", "zeros_on_reference", "unsafe_eligible"):
        assert rows[name][holdout] == str(overall[name]), name
    for name in ("accuracy", "accuracy_answered", "macro_accuracy", "coverage", "selective_risk"):
        assert rows[name][holdout] == f"{overall[name]:.1%}", name


def test_the_ten_worst_errors_are_the_most_confident_of_different_scenarios(
    bench: Bench, make_suite: Callable[..., Path], row: Row, own: Callable[..., Path]
) -> None:
    variants = ("original", "paraphrase")
    rows = [row(f"way-{n:03}", "holdout", variant, "right", state=f"{n}") for n in range(14) for variant in variants]
    body = """
        share = 0.6 + int(request.state) / 50
        answer = {"left": share, "right": 1 - share}
        return Answer({key: QuestionAnswer(answer) for key in request.questions})
    """
    run = bench(make_suite(rows), "--candidate", own(body))
    table = run.output.split("Most confident errors")[1]
    shown = [word for line in table.splitlines() for word in line.split()[:1] if word.startswith("demo-way-")]
    assert shown == [f"demo-way-{n:03}-original" for n in range(13, 3, -1)]


def test_score_questions_and_question_ids_are_measured_apart(
    bench: Bench, make_suite: Callable[..., Path], row: Row, own: Callable[..., Path]
) -> None:
    questions = {"way": row("x")["questions"]["way"], "level": SCALE}
    expected = [{"way": {"expected": "left"}, "level": {"expected": level}} for level in ("0", "1", "2")]
    rows = [row(f"way-{n:03}", "holdout", questions=questions, references=refs) for n, refs in enumerate(expected)]
    body = """
        way, level = request.questions["way"], request.questions["level"]
        return Answer({"way": sure(way, "left"), "level": sure(level, "0")})
    """
    run = bench(make_suite(rows), "--candidate", own(body))
    holdout = run.report("own")["metrics"]["holdout"]
    assert holdout["by_question"]["demo/way"]["accuracy"] == 1.0
    assert holdout["by_question"]["demo/level"]["accuracy"] == 1 / 3
    # Distances 0, 1 and 2.
    assert holdout["overall"]["ordinal_mae"] == 1.0
    assert "ordinal_mae" in run.output


def test_18_a_refused_list_of_options_fails_with_its_own_reason_and_counts(
    bench: Bench, suite: Path, own: Callable[..., Path]
) -> None:
    run = bench(suite, "--candidate", own('raise CandidateError("too-many-options", "the server takes fewer")'))
    assert run.code == 1
    overall = run.report("own")["metrics"]["holdout"]["overall"]
    assert (overall["decisions"], overall["failed"], overall["accuracy"], overall["accuracy_answered"]) == (
        4,
        4,
        0.0,
        None,
    )
    codes = {d["failure"]["code"] for r in run.report("own")["records"] for d in r["decisions"]}
    assert codes == {"too-many-options"}


def test_a_file_with_both_factories_is_built_by_create_candidate(
    bench: Bench, suite: Path, own: Callable[..., Path]
) -> None:
    path = own("return Answer({key: even(question) for key, question in request.questions.items()})")
    path.write_text(path.read_text() + "\n\ndef create_agent(device):\n    raise RuntimeError('not this one')\n")
    assert bench(suite, "--candidate", path).code == 0
