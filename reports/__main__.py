"""``python -m decibench.reports``: metrics of recorded decisions, comparisons, and the schema of reports."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.cases.schema import SPLITS
from decibench.reports.comparisons.comparability import check_comparable, display_names
from decibench.reports.comparisons.comparison import compare, comparison_json
from decibench.reports.comparisons.gathering import gather, not_run
from decibench.reports.foreign import read_source
from decibench.reports.latency import Prices, cost_of, latency_of
from decibench.reports.markdown import comparison_markdown
from decibench.reports.report import Report
from decibench.reports.summary import GatePoint, measure
from decibench.reports.table import decisions_of
from decibench.reports.terminal import print_comparison

_LOG_WIDTH = 120


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Run the door with ``arguments`` (default: the command line) and return its exit status."""
    parser = Parser(prog="python -m decibench.reports", description="Look at recorded decisions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="print the metrics of a report, a journal or a rows file as JSON")
    score.add_argument("file", metavar="FILE", type=Path)
    score.add_argument("--split", choices=SPLITS, help="only this split (default: all core decisions of the file)")
    score.add_argument("--threshold", type=float, help="gate to apply (default: the one stated in the file)")
    score.set_defaults(run=_score)

    comparing = commands.add_parser("compare", help="compare reports by scenario, naming no winner that is not shown")
    what = "a report.json, the folder of a candidate, or of a run (all its candidates)"
    comparing.add_argument("paths", metavar="REPORT", nargs="+", type=Path, help=what)
    comparing.add_argument("--reference", metavar="NAME", help="candidate to compare with (default: the first)")
    help_ = "ask whether macro_accuracy is lower by less than this share, as 0.02; fix it before you look at results"
    comparing.add_argument("--margin", metavar="SHARE", type=float, help=help_)
    comparing.add_argument("--out", metavar="FILE", type=Path, help="write the comparison as JSON")
    comparing.add_argument("--markdown", metavar="FILE", type=Path, help="write the comparison as Markdown")
    comparing.set_defaults(run=_compare)

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


def _compare(options: argparse.Namespace) -> Exit:
    entries = gather(options.paths)
    places = [entry.place for entry in entries if entry.report is not None]
    reports = [entry.report for entry in entries if entry.report is not None]
    if len(reports) < 2:
        raise UsageError(f"{', '.join(map(str, options.paths))}: {len(reports)} with figures; name two reports or more")
    check_comparable(reports, places)
    lacking = not_run(entries, display_names(reports))
    comparison = compare(reports, lacking, reference=options.reference, margin=options.margin)
    if options.out is not None:
        options.out.write_text(comparison_json(comparison), "utf-8")
    if options.markdown is not None:
        options.markdown.write_text(comparison_markdown(comparison), "utf-8")
    for path in (options.out, options.markdown):
        if path is not None:
            sys.stderr.write(f"wrote {path}\n")
    if options.out is None and options.markdown is None:
        from rich.console import Console

        # A log has no width of its own; a terminal does.
        print_comparison(Console(width=None if sys.stdout.isatty() else _LOG_WIDTH), comparison)
    return Exit.COMPLETE if comparison.complete else Exit.INCOMPLETE


def _schema(options: argparse.Namespace) -> Exit:
    print(json.dumps(Report.model_json_schema(), indent=1))
    return Exit.COMPLETE


if __name__ == "__main__":
    sys.exit(main())
