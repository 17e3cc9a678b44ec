"""The table of docs/protocols.md: what becomes of decisions where a System One server breaks a rule.

python scripts/faults.py docs/protocols.md

Asks the mock of the conformance suite jevcompat, once as it should be and once with each of its faults, with requests
that show the fault where requests of ours can, and writes anew what stands between the two marks of the page.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jevcompat.mock import FAULTS, MockConfig, Running
from jevcompat.spec import REQUIREMENTS

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import CandidateError
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.remote.candidate import RemoteCandidate
from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.protocol import DEFAULT_PROTOCOL

BEGIN: Final = "<!-- written by scripts/faults.py -->"
END: Final = "<!-- end -->"
ANSWERED: Final = "answered"


@dataclass(frozen=True)
class Probe:
    """How a server is asked: the key that it wants, the key that is sent, and the model that is asked for."""

    about: str = ""
    wants: str | None = None
    sends: str | None = None
    model: str = "jev-latest"


USUAL: Final = Probe()
PROBES: Final[Mapping[str, Probe]] = {
    "text-errors": Probe("asked for an unknown model", model="none-of-these"),
    "error-flat": Probe("asked for an unknown model", model="none-of-these"),
    "auth-rejects-header": Probe("with a key that is not wanted", sends="right"),
    "auth-x-api-key": Probe("with the right key", wants="right", sends="right"),
    "auth-plain": Probe("without a key that is wanted", wants="right"),
    "auth-invalid-403-text": Probe("with a wrong key", wants="right", sends="wrong"),
}
"""The probe that shows a fault, where that is not the usual one."""

INVISIBLE: Final[Mapping[str, str]] = {
    "models-404": "no list of models is asked for",
    "forbid-extra": "no other fields are sent",
    "string-only-text": "instructions and descriptions are texts",
    "noul-needs-instructions": "every question has instructions",
    "accept-map-score": "levels are sent as a list",
    "500-on-unknown-type": "no other types are asked",
    "accept-boolean": "no other types are asked",
    "validation-400": "no invalid request is sent",
    "id-leaks": "every single answer is legal",
    "batch-leaks": "every single answer is legal",
    "order-leaks": "every single answer is legal",
}
"""Faults that no reply to a request of ours shows, and why."""


@dataclass(frozen=True)
class Row:
    """A fault and what became of the decisions: with it, and with the same probe without it."""

    fault: str
    probe: Probe
    with_it: Counter[str]
    without: Counter[str]

    @property
    def rule(self) -> str:
        """The rule that is broken."""
        rule: str = FAULTS[self.fault][0]
        return rule

    @property
    def level(self) -> str:
        """MUST or SHOULD."""
        level: str = REQUIREMENTS[self.rule].level
        return level

    @property
    def told(self) -> str:
        """The outcomes in words."""
        told = _told(self.with_it)
        if self.fault in INVISIBLE:
            told = f"{told} (not visible: {INVISIBLE[self.fault]})"
        if self.probe is USUAL:
            return told
        without = "the same" if self.with_it == self.without else _told(self.without)
        return f"{self.probe.about}: {told}; without the fault: {without}"


def measured() -> list[Row]:
    """All faults of the mock, asked now."""
    probes = {USUAL, *PROBES.values()}
    with ThreadPoolExecutor(8) as pool:
        without = dict(zip(probes, pool.map(outcomes, probes), strict=True))
        asked = [(fault, PROBES.get(fault, USUAL)) for fault in FAULTS]
        found = pool.map(lambda pair: outcomes(pair[1], pair[0]), asked)
        return [Row(fault, probe, got, without[probe]) for (fault, probe), got in zip(asked, found, strict=True)]


def outcomes(probe: Probe, *faults: str) -> Counter[str]:
    """How many decisions were answered, or failed with which code; one that stops a run ends in an exclamation mark."""
    found: Counter[str] = Counter()
    key_env = f"DECIBENCH_FAULTS_{probe.sends.upper()}" if probe.sends else None
    if probe.sends and key_env:
        os.environ[key_env] = probe.sends
    with Running(MockConfig(key=probe.wants, faults=frozenset(faults))) as server:
        settings = SystemOneSettings(endpoint=server.url, model=probe.model, key_env=key_env)
        candidate = RemoteCandidate(SystemOne(settings), Allowance())
        for case in cases():
            found.update(_outcomes_of(candidate, case))
        candidate.close()
    return found


def _outcomes_of(candidate: RemoteCandidate, case: Case) -> list[str]:
    try:
        answer = candidate.decide(request_of(case))
    except CandidateError as error:
        return [error.code + ("!" if error.fatal else "")] * len(case.questions)
    decisions = score_answer(case, answer, candidate.identity, DEFAULT_PROTOCOL.tolerances)
    return [decision.failure.code if decision.failure else ANSWERED for decision in decisions]


def _told(found: Counter[str]) -> str:
    codes = {code: count for code, count in found.items() if code != ANSWERED}
    if not codes:
        return ANSWERED
    failed = sum(codes.values())
    many = "all" if failed == found.total() else f"{failed} of {found.total()}"
    names = ", ".join(f"`{code.removesuffix('!')}`" for code in codes)
    stops = "; the run stops" if any(code.endswith("!") for code in codes) else ""
    return f"{many} failed: {names}{stops}"


def cases() -> Iterator[Case]:
    """Requests of every kind that a suite can hold: 10 questions in 4 cases."""
    levels = [f"Level {number} of the scale." for number in range(10)]
    team = {"type": "choice", "instructions": "Who?", "criteria": {"Sales": "Sells.", "Support": "Helps."}}
    severity = {"type": "score", "instructions": "How severe is it?", "criteria": levels[:3]}
    mixed = {
        "Was nun?": {"type": "choice", "instructions": "What next?", "criteria": {"Rückruf": None, "Warten": "Wait."}},
        "plain": {"type": "noul", "instructions": "The writer is a customer."},
        "one-sided": {"type": "noul", "instructions": "It is urgent.", "criteria": {"true": "It cannot wait."}},
        "severity": severity,
        "finely": {"type": "score", "instructions": "How severe, finely?", "criteria": levels},
        "team": team,
    }
    many = {f"Tool {number}": f"Does thing {number}." for number in range(100)}
    state = "The parcel came nine days late and the customer wants the postage back."
    yield _case("mixed", state, mixed)
    yield _case("many", state, {"tool": {"type": "choice", "instructions": "Which tool?", "criteria": many}})
    yield _case("object", {"days": 9}, {"late": {"type": "noul", "instructions": "It was late."}, "who": team})
    yield _case("array", [state], {"severity": severity})


def _case(name: str, state: Any, questions: Mapping[str, Any]) -> Case:
    expected = {"noul": "true", "score": "0"}
    return Case.model_validate(
        {
            "id": f"faults-{name}-original",
            "group": f"faults-{name}",
            "family": "faults",
            "variant": "original",
            "split": "development",
            "state": state,
            "questions": questions,
            "references": {
                key: {"expected": expected.get(question["type"]) or next(iter(question["criteria"]))}
                for key, question in questions.items()
            },
        }
    )


def table(rows: Sequence[Row]) -> str:
    """The rows in Markdown."""
    lines = [["fault", "breaks", "what becomes of the decisions"], ["---"] * 3]
    lines += [[f"`{row.fault}`", f"{row.level} `{row.rule}`", row.told] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(page: Path, rows: Sequence[Row]) -> None:
    """Put the table of ``rows`` between the marks of ``page``."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    version = importlib.metadata.version("jevcompat")
    about = f"Measured with jevcompat {version} and all of its {len(FAULTS)} faults:"
    page.write_text(f"{before}{BEGIN}\n\n{about}\n\n{table(rows)}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), measured())
