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
    if first["status"] in ("not-fitted", "refused"):
        # What leaves one gate unfitted leaves all of them.
        yield f"Gate: none. {_capital(first['reason'])}."
        return
    yield f"{_titled(primary, first)}, primary: {_finding(first, _on_holdout(report, first))}"
    for name in _NAMES:
        gate = report.gates.get(name)
        if name != primary and gate is not None and gate["status"] != "not-fitted":
            yield f"{_titled(name, gate)}: {_finding(gate)}"


def gate_tables(report: Report) -> Iterator[Table]:
    """The grids on calibration."""
    gates = report.gates
    yield from _empirical(gates["empirical"])
    if "certified" in gates:
        yield from _certified(gates["certified"])
    if "unsafe" in gates:
        yield from _unsafe(gates["unsafe"], gates["joint"])


def _titled(name: str, gate: dict[str, Any]) -> str:
    return _NAMES[name] if name == "empirical" else f"{_NAMES[name]} ({gate['method']})"


def _finding(gate: dict[str, Any], holdout: str = "") -> str:
    if gate["threshold"] is None:
        needed = f" Needed: {gate['needed']}." if gate.get("needed") else ""
        return f"null, everything falls back. {_capital(gate['reason'])}.{needed}"
    if gate["method"] == "empirical":
        accepts = f"act at a top probability of {gate['threshold']:g} or more; it {gate['reason']}."
        return f"{accepts}{holdout} These are observed shares, not bounds on other requests."
    return f"threshold {gate['threshold']:g}. {_capital(gate['reason'])}. {gate['claim']}{holdout}"


def _on_holdout(report: Report, gate: dict[str, Any]) -> str:
    holdout = report.metrics.get("holdout")
    if gate["threshold"] is None or holdout is None:
        return "" if gate["threshold"] is None else " Not tested on holdout."
    overall = holdout.overall
    unsafe = (
        f", {overall.unsafe_accepted} of them unsafe (unsafe acceptance {share(overall.unsafe_acceptance)} of "
        f"{overall.unsafe_eligible})"
        if overall.unsafe_eligible
        else ""
    )
    return (
        f" On holdout it accepts {overall.accepted} of {overall.decisions} with {overall.accepted_errors} wrong "
        f"({share(overall.selective_risk)}){unsafe}."
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
