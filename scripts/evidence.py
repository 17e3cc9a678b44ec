"""The page of published evidence: recordings made elsewhere, or a run of one's own, as Markdown with figures.

python scripts/evidence.py RECORDINGS|RUN --out docs/evidence.md [--reference baseline]

What the page says in words is in evidence.md.j2; its figures are written into a folder of its name beside it. The same
input gives the same page: it has no date of its own.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

import decibench.reports.pages
from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import read_json, sha256_of
from decibench.cases.schema import Model, Split
from decibench.cases.writing import write_text
from decibench.gates.concluding import conclude
from decibench.gates.fitting import fit_gates
from decibench.reports.comparisons.comparability import display_names
from decibench.reports.comparisons.comparison import Comparison, compare
from decibench.reports.comparisons.gathering import gather, not_run
from decibench.reports.differences import differences
from decibench.reports.foreign import read_source
from decibench.reports.journal import SuiteRef
from decibench.reports.markdown import comparison_markdown, summary_markdown
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.comparison_charts import comparison_charts
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Record
from decibench.reports.report import CandidateRef, GateCheck, HoldoutLooks, Report, Scope
from decibench.reports.summary import GatePoint, measure
from decibench.reports.table import decisions_of
from decibench.reports.tables.plain import plain

FIGURES: Final = ("differences", "risk-coverage", "families")
"""Keys of the charts of a comparison that the page draws."""

TEMPLATES: Final = Path(decibench.reports.pages.__file__).parent / "templates"
WIDTH: Final = 640
"""Of a figure, in pixels."""

SPLITS: Final[tuple[Split, ...]] = ("calibration", "holdout")
_CASE: Final = re.compile(r"(?P<group>(?P<family>.+)-\d+)-(?P<variant>[a-z_]+)")
_ATTACK: Final = "injection"
_STATED: Final = {
    "accuracy": "accuracy",
    "brier_multiclass": "brier_score",
    "nll": "log_loss",
    "ece_10_equal_width": "ece_10",
    "coverage": "coverage",
    "accepted_error_rate": "selective_risk",
    "accepted_unsafe_rate": "unsafe_acceptance",
}
"""Metrics as the recordings call them, and as we do."""


class Origin(Model):
    """Where a recording comes from."""

    repository: str
    commit: str
    recorded: str
    dataset_version: str


class Head(Model):
    """What a recording says of itself beside its rows; ``metrics`` are its own, over all its trials."""

    source: Origin
    candidate: dict[str, Any]
    split: Split
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    metrics: dict[str, float | None] = {}


@dataclass(frozen=True, slots=True)
class Recording:
    """One file: what it says, and the records of its rows, one per case."""

    head: Head
    records: Sequence[Record]

    @property
    def decisions(self) -> int:
        """Rows of the file."""
        return sum(len(record.decisions) for record in self.records)

    @property
    def core(self) -> int:
        """Rows under core variants."""
        return sum(len(record.decisions) for record in self.records if record.role == "core")

    @property
    def scenarios(self) -> int:
        """Scenarios of the file."""
        return len({record.group for record in self.records})

    @property
    def stated(self) -> dict[str, float | None]:
        """The metrics that the file states of itself, under our names."""
        return {_STATED[name]: value for name, value in self.head.metrics.items() if name in _STATED}

    @property
    def stated_trials(self) -> int:
        """Trials that the metrics of the file are over; 0 where it does not say."""
        return int(self.head.metrics.get("decisions") or 0) // self.decisions

    def variants(self, *roles: str) -> list[str]:
        """Variants, all or those of ``roles``, in the order of the file."""
        return list(dict.fromkeys(r.variant for r in self.records if not roles or r.role in roles))

    def questions(self) -> dict[str, int]:
        """How many questions a case asks, by family."""
        return {record.family: len(record.decisions) for record in self.records}


@dataclass(frozen=True, slots=True)
class Material:
    """What the page shows; ``recordings``, on calibration and on the holdout by candidate, where it comes from such."""

    reports: Sequence[Report]
    recordings: Mapping[str, tuple[Recording, Recording]]
    not_run: Sequence[str] = ()


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Write the page and its figures; the exit status is that of a door."""
    parser = Parser(prog="python scripts/evidence.py", description="Write the page of evidence.")
    what = "a folder of recordings (NAME-calibration.json, NAME-holdout.json), or of a run of pytest bench_tests"
    parser.add_argument("source", metavar="RECORDINGS|RUN", type=Path, help=what)
    help_ = "candidate to compare with (default: %(default)s where it is there, else the first)"
    parser.add_argument("--reference", metavar="NAME", default="baseline", help=help_)
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the page, a file in Markdown")
    parser.set_defaults(run=_write)
    return run_door(parser, arguments)


def _write(options: argparse.Namespace) -> Exit:
    material, out = read_evidence(options.source), options.out
    reports = dict(zip(display_names(material.reports), material.reports, strict=True))
    reference = options.reference if options.reference in reports else None
    comparison = compare(material.reports, material.not_run, reference=reference)
    # The page is as old as what it shows, not as the call that wrote it.
    comparison = comparison.model_copy(update={"created": max(report.created for report in material.reports)})
    charts = comparison_charts(comparison, {c.candidate: reports[c.candidate] for c in comparison.compared})
    figures = [(chart, f"{out.stem}/{chart.key}.svg") for chart in charts if chart.key in FIGURES]
    (out.parent / out.stem).mkdir(parents=True, exist_ok=True)
    for chart, place in figures:
        write_text(out.parent / place, svg(chart))
    write_text(out, page(material, comparison, figures))
    sys.stderr.write(f"wrote {out}\n")
    return Exit.COMPLETE


def read_evidence(source: Path) -> Material:
    """Recordings or a run; SuiteError says what is wrong with them, UsageError where there are none."""
    if not source.is_dir():
        raise UsageError(f"{source}: is no folder; name one of recordings, or of a run")
    names = sorted(path.name.removesuffix("-holdout.json") for path in source.glob("*-holdout.json"))
    if names:
        pairs = {
            n: (_recording(source / f"{n}-calibration.json"), _recording(source / f"{n}-holdout.json")) for n in names
        }
        return Material([_report(name, *pair) for name, pair in pairs.items()], pairs)
    entries = gather([source])
    reports = [entry.report for entry in entries if entry.report is not None]
    if not reports:
        raise UsageError(f"{source}: no candidate of this run has a report; run it to its end")
    return Material(reports, {}, not_run(entries, [report.candidate.name for report in reports]))


def page(material: Material, comparison: Comparison, figures: Sequence[tuple[Chart, str]]) -> str:
    """The page as Markdown; ``figures`` are charts with the places of their drawings, as seen from the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Markdown, in which the filter plain takes the place of escapes for HTML.
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters["plain"] = plain
    devices = [f"{r.candidate.name} on {r.candidate.identity.get('device', 'unknown')}" for r in material.reports]
    return templates.get_template("evidence.md.j2").render(
        recordings=material.recordings,
        names=[report.candidate.name for report in material.reports],
        suite=comparison.suite,
        devices=devices,
        on_mps=any(device.endswith(" on mps") for device in devices),
        comparison=_demoted(comparison_markdown(comparison)),
        figures=figures,
        candidates=[_parts(report) for report in material.reports],
        listed=_listed,
        facts=_facts,
    )


def svg(chart: Chart) -> str:
    """The drawing of ``chart`` as a file of its own: on the page's light ground, readable on a dark one too."""
    import vl_convert

    style = (TEMPLATES / "style.css").read_text("utf-8")
    # The first value of each is that of the light mode.
    paints = dict(reversed(re.findall(r"(--[a-z]+): (#[0-9a-f]+);", style)))
    spec = {"padding": 12, **chart.spec, "width": WIDTH, "background": paints["--page"]}
    text = re.sub(r"var\((--[a-z]+)\)", lambda found: paints[found[1]], json.dumps(spec))
    drawn: str = vl_convert.vegalite_to_svg(text.replace("currentColor", paints["--ink"]))
    return drawn + "\n"


def _parts(report: Report) -> tuple[str, str, str]:
    """The name of a candidate, what its report says first, and all the rest of it."""
    first, mark, rest = _demoted(summary_markdown(report, rows=False)).partition("### ")
    return report.candidate.name, first.strip(), f"{mark}{rest}".strip()


def _demoted(markdown: str) -> str:
    """A page as a part of another one: every heading a level lower."""
    return re.sub(r"^#", "##", markdown.strip(), flags=re.MULTILINE)


def _recording(path: Path) -> Recording:
    records = list(_by_case(read_source(path).records, str(path)))
    try:
        raw = read_json(path.read_bytes())
        head = Head.model_validate({field: raw[field] for field in Head.model_fields if field in raw})
    except ValidationError as error:
        raise SuiteError(problems_of(error, str(path))) from error
    recording = Recording(head, records)
    floor, point = DEFAULT_PROTOCOL.log_loss_floor, GatePoint(threshold=head.threshold)
    ours = measure(decisions_of(records, floor), floor, point).model_dump(mode="json")
    problems = [
        Problem(str(path), f"says {says!r}, its rows give {gives!r}", None, f"metrics.{field}")
        for field, says, gives in differences(recording.stated, {name: ours[name] for name in recording.stated})
    ]
    if problems:
        raise SuiteError(problems)
    return recording


def _by_case(rows: Sequence[Record], name: str) -> Iterator[Record]:
    """One record per case and trial from one per row; scenario, family and variant are read from the id of the case."""
    grouped: dict[tuple[str, int], list[Record]] = {}
    for row in rows:
        grouped.setdefault((row.case, row.trial), []).append(row)
    for (case, _), records in grouped.items():
        parts = _CASE.fullmatch(case)
        if parts is None:
            raise SuiteError([Problem(name, f"has the case {case!r}; expected an id as routing-03-options_reversed")])
        yield records[0].model_copy(
            update={
                "group": parts["group"],
                "family": parts["family"],
                "variant": parts["variant"].replace("_", "-"),
                "role": "attack" if parts["variant"] == _ATTACK else "core",
                "decisions": [decision for record in records for decision in record.decisions],
            }
        )


def _check_pair(name: str, calibration: Recording, holdout: Recording) -> None:
    first, second = calibration.head, holdout.head
    if (first.split, second.split) != SPLITS:
        message = f"has the splits {first.split} and {second.split} in its files; expected {SPLITS[0]} and {SPLITS[1]}"
        raise SuiteError([Problem(name, message)])
    if (first.candidate, first.source.dataset_version) != (second.candidate, second.source.dataset_version):
        message = "is of another candidate or version of the cases on calibration than on the holdout; name one pair"
        raise SuiteError([Problem(name, message)])


def _report(name: str, calibration: Recording, holdout: Recording) -> Report:
    """The report of one candidate, as a run of these cases would have given it."""
    origin, identity = holdout.head.source, holdout.head.candidate
    _check_pair(name, calibration, holdout)
    records = [*calibration.records, *holdout.records]
    suite = SuiteRef(
        name=origin.dataset_version.rpartition("-")[0],
        version=origin.dataset_version.rpartition("-")[2],
        hash=sha256_of([_asked(record) for record in records]),
    )
    hash_ = holdout.records[0].candidate_hash
    return conclude(
        records,
        decisions_of(records, DEFAULT_PROTOCOL.log_loss_floor),
        fit_gates(records, DEFAULT_PROTOCOL, candidate_hash=hash_, suite_hash=suite.hash),
        DEFAULT_PROTOCOL,
        partial=False,
        run="recorded",
        created=max(recording.head.source.recorded for recording in (calibration, holdout)),
        suite=suite,
        candidate=CandidateRef(name=name, hash=hash_, identity=identity),
        environment={
            "repository": origin.repository,
            **{f"{r.head.split} at": r.head.source.commit for r in (calibration, holdout)},
        },
        complete=True,
        incomplete_reasons=[],
        scope=_scope(records),
        holdout_looks=HoldoutLooks(
            family=name, number=None, this_candidate=None, this_family=None, all_candidates=None
        ),
        gate_check=GateCheck(passed=None, reason="no gate was required"),
    )


def _asked(record: Record) -> list[Any]:
    return [record.case, [[d.question, d.options, d.expected, d.unsafe] for d in record.decisions]]


def _scope(records: Sequence[Record]) -> Scope:
    return Scope(
        splits=list(SPLITS),
        families=list(dict.fromkeys(record.family for record in records)),
        variants=list(dict.fromkeys(record.variant for record in records)),
        trials=max(record.trial for record in records),
        expected=len(records),
        collected=len(records),
        measured=len(records),
        missing=[],
        retried=0,
        set_aside=0,
    )


def _facts(identity: Mapping[str, Any]) -> str:
    return ", ".join(_fact(key, value) for key, value in identity.items() if key != "name")


def _fact(key: str, value: Any) -> str:
    return f"{key.replace('_', ' ')} {_shown(value)}"


def _shown(value: Any) -> str:
    """A value of an identity in one line; figures with four decimals, as temperatures need no more.

    >>> _shown({"default": [1.63690304, 1.25143003], "by_kind": {"noul": 0.91071369}})
    '(default 1.6369 1.2514, by kind (noul 0.9107))'
    """
    if isinstance(value, dict):
        return f"({_facts(value)})"
    if isinstance(value, list):
        return " ".join(map(_shown, value))
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


if __name__ == "__main__":
    sys.exit(main())
