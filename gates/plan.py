"""The plan of a certified gate: how many groups to collect before a threshold can be certified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from decibench.cases.door import UsageError
from decibench.cases.schema import Model
from decibench.gates.p_values.methods import METHODS
from decibench.gates.power import groups_needed, least_risk, power
from decibench.gates.rules import with_rules
from decibench.gates.starts import TWO_STARTS_FROM
from decibench.reports.protocol import DEFAULT_PROTOCOL, CertifiedMethod
from decibench.reports.tables.layout import percent

TYPICAL_GROUPS: Final = (60, 120, 175, 240)
ERRORS: Final = (0, 1, 2, 3)
_MOST_GROUPS: Final = 100_000


class PlanPoint(Model):
    """What ``groups`` fully accepted groups can show.

    ``power`` is the probability that they certify alpha; ``least_risk`` the smallest alpha that they certify without
    an error, 1 where there is none.
    """

    groups: int
    power: float
    least_risk: float


class MethodPlan(Model):
    """The plan by one method; ``groups_needed`` with 0, 1, 2 and 3 wholly wrong groups among them.

    ``proved`` is False where the validity of the method is a conjecture.
    """

    method: CertifiedMethod
    proved: bool
    groups_needed: list[int]
    points: list[PlanPoint]


class Plan(Model):
    """What it takes to certify a risk of at most ``alpha`` at confidence 1 - ``delta`` where it is ``true_risk``.

    Worked out for groups whose decisions are all accepted, and all right or all wrong.
    """

    alpha: float
    delta: float
    true_risk: float
    methods: list[MethodPlan]


def plan_gate(
    alpha: float, delta: float, true_risk: float, groups: Sequence[int], methods: Sequence[CertifiedMethod]
) -> Plan:
    """The plan by each of ``methods`` at each number of ``groups``; UsageError where an argument is out of range.

    >>> plan_gate(0.05, 0.1, 0.01, [120], ["betting"]).methods[0].groups_needed
    [59, 103, 142, 179]
    """
    with_rules(DEFAULT_PROTOCOL, {"alpha": alpha, "delta": delta})
    if not 0 <= true_risk < 1:
        raise UsageError("--true-risk: use a number from 0 up to, but not, 1")
    if not all(1 <= number <= _MOST_GROUPS for number in groups):
        raise UsageError(f"--groups: use whole numbers from 1 to {_MOST_GROUPS}")
    plans = []
    for method in methods:
        needed = [groups_needed(method, alpha, delta, errors) for errors in ERRORS]
        points = [
            PlanPoint(
                groups=number,
                power=power(method, alpha, delta, number, true_risk),
                least_risk=least_risk(method, delta, number),
            )
            for number in groups
        ]
        plans.append(MethodPlan(method=method, proved=METHODS[method].proved, groups_needed=needed, points=points))
    return Plan(alpha=alpha, delta=delta, true_risk=true_risk, methods=plans)


def plan_lines(plan: Plan) -> Iterator[str]:
    """The plan as text: three tables, each method a row, and what they assume."""
    alpha, risk, confidence = percent(plan.alpha), percent(plan.true_risk), percent(1 - plan.delta)
    numbers = [f"{point.groups} groups" for point in plan.methods[0].points]
    yield f"Groups needed to certify a risk of at most {alpha} at confidence {confidence}, by the wrong ones among them"
    rows = [[row.method, *map(str, row.groups_needed)] for row in plan.methods]
    yield from _table(["method", *(f"{errors} wrong" for errors in ERRORS)], rows)
    what = "Power" if plan.true_risk <= plan.alpha else "Wrong certificates"
    yield f"{what}: the probability that {alpha} is certified where the true risk is {risk}"
    rows = [[row.method, *(f"{point.power:.1%}" for point in row.points)] for row in plan.methods]
    yield from _table(["method", *numbers], rows)
    yield f"Smallest risk that can be certified at confidence {confidence}, with no error"
    rows = [[row.method, *(f"{point.least_risk:.2%}" for point in row.points)] for row in plan.methods]
    yield from _table(["method", *numbers], rows)
    yield from _notes(plan)


def _notes(plan: Plan) -> Iterator[str]:
    yield "A group is a scenario with all its variants. Assumed: every decision is accepted, and"
    yield "a group is right or wrong as a whole. Groups that accept only some decisions tell less."
    yield f"From {TWO_STARTS_FROM} groups on there are two starts, each at half of delta: --delta {plan.delta / 2:g}."
    methods = {row.method for row in plan.methods}
    if "group_any_cp" in methods:
        yield "group_any_cp bounds the share of groups with an accepted error, not the scenario-weighted risk."
    if not all(row.proved for row in plan.methods):
        yield "gaffke: sharper, conjectural. The validity of the other methods is proved, that of gaffke is not."


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in [columns, *rows]) for place in range(len(columns))]
    for first, *others in [columns, *rows]:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([f"  {first:<{widths[0]}}", *cells])
    yield ""
