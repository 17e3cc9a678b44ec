"""From names on the command line and a candidates file to the candidates of a run, checked before any is built."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from decibench.candidates.adapter import Candidate, Identity, Setup
from decibench.candidates.registry import REGISTRY, Entry
from decibench.cases.door import UsageError
from decibench.cases.errors import problems_of
from decibench.cases.schema import Case, Model, Name, Text

DEFAULT_FILE: Final = "decibench.toml"
FACTORY: Final = "create_candidate"
_LONGEST_NAME: Final = 100
"""Names become parts of paths, which file systems bound at about 255 bytes."""
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


class CandidateTable(Model):
    """One ``[candidates.NAME]`` table: a configuration of an adapter under a name of its own."""

    adapter: Text
    device: Text | None = None
    model: Text | None = None


class CandidatesFile(Model):
    """A candidates file."""

    candidates: Annotated[dict[Name, CandidateTable], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """A candidate of the run: its name in ids and folders, and how to build it.

    ``entry`` is set for a shipped adapter, ``path`` for a user's own file.
    """

    name: str
    device: str
    model: str | None = None
    entry: Entry | None = None
    path: Path | None = None

    @property
    def source_sha256(self) -> str | None:
        """SHA-256 (hex) of a user's own file; None for a shipped adapter."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest() if self.path else None

    def create(self, development: Sequence[Case]) -> Candidate:
        """Build the candidate; what its factory raises passes through, TypeError names what it lacks."""
        if self.entry is not None:
            return self.entry.create(Setup(self.device, self.model, development))
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
    names: Sequence[str], *, file: Path | None, device: str | None, label: str | None = None
) -> list[CandidateSpec]:
    """The candidates called ``names`` (default: baseline), in that order.

    A name is a table of the candidates ``file``, else a shipped adapter, else a path to a Python file. ``device``
    is used where a table names none; an adapter that runs only on the CPU keeps to it as long as another
    candidate can use the device. Raises UsageError with the remedy; imports nothing of a candidate.
    """
    tables = _read_file(file) if file is not None else {}
    wanted = list(names) or ["baseline"]
    if label is not None:
        if len(wanted) != 1:
            raise UsageError("--model-label names one candidate; give exactly one --candidate")
        _check_name(label, "--model-label")
    chosen = device or "cpu"
    if not _DEVICE.fullmatch(chosen):
        raise UsageError(f"--device {chosen}: unknown device; use cpu, cuda, cuda:N or mps")
    _check_devices(tables, file)
    found = [_resolve(name, tables, file, chosen) for name in wanted]
    if chosen != "cpu" and all(spec.device == "cpu" for spec in found):
        raise UsageError(f"--device {chosen}: {', '.join(s.name for s in found)} can only run on cpu; leave it out")
    if label is not None:
        only = found[0]
        found = [CandidateSpec(label, only.device, only.model, only.entry, only.path)]
    for spec in found:
        _check_spec_name(spec)
    repeated = sorted({spec.name for spec in found if sum(other.name == spec.name for other in found) > 1})
    if repeated:
        raise UsageError(f"--candidate: {', '.join(repeated)} stands for two candidates; give each a name of its own")
    return found


def _resolve(name: str, tables: dict[str, CandidateTable], file: Path | None, device: str) -> CandidateSpec:
    table = tables.get(name)
    adapter, base = (name, Path()) if table is None else (table.adapter, file.parent if file else Path())
    model = table.model if table else None
    where = f"--candidate {name}" if table is None else f"{file}, field candidates.{name}"
    if adapter.endswith(".py") or "/" in adapter:
        path = base / adapter
        _check_source(path, where)
        # A candidate may change the working directory before the next one is built.
        path = path.absolute()
        if model is not None:
            raise UsageError(f"{where}.model: a file's {FACTORY}(device) takes no model; remove it")
        own = name if table else re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
        return CandidateSpec(own, (table and table.device) or device, path=path)
    entry = REGISTRY.get(adapter)
    if entry is None:
        # A table's adapter is a shipped one or a file, never another table.
        known = ", ".join(REGISTRY if table else [*tables, *(n for n in REGISTRY if n not in tables)])
        what = "adapter" if table else "candidate"
        raise UsageError(f"{where}: unknown {what} {adapter!r}; use {known}, or a path to a .py file")
    if model is not None and not entry.takes_model:
        raise UsageError(f"{where}.model: {adapter} has one model only; remove it")
    if remedy := entry.check(model):
        raise UsageError(f"{where}: {adapter} {remedy}")
    if table is not None and table.device not in (None, "cpu"):
        raise UsageError(f"{where}.device: {adapter} runs on cpu only; remove it")
    return CandidateSpec(name, "cpu", model, entry)


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


def _check_devices(tables: dict[str, CandidateTable], file: Path | None) -> None:
    for name, table in tables.items():
        if table.device is not None and not _DEVICE.fullmatch(table.device):
            where = f"{file}, field candidates.{name}.device"
            raise UsageError(f"{where}: unknown device {table.device!r}; use cpu, cuda, cuda:N or mps")


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
