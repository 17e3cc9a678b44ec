"""What gates are fitted on: core variants of calibration, trial 1, and what ties a gate to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from decibench.cases.jsonio import sha256_of
from decibench.cases.schema import Split
from decibench.gates.groups import PresentedGroups
from decibench.gates.rules import chosen_rules
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.table import Decisions, decisions_of

NO_PROBABILITIES: Final = "the candidate states no probabilities, on which a threshold could stand"

Obstacle: TypeAlias = tuple[Literal["refused", "not-fitted", "no-probabilities"], str]
"""The status and the reason of a gate that cannot be fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Decisions to fit on, by group; ``origin`` are the fields of a gate that say where it comes from.

    ``obstacle`` says why no gate can be fitted on them; None where one can.
    """

    decisions: Decisions
    groups: PresentedGroups
    origin: dict[str, Any]
    obstacle: Obstacle | None


def core_of(records: Sequence[Record], split: Split) -> list[Record]:
    """Core variants of ``split``, trial 1."""
    return [r for r in records if r.split == split and r.role == "core" and r.trial == 1]


def calibration_of(records: Sequence[Record]) -> list[Record]:
    """The records a gate may be fitted on."""
    return core_of(records, "calibration")


def make_calibration(
    records: Sequence[Record],
    protocol: Protocol,
    *,
    candidate_hash: str | None,
    suite_hash: str | None,
    probabilities: bool = True,
) -> Calibration:
    """Lay out ``records``, all of which count; ``probabilities`` is false where the candidate states none."""
    decisions = decisions_of(records, protocol.log_loss_floor)
    groups = PresentedGroups(decisions, protocol.hash_salt)
    origin = {
        "scenarios": len(groups),
        "decisions": len(decisions),
        "rules": chosen_rules(protocol),
        "candidate_hash": candidate_hash,
        "protocol_hash": protocol.hash,
        "suite_hash": suite_hash,
        "calibration_hash": _hash(records),
        "groups": sorted({record.group for record in records}),
    }
    obstacle = _obstacle(decisions) if probabilities else ("no-probabilities", NO_PROBABILITIES)
    return Calibration(decisions, groups, origin, obstacle)


def _obstacle(decisions: Decisions) -> Obstacle | None:
    if not len(decisions):
        return "not-fitted", "there are no calibration decisions to fit it on"
    failed = int((~decisions.valid).sum())
    if failed:
        # What the model would have done there is not known, and leaving it out would favour what fails.
        remedy = "ask them again (--resume RUN --retry-failed), or mend the candidate"
        return "refused", f"{failed} of {len(decisions)} calibration decisions failed; {remedy}"
    return None


def _hash(records: Sequence[Record]) -> str:
    """What was decided and what was right, without the times: the same decisions, the same hash."""
    return sha256_of(
        sorted(
            (r.case, r.trial, [(d.question, d.expected, d.unsafe, d.choice, d.probabilities) for d in r.decisions])
            for r in records
        )
    )
