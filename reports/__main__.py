"""``python -m decibench.reports``: metrics of recorded decisions, comparisons, pages, and the schema of reports."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.cases.loading import find_suite, load_suite, shipped_suites
from decibench.cases.schema import SPLITS, Case
from decibench.cases.writing import write_text
from decibench.reports.comparisons.comparability import check_comparable, display_names
from decibench.reports.comparisons.comparison import compare, comparison_json
from decibench.reports.comparisons.gathering import gather, not_run, report_file
from decibench.reports.decision_table import write_decision_table
from decibench.reports.foreign import read_source
from decibench.reports.journal import SuiteRef
from decibench.reports.latency import Prices, cost_of, latency_of
from decibench.reports.markdown import comparison_markdown, summary_markdown
from decibench.reports.pages.comparison import comparison_page
from decibench.reports.pages.page import report_page
from decibench.reports.pages.view import View
from decibench.reports.report import Report, read_report
from decibench.reports.summary import GatePoint, measure
from decibench.reports.table import decisions_of
from decibench.reports.terminal import print_comparison

_LOG_WIDTH: Final = 120
_RENDERED: Final = (".html", ".md", ".csv", ".parquet")


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
    comparing.add_argument("--html", metavar="FILE", type=Path, help="write the comparison as a page")
    _add_view(comparing)
    comparing.set_defaults(run=_compare)

    rendering = commands.add_parser("render", help="write a report as a page, a summary or a table of its decisions")
    rendering.add_argument("report", metavar="REPORT", type=Path, help="a report.json, or the folder of a candidate")
    help_ = f"where to; the suffix is the format: {', '.join(_RENDERED)}"
    rendering.add_argument("--out", metavar="FILE", type=Path, required=True, help=help_)
    _add_view(rendering)
    rendering.set_defaults(run=_render)

    again = commands.add_parser("reparse", help="score kept replies again by the parser of now, asking nothing")
    help_ = "a run, or the folder of a candidate, that was made with --keep-raw"
    again.add_argument("source", metavar="RUN", type=Path, help=help_)
    help_ = "directory of the new run, which must not be there"
    again.add_argument("--out", metavar="DIR", type=Path, required=True, help=help_)
    help_ = "suite that was asked: a name or a directory (default: the shipped one that was measured)"
    again.add_argument("--suite", metavar="NAME", help=help_)
    again.set_defaults(run=_reparse)

    schema = commands.add_parser("schema", help="print the JSON Schema of report.json")
    schema.set_defaults(run=_schema)
    return run_door(parser, arguments)


def _add_view(parser: argparse.ArgumentParser) -> None:
    help_ = "leave states, instructions and descriptions of options out of the page"
    parser.add_argument("--no-states", action="store_true", help=help_)
    help_ = "leave single decisions out of the page or summary too"
    parser.add_argument("--aggregate-only", action="store_true", help=help_)
    help_ = "suite whose texts the page shows: a name or a directory (default: the shipped one that was measured)"
    parser.add_argument("--suite", metavar="NAME", help=help_)


def _view(options: argparse.Namespace) -> View:
    return "aggregate-only" if options.aggregate_only else "no-states" if options.no_states else "full"


def _check_outputs(outputs: Mapping[str, Path], inputs: Sequence[Path]) -> None:
    """Raise UsageError where one of ``outputs``, by option, would overwrite a report that is read, or another one."""
    taken = {path.resolve(): f"{path}, which is read" for path in inputs}
    for option, path in outputs.items():
        if path.resolve() in taken:
            raise UsageError(f"{option} {path}: would overwrite {taken[path.resolve()]}; name another file")
        taken[path.resolve()] = f"what {option} writes there"


def _score(options: argparse.Namespace) -> Exit:
    source = read_source(options.file)
    if options.threshold is not None and not 0 <= options.threshold <= 1:
        raise UsageError("--threshold must be in [0, 1]")
    records = [r for r in source.records if r.role == "core" and options.split in (None, r.split)]
    if not records:
        where = "" if options.split is None else f" in the split {options.split}"
        raise UsageError(f"{options.file}: holds no core decisions{where}; name a file that has some")
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
    view = _view(options)
    if options.html is None and (view != "full" or options.suite is not None):
        raise UsageError("--no-states, --aggregate-only and --suite say what a page shows; name it with --html FILE")
    if len(reports) < 2:
        raise UsageError(f"{', '.join(map(str, options.paths))}: {len(reports)} with figures; name two reports or more")
    named = {"--out": options.out, "--markdown": options.markdown, "--html": options.html}
    outputs = {option: path for option, path in named.items() if path is not None}
    _check_outputs(outputs, [*map(Path, places)])
    check_comparable(reports, places)
    lacking = not_run(entries, display_names(reports))
    cases = _cases(reports[0].suite, options) if options.html is not None else ()
    comparison = compare(reports, lacking, reference=options.reference, margin=options.margin)
    if options.out is not None:
        write_text(options.out, comparison_json(comparison))
    if options.markdown is not None:
        write_text(options.markdown, comparison_markdown(comparison))
    if options.html is not None:
        write_text(options.html, comparison_page(comparison, reports, view=view, cases=cases))
    for path in outputs.values():
        sys.stderr.write(f"wrote {path}\n")
    if outputs and not comparison.complete:
        sys.stderr.write(f"{comparison.note}\n")
    if not outputs:
        from rich.console import Console

        # A log has no width of its own; a terminal does.
        print_comparison(Console(width=None if sys.stdout.isatty() else _LOG_WIDTH), comparison)
    return Exit.COMPLETE if comparison.complete else Exit.INCOMPLETE


def _render(options: argparse.Namespace) -> Exit:
    out: Path = options.out
    if out.suffix not in _RENDERED:
        raise UsageError(f"{out}: ends in none of {', '.join(_RENDERED)}; the suffix of --out chooses the format")
    if out.suffix != ".html" and options.suite is not None:
        raise UsageError(f"{out}: --suite says whose texts a page shows; end --out in .html, or leave --suite out")
    view = _view(options)
    if out.suffix != ".html" and view == "no-states":
        raise UsageError(f"{out}: --no-states leaves texts out of a page, and this holds none; leave it out")
    if out.suffix not in (".html", ".md") and view == "aggregate-only":
        raise UsageError(f"{out}: is a table of single decisions, which --aggregate-only leaves out; leave one out")
    file = report_file(options.report)
    _check_outputs({"--out": out}, [file])
    report = read_report(file)
    if out.suffix == ".html":
        write_text(out, report_page(report, view=view, cases=_cases(report.suite, options)))
    elif out.suffix == ".md":
        write_text(out, summary_markdown(report, rows=view != "aggregate-only"))
    else:
        write_decision_table(report, out)
    sys.stderr.write(f"wrote {out}\n")
    return Exit.COMPLETE


def _reparse(options: argparse.Namespace) -> Exit:
    from decibench.bench_tests.reparse import folders_with_replies, reparse, suite_of

    out: Path = options.out
    if out.exists():
        raise UsageError(f"--out {out}: is there already; name a directory that is not")
    if out.resolve().is_relative_to(options.source.resolve()):
        raise UsageError(f"--out {out}: lies in what is read; name a directory elsewhere")
    # All are read before the first is written: a run that is half there would stand in the way of the next try.
    found = [reparse(folder, suite_of(folder, options.suite)) for folder in folders_with_replies(options.source)]
    for reparsed in found:
        reparsed.write(out)
        print("\n".join(reparsed.lines()))
        sys.stderr.write(f"wrote {out / reparsed.name}\n")
    return Exit.COMPLETE


def _cases(measured: SuiteRef, options: argparse.Namespace) -> Sequence[Case]:
    """The cases of the suite that was measured; none where a page shows no text, or no shipped suite is that one."""
    if options.suite is not None:
        suite = load_suite(find_suite(options.suite))
        if suite.hash != measured.hash:
            raise UsageError(
                f"--suite {options.suite}: is {suite.manifest.name} {suite.manifest.version} ({suite.hash[:12]}), "
                f"measured was {measured.name} {measured.version} ({measured.hash[:12]}); name that one"
            )
        return suite.cases
    if _view(options) != "full" or measured.name not in shipped_suites():
        return ()
    suite = load_suite(find_suite(measured.name))
    return suite.cases if suite.hash == measured.hash else ()


def _schema(options: argparse.Namespace) -> Exit:
    print(json.dumps(Report.model_json_schema(), indent=1))
    return Exit.COMPLETE


if __name__ == "__main__":
    sys.exit(main())
