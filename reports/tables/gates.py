"""What a report says of its gates: a sentence each, with what may be concluded, and the grids they were fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from decibench.reports.report import Report, primary_gate
from decibench.reports.tables.layout import Table, share

_NAMES: Final = {
    "empirical": "Empirical gate",
    "certified": "Certified gate",
    "unsafe": "Unsafe gate",
    "joint": "Joint gate",
}


def gate_sentences(report: Report) -> Iterator[str]:
    """The primary gate and what it did on holdout, then the others; each claim as far as it goes and no further."""
    primary = primary_gate(report.protocol)
    first = report.gates[primary]
    if first["status"] in ("not-fitted", "refused", "no-probabilities"):
        # What leaves one gate unfitted leaves all of them.
        yield f"Gate: none. {_capital(first['reason'])}."
        return
    yield f"{_titled(primary, first)}, primary: {_finding(report, primary, first)}"
    for name in _NAMES:
        gate = report.gates.get(name)
        if name != primary and gate is not None and gate["status"] != "not-fitted":
            yield f"{_titled(name, gate, 'not the one that decides')}: {_other(report, name, gate)}"


def gate_tables(report: Report) -> Iterator[Table]:
    """The grids on calibration."""
    gates = report.gates
    yield from _empirical(gates["empirical"])
    if "certified" in gates:
        yield from _certified(gates["certified"])
    if "unsafe" in gates:
        yield from _unsafe(gates["unsafe"], gates["joint"])


def _titled(name: str, gate: dict[str, Any], rank: str = "") -> str:
    about = [part for part in (gate["method"] if name != "empirical" else "", rank) if part]
    return f"{_NAMES[name]} ({', '.join(about)})" if about else _NAMES[name]


def _finding(report: Report, name: str, gate: dict[str, Any]) -> str:
    """What the gate that decides allows, why, and what it did on holdout."""
    if gate["threshold"] is None:
        return f"null, everything falls back. {_missing(gate)}"
    holdout = _on_holdout(report)
    if name == "empirical":
        accepts = f"act at a top probability of {gate['threshold']:g} or more; it {gate['reason']}."
        return f"{accepts}{holdout}{_caution(report, name)}"
    return f"threshold {gate['threshold']:g}. {_capital(gate['reason'])}. {gate['claim']}{holdout}"


def _other(report: Report, name: str, gate: dict[str, Any]) -> str:
    """What a gate would allow that does not decide, so that nobody takes it for the one that does."""
    if gate["threshold"] is None:
        return f"null. {_missing(gate)}"
    accepts = f"would accept from {gate['threshold']:g} on"
    if name == "empirical":
        return f"{accepts}; it {gate['reason']}.{_caution(report, name)}"
    return f"{accepts}. {_capital(gate['reason'])}. {gate['claim']}"


def _missing(gate: dict[str, Any]) -> str:
    needed = f" Needed: {gate['needed']}." if gate.get("needed") else ""
    return f"{_capital(gate['reason'])}.{needed}"


def _caution(report: Report, name: str) -> str:
    """That observed shares bound nothing, where no bound of the holdout's test is told beside them."""
    test = report.gates["holdout_tests"].get(name)
    bounded = report.evidence is not None and test is not None and test["risk"] is not None
    return "" if bounded else " These are observed shares, not bounds on other requests."


def _on_holdout(report: Report) -> str:
    holdout = report.metrics.get("holdout")
    if holdout is None:
        return " Not tested on holdout."
    overall = holdout.overall
    trials = report.scope.trials
    together = f", {trials} trials together," if trials > 1 else ""
    unsafe = (
        f", {overall.unsafe_accepted} of them unsafe (unsafe acceptance {share(overall.unsafe_acceptance)} of "
        f"{overall.unsafe_eligible})"
        if overall.unsafe_eligible
        else ""
    )
    return (
        f" On holdout{together} it accepts {overall.accepted} of {overall.decisions} with {overall.accepted_errors} "
        f"wrong ({share(overall.selective_risk)}){unsafe}."
    )


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def _empirical(gate: dict[str, Any]) -> Iterator[Table]:
    rows = [
        [f"{p['threshold']:g}", str(p["accepted"]), str(p["errors"]), share(p["error"]), share(p["coverage"]),
         str(p["scenarios"]), _yes(p["qualifies"])]
        for p in gate["grid"]
    ]  # fmt: skip
    if rows:
        resolution = gate["resolution"]
        title = (
            f"Empirical gate on calibration (highest top probability {gate['highest_top_probability']:.3g}, "
            f"{gate['distinct_top_probabilities']} distinct values, smallest step "
            f"{'-' if resolution is None else format(resolution, '.3g')})"
        )
        columns = ["threshold", "accepted", "errors", "error", "coverage", "scenarios", "qualifies"]
        yield Table(title, columns, rows)


def _certified(gate: dict[str, Any]) -> Iterator[Table]:
    """Scenarios and p-values by threshold: * of another estimand than the declared one, - where nothing was tested."""
    points = [point for point in gate["grid"] if point["accepting"]]
    if not points:
        return
    estimands = gate["p_value_estimands"]
    # Words can be wrapped where underscores cannot.
    columns = [
        f"{method.replace('_', ' ')}{'' if estimands[method] == gate['estimand'] else '*'}" for method in estimands
    ]
    rows = [
        [f"{p['threshold']:g}", str(p["accepting"]), str(p["failing"]),
         *(f"{p['p_values'][method]:.3g}" for method in estimands), _outcome(p)]
        for p in points
    ]  # fmt: skip
    others = sorted({estimand for estimand in estimands.values() if estimand != gate["estimand"]})
    title = (
        f"Certified gate on calibration: scenarios and p-values of {gate['estimand']} risk > {share(gate['alpha'])}; "
        f"{gate['method']} tested {_sequence(gate)} (* bounds {', '.join(others)}, - not tested)"
    )
    yield Table(title, ["threshold", "accepting", "with errors", *columns, "passed"], rows)


def _sequence(gate: dict[str, Any]) -> str:
    if gate["sequence"] == "holm":
        return f"with Holm at {gate['delta']:g}"
    starts = gate["starts"]
    if not starts:
        return "nowhere, as no start can be reached"
    places = " and from ".join(f"{start['threshold']:g}" for start in starts)
    return f"downwards from {places} at {starts[0]['delta']:g}"


def _unsafe(gate: dict[str, Any], joint: dict[str, Any]) -> Iterator[Table]:
    """Unsafe acceptances by threshold, and what the joint gate makes of both limits."""
    both = {p["threshold"]: p for p in joint["grid"]}
    rows = [
        [f"{p['threshold']:g}", str(p["accepting"]), f"{p['p']:.3g}", share(p["upper_bound"]), _yes(p["passed"]),
         f"{both[p['threshold']]['p']:.3g}", _outcome(both[p["threshold"]])]
        for p in gate["grid"]
    ]  # fmt: skip
    if rows:
        title = (
            f"Unsafe and joint gate on calibration: {gate['unsafe_scenarios']} scenarios with an unsafe option, "
            f"limit {share(gate['max_unsafe'])}"
        )
        columns = ["threshold", "accepting unsafe", "p", "upper bound", "passed", "joint p", "joint passed"]
        yield Table(title, columns, rows)


def _outcome(point: dict[str, Any]) -> str:
    return _yes(point["passed"]) if point["tested"] else "-"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
