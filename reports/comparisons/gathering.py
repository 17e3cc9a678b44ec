"""The reports that a comparison is asked for: files, folders of candidates, and whole runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from decibench.cases.errors import Problem, SuiteError
from decibench.cases.schema import Model
from decibench.reports.comparisons.comparison import COMPARISON, SCHEMA
from decibench.reports.documents import read_document
from decibench.reports.journal import JOURNAL
from decibench.reports.report import REPORT, Report, read_report


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate that was asked for: where, under which name, and its report where that has figures."""

    place: str
    name: str
    report: Report | None


def gather(paths: Sequence[Path]) -> list[Entry]:
    """The candidates at ``paths``, in that order; SuiteError where one holds none.

    A path is a report, the folder of a candidate, or that of a run, which stands for all its candidates. A candidate
    with a journal and no report was not run to its end; so was one that the run's comparison calls not run, unless its
    report is younger: what lies in its folder then is of an earlier run.
    """
    return [entry for path in paths for entry in _entries(path)]


def not_run(entries: Sequence[Entry], taken: Sequence[str]) -> list[str]:
    """Names of ``entries`` without figures, with their place where another has the name: one of ``taken``."""
    lacking = [entry for entry in entries if entry.report is None]
    return list(dict.fromkeys(f"{e.name} ({e.place})" if e.name in taken else e.name for e in lacking))


def report_file(path: Path) -> Path:
    """The report at ``path``, a file or the folder of one candidate; SuiteError where a folder holds none."""
    file = path / REPORT
    if not path.is_dir():
        return path
    if file.is_file():
        return file
    names = [folder.name for folder in sorted(path.iterdir()) if _is_candidate(folder)]
    if names:
        message = f"is a run; name the folder of one of its candidates: {', '.join(names)}"
    elif (path / JOURNAL).is_file():
        message = f"has a journal and no {REPORT}; --resume RUN writes it"
    else:
        message = f"holds no {REPORT}; name a report, or the folder of a candidate"
    raise SuiteError([Problem(str(path), message)])


def _entries(path: Path) -> Iterator[Entry]:
    if not path.exists():
        remedy = "name a report, the folder of a candidate, or that of a run"
        raise SuiteError([Problem(str(path), f"cannot be read (No such file or directory); {remedy}")])
    if not path.is_dir():
        yield _entry(path, read_report(path))
    elif _is_candidate(path):
        yield _candidate(path, path.resolve().name)
    else:
        yield from _run_entries(path)


def _run_entries(path: Path) -> Iterator[Entry]:
    """In the order of the run's comparison, where it has one; its first candidate was the reference there."""
    said = _said(path / COMPARISON)
    folders = [folder.name for folder in sorted(path.iterdir()) if _is_candidate(folder)]
    names = dict.fromkeys([*said.names, *folders])
    if not names:
        message = f"holds neither {REPORT} nor folders of candidates; name a report, a candidate's folder or a run"
        raise SuiteError([Problem(str(path), message)])
    for name in names:
        entry = _candidate(path / name, name)
        report = entry.report
        since = report is not None and said.created is not None and report.created > said.created
        yield Entry(entry.place, name, None) if name in said.not_run and not since else entry


class _Said(Model):
    """What the comparison of a run says about who ran in it, and when it was written."""

    names: list[str] = []
    not_run: list[str] = []
    created: str | None = None


def _said(file: Path) -> _Said:
    if not file.is_file():
        return _Said()
    try:
        raw = read_document(file, SCHEMA)
        not_run = raw.get("not_run", [])
        names = [standing["candidate"] for standing in raw.get("standings", [])]
        return _Said(names=[*names, *not_run], not_run=not_run, created=raw.get("created"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        message = "is not the comparison of a run; restore it, or remove it to compare all candidates that lie here"
        raise SuiteError([Problem(str(file), message)]) from error


def _is_candidate(folder: Path) -> bool:
    return (folder / REPORT).is_file() or (folder / JOURNAL).is_file()


def _candidate(folder: Path, name: str) -> Entry:
    file = folder / REPORT
    return _entry(file, read_report(file)) if file.is_file() else Entry(str(folder), name, None)


def _entry(file: Path, report: Report) -> Entry:
    return Entry(str(file), report.candidate.name, report if report.records else None)
