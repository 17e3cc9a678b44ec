"""``python -m decibench.gates``: fit a gate on recorded decisions, or apply one to others."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.gates.check import check_holdout
from decibench.gates.empirical import calibration_of, fit_empirical
from decibench.gates.gate import check_applies, read_gate, write_gate
from decibench.reports.foreign import Source, read_source
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.summary import GatePoint, measure
from decibench.reports.table import decisions_of


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Run the door with ``arguments`` (default: the command line) and return its exit status."""
    parser = Parser(prog="python -m decibench.gates", description="Fit and apply gates offline.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    source_help = "a complete report.json, its journal.jsonl, or a rows file, all of whose rows count"

    fit = commands.add_parser("fit", help="fit the empirical gate on calibration decisions and print it as JSON")
    fit.add_argument("file", metavar="FILE", type=Path, help=source_help)
    fit.add_argument("--max-error", type=float, help="largest error among accepted decisions")
    fit.add_argument("--min-accepted", type=int, help="fewest accepted decisions")
    fit.add_argument("--out", type=Path, metavar="GATE", help="also write the gate to this file")
    fit.set_defaults(run=_fit)

    apply = commands.add_parser("apply", help="apply a gate to the holdout of a report or to a rows file")
    apply.add_argument("gate", metavar="GATE", type=Path, help="a gate.json")
    apply.add_argument("file", metavar="FILE", type=Path, help=source_help)
    apply.set_defaults(run=_apply)
    return run_door(parser, arguments)


def _fit(options: argparse.Namespace) -> Exit:
    source = _read(options.file)
    protocol = _protocol(source.protocol, options.max_error, options.min_accepted)
    records = source.records if source.kind == "rows" else calibration_of(source.records)
    gate = fit_empirical(
        records,
        protocol,
        candidate_hash=source.candidate_hash,
        suite_hash=source.suite.hash if source.suite else None,
    )
    print(json.dumps({"gates": {"empirical": gate.model_dump(mode="json")}}, indent=1))
    if options.out is not None:
        try:
            write_gate(gate, options.out)
        except OSError as error:
            raise UsageError(
                f"--out {options.out}: cannot be written ({error.strerror}); name a file in a folder that exists"
            ) from error
    return Exit.FAILED if gate.status == "refused" else Exit.COMPLETE


def _apply(options: argparse.Namespace) -> Exit:
    gate = read_gate(options.gate)
    source = _read(options.file)
    protocol = _protocol(source.protocol, gate.max_error, gate.min_accepted)
    records = source.records if source.kind == "rows" else _holdout(source.records)
    check_applies(
        gate,
        records,
        candidate_hash=source.candidate_hash,
        protocol_hash=protocol.hash,
        suite_hash=source.suite.hash if source.suite else None,
    )
    floor = protocol.log_loss_floor
    metrics = measure(decisions_of(records, floor), floor, GatePoint(threshold=gate.threshold))
    check = check_holdout(gate, metrics)
    shown = {"empirical": gate.model_dump(mode="json", exclude={"groups"})}
    output = {"gates": shown, "overall": metrics.model_dump(mode="json"), "check": check.model_dump(mode="json")}
    print(json.dumps(output, indent=1))
    return Exit.COMPLETE if check.passed else Exit.GATE


def _read(path: Path) -> Source:
    source = read_source(path)
    if source.kind == "journal":
        sys.stderr.write(f"{path}: a journal does not tell whether its run was complete; its report.json does\n")
    if source.complete is False:
        raise UsageError(f"{path}: the run is partial or incomplete; gates need a complete one", Exit.INCOMPLETE)
    return source


def _holdout(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.split == "holdout" and record.role == "core"]


def _protocol(protocol: Protocol, max_error: float | None, min_accepted: int | None) -> Protocol:
    given = {"max_error": max_error, "min_accepted": min_accepted}
    try:
        return Protocol.model_validate(protocol.model_dump() | {k: v for k, v in given.items() if v is not None})
    except ValueError:
        raise UsageError("--max-error must be in [0, 1) and --min-accepted at least 1") from None


if __name__ == "__main__":
    sys.exit(main())
