"""After the session: records become gates, reports, summaries and an exit status."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from decibench.bench_tests.completeness import Completeness, completeness, in_plan_order
from decibench.bench_tests.guard import raised_in
from decibench.bench_tests.plan import Plan, journal_path
from decibench.bench_tests.recorder import Recorder
from decibench.cases.door import Exit, UsageError
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.schema import Split
from decibench.gates.check import check_holdout
from decibench.gates.empirical import calibration_of, fit_empirical, not_fitted
from decibench.gates.gate import GATE, Gate, check_applies, write_gate
from decibench.reports.comparison import Comparison, compare, write_comparison
from decibench.reports.journal import Journal, is_started, read_journal
from decibench.reports.latency import LoadTime, Prices, cost_of, latency_of
from decibench.reports.ledger import LEDGER, Look, add_look, count_looks, read_ledger
from decibench.reports.markdown import SUMMARY, summary_markdown
from decibench.reports.record import Record
from decibench.reports.report import (
    REPORT,
    CandidateRef,
    GateCheck,
    HoldoutLooks,
    Report,
    compute_metrics,
    sealed,
    write_report,
)
from decibench.reports.summary import SplitMetrics


@dataclass(frozen=True, slots=True)
class Finished:
    """What the terminal shows at the end; ``exit`` covers completeness and gates, failed items are pytest's.

    ``unchecked`` says why a gate that was required could not be checked; None where it was, or none was required.
    """

    reports: Sequence[Report]
    comparison: Comparison | None
    exit: Exit
    errors: Sequence[str]
    unchecked: str | None = None


def finish(plan: Plan, recorder: Recorder, *, chosen_stop: bool) -> Finished:
    """Write the reports of every candidate that has a journal; ``chosen_stop`` tells of ``-x`` or ``--maxfail``."""
    recorder.close()
    reports: list[Report] = []
    errors: list[str] = []
    for spec in plan.specs:
        with _noting(errors, recorder.run_dir):
            journal = _journal(plan, recorder, spec.name)
            if journal is not None:
                reports.append(_report(plan, recorder, spec.name, journal, chosen_stop, errors))
    reported = {report.candidate.name for report in reports}
    comparison = None
    if len(plan.specs) > 1 and reports:
        with _noting(errors, recorder.run_dir):
            comparison = compare(reports, not_run=[spec.name for spec in plan.specs if spec.name not in reported])
            write_comparison(comparison, recorder.run_dir)
    lost = any(plan.by_id[id_].candidate not in reported for id_ in recorder.collected) and not chosen_stop
    unchecked = _unchecked(plan, reports)
    return Finished(reports, comparison, _exit(reports, errors, lost or unchecked is not None), errors, unchecked)


def _journal(plan: Plan, recorder: Recorder, name: str) -> Journal | None:
    """The journal of a candidate, None where nothing was asked of it; one that this run wrote must be there."""
    path = journal_path(recorder.run_dir, name)
    # Without --resume a journal that this run did not begin is another run's.
    if name not in recorder.started and (plan.options.resume is None or not is_started(path)):
        return None
    if not path.exists():
        raise SuiteError([Problem(str(path), f"is gone: what {name} answered in this run is lost; run it again")])
    return read_journal(path)


def _unchecked(plan: Plan, reports: Sequence[Report]) -> str | None:
    if plan.gate is None or any(report.gate_check.passed is not None for report in reports):
        return None
    reason = reports[0].gate_check.reason if reports else "nothing was measured"
    return f"--gate {plan.options.gate}: was required and not checked: {reason}"


@contextmanager
def _noting(errors: list[str], run_dir: Path) -> Iterator[None]:
    """Turn trouble into one of ``errors``: it must take neither what was measured nor other candidates with it."""
    remedy = f"the journals are kept: remedy it, then --resume {run_dir}"
    try:
        yield
    except SuiteError as error:
        message = f"{error}; {remedy}"
    except OSError as error:
        message = f"{error.filename or run_dir}: cannot be used ({error.strerror}); {remedy}"
    except Exception as error:
        message = f"{run_dir}: cannot be reported ({raised_in(error)}); {remedy}"
    else:
        return
    if message not in errors:
        errors.append(message)


def _exit(reports: Sequence[Report], errors: Sequence[str], unfinished: bool) -> Exit:
    if errors:
        return Exit.USAGE
    if unfinished or any(report.incomplete_reasons for report in reports):
        return Exit.INCOMPLETE
    if any(report.gate_check.passed is False for report in reports):
        return Exit.GATE
    return Exit.COMPLETE


def _report(
    plan: Plan, recorder: Recorder, name: str, journal: Journal, chosen_stop: bool, errors: list[str]
) -> Report:
    records = in_plan_order(plan, name, journal.current())
    extent = completeness(plan, recorder, name, journal, records, chosen_stop)
    load = journal.load
    candidate = CandidateRef(
        name=name, hash=load.candidate_hash if load else None, identity=load.identity if load else {}
    )
    gate = _gate(plan, candidate.hash, records, extent, errors)
    gates = {"empirical": gate.model_dump(mode="json")}
    metrics = compute_metrics(records, plan.protocol, gates)
    report = sealed(
        Report(
            run=journal.header.run,
            created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            suite=plan.suite_ref,
            candidate=candidate,
            protocol=plan.protocol,
            protocol_hash=plan.protocol.hash,
            environment=_environment(),
            complete=not extent.partial and not extent.reasons,
            partial=extent.partial,
            incomplete_reasons=extent.reasons,
            scope=extent.scope,
            holdout_looks=_looks(plan, recorder, candidate, journal.header.run, "holdout" in metrics, errors),
            metrics=metrics,
            gates=gates,
            gate_check=_check(plan, gate, metrics),
            latency=latency_of(records, _load_times(journal)),
            cost=cost_of(records, _prices(plan)),
            records=records,
        )
    )
    with _noting(errors, recorder.run_dir):
        _write(report, gate, recorder.run_dir / name)
    with _noting(errors, recorder.run_dir):
        _look(report, _ledger(plan))
    return report


def _ledger(plan: Plan) -> Path:
    return plan.options.home / "runs" / LEDGER


def _looks(
    plan: Plan, recorder: Recorder, candidate: CandidateRef, run: str, looking: bool, errors: list[str]
) -> HoldoutLooks:
    looks = HoldoutLooks(this_candidate=None, all_candidates=None)
    with _noting(errors, recorder.run_dir):
        looks = count_looks(read_ledger(_ledger(plan)), plan.suite_ref, candidate.hash, run, looking)
    return looks  # noqa: RET504 - not the last assignment where reading the ledger failed


def _check(plan: Plan, gate: Gate, metrics: Mapping[Split, SplitMetrics]) -> GateCheck:
    if plan.gate is None:
        return GateCheck(passed=None, reason="no gate was required")
    if gate.status == "not-fitted":
        return GateCheck(passed=None, reason=gate.reason)
    return check_holdout(gate, metrics["holdout"].overall)


def _gate(
    plan: Plan, candidate_hash: str | None, records: Sequence[Record], extent: Completeness, errors: list[str]
) -> Gate:
    """The gate of the run: the given one where it applies, else one fitted on complete calibration."""
    if extent.partial or extent.reasons:
        what = "partial" if extent.partial else "incomplete"
        return not_fitted(plan.protocol, f"the run is {what}; a gate needs all of its scope")
    if plan.gate is not None:
        holdout = [r for r in records if r.split == "holdout" and r.role == "core"]
        try:
            check_applies(
                plan.gate,
                holdout,
                candidate_hash=candidate_hash,
                protocol_hash=plan.protocol.hash,
                suite_hash=plan.suite.hash,
            )
        except UsageError as error:
            errors.append(f"--gate {plan.options.gate}: {error}")
            return not_fitted(plan.protocol, str(error))
        return plan.gate
    if "calibration" not in extent.scope.splits:
        return not_fitted(plan.protocol, "the scope leaves calibration out, on which a gate is fitted")
    return fit_empirical(
        calibration_of(records), plan.protocol, candidate_hash=candidate_hash, suite_hash=plan.suite.hash
    )


def _write(report: Report, gate: Gate, folder: Path) -> None:
    write_report(report, folder / REPORT)
    write_gate(gate, folder / GATE)
    (folder / SUMMARY).write_text(summary_markdown(report), "utf-8")


def _look(report: Report, ledger: Path) -> None:
    if report.candidate.hash is None or "holdout" not in report.metrics:
        return
    add_look(
        ledger,
        Look(
            date=report.created,
            run=report.run,
            candidate=report.candidate.name,
            candidate_hash=report.candidate.hash,
            suite=report.suite.name,
            suite_version=report.suite.version,
            suite_hash=report.suite.hash,
            decisions=sum(len(r.decisions) for r in report.records if r.split == "holdout"),
            partial=report.partial,
            report_hash=report.seal,
        ),
    )


def _load_times(journal: Journal) -> list[LoadTime]:
    return [
        LoadTime(
            worker=load.worker,
            load_s=load.load_s,
            first_probe_s=load.first_probe_s,
            warm_ups_s=load.warm_ups_s,
        )
        for load in journal.loads
    ]


def _prices(plan: Plan) -> Prices:
    return Prices(
        input_usd_per_million=plan.options.input_usd_per_million,
        compute_usd_per_hour=plan.options.compute_usd_per_hour,
    )


def _environment() -> dict[str, str]:
    versions = {name: importlib.metadata.version(name) for name in ("decibench", "pytest", "numpy", "pydantic")}
    return versions | {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": str(os.cpu_count()),
    }
