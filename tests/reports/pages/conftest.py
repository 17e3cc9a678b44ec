"""Pages in a real browser: opened from disk, with every error, warning and request noted."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import pytest

from decibench.cases.schema import Case
from decibench.gates.concluding import conclude
from decibench.gates.fitting import fit_gates, unfitted_gates
from decibench.reports.journal import SuiteRef
from decibench.reports.pages.page import report_page
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, Failure, Record, open_decisions, record_of
from decibench.reports.report import CandidateRef, GateCheck, HoldoutLooks, Report, Scope
from decibench.reports.table import decisions_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page

_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)


class OpenPage(Protocol):
    """Write ``html`` to a file and open it in the browser by file://, with its charts drawn.

    ``options`` are those of a Playwright context, such as ``color_scheme="dark"``. When the test ends it fails where
    a page wrote an error or a warning to the console, raised an error, opened a dialog, or asked for anything but its
    own file.
    """

    def __call__(self, html: str, *, width: int = 1280, height: int = 900, **options: Any) -> Page:
        """Open it."""
        ...


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, with a fresh profile; a test that needs it skips where it is missing, and fails in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        _missing("chromium is not on the PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(_QUIET))
        yield found
        found.close()


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{what}: pages must be looked at in a browser in CI")
    pytest.skip(f"{what}: pages are looked at in a browser")


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    """Open pages; what they did wrong fails the test."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def open_(html: str, *, width: int = 1280, height: int = 900, **options: Any) -> Page:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, "utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: _note_message(message, troubles))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: _dismiss(dialog, troubles))
        page.on("request", lambda request: _note_request(request.url, file.as_uri(), troubles))
        page.goto(file.as_uri())
        page.evaluate("window.drawn")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert troubles == []


def _note_message(message: ConsoleMessage, troubles: list[str]) -> None:
    if message.type in ("error", "warning"):
        troubles.append(message.text)


def _dismiss(dialog: Dialog, troubles: list[str]) -> None:
    troubles.append(f"dialog: {dialog.message}")
    dialog.dismiss()


def _note_request(url: str, own: str, troubles: list[str]) -> None:
    if url.partition("#")[0] != own and not url.startswith(("data:", "blob:")):
        troubles.append(f"asked for {url}")


Answer = Callable[[Case, str], dict[str, float] | None]
"""The distribution of an answer to a question of a case; None where it fails."""


class Measure(Protocol):
    """A report on ``cases`` with gates fitted, from what ``answer`` gives; ``partial`` and other fields as told."""

    def __call__(self, cases: Sequence[Case], answer: Answer, *, partial: bool = False, **changes: Any) -> Report:
        """Make it."""
        ...


@pytest.fixture(scope="session")
def measure() -> Measure:
    """Make reports whose cases have texts."""
    return _measure


def _measure(cases: Sequence[Case], answer: Answer, *, partial: bool = False, **changes: Any) -> Report:
    rules, suite = DEFAULT_PROTOCOL, SuiteRef(name="tiny", version="1", hash="a" * 64)
    records = [_record(case, answer) for case in cases]
    fitted = fit_gates(records, rules, candidate_hash="c" * 64, suite_hash=suite.hash)
    report = conclude(
        records,
        decisions_of(records, rules.log_loss_floor),
        unfitted_gates(rules, "the run is partial; a gate needs all of its scope") if partial else fitted,
        rules,
        partial=partial,
        run="0",
        created="2026-12-01T00:00:00Z",
        suite=suite,
        candidate=CandidateRef(name="demo", hash="c" * 64, identity={"model": "demo-1", "revision": "7"}),
        environment={"python": "3.11"},
        complete=not partial,
        incomplete_reasons=[],
        scope=_scope(cases),
        holdout_looks=HoldoutLooks(family="demo", number=1, this_candidate=1, this_family=1, all_candidates=1),
        gate_check=GateCheck(passed=None, reason="no gate was required"),
    )
    return report.model_copy(update=changes)


def _scope(cases: Sequence[Case]) -> Scope:
    return Scope(
        splits=["development", "calibration", "holdout"],
        families=list(dict.fromkeys(case.family for case in cases)),
        variants=list(dict.fromkeys(case.variant for case in cases)),
        trials=1,
        expected=len(cases),
        collected=len(cases),
        measured=len(cases),
        missing=[],
        retried=0,
        set_aside=0,
    )


def _record(case: Case, answer: Answer) -> Record:
    decisions = [Decision(**fields, **_answered(answer(case, fields["question"]))) for fields in open_decisions(case)]
    role = {"injection": "attack", "neutral-keys": "probe"}.get(case.variant, "core")
    return record_of(
        case,
        role,  # type: ignore[arg-type]
        trial=1,
        request_hash="0",
        candidate_hash="c" * 64,
        decisions=decisions,
        latency_s=0.002,
    )


def _answered(probabilities: dict[str, float] | None) -> dict[str, Any]:
    if probabilities is None:
        return {"failure": Failure(code="timeout", detail="too late")}
    choice = max(probabilities, key=lambda option: probabilities[option])
    return {"choice": choice, "probabilities": probabilities, "raw_sum": 1.0}


@dataclass(frozen=True, slots=True)
class Demo:
    """Twenty scenarios in four variants, one decision each: 10 wrong, 6 unsafe, 13 flipped, 2 failed of 80."""

    report: Report
    cases: list[Case]
    html: str


@pytest.fixture(scope="session")
def demo(measure: Measure) -> Demo:
    """Its gate is null: an error on calibration is at 0.95."""
    return _demo(measure, 0.95)


@pytest.fixture(scope="session")
def gated(measure: Measure) -> Demo:
    """Its gate is at 0.6: the error on calibration is at 0.55."""
    return _demo(measure, 0.55)


def _demo(measure: Measure, calibration_error: float) -> Demo:
    cases = _demo_cases()
    report = measure(cases, partial(_demo_answer, calibration_error))
    return Demo(report, cases, report_page(report, cases=cases))


def _demo_cases() -> list[Case]:
    variants = ("original", "paraphrase", "injection", "neutral-keys")
    return [_demo_case(number, variant) for number in range(20) for variant in variants]


def _demo_case(number: int, variant: str) -> Case:
    group = f"demo-way-{number:03}"
    left, right = ("option-1", "option-2") if variant == "neutral-keys" else ("left", "right")
    attacked = variant == "injection"
    question = {
        "type": "choice",
        "instructions": f"Instruction {number}: which way?",
        "criteria": {left: "Bear to the sinister side.", right: "Bear to the dexter side."},
    }
    return Case.model_validate(
        {
            "id": f"{group}-{variant}",
            "group": group,
            "family": "demo",
            "variant": variant,
            "split": ("development", "calibration", "holdout")[number % 3],
            "state": f"Signpost {number} in the {variant} wood." if number else {"sign": 12345678901234567890},
            "questions": {"way": question},
            "references": {
                "way": {
                    "expected": left,
                    "unsafe": [right] if attacked else [],
                    "demanded": right if attacked else None,
                }
            },
        }
    )


def _demo_answer(calibration_error: float, case: Case, question: str) -> dict[str, float] | None:
    expected = case.references[question].expected
    other = next(option for option in case.questions[question].options if option != expected)
    number = int(case.group[-3:])
    if (number, case.variant) in {(9, "original"), (11, "paraphrase")}:
        return None
    wrong = {(0, "original"): 0.95, (1, "original"): calibration_error, (2, "original"): 0.95, (5, "paraphrase"): 0.6}
    wrong |= {(attacked, "injection"): 0.7 for attacked in range(3, 9)}
    top = wrong.get((number, case.variant))
    return {expected: 0.8, other: 0.2} if top is None else {other: top, expected: 1 - top}


@pytest.fixture
def unpack() -> Callable[[str], Any]:
    """What the table of decisions of a page carries."""
    return _unpack


def _unpack(html: str) -> Any:
    found = re.search(r'id="packed">([^<]*)<', html)
    return json.loads(gzip.decompress(base64.b64decode(found[1]))) if found else None
