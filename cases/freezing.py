"""Freezing anyone's own cases: a manifest for the JSON-lines files of a directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from decibench.cases.building import manifest_bytes
from decibench.cases.checks import check_cases
from decibench.cases.errors import Problem, SuiteError, problems_of
from decibench.cases.jsonio import read_json
from decibench.cases.loading import MANIFEST, read_cases, read_file
from decibench.cases.schema import FileName, Manifest, Name, Role, Text
from decibench.cases.variants import VARIANTS


def freeze(directory: Path, name: str, version: str, license_: str, roles: Mapping[str, Role]) -> Path:
    """Write the manifest of the ``*.jsonl`` files in ``directory`` and return its path.

    ``roles`` gives the role of variants that are not the shipped ones. Raises SuiteError when a case is faulty,
    a variant has no role, or ``version`` is already frozen with other bytes.
    """
    problems: list[Problem] = []
    found = {path.name: read_file(path, path.name, problems) for path in sorted(directory.glob("*.jsonl"))}
    files = {file: data for file, data in found.items() if data is not None}
    problems += _check_facts(name, version, license_, files)
    if not found or (files and not any(data.strip() for data in files.values())):
        problems.append(Problem(str(directory), "holds no *.jsonl file with cases; write one case per line"))
    located = [entry for file, data in files.items() for entry in read_cases(data, file, problems)]
    problems += check_cases(located)
    known: dict[str, Role] = {variant: spec.role for variant, spec in VARIANTS.items()} | dict(roles)
    for variant in sorted({entry.case.variant for entry in located} - known.keys()):
        problems.append(
            Problem(str(directory), f"variant {variant} has no role; add --role {variant}=core, attack or probe")
        )
    if problems:
        raise SuiteError(problems)
    facts = {"name": name, "version": version, "license": license_}
    data = manifest_bytes(facts, files, [entry.case for entry in located], known)
    path = directory / MANIFEST
    if path.exists() and path.read_bytes() != data and frozen_version(path) == version:
        raise SuiteError(
            [Problem(str(path), f"version {version} is frozen with other bytes; give the change a new --version")]
        )
    path.write_bytes(data)
    return path


def _check_facts(name: str, version: str, license_: str, files: Iterable[str]) -> Iterator[Problem]:
    """What keeps the facts from standing in a manifest, by the types of its fields."""
    if _faults(name, Name, ""):  # By default it is the name of a directory, which the user should see.
        yield Problem("--name", f"{name!r} must be lower-case letters, digits and single hyphens")
    yield from _faults(version, Text, "--version")
    yield from _faults(license_, Text, "--license")
    for file in files:
        yield from _faults(file, FileName, file)


def _faults(value: str, kind: Any, place: str) -> list[Problem]:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return problems_of(error, place)
    return []


def frozen_version(path: Path) -> str | None:
    """The version in the manifest at ``path``; None where there is no readable one."""
    try:
        return Manifest.model_validate(read_json(path.read_bytes())).version
    except (OSError, ValueError):
        return None
