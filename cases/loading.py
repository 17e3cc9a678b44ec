"""Loading a suite: every byte, count and cross-reference is verified before a case is used."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from decibench.cases.checks import Located, check_cases, check_counts
from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import read_json
from decibench.cases.schema import Case, Manifest, Role

MANIFEST: Final = "manifest.json"
DEFAULT_SUITE: Final = "decisions-v1"
_SHIPPED: Final = Path(__file__).resolve().parent
_MOST_PROBLEMS: Final = 50


@dataclass(frozen=True)
class Suite:
    """A verified suite: its manifest, its cases in file order, and ``hash``, the SHA-256 of the manifest."""

    path: Path
    manifest: Manifest
    cases: tuple[Case, ...]
    hash: str

    @cached_property
    def by_id(self) -> dict[str, Case]:
        """The cases by their id."""
        return {case.id: case for case in self.cases}

    def role(self, case: Case) -> Role:
        """The role of a case's variant: core, attack or probe."""
        return self.manifest.variants[case.variant].role


def shipped_suites() -> dict[str, Path]:
    """The suites that come with the package, by name."""
    return {path.parent.name: path.parent for path in sorted(_SHIPPED.glob(f"*/{MANIFEST}"))}


def find_suite(name_or_path: str) -> Path:
    """The directory of a shipped suite's name or of a path; SuiteError says what there is."""
    shipped = shipped_suites()
    if name_or_path in shipped:
        return shipped[name_or_path]
    path = Path(name_or_path)
    try:
        if (path / MANIFEST).is_file():
            return path
        is_directory = path.is_dir()
    except OSError as error:  # A name too long, a loop of links, a folder that may not be entered.
        message = f"cannot be looked for ({error.strerror}); name a shipped suite or a directory with a suite"
        raise SuiteError([Problem(name_or_path, message)]) from error
    if is_directory:
        remedy = f"python -m decibench.cases freeze {path}"
        raise SuiteError([Problem(name_or_path, f"has no {MANIFEST}; freeze its cases with: {remedy}")])
    known = ", ".join(shipped) or "none"
    raise SuiteError([Problem(name_or_path, f"is neither a shipped suite ({known}) nor a directory with a suite")])


def load_suite(path: Path) -> Suite:
    """Load and verify the suite in directory ``path``.

    Raises SuiteError with the problems found (at most 50), each naming file, line, field and remedy.
    """
    manifest, digest = _read_manifest(path)
    problems: list[Problem] = []
    located: list[Located] = []
    listed = {file.path for file in manifest.files}
    problems += [
        Problem(extra, f"is not in {MANIFEST}; freeze the suite again, or move the file away")
        for extra in sorted({file.name for file in path.glob("*.jsonl")} - listed)
    ]
    for file in manifest.files:
        data = read_file(path / file.path, file.path, problems)
        if data is None:
            continue
        if hashlib.sha256(data).hexdigest() != file.sha256:
            problems.append(
                Problem(
                    file.path,
                    "its bytes are not those of the manifest; restore the file, or if the change is meant, "
                    "freeze it as a new version (python -m decibench.cases freeze)",
                )
            )
        found = read_cases(data, file.path, problems)
        located += found
        if len(found) != file.cases:
            problems.append(Problem(MANIFEST, f"says {file.cases} cases in {file.path}; {len(found)} could be read"))
    problems += check_cases(located)
    problems += check_counts([entry.case for entry in located], manifest, MANIFEST)
    if problems:
        raise SuiteError(problems[:_MOST_PROBLEMS])
    return Suite(path, manifest, tuple(entry.case for entry in located), digest)


def read_cases(data: bytes, file: str, problems: list[Problem]) -> list[Located]:
    """Parse JSON lines into cases; what cannot be read is added to ``problems``."""
    found: list[Located] = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            problems.append(Problem(file, "is an empty line; remove it", number))
            continue
        try:
            found.append(Located(file, number, Case.model_validate(read_json(line))))
        except ValidationError as error:
            problems += problems_of(error, file, number)
        except ValueError as error:
            problems.append(Problem(file, f"is not one JSON object of UTF-8 text: {error}", number))
    return found


def read_file(path: Path, name: str, problems: list[Problem]) -> bytes | None:
    """The bytes of a file of a suite; where it cannot be read, None and one of ``problems``."""
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"cannot be read ({error.strerror}); it belongs in {path.parent}, as a readable file"
        problems.append(Problem(name, message))
        return None


def _read_manifest(path: Path) -> tuple[Manifest, str]:
    problems: list[Problem] = []
    data = read_file(path / MANIFEST, MANIFEST, problems)
    if data is not None:
        try:
            manifest = Manifest.model_validate(read_json(data))
            return manifest, hashlib.sha256(data).hexdigest()
        except ValidationError as error:
            problems += problems_of(error, MANIFEST)
        except ValueError as error:
            problems.append(Problem(MANIFEST, f"is not JSON: {error}"))
    raise SuiteError(problems)
