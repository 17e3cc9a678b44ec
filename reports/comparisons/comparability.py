"""Whether reports may be compared at all, how they are told apart, and who is not who they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from decibench.cases.errors import Problem, SuiteError
from decibench.reports.differences import differences
from decibench.reports.report import Report

_SHORT = 8
"""Letters of a hash that tell two candidates apart."""

_REMEDIES = {
    "suite": "run both on the same suite",
    "scope": "run both with the same --split, --family, --variant and --trials",
    "protocol": "run both under the same protocol",
}


def check_comparable(reports: Sequence[Report], places: Sequence[str]) -> None:
    """Raise SuiteError naming every field in which ``reports``, found at ``places``, must agree with the first."""
    problems: list[Problem] = []
    seals: dict[str, str] = {}
    for report, place in zip(reports, places, strict=True):
        if report.seal and report.seal in seals:
            message = f"is the same report as {seals[report.seal]}; name each report once"
            problems.append(Problem(place, message, None, "seal"))
        seals[report.seal] = place
        for field, first, value in differences(_matched(reports[0]), _matched(report)):
            remedy = _REMEDIES[field.partition(".")[0]]
            message = f"is {value!r}, in {places[0]} it is {first!r}; {remedy}"
            problems.append(Problem(place, message, None, field))
    if problems:
        raise SuiteError(problems)


def display_names(reports: Sequence[Report]) -> list[str]:
    """A name for each report: the candidate's, with a piece of the candidate hash where two have the same name.

    Where that is not enough, because one candidate was measured twice, a piece of the report's seal follows.
    """
    names = [report.candidate.name for report in reports]
    for hashes in ([r.candidate.hash or "unknown" for r in reports], [r.seal for r in reports]):
        shared = {name for name, number in Counter(names).items() if number > 1}
        names = [
            f"{name}@{hash_[:_SHORT]}" if name in shared else name for name, hash_ in zip(names, hashes, strict=True)
        ]
    return names


def identity_notes(reports: Sequence[Report]) -> list[str]:
    """A sentence for each field of identity that differs between reports of one candidate name.

    Each is read against the first of its name. A model name without a revision or a hash of its file is an alias: the
    same one twice is no evidence that the same version answered, and is said to be none.
    """
    first: dict[str, Report] = {}
    found: list[str] = []
    for report in reports:
        name = report.candidate.name
        earlier = first.setdefault(name, report)
        if earlier is report:
            continue
        before, now = earlier.candidate.identity, report.candidate.identity
        changes = list(differences(before, now))
        found += [f"{name}: {field} was {_shown(was)}, is {_shown(is_)}" for field, was, is_ in changes]
        if not changes and not any(now.get(field) for field in ("revision", "file_sha256")):
            model = _shown(now.get("model"))
            found.append(
                f"{name}: model is {model} in both, without a revision or a file hash; "
                "whether the same version answered is not known"
            )
    return found


def _matched(report: Report) -> dict[str, Any]:
    """What must be equal; the order in which a scope was named changes nothing."""
    scope = report.scope
    return {
        "suite": report.suite.model_dump(mode="json"),
        "scope": {
            "splits": sorted(scope.splits),
            "families": sorted(scope.families),
            "variants": sorted(scope.variants),
            "trials": scope.trials,
        },
        "protocol": report.protocol.model_dump(mode="json"),
    }


def _shown(value: object) -> str:
    return "not stated" if value is None else str(value)
