"""The identity of a built candidate: checked once, copied, and compared with what the candidate says later."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from decibench.candidates.adapter import Candidate, CandidateError, Identity
from decibench.cases.jsonio import sha256_of
from decibench.reports.record import check_exact

_MOST_DECIMALS: Final = 17
"""A float has no more; fewer than one would allow any sum."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a candidate said it is when it was built: what its records are scored with, whatever it says later.

    ``content`` is the identity and the hash of the file it came from, as the candidate hash covers them.
    """

    identity: Identity
    content: Mapping[str, Any]
    candidate_hash: str
    _said: Mapping[str, Any]

    def holds(self, candidate: Candidate) -> bool:
        """True as long as ``candidate`` says the same."""
        return candidate.identity.to_json() == self._said


def take_snapshot(candidate: Candidate, source_sha256: str | None) -> Snapshot:
    """Check and copy the identity of ``candidate``; CandidateError (load-failed) names the field that is wrong."""
    said = candidate.identity.to_json()
    try:
        check_exact(said, "identity")
        _check_fields(said)
        said = copy.deepcopy(said)
        content = said | {"source_sha256": source_sha256}
        digest = sha256_of(content)
    except (TypeError, ValueError) as error:
        raise CandidateError("load-failed", f"{error}; correct the candidate's Identity(...)") from error
    return Snapshot(Identity(**said), content, digest, said)


def _check_fields(said: Mapping[str, Any]) -> None:
    for name in ("model", "device"):
        if not isinstance(said[name], str) or not said[name].strip():
            raise TypeError(f"identity.{name} is {_kind(said[name])}, not a text with at least one letter")
    for name in ("revision", "file_sha256", "dtype"):
        if not isinstance(said[name], str | None):
            raise TypeError(f"identity.{name} is {_kind(said[name])}, not a text or None")
    for name, value in said["packages"].items():
        if not isinstance(value, str):
            raise TypeError(f"identity.packages.{name} is {_kind(value)}, not a text")
    for name in ("alias", "probability_readout"):
        if not isinstance(said[name], bool):
            raise TypeError(f"identity.{name} is {_kind(said[name])}, not True or False")
    decimals = said["decimals"]
    if decimals is not None and (isinstance(decimals, bool) or not isinstance(decimals, int)):
        raise TypeError(f"identity.decimals is {_kind(decimals)}, not a whole number or None")
    if decimals is not None and not 1 <= decimals <= _MOST_DECIMALS:
        raise ValueError(f"identity.decimals must be from 1 to {_MOST_DECIMALS}, or None where nothing is rounded")


def _kind(value: object) -> str:
    return "empty" if value == "" else type(value).__name__
