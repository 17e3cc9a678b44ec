"""``python -m decibench.gates``: fit a gate on recorded decisions, or apply one to others."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.gates.check import check_holdout
from decibench.gates.fitting import Gates, fit_gates
from decibench.gates.gate import check_applies, name_of, read_gate, write_gate
from decibench.gates.p_values.methods import METHODS
from decibench.gates.plan import TYPICAL_GROUPS, plan_gate, plan_lines
from decibench.gates.rules import RULE_OPTIONS, option_of, with_default_rules, with_rules
from decibench.reports.foreign import Source, read_source
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Record
from decibench.reports.report import primary_gate
from decibench.reports.summary import GatePoint, measure
from decibench.reports.table import decisions_of

_UNGROUPED: Final = (
    "no certified gate: the rows name no groups, and without them it is not known which decisions are independent; "
    "name the scenario of each row (field group)"
)


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Run the door with ``arguments`` (default: the command line) and return its exit status."""
    parser = Parser(prog="python -m decibench.gates", description="Fit and apply gates offline.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    source_help = "a complete report.json, its journal.jsonl, or a rows file, all of whose rows count"

    fit = commands.add_parser("fit", help="fit the gates on calibration decisions and print them as JSON")
    fit.add_argument("file", metavar="FILE", type=Path, help=source_help)
    for rule, settings in RULE_OPTIONS.items():
        fit.add_argument(option_of(rule), **settings)
    fit.add_argument("--out", type=Path, metavar="GATE", help="also write the primary gate to this file")
    fit.set_defaults(run=_fit)

    apply = commands.add_parser("apply", help="apply a gate to the holdout of a report or to a rows file")
    apply.add_argument("gate", metavar="GATE", type=Path, help="a gate.json")
    apply.add_argument("file", metavar="FILE", type=Path, help=source_help)
    apply.set_defaults(run=_apply)

    plan = commands.add_parser("plan", help="how many groups a certified gate needs, its power, the least risk")
    plan.add_argument("--alpha", type=float, default=DEFAULT_PROTOCOL.alpha, help="risk to certify (%(default)s)")
    plan.add_argument("--delta", type=float, default=DEFAULT_PROTOCOL.delta, help="1 - confidence (%(default)s)")
    plan.add_argument("--true-risk", type=float, default=0.01, help="risk that you expect (%(default)s)")
    plan.add_argument("--groups", type=int, action="append", metavar="N", help="calibration groups; repeatable")
    plan.add_argument("--method", choices=METHODS, action="append", help="repeatable (default: all)")
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.set_defaults(run=_plan)
    return run_door(parser, arguments)


def _fit(options: argparse.Namespace) -> Exit:
    source = _read(options.file)
    protocol = with_rules(source.protocol, {rule: getattr(options, rule) for rule in RULE_OPTIONS})
    gates = fit_gates(
        source.records,
        protocol,
        candidate_hash=source.candidate_hash,
        suite_hash=source.suite.hash if source.suite else None,
        all_count=source.kind == "rows",
        grouped=source.grouped,
        probabilities=source.probabilities,
    )
    shown: dict[str, Any] = {name: gate.model_dump(mode="json") for name, gate in gates.items()}
    print(json.dumps({"gates": shown if source.grouped else shown | {"certified": _UNGROUPED}}, indent=1))
    if options.out is not None:
        _write(gates, primary_gate(protocol), options.out)
    return Exit.FAILED if gates["empirical"].status == "refused" else Exit.COMPLETE


def _write(gates: Gates, primary: str, path: Path) -> None:
    if primary not in gates:
        raise UsageError(f"--out {path}: {_UNGROUPED}")
    try:
        write_gate(gates[primary], path)
    except OSError as error:
        raise UsageError(
            f"--out {path}: cannot be written ({error.strerror}); name a file in a folder that exists"
        ) from error


def _apply(options: argparse.Namespace) -> Exit:
    gate = read_gate(options.gate)
    source = _read(options.file)
    protocol = with_rules(with_default_rules(source.protocol), gate.rules)
    records = source.records if source.kind == "rows" else _holdout(source.records)
    check_applies(
        gate,
        records,
        candidate_hash=source.candidate_hash,
        protocol_hash=protocol.hash,
        suite_hash=source.suite.hash if source.suite else None,
    )
    floor = protocol.log_loss_floor
    decisions = decisions_of(records, floor)
    metrics = measure(decisions, floor, GatePoint(threshold=gate.threshold))
    check = check_holdout(gate, decisions, protocol)
    shown = {name_of(gate): gate.model_dump(mode="json", exclude={"groups"})}
    output = {"gates": shown, "overall": metrics.model_dump(mode="json"), "check": check.model_dump(mode="json")}
    print(json.dumps(output, indent=1))
    return Exit.COMPLETE if check.passed else Exit.GATE


def _plan(options: argparse.Namespace) -> Exit:
    groups, methods = options.groups or TYPICAL_GROUPS, options.method or list(METHODS)
    plan = plan_gate(options.alpha, options.delta, options.true_risk, groups, methods)
    print(json.dumps(plan.model_dump(mode="json"), indent=1) if options.json else "\n".join(plan_lines(plan)))
    return Exit.COMPLETE


def _read(path: Path) -> Source:
    source = read_source(path)
    if source.kind == "journal":
        sys.stderr.write(f"{path}: a journal does not tell whether its run was complete; its report.json does\n")
    if source.complete is False:
        raise UsageError(f"{path}: the run is partial or incomplete; gates need a complete one", Exit.INCOMPLETE)
    return source


def _holdout(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.split == "holdout" and record.role == "core"]


if __name__ == "__main__":
    sys.exit(main())
