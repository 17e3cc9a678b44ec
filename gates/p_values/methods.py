"""The methods of certified gates by name: what each bounds and whether that is proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from decibench.gates.p_values.betting import betting
from decibench.gates.p_values.gaffke import gaffke
from decibench.gates.p_values.group_any_cp import group_any_cp
from decibench.gates.p_values.hoeffding_bentkus import hoeffding_bentkus
from decibench.gates.p_values.one_per_group_cp import one_per_group_cp
from decibench.reports.protocol import CertifiedMethod, Estimand

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts

BETTING_FROM: Final = 120
"""Calibration groups from which on betting has the power to be the default."""


@dataclass(frozen=True, slots=True)
class Method:
    """A p-value, the estimands it can bound, and whether its validity is proved or conjectured."""

    p_value: Callable[[GroupCounts, float], float]
    estimands: tuple[Estimand, ...]
    proved: bool = True


METHODS: Final[Mapping[CertifiedMethod, Method]] = {
    "one_per_group_cp": Method(one_per_group_cp, ("scenario-weighted",)),
    "group_any_cp": Method(group_any_cp, ("any",)),
    "hoeffding_bentkus": Method(hoeffding_bentkus, ("scenario-weighted", "any")),
    "betting": Method(betting, ("scenario-weighted", "any")),
    "gaffke": Method(gaffke, ("scenario-weighted", "any"), proved=False),
}


def default_method(groups: int, estimand: Estimand) -> CertifiedMethod:
    """The method that the number of calibration groups gives, and nothing else: no label decides it.

    >>> default_method(175, "scenario-weighted"), default_method(60, "scenario-weighted"), default_method(60, "any")
    ('betting', 'one_per_group_cp', 'group_any_cp')
    """
    if estimand == "any":
        return "group_any_cp"
    return "betting" if groups >= BETTING_FROM else "one_per_group_cp"


def p_value(method: CertifiedMethod, counts: GroupCounts, alpha: float, estimand: Estimand) -> float | None:
    """The p-value of "the ``estimand`` is above ``alpha``"; None where the method does not bound that estimand."""
    chosen = METHODS[method]
    if estimand not in chosen.estimands:
        return None
    return chosen.p_value(as_any(counts) if estimand == "any" else counts, alpha)


def telling_groups(counts: GroupCounts, method: CertifiedMethod) -> int:
    """Groups that tell ``method`` something: those that accept a decision, or that accept the one picked in them."""
    return counts.picked if method == "one_per_group_cp" else counts.accepting


def as_any(counts: GroupCounts) -> GroupCounts:
    """Groups as single decisions: accepted where any decision is, wrong where any accepted one is."""
    import numpy as np

    accepted = (counts.accepted > 0).astype(np.int64)
    errors = (counts.errors > 0).astype(np.int64)
    return replace(counts, errors=errors, accepted=accepted, presented=np.ones_like(accepted))
