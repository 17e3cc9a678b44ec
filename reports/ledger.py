"""The ledger of holdout looks: one line each time a candidate's run scores a suite's holdout."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import canonical_json, read_json
from decibench.cases.schema import Model
from decibench.reports.journal import SuiteRef
from decibench.reports.report import HoldoutLooks

LEDGER: Final = "ledger.jsonl"


class Look(Model):
    """One line: when which candidate was scored on which holdout. A resumed run is the same look.

    ``family`` is the adapter or the own file that the candidate is a configuration of; null in older lines.
    """

    date: str
    run: str
    candidate: str
    candidate_hash: str
    family: str | None = None
    suite: str
    suite_version: str
    suite_hash: str
    decisions: int
    partial: bool
    report_hash: str


def read_ledger(path: Path) -> list[Look]:
    """All looks recorded at ``path``; none where there is no file."""
    if not path.exists():
        return []
    looks = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            looks.append(Look.model_validate(read_json(line)))
        except ValueError as error:
            message = "is not a ledger line; restore the file, or move it away to start a new count"
            raise SuiteError([Problem(str(path), message, number)]) from error
    return looks


def count_looks(
    looks: list[Look], suite: SuiteRef, candidate_hash: str | None, family: str, run: str, looking: bool
) -> HoldoutLooks:
    """Looks at the holdout of ``suite``, with the present one of ``run`` counted once where it is ``looking``.

    Trying configurations of one candidate against a holdout fits the candidate to it, whatever each is called: looks of
    the same ``family`` are counted together. An older line, which does not tell its family, counts where the candidate
    is the same.
    """
    seen = {(look.run, look.candidate_hash): look.family for look in looks if look.suite_hash == suite.hash}
    if looking and candidate_hash is not None:
        seen.setdefault((run, candidate_hash), family)
    of_family = [look for look, its_family in seen.items() if family == its_family or look[1] == candidate_hash]
    present = (run, candidate_hash)
    return HoldoutLooks(
        family=family,
        number=of_family.index(present) + 1 if looking and present in of_family else None,
        this_candidate=sum(hash_ == candidate_hash for _, hash_ in seen),
        this_family=len(of_family),
        all_candidates=len(seen),
    )


def add_look(path: Path, look: Look) -> None:
    """Append ``look`` unless its run and candidate are there already."""
    known = {(other.run, other.candidate_hash) for other in read_ledger(path)}
    if (look.run, look.candidate_hash) in known:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.seek(0)
        text = file.read()
        gap = "\n" if text and not text.endswith(b"\n") else ""  # An editor may have left the last line open.
        file.write(f"{gap}{canonical_json(look.model_dump())}\n".encode())
