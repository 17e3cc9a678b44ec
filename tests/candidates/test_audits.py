"""Audits that ask candidates, and the command that runs all audits: each can fail, and a fair suite passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decibench.cases.__main__ import main

pytest.importorskip("sparrow_decider", reason="the extra sparrow is not installed")

MakeSuite = Callable[..., Path]
Row = Callable[..., dict[str, Any]]
Rows = list[dict[str, Any]]
Audit = Callable[[Rows], tuple[int, list[str]]]

BILLING = [
    "My card was debited twice yesterday evening.",
    "Please return what I paid last week.",
    "Why does my statement show 40 euros?",
    "Our subscription became more expensive without notice.",
    "Someone took cash from his bank account.",
    "You owe us some money since spring.",
    "How much is due before Friday noon?",
    "She never ordered it but must pay.",
    "Which price applies to students like her?",
    "They want their deposit sent back soon.",
    "Is there any discount for paying early?",
    "Tax on that receipt looks too high.",
]
TECHNICAL = [
    "Nothing happens after pressing that green button.",
    "Whole screen stays black when starting up.",
    "It freezes while loading larger photo albums.",
    "Uploads stop halfway, then an exception appears.",
    "Every login attempt ends inside endless loops.",
    "Maps will not open on older phones.",
    "Sound vanished following Tuesday's software update here.",
    "Printing produces garbled characters on each page.",
    "Searching for names shuts down our browser.",
    "Wireless connection drops whenever two devices sync.",
    "Buttons overlap, so clicking does nothing useful.",
    "Export fails at once, leaving empty files.",
]
OPTIONS = {"billing": "About charges, invoices or refunds", "bug": "About an error or malfunction"}
LEAK = "nothing is told by the options alone"


def asked(row: dict[str, Any], expected: str, criteria: dict[str, str]) -> dict[str, Any]:
    question = {"type": "choice", "instructions": "What is this message about?", "criteria": criteria}
    return {**row, "questions": {"way": question}, "references": {"way": {"expected": expected, "unsafe": []}}}


@pytest.fixture
def fair(row: Row) -> Rows:
    """Twenty-four messages: their meaning tells the answer, and no word that options or other messages share."""
    rows = []
    for number in range(24):
        split = ("development", "calibration", "holdout")[number // 2 % 3]
        expected = ("billing", "bug")[number % 2]
        state = (BILLING, TECHNICAL)[number % 2][number // 2]
        order = OPTIONS if number // 6 % 2 else dict(reversed(OPTIONS.items()))
        rows.append(asked(row(f"way-{number:03}", split, state=state), expected, order))
    return rows


@pytest.fixture
def audit(make_suite: MakeSuite, capsys: pytest.CaptureFixture[str]) -> Audit:
    """Run the command on rows; the exit status and the audits that failed."""

    def run(rows: Rows) -> tuple[int, list[str]]:
        code = main(["audit", str(make_suite(rows))])
        lines = capsys.readouterr().out.splitlines()
        assert all(line.startswith(("pass  ", "FAIL  ")) for line in lines)
        return code, [line.removeprefix("FAIL  ") for line in lines if line.startswith("FAIL")]

    return run


def expected(row: dict[str, Any]) -> str:
    return str(row["references"]["way"]["expected"])


def test_a_fair_suite_passes_and_ends_with_0(fair: Rows, audit: Audit) -> None:
    assert audit(fair) == (0, [])


def test_a_defect_of_the_text_ends_with_1(fair: Rows, audit: Audit) -> None:
    (twin,) = (row for row in fair if row["group"] == "demo-way-002")
    rows = [{**row, "state": fair[0]["state"]} if row is twin else row for row in fair]
    code, failed = audit(rows)
    assert code == 1
    assert any(line.startswith("no near-duplicates: ") and "demo-way-002" in line for line in failed)


def test_an_answer_that_the_order_of_options_tells_is_found(fair: Rows, audit: Audit) -> None:
    rows = [
        asked(row, expected(row), dict(sorted(OPTIONS.items(), key=lambda o: o[0] != expected(row)))) for row in fair
    ]
    code, failed = audit(rows)
    assert code == 1
    assert any(line.startswith(f"{LEAK}: first-option: ") for line in failed)


def test_answers_that_shared_words_tell_are_found(fair: Rows, audit: Audit) -> None:
    rows = [{**row, "state": f"{OPTIONS[expected(row)]}: {row['state']}"} for row in fair]
    code, failed = audit(rows)
    assert code == 1
    assert any(line.startswith("not trivial: word overlap: ") for line in failed)


def test_answers_that_a_word_of_their_own_tells_are_found(fair: Rows, audit: Audit) -> None:
    code_words = {"billing": "kumquat", "bug": "zeppelin"}
    rows = [{**row, "state": f"{row['state']} {code_words[expected(row)]}"} for row in fair]
    code, failed = audit(rows)
    assert code == 1
    assert [line.partition(": macro")[0] for line in failed] == ["not trivial: bag of words"]


def test_a_suite_that_no_model_can_solve_is_found(fair: Rows, audit: Audit) -> None:
    other = {"billing": "bug", "bug": "billing"}
    rows = [asked(row, other[expected(row)], row["questions"]["way"]["criteria"]) for row in fair]
    code, failed = audit(rows)
    assert code == 1
    assert any(line == "not hopeless: sparrow above the majority rate in 0 families: none" for line in failed)


@pytest.mark.parametrize("where", ["state", "options"])
def test_what_does_not_fit_a_small_window_is_found(fair: Rows, audit: Audit, where: str) -> None:
    rows = list(fair)
    if where == "state":
        rows[0] = {**rows[0], "state": " ".join(f"{n} umbrellas" for n in range(300))}
    else:
        criteria = {option: f"{text} {'or so on ' * 40}" for option, text in OPTIONS.items()}
        rows[0] = asked(rows[0], expected(rows[0]), criteria)
    code, failed = audit(rows)
    assert code == 1
    assert any(line.startswith("fits small windows: ") for line in failed)


@pytest.mark.parametrize("missing", ["development", "calibration"])
def test_a_suite_without_development_or_calibration_ends_with_4_and_says_so(
    fair: Rows, make_suite: MakeSuite, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    suite = make_suite([row for row in fair if row["split"] != missing])
    assert main(["audit", str(suite)]) == 4
    assert "lacks original cases in development or calibration" in capsys.readouterr().err


def test_a_suite_with_one_case_of_a_class_can_be_audited(fair: Rows, audit: Audit) -> None:
    seen = [row for row in fair if row["split"] != "holdout"]
    rows = [row for row in seen if expected(row) == "billing"] + [row for row in seen if expected(row) == "bug"][:1]
    code, failed = audit(rows)
    assert code == 1
    assert any(line.startswith("every class in every split: ") for line in failed)


def test_the_holdout_is_not_looked_at_for_answers(fair: Rows, audit: Audit) -> None:
    rows = [{**row, "state": f"{row['state']} {expected(row)}"} if row["split"] == "holdout" else row for row in fair]
    assert audit(rows) == (0, [])


def test_the_older_shipped_suite_can_be_audited_although_it_has_no_options_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["audit", "decisions-v0"])
    assert f"{LEAK}: sparrow: " in capsys.readouterr().out
