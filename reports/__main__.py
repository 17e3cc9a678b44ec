"""``python -m decibench.reports``: metrics of recorded decisions, and the schema of reports."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.cases.schema import SPLITS
from decibench.reports.foreign import read_source
from decibench.reports.latency import Prices, cost_of, latency_of
from decibench.reports.report import Report
from decibench.reports.summary import GatePoint, measure
from decibench.reports.table import decisions_of


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Run the door with ``arguments`` (default: the command line) and return its exit status."""
    parser = Parser(prog="python -m decibench.reports", description="Look at recorded decisions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="print the metrics of a report, a journal or a rows file as JSON")
    score.add_argument("file", metavar="FILE", type=Path)
    score.add_argument("--split", choices=SPLITS, help="only this split (default: all core decisions of the file)")
    score.add_argument("--threshold", type=float, help="gate to apply (default: the one stated in the file)")
    score.set_defaults(run=_score)

    schema = commands.add_parser("schema", help="print the JSON Schema of report.json")
    schema.set_defaults(run=_schema)
    return run_door(parser, arguments)


def _score(options: argparse.Namespace) -> Exit:
    source = read_source(options.file)
    if options.threshold is not None and not 0 <= options.threshold <= 1:
        raise UsageError("--threshold must be in [0, 1]")
    records = [r for r in source.records if r.role == "core" and options.split in (None, r.split)]
    if not records:
        raise UsageError(f"{options.file}: no core decisions in the split {options.split}")
    point = GatePoint(threshold=source.threshold) if source.gated else None
    if options.threshold is not None:
        point = GatePoint(threshold=options.threshold)
    floor = source.protocol.log_loss_floor
    decisions = decisions_of(records, floor)
    splits = {split: decisions.where(decisions.split == split) for split in SPLITS}
    output = {
        "overall": measure(decisions, floor, point).model_dump(mode="json"),
        "by_split": {
            split: measure(part, floor, point).model_dump(mode="json") for split, part in splits.items() if len(part)
        },
        "latency": latency_of(records).model_dump(mode="json", exclude={"loads"}),
        "cost": cost_of(records, Prices()).model_dump(mode="json"),
    }
    print(json.dumps(output, indent=1))
    return Exit.COMPLETE


def _schema(options: argparse.Namespace) -> Exit:
    print(json.dumps(Report.model_json_schema(), indent=1))
    return Exit.COMPLETE


if __name__ == "__main__":
    sys.exit(main())
