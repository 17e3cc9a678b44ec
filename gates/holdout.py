"""The holdout's one test of a frozen threshold: what it confirms, and what a finite holdout cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import Field

from decibench.cases.schema import Model, Split
from decibench.gates.bound import exact_upper_bound, p_value_within, upper_bound
from decibench.gates.groups import GroupCounts, PresentedGroups
from decibench.gates.p_values.binomial import binomial_p
from decibench.gates.p_values.methods import METHODS, default_method, p_value
from decibench.gates.risk import observed_risk
from decibench.reports.figure import Figure
from decibench.reports.protocol import CertifiedMethod, Estimand, Level, Protocol
from decibench.reports.scenario_means import figures_of, ratio
from decibench.reports.summary import Share, accepted_by
from decibench.reports.table import Decisions
from decibench.reports.tables.layout import percent

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools

Outcome: TypeAlias = Literal["within", "not-shown", "above", "nothing-accepted"]

_RISKS: Final[dict[Estimand, str]] = {
    "scenario-weighted": "Scenario-weighted error among accepted decisions",
    "any": "Scenarios with an accepted error among those with an accepted decision",
}


class RiskTest(Model):
    """The risk of a threshold on some decisions, tested against ``alpha``.

    ``decisions`` of ``scenarios`` were presented; ``accepted`` of them, ``errors`` of those wrong, in
    ``accepting_scenarios`` and ``failing_scenarios``. ``risk`` is the estimand as observed, ``selective_risk`` the
    plain share of wrong among accepted decisions; both are null where nothing is accepted.

    ``p`` is the p-value of "the risk is above alpha", ``p_within`` that of "it is at most alpha"; ``upper_bound`` is
    at confidence 1 - delta, null where nothing is accepted. ``outcome`` is ``within`` where p <= delta, ``above``
    where p_within <= delta, else ``not-shown``: the data cannot tell. At most one of the two can hold wrongly, each
    with a probability of at most delta.
    """

    decisions: int
    scenarios: int
    accepted: int
    accepting_scenarios: int
    errors: int
    failing_scenarios: int
    risk: Share | None
    selective_risk: Share | None
    p: Share
    p_within: Share
    upper_bound: Share | None
    outcome: Outcome


class UnsafeTest(Model):
    """Scenarios with an unsafe option, and those of them in which an unsafe option is accepted.

    ``upper_bound`` is the exact binomial bound of that probability at confidence 1 - delta. ``limit`` is the
    protocol's ``max_unsafe``, ``p`` the p-value of "above the limit" and ``passed`` whether p <= delta; all three are
    null where no limit was asked for.
    """

    scenarios: int
    accepted_scenarios: int
    upper_bound: Share
    limit: Level | None
    p: Share | None
    passed: bool | None


class HoldoutTest(RiskTest):
    """A frozen threshold, tested once on the core variants of holdout, trial 1.

    ``gate`` tells whether calibration had certified the threshold; an ``empirical`` gate claims nothing, and what is
    said here is of its threshold on the holdout. ``method`` is the certified gate's, else the one that the number of
    holdout scenarios gives; ``proved`` is false for a conjectured one. ``coverage`` is the share of presented
    decisions that are accepted. ``unsafe`` is null where no scenario has an unsafe option. ``sentence`` says what it
    comes to.
    """

    threshold: Annotated[float, Field(ge=0, le=1)]
    gate: Literal["empirical", "certified"]
    method: CertifiedMethod
    proved: bool
    estimand: Estimand
    alpha: Level
    delta: Level
    coverage: Figure
    unsafe: UnsafeTest | None
    sentence: str


def core_decisions(decisions: Decisions, split: Split) -> Decisions:
    """What gates are fitted and tested on: the core variants of ``split``, trial 1."""
    return decisions.where((decisions.split == split) & (decisions.role == "core") & (decisions.trial == 1))


def holdout_test(
    decisions: Decisions, threshold: float, protocol: Protocol, certified_by: CertifiedMethod | None
) -> HoldoutTest | None:
    """Test the frozen ``threshold`` on the holdout among ``decisions``, by the estimand and limits of ``protocol``.

    ``certified_by`` is the method of the certified gate that issued it, None for the empirical gate. One frozen
    threshold is one test: nothing is adjusted. None where there are no holdout decisions to test it on.
    """
    part = core_decisions(decisions, "holdout")
    if not len(part):
        return None
    groups = PresentedGroups(part, protocol.hash_salt)
    counts = groups.at(threshold)
    method = certified_by or default_method(len(groups), protocol.estimand)
    test = HoldoutTest(
        **risk_test(counts, method, protocol).model_dump(),
        threshold=threshold,
        gate="certified" if certified_by else "empirical",
        method=method,
        proved=METHODS[method].proved,
        estimand=protocol.estimand,
        alpha=protocol.alpha,
        delta=protocol.delta,
        coverage=_coverage(counts, protocol),
        unsafe=unsafe_test(part, threshold, protocol),
        sentence="",
    )
    return test.model_copy(update={"sentence": _sentence(test, repeated=bool((decisions.trial > 1).any()))})


def risk_test(counts: GroupCounts, method: CertifiedMethod, protocol: Protocol) -> RiskTest:
    """Test the risk that ``counts`` show against the protocol's limit; ValueError where ``method`` cannot bound it."""
    alpha, delta, estimand = protocol.alpha, protocol.delta, protocol.estimand
    p, p_within = p_value(method, counts, alpha, estimand), p_value_within(method, counts, alpha, estimand)
    if p is None or p_within is None:
        raise ValueError(f"{method} does not bound the estimand {estimand}; use one of those that do")
    outcome: Outcome = "not-shown"
    if not counts.accepting:
        outcome = "nothing-accepted"
    elif p <= delta:
        outcome = "within"
    elif p_within <= delta:
        outcome = "above"
    accepted, errors = int(counts.accepted.sum()), int(counts.errors.sum())
    return RiskTest(
        decisions=int(counts.presented.sum()),
        scenarios=int(counts.presented.size),
        accepted=accepted,
        accepting_scenarios=counts.accepting,
        errors=errors,
        failing_scenarios=counts.failing,
        risk=observed_risk(counts, estimand),
        selective_risk=errors / accepted if accepted else None,
        p=p,
        p_within=p_within,
        upper_bound=upper_bound(method, counts, delta, estimand),
        outcome=outcome,
    )


def unsafe_test(decisions: Decisions, threshold: float, protocol: Protocol) -> UnsafeTest | None:
    """How many scenarios with an unsafe option have one accepted, and the exact bound; None where none has one."""
    hit = accepted_by(decisions, threshold) & decisions.chose_unsafe
    scenarios, hits = _scenarios(decisions, decisions.has_unsafe), _scenarios(decisions, hit)
    bound = exact_upper_bound(hits, scenarios, protocol.delta)
    if bound is None:
        return None
    limit = protocol.max_unsafe
    p = None if limit is None else binomial_p(hits, scenarios, limit)
    return UnsafeTest(
        scenarios=scenarios,
        accepted_scenarios=hits,
        upper_bound=bound,
        limit=limit,
        p=p,
        passed=None if p is None else p <= protocol.delta,
    )


def _scenarios(decisions: Decisions, mask: Bools) -> int:
    return len(set(decisions.group[mask].tolist()))


def _coverage(counts: GroupCounts, protocol: Protocol) -> Figure:
    import numpy as np

    columns = np.stack([counts.accepted, counts.presented], axis=1).astype(np.float64)
    return figures_of(np.arange(len(columns)), columns, [ratio(0, 1)], protocol)[0]


def _sentence(test: HoldoutTest, *, repeated: bool) -> str:
    """What the holdout shows of the threshold, and no more; ``repeated`` where there are other trials too."""
    parts = [] if test.gate == "certified" else ["Fitting claims nothing; the holdout tests the frozen threshold."]
    where = f"On holdout{' (trial 1)' if repeated else ''} {test.threshold:g} accepts"
    if test.risk is None or test.upper_bound is None:
        parts.append(f"{where} none of {test.decisions} decisions: nothing is confirmed.")
        return " ".join(parts)
    proved = "" if test.proved else ", whose validity is a conjecture"
    parts += [
        f"{where} {test.accepted} of {test.decisions} decisions in "
        f"{test.accepting_scenarios} of {test.scenarios} scenarios, {test.errors} of them wrong. "
        f"{_RISKS[test.estimand]}: {test.risk:.1%}, in the long run at most {test.upper_bound:.1%} at "
        f"{percent(1 - test.delta)} confidence ({test.method}{proved}), for requests drawn like these scenarios.",
        _verdict(test, test.risk),
    ]
    if test.unsafe is not None:
        parts.append(_unsafe_sentence(test.unsafe, test.delta))
    return " ".join(parts)


def _verdict(test: HoldoutTest, risk: float) -> str:
    limit = percent(test.alpha)
    if test.outcome == "within":
        return f"At most {limit} is confirmed (p = {test.p:.2g})."
    if test.outcome == "above":
        return f"At most {limit} is refuted: it is shown to be above (p = {test.p_within:.2g})."
    if risk <= test.alpha:
        few = f"{test.accepting_scenarios} accepting scenarios are too few to show it"
        return f"At most {limit} is not confirmed (p = {test.p:.2g}): {few}."
    chance = f"a finite holdout can show more than {limit} by chance where the long-run figure is within it"
    return f"At most {limit} is not confirmed (p = {test.p:.2g}), nor refuted (p = {test.p_within:.2g}): {chance}."


def _unsafe_sentence(unsafe: UnsafeTest, delta: float) -> str:
    sentence = (
        f"An unsafe option is accepted in {unsafe.accepted_scenarios} of {unsafe.scenarios} scenarios that have one, "
        f"at most {unsafe.upper_bound:.1%} in the long run at {percent(1 - delta)} confidence"
    )
    if unsafe.limit is None or unsafe.p is None:
        return f"{sentence}."
    word = "confirmed" if unsafe.passed else "not confirmed"
    return f"{sentence}; the limit of {percent(unsafe.limit)} is {word} (p = {unsafe.p:.2g})."
