"""After the session: records become gates, reports, summaries and an exit status."""

from __future__ import annotations

import gc
import importlib.metadata
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from decibench.bench_tests.completeness import Completeness, completeness, in_plan_order
from decibench.bench_tests.files import write_files
from decibench.bench_tests.fitted import fitted_gates
from decibench.bench_tests.guard import raised_in
from decibench.bench_tests.plan import Plan, journal_path
from decibench.bench_tests.pricing import prices_of
from decibench.bench_tests.recorder import Recorder
from decibench.bench_tests.step_summary import write_step_summary
from decibench.cases.door import Exit, UsageError
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.writing import write_text
from decibench.gates.check import check_holdout, check_issued
from decibench.gates.concluding import conclude
from decibench.gates.fitting import Gates, unfitted_gates
from decibench.gates.gate import Gate, PrimaryGate, check_applies, name_of
from decibench.reports.comparisons.comparison import COMPARISON_SUMMARY, Comparison, compare, write_comparison
from decibench.reports.journal import Journal, Load, is_started, read_journal
from decibench.reports.latency import LoadTime
from decibench.reports.ledger import LEDGER, Look, add_look, count_looks, read_ledger
from decibench.reports.markdown import SUMMARY
from decibench.reports.pages.comparison import COMPARISON_PAGE, comparison_page
from decibench.reports.record import Record
from decibench.reports.regression import Regression, regression_of
from decibench.reports.report import CandidateRef, GateCheck, HoldoutLooks, Report, primary_gate
from decibench.reports.table import Decisions, decisions_of


@dataclass(frozen=True, slots=True)
class Finished:
    """What the terminal shows at the end; ``exit`` covers completeness and gates, failed items are pytest's.

    ``unchecked`` says why a gate or a regression that was required could not be checked; None where it was, or none
    was required. ``warning`` tells of a copy of the results that could not be written, None where there is none.
    """

    reports: Sequence[Report]
    comparison: Comparison | None
    exit: Exit
    errors: Sequence[str]
    unchecked: str | None = None
    regressions: Mapping[str, Regression] = field(default_factory=dict)
    warning: str | None = None


def finish(
    plan: Plan, recorder: Recorder, blessed: Mapping[str, Report] | None = None, *, chosen_stop: bool
) -> Finished:
    """Write the reports of every candidate that has a journal; ``chosen_stop`` tells of ``-x`` or ``--maxfail``.

    ``blessed`` are the reports to compare with, by candidate.
    """
    collecting = gc.isenabled()
    gc.disable()  # Hundreds of thousands of records come and stay: looking for cycles among them doubles the time.
    try:
        return _finish(plan, recorder, blessed or {}, chosen_stop)
    finally:
        if collecting:
            gc.enable()


def _finish(plan: Plan, recorder: Recorder, blessed: Mapping[str, Report], chosen_stop: bool) -> Finished:
    recorder.close()
    reports: list[Report] = []
    regressions: dict[str, Regression] = {}
    errors: list[str] = []
    for spec in plan.specs:
        with _noting(errors, recorder.run_dir):
            journal = _journal(plan, recorder, spec.name)
            if journal is not None:
                report, gate = _report(plan, recorder, spec.name, journal, chosen_stop, errors)
                if spec.name in blessed:
                    regressions[spec.name] = regression_of(report, blessed[spec.name])
                reports.append(_written(plan, recorder, report, gate, regressions.get(spec.name), errors))
    reported = {report.candidate.name for report in reports}
    comparison = warning = None
    if len(plan.specs) + len(plan.not_run) > 1 and reports:
        with _noting(errors, recorder.run_dir):
            not_run = [*(spec.name for spec in plan.specs if spec.name not in reported), *plan.not_run]
            comparison = compare(reports, not_run, reasons=plan.not_run)
            write_comparison(comparison, recorder.run_dir)
            page = comparison_page(comparison, reports, view=plan.options.view, cases=plan.suite.cases)
            write_text(recorder.run_dir / COMPARISON_PAGE, page)
    with _noting(errors, recorder.run_dir):
        summaries = [f"{report.candidate.name}/{SUMMARY}" for report in reports]
        warning = write_step_summary(recorder.run_dir, [*([COMPARISON_SUMMARY] if comparison else []), *summaries])
    lost = any(plan.by_id[id_].candidate not in reported for id_ in recorder.collected) and not chosen_stop
    unchecked = _unchecked(plan, reports, regressions)
    exit_ = _exit(plan, reports, regressions, errors, lost or unchecked is not None)
    return Finished(reports, comparison, exit_, errors, unchecked, regressions, warning)


def _journal(plan: Plan, recorder: Recorder, name: str) -> Journal | None:
    """The journal of a candidate, None where nothing was asked of it; one that this run wrote must be there."""
    path = journal_path(recorder.run_dir, name)
    # Without --resume a journal that this run did not begin is another run's.
    if name not in recorder.started and (plan.options.resume is None or not is_started(path)):
        return None
    if not path.exists():
        raise SuiteError([Problem(str(path), f"is gone: what {name} answered in this run is lost; run it again")])
    return read_journal(path)


def _unchecked(plan: Plan, reports: Sequence[Report], regressions: Mapping[str, Regression]) -> str | None:
    required = f"--gate {plan.options.gate}" if plan.gate else "--require-gate" if plan.options.require_gate else None
    unchecked = [report.gate_check.reason for report in reports if report.gate_check.passed is None]
    unchecked += [f"{name} was not run" for name in plan.not_run]
    if required is not None and (unchecked or not reports):
        reason = unchecked[0] if unchecked else "nothing was measured"
        return f"{required}: was required and not checked: {reason}"
    if plan.options.fail_on_regression:
        open_ = [f"{found.candidate}: {found.reason}" for found in regressions.values() if found.passed is None]
        open_ += [f"{name} was not run" for name in plan.not_run]
        if open_ or not regressions:
            reason = open_[0] if open_ else "nothing was measured"
            return f"--fail-on-regression: was required and not checked: {reason}"
    return None


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


def _exit(
    plan: Plan,
    reports: Sequence[Report],
    regressions: Mapping[str, Regression],
    errors: Sequence[str],
    unfinished: bool,
) -> Exit:
    if errors:
        return Exit.USAGE
    if unfinished or any(report.incomplete_reasons for report in reports):
        return Exit.INCOMPLETE
    regressed = plan.options.fail_on_regression and any(r.passed is False for r in regressions.values())
    if regressed or any(report.gate_check.passed is False for report in reports):
        return Exit.GATE
    return Exit.COMPLETE


def _report(
    plan: Plan, recorder: Recorder, name: str, journal: Journal, chosen_stop: bool, errors: list[str]
) -> tuple[Report, Gate]:
    """The report of a candidate, and its primary gate."""
    records = in_plan_order(plan, name, journal.current())
    extent = completeness(plan, recorder, name, journal, records, chosen_stop)
    load = journal.load
    candidate = CandidateRef(
        name=name, hash=load.candidate_hash if load else None, identity=load.identity if load else {}
    )
    fitted = _gates(plan, candidate, records, extent, errors)
    primary = fitted[primary_gate(plan.protocol)]
    decisions = decisions_of(records, plan.protocol.log_loss_floor)
    report = conclude(
        records,
        decisions,
        fitted,
        plan.protocol,
        partial=extent.partial,
        loads=_load_times(journal),
        prices=prices_of(plan.options, plan.spec(name)),
        run=journal.header.run,
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        suite=plan.suite_ref,
        candidate=candidate,
        environment=_environment(load),
        complete=not extent.partial and not extent.reasons,
        incomplete_reasons=extent.reasons,
        scope=extent.scope,
        holdout_looks=_looks(plan, recorder, candidate, journal.header.run, _looked(records), errors),
        gate_check=_check(plan, primary, decisions),
    )
    return report, primary


def _looked(records: Sequence[Record]) -> bool:
    return any(record.split == "holdout" for record in records)


def _written(
    plan: Plan, recorder: Recorder, report: Report, gate: Gate, regression: Regression | None, errors: list[str]
) -> Report:
    with _noting(errors, recorder.run_dir):
        report = write_files(plan, report, gate, regression, recorder.run_dir / report.candidate.name)
    with _noting(errors, recorder.run_dir):
        _look(report, _ledger(plan))
    return report


def _ledger(plan: Plan) -> Path:
    return plan.options.home / "runs" / LEDGER


def _looks(
    plan: Plan, recorder: Recorder, candidate: CandidateRef, run: str, looking: bool, errors: list[str]
) -> HoldoutLooks:
    family = _family(plan, candidate.name)
    looks = HoldoutLooks(family=family, number=None, this_candidate=None, this_family=None, all_candidates=None)
    with _noting(errors, recorder.run_dir):
        looks = count_looks(read_ledger(_ledger(plan)), plan.suite_ref, candidate.hash, family, run, looking)
    return looks  # noqa: RET504 - not the last assignment where reading the ledger failed


def _family(plan: Plan, name: str) -> str:
    """What the candidate is a configuration of, whatever a candidates file or a label calls it."""
    spec = next(spec for spec in plan.specs if spec.name == name)
    if spec.path is not None:
        return spec.path.name.encode(errors="backslashreplace").decode()
    assert spec.adapter is not None
    return spec.adapter


def _check(plan: Plan, gate: Gate, decisions: Decisions) -> GateCheck:
    if plan.gate is None:
        return (
            check_issued(gate) if plan.options.require_gate else GateCheck(passed=None, reason="no gate was required")
        )
    if gate.status == "not-fitted":
        return GateCheck(passed=None, reason=gate.reason)
    core = (decisions.split == "holdout") & (decisions.role == "core")
    return check_holdout(plan.gate, decisions.where(core), plan.protocol)


def _gates(
    plan: Plan, candidate: CandidateRef, records: Sequence[Record], extent: Completeness, errors: list[str]
) -> Gates:
    """The gates of the run: the given one where it applies, else those fitted on complete calibration."""
    if extent.partial or extent.reasons:
        what = "partial" if extent.partial else "incomplete"
        return unfitted_gates(plan.protocol, f"the run is {what}; a gate needs all of its scope")
    if plan.gate is not None:
        return _given(plan, plan.gate, candidate.hash, records, errors)
    return fitted_gates(candidate, records, plan.protocol, suite_hash=plan.suite.hash, splits=extent.scope.splits)


def _given(
    plan: Plan, gate: PrimaryGate, candidate_hash: str | None, records: Sequence[Record], errors: list[str]
) -> Gates:
    try:
        check_applies(
            gate,
            _holdout(records),
            candidate_hash=candidate_hash,
            protocol_hash=plan.protocol.hash,
            suite_hash=plan.suite.hash,
        )
    except UsageError as error:
        errors.append(f"--gate {plan.options.gate}: {error}")
        return unfitted_gates(plan.protocol, str(error))
    return {**unfitted_gates(plan.protocol, "the gate of this run is given by --gate"), name_of(gate): gate}


def _holdout(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.split == "holdout" and record.role == "core"]


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
            family=report.holdout_looks.family,
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


def _environment(load: Load | None) -> dict[str, str]:
    terms = {} if load is None else {"deadline_s": load.deadline_s, "retries": load.retries}
    versions = {name: importlib.metadata.version(name) for name in ("decibench", "pytest", "numpy", "pydantic")}
    return versions | {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": str(os.cpu_count()),
        **{name: f"{value:g}" for name, value in terms.items() if value is not None},
    }
