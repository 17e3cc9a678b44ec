"""From names on the command line and a candidates file to the candidates of a run, checked before any is built."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from decibench.candidates.adapter import Candidate, Identity
from decibench.candidates.registry import REGISTRY, Entry
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.settings import Settings
from decibench.candidates.setup import Setup
from decibench.cases.door import UsageError
from decibench.cases.errors import problems_of
from decibench.cases.schema import Case, Model, Name, Text

DEFAULT_FILE: Final = "decibench.toml"
FACTORY: Final = "create_candidate"
SHORTHAND: Final = ("endpoint", "model", "key_env")
"""Settings that options of the command line give to the one candidate of a run."""

_LONGEST_NAME: Final = 100
"""Names become parts of paths, which file systems bound at about 255 bytes."""
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


class CandidateTable(Model):
    """One ``[candidates.NAME]`` table: a configuration of an adapter under a name of its own.

    What else stands there are the settings of that adapter.
    """

    model_config = ConfigDict(extra="allow")

    adapter: Text
    device: Text | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What the table sets of its adapter."""
        return dict(self.model_extra or {})


class CandidatesFile(Model):
    """A candidates file."""

    candidates: Annotated[dict[Name, CandidateTable], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """A candidate of the run: its name in ids and folders, and how to build it.

    ``adapter`` is the name of a shipped one, ``path`` a user's own file. ``lacks`` says what this place lacks to run
    it, such as a key.
    """

    name: str
    device: str
    settings: Settings = field(default_factory=Settings)
    adapter: str | None = None
    path: Path | None = None
    lacks: str | None = None

    @property
    def entry(self) -> Entry | None:
        """What the registry says of a shipped adapter; None for a user's own file."""
        return None if self.adapter is None else REGISTRY[self.adapter]

    @property
    def remote(self) -> bool:
        """Whether the candidate is asked over HTTP."""
        return self.entry is not None and self.entry.remote

    @property
    def source_sha256(self) -> str | None:
        """SHA-256 (hex) of a user's own file; None for a shipped adapter."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest() if self.path else None

    def create(self, development: Sequence[Case], allowance: Allowance | None = None) -> Candidate:
        """Build the candidate; what its factory raises passes through, TypeError names what it lacks.

        ``development`` is what it may be fitted on; ``allowance`` is what it may do on the network, by default once.
        """
        if self.entry is not None:
            return self.entry.create(Setup(self.device, self.settings, development, allowance or Allowance()))
        assert self.path is not None
        candidate = _load(self.path)(self.device)
        for method in ("decide", "synchronize", "close"):
            if not callable(getattr(candidate, method, None)):
                raise TypeError(f"{self.path.name}: the candidate has no {method}(); see candidates/adapter.py")
        if not isinstance(getattr(candidate, "identity", None), Identity):
            raise TypeError(f"{self.path.name}: the candidate's identity must be an Identity(model=...)")
        built: Candidate = candidate
        return built


def resolve_candidates(
    names: Sequence[str],
    *,
    file: Path | None,
    device: str | None,
    label: str | None = None,
    shorthand: Mapping[str, str] | None = None,
) -> list[CandidateSpec]:
    """The candidates called ``names`` (default: baseline), in that order.

    A name is a table of the candidates ``file``, else a shipped adapter, else a path to a Python file. ``device``
    is used where a table names none; an adapter that runs only on the CPU keeps to it as long as another
    candidate can use the device. ``shorthand`` are settings of the one candidate, which go before those of its table.
    Raises UsageError with the remedy; imports nothing of a candidate.
    """
    tables = _read_file(file) if file is not None else {}
    wanted = list(names) or ["baseline"]
    if label is not None:
        if len(wanted) != 1:
            raise UsageError("--model-label names one candidate; give exactly one --candidate")
        _check_name(label, "--model-label")
    options = ", ".join(f"--{setting.replace('_', '-')}" for setting in shorthand or {})
    if options and len(wanted) != 1:
        raise UsageError(f"{options}: belongs to one candidate; give exactly one --candidate, or a candidates file")
    chosen = device or "cpu"
    if not _DEVICE.fullmatch(chosen):
        raise UsageError(f"--device {chosen}: unknown device; use cpu, cuda, cuda:N or mps")
    _check_tables(tables, file)
    found = [_resolve(name, tables, file, chosen, shorthand or {}) for name in wanted]
    if chosen != "cpu" and all(spec.device == "cpu" for spec in found):
        raise UsageError(f"--device {chosen}: {', '.join(s.name for s in found)} can only run on cpu; leave it out")
    if label is not None:
        found = [replace(found[0], name=label)]
    for spec in found:
        _check_spec_name(spec)
    repeated = sorted({spec.name for spec in found if sum(other.name == spec.name for other in found) > 1})
    if repeated:
        raise UsageError(f"--candidate: {', '.join(repeated)} stands for two candidates; give each a name of its own")
    return found


def _resolve(
    name: str, tables: dict[str, CandidateTable], file: Path | None, device: str, shorthand: Mapping[str, str]
) -> CandidateSpec:
    table = tables.get(name)
    adapter, base = (name, Path()) if table is None else (table.adapter, file.parent if file else Path())
    given = {**(table.settings if table else {}), **shorthand}
    where = f"--candidate {name}" if table is None else f"{file}, field candidates.{name}"
    if adapter.endswith(".py") or "/" in adapter:
        path = base / adapter
        _check_source(path, where)
        # A candidate may change the working directory before the next one is built.
        path = path.absolute()
        if given:
            raise UsageError(f"{_place(where, next(iter(given)), shorthand)}: {FACTORY}(device) takes none; remove it")
        own = name if table else re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
        return CandidateSpec(own, (table and table.device) or device, path=path)
    entry = REGISTRY.get(adapter)
    if entry is None:
        # A table's adapter is a shipped one or a file, never another table.
        known = [*REGISTRY] if table else [*tables, *(n for n in REGISTRY if n not in tables)]
        if file is None:
            known.append(f"a name in a candidates file (there is no {DEFAULT_FILE} here)")
        what = "adapter" if table else "candidate"
        raise UsageError(f"{where}: unknown {what} {adapter!r}; use {', '.join(known)}, or a path to a .py file")
    settings = _settings(entry, adapter, given, where, shorthand)
    if remedy := entry.check(settings):
        raise UsageError(f"{where}: {adapter} {remedy}")
    if table is not None and table.device not in (None, "cpu"):
        what = "is asked over HTTP" if entry.remote else "runs on cpu only"
        raise UsageError(f"{where}.device: {adapter} {what}; remove it")
    return CandidateSpec(name, "cpu", settings, adapter, lacks=settings.lacks(os.environ))


def _settings(
    entry: Entry, adapter: str, given: Mapping[str, Any], where: str, shorthand: Mapping[str, str]
) -> Settings:
    """The settings of ``adapter``; UsageError names each that is unknown, missing or wrong, and quotes none."""
    try:
        return entry.settings_model.model_validate(dict(given))
    except ValidationError as error:
        lacking = [_lacking(adapter, name, where) for name in _fields(error, missing=True)]
        raise UsageError("\n".join([*_wrong(entry, adapter, error, where, shorthand), *lacking])) from None


def _wrong(
    entry: Entry, adapter: str, error: ValidationError, where: str, shorthand: Mapping[str, str]
) -> Iterator[str]:
    """What is unknown or wrong of what is set; what is missing may be given elsewhere."""
    known = entry.settings_model.model_fields
    takes = f"takes {', '.join(known)}" if known else "takes no settings"
    sentences = {problem.field or "": problem.message for problem in problems_of(error, where)}
    for name in _fields(error, missing=False):
        unknown = name and name.partition(".")[0] not in known
        yield f"{_place(where, name, shorthand)}: {f'{adapter} {takes}; remove it' if unknown else sentences[name]}"


def _fields(error: ValidationError, *, missing: bool) -> list[str]:
    problems = error.errors(include_input=False, include_url=False)
    return [".".join(map(str, p["loc"])) for p in problems if (p["type"] == "missing") == missing]


def _lacking(adapter: str, name: str, where: str) -> str:
    option = f"give --{name.replace('_', '-')}, or " if name in SHORTHAND else ""
    return f"{where}: {adapter} needs {name}; {option}set it in a candidates file"


def _place(where: str, name: str, shorthand: Mapping[str, str]) -> str:
    if not name:
        return where
    return f"--{name.replace('_', '-')}" if name in shorthand else f"{where}.{name}"


def _read_file(file: Path) -> dict[str, CandidateTable]:
    try:
        return CandidatesFile.model_validate(tomllib.loads(file.read_text("utf-8"))).candidates
    except OSError as error:
        what = f"cannot be read ({error.strerror}); make it a readable file, or name another by --candidates"
        raise UsageError(f"{file}: {what}") from error
    except ValidationError as error:
        raise UsageError("\n".join(str(problem) for problem in problems_of(error, str(file)))) from error
    except ValueError as error:
        raise UsageError(f"{file}: is not TOML: {error}") from error
    except RecursionError:
        raise UsageError(f"{file}: is nested too deeply; keep to tables of plain values") from None


def _check_tables(tables: Mapping[str, CandidateTable], file: Path | None) -> None:
    """Tables that are not asked for are checked too: what is wrong there would else be found on another day."""
    for name, table in tables.items():
        where = f"{file}, field candidates.{name}"
        if table.device is not None and not _DEVICE.fullmatch(table.device):
            raise UsageError(f"{where}.device: unknown device {table.device!r}; use cpu, cuda, cuda:N or mps")
        entry = REGISTRY.get(table.adapter)
        if entry is None or not table.settings:
            continue
        try:
            entry.settings_model.model_validate(table.settings)
        except ValidationError as error:
            if wrong := list(_wrong(entry, table.adapter, error, where, {})):
                raise UsageError("\n".join(wrong)) from None


def _check_name(name: str, what: str) -> None:
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError:
        raise UsageError(f"{what} {name!r}: use lower-case letters, digits and single hyphens") from None
    _check_length(name, what)


def _check_length(name: str, what: str) -> None:
    if len(name) > _LONGEST_NAME:
        raise UsageError(f"{what} {name[:20]}...: has {len(name)} characters; use at most {_LONGEST_NAME}")


def _check_spec_name(spec: CandidateSpec) -> None:
    """A name that came of a table or a file is as good as one that was given."""
    if not spec.name:
        raise UsageError(f"--candidate {spec.path}: its name holds no letter or digit; add --model-label NAME")
    _check_length(spec.name, "the candidate name")


def _check_source(path: Path, where: str) -> None:
    """Syntax and factory are checked without running the file: it may import a whole deep-learning stack."""
    try:
        tree = ast.parse(path.read_bytes(), filename=path.name)
        found = any(FACTORY in _bound(node) for node in _at_module_level(tree))
    except OSError as error:
        raise UsageError(f"{where}: {path} cannot be read ({error.strerror}); check the path") from error
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{where}: {path} is not valid Python: {error}; correct it") from error
    except (RecursionError, MemoryError):
        raise UsageError(f"{where}: {path} is nested too deeply for Python to read; break it up") from None
    if not found:
        raise UsageError(f"{where}: {path} defines no {FACTORY}(device); add one that returns your candidate")


def _at_module_level(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _at_module_level(node)


def _bound(node: ast.AST) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()


def _load(path: Path) -> Callable[[str], Any]:
    name = f"_decibench_candidate_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Dataclasses of the module look their annotations up there.
    spec.loader.exec_module(module)
    factory: Callable[[str], Any] = getattr(module, FACTORY)
    return factory
