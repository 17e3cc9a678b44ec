"""Candidates that raise what is no ordinary error, change who they are, or say more than a record can hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from decibench.reports.__main__ import main as reports

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

SECRET = "sk-live-2f9c"
EVEN = "return Answer({key: even(question) for key, question in request.questions.items()})"

# What the candidate does when asked, and the code of its failed decisions.
RAISING = {
    "base-exception": f'raise BaseException("{SECRET}")',
    "cancelled": f'import asyncio\nraise asyncio.CancelledError("{SECRET}")',
    "generator-exit": f'raise GeneratorExit("{SECRET}")',
    "pytest-fail": f'import pytest\npytest.fail("{SECRET}")',
    "pytest-skip": f'import pytest\npytest.skip("{SECRET}")',
    "pytest-xfail": f'import pytest\npytest.xfail("{SECRET}")',
    "pytest-exit": f'import pytest\npytest.exit("{SECRET}")',
    "unittest-skip": f'import unittest\nraise unittest.SkipTest("{SECRET}")',
    "bare-candidate-error": (
        f'class Bare(CandidateError):\n    def __init__(self):\n        self.args = ("{SECRET}",)\nraise Bare()'
    ),
    "lazy-exit": (
        f'class Lazy(dict):\n    def get(self, key, default=None):\n        raise SystemExit("{SECRET}")\n'
        "return Answer(Lazy(way=None))"
    ),
}


@pytest.fixture
def small(make_suite: Callable[..., Path], row: Callable[..., dict[str, Any]]) -> Path:
    """Two calibration cases."""
    return make_suite([row("way-000"), row("way-001")], "small")


@pytest.mark.parametrize("flags", [[], ["--on-miss=fail"]], ids=["record", "fail"])
@pytest.mark.parametrize("decide", RAISING.values(), ids=RAISING)
def test_whatever_is_raised_is_a_failed_decision_and_its_message_stays_out(
    bench: Bench, own: Own, small: Path, decide: str, flags: list[str]
) -> None:
    run = bench(small, "--candidate", own(decide), "--showlocals" if not flags else "--tb=no", *flags)
    assert run.code == 1
    run.result.assert_outcomes(failed=2)
    assert [record["decisions"][0]["failure"]["code"] for record in run.records("own")] == ["exception"] * 2
    assert all(" raised in " in record["decisions"][0]["failure"]["detail"] for record in run.records("own"))
    if not flags:
        assert SECRET not in run.output
    assert SECRET not in (run.folder / "own" / "report.json").read_text("utf-8")


@pytest.mark.parametrize("flags", [[], ["-n", "2"]], ids=["serial", "n2"])
@pytest.mark.parametrize("where", ["create", "close"])
def test_a_base_exception_outside_decide_is_caught_too(
    bench: Bench, own: Own, small: Path, where: str, flags: list[str]
) -> None:
    raising = f'raise BaseException("{SECRET}")'
    create = raising if where == "create" else f"own = Own()\ndef close(): {raising}\nown.close = close\nreturn own"
    run = bench(small, "--candidate", own(EVEN, create=create), *flags)
    assert run.code == 1
    assert SECRET not in run.output
    codes = {(record["decisions"][0]["failure"] or {}).get("code") for record in run.records("own")}
    assert codes == ({"load-failed"} if where == "create" else {None})


WRONG_IDENTITIES = {
    "negative-decimals": ('Identity(model="m", decimals=-3)', "identity.decimals must be from 1 to 17"),
    "many-decimals": ('Identity(model="m", decimals=18)', "identity.decimals must be from 1 to 17"),
    "boolean-decimals": ('Identity(model="m", decimals=True)', "identity.decimals is bool"),
    "list-model": ('Identity(model=["m"])', "identity.model is list"),
    "empty-model": ('Identity(model="")', "identity.model is empty"),
    "number-device": ('Identity(model="m", device=0)', "identity.device is int"),
    "number-version": ('Identity(model="m", packages={"torch": 2.4})', "identity.packages.torch is float"),
    "nan-setting": ('Identity(model="m", settings={"t": math.nan})', "not JSON compliant"),
    "object-setting": ('Identity(model="m", settings={"t": Path("x")})', "identity.settings.t is PosixPath"),
}


@pytest.mark.parametrize(("identity", "words"), WRONG_IDENTITIES.values(), ids=WRONG_IDENTITIES)
def test_a_wrong_identity_is_a_failure_to_load_that_names_the_field(
    bench: Bench, own: Own, small: Path, identity: str, words: str
) -> None:
    path = own('return Answer({"way": QuestionAnswer({"left": 0.9, "right": 0.9})})', create="return Own()")
    path.write_text(path.read_text("utf-8").replace('Identity(model="own-1", device="cpu")', identity), "utf-8")
    run = bench(small, "--candidate", path)
    assert run.code == 1
    for record in run.records("own"):
        failure = record["decisions"][0]["failure"]
        assert failure["code"] == "load-failed"
        assert words in failure["detail"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param('self.identity = Identity(model="other")', id="another"),
        pytest.param('self.identity.settings["t"] = 1', id="edited"),
        pytest.param("self.identity = None", id="none"),
    ],
)
def test_an_identity_that_changes_during_the_run_fails_what_was_answered_under_it(
    bench: Bench, own: Own, small: Path, change: str
) -> None:
    run = bench(small, "--candidate", own(f"if request is not None:\n    {change}\n{EVEN}"))
    assert run.code == 1
    codes = {record["decisions"][0]["failure"]["code"] for record in run.records("own")}
    assert codes == ({"exception"} if change.endswith("None") else {"identity-changed"})
    identity = run.report("own")["candidate"]["identity"]
    assert (identity["model"], identity["settings"]) == ("own-1", {})


def test_rounding_declared_after_the_load_does_not_widen_what_a_sum_may_be(bench: Bench, own: Own, small: Path) -> None:
    decide = """
    own = self.identity
    object.__setattr__(own, "decimals", 1)
    return Answer({"way": QuestionAnswer({"left": 0.9, "right": 0.15})})
    """
    run = bench(small, "--candidate", own(decide))
    assert {record["decisions"][0]["failure"]["code"] for record in run.records("own")} == {"identity-changed"}


def test_a_count_of_tokens_beyond_all_counts_is_unknown_and_the_journal_stays_readable(
    bench: Bench, own: Own, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = own('return Answer({"way": even(request.questions["way"])}, usage=Usage(10**5000, 1))')
    run = bench(small, "--candidate", path)
    assert run.code == 0
    usage = {"input_tokens": None, "output_tokens": 1, "cached_tokens": None}
    assert [record["usage"] for record in run.records("own")] == [usage] * 2
    assert bench(small, "--candidate", path, "--resume", run.folder).code == 0
    assert reports(["score", str(run.folder / "own" / "journal.jsonl")]) == 0
    assert '"decisions": 2' in capsys.readouterr().out


def test_code_and_detail_of_a_failure_are_one_short_line(bench: Bench, own: Own, small: Path) -> None:
    run = bench(small, "--candidate", own(r'raise CandidateError("c" * 500, "one\ntwo\x1b[31m" + "d" * 10**6)'))
    assert run.code == 1
    for record in run.records("own"):
        failure = record["decisions"][0]["failure"]
        assert len(failure["code"]) == 60
        assert len(failure["detail"]) == 300
        assert failure["detail"].startswith(r"one\ntwo\x1b[31md")
    assert "d" * 300 not in run.output


def test_a_candidate_that_changes_the_directory_keeps_no_other_from_loading(
    bench: Bench, own: Own, small: Path, mode: list[str]
) -> None:
    own(EVEN, name="first.py", create='os.chdir("/")\nreturn Own()')
    own(EVEN, name="second.py")
    run = bench(small, "--candidate", "first.py", "--candidate", "second.py", *mode)
    assert run.code == 0
    assert len(run.records("second")) == 2
