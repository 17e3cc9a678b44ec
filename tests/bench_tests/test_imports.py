"""Who imports what: lazily where it is heavy, and only along the arrows of the architecture."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAY_IMPORT = {
    "cases": set(),
    "candidates": {"cases"},
    "reports": {"cases"},
    "gates": {"cases", "reports"},
    "bench_tests": {"cases", "candidates", "reports", "gates"},
}
HEAVY = {"numpy", "scipy", "sklearn", "torch"}
WATCH = """
import sys


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        with open("modules.txt", "w") as file:
            file.write("\\n".join(sys.modules))
"""


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        pytest.param(
            ["--collect-only"],
            {"numpy", "scipy", "sklearn", "torch", "rich.table", "httpx", "httpcore"},
            id="collect-only",
        ),
        pytest.param(["--candidate", "baseline"], {"torch", "transformers", "sklearn", "httpx", "httpcore"}, id="run"),
    ],
)
def test_a_run_imports_what_it_needs_and_no_more(
    bench_argv: Callable[..., list[str]],
    suite: Path,
    pytester: pytest.Pytester,
    arguments: list[str],
    absent: set[str],
) -> None:
    (pytester.path / "watch.py").write_text(WATCH, "utf-8")
    argv = bench_argv(suite, "-p", "watch", *arguments)
    subprocess.run(argv, cwd=pytester.path, env=_environment(pytester), capture_output=True, check=True)
    modules = set((pytester.path / "modules.txt").read_text("utf-8").splitlines())
    assert "decibench.bench_tests.plan" in modules
    assert modules & absent == set()


def test_resolving_candidates_imports_none_of_them() -> None:
    code = """
import sys
from decibench.candidates.config import resolve_candidates
resolve_candidates(["baseline", "majority"], file=None, device=None)
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "decibench.candidates.registry" in modules
    assert not modules & {*HEAVY, "httpx", "pytest", "sparrow_decider", "decibench.candidates.baseline"}


def test_folders_import_along_the_arrows_only() -> None:
    crossings = {
        (str(path.relative_to(ROOT)), module)
        for folder, allowed in MAY_IMPORT.items()
        for path in _sources(folder)
        for module in _imported(path)
        if module.startswith("decibench.") and module.split(".")[1] in MAY_IMPORT.keys() - {*allowed, folder}
    }
    # A door may look around: one lists the candidates, one scores kept replies again.
    assert crossings <= {
        ("cases/__main__.py", "decibench.candidates.audits"),
        ("cases/__main__.py", "decibench.candidates.registry"),
        ("reports/__main__.py", "decibench.bench_tests.reparse"),
    }


def test_pytest_is_imported_in_the_pytest_room_and_in_tests_only() -> None:
    folders = [folder for folder in MAY_IMPORT if folder != "bench_tests"] + ["decibench", "scripts"]
    users = [path for folder in folders for path in _sources(folder) for m in _imported(path) if _top(m) in _PYTEST]
    assert users == []
    assert any(_top(module) == "pytest" for path in _sources("bench_tests") for module in _imported(path))


def test_the_folders_are_imported_as_parts_of_the_package() -> None:
    everything = [path for folder in [*MAY_IMPORT, "decibench", "scripts", "tests"] for path in _sources(folder)]
    strays = [
        (path, module)
        for path in [*everything, ROOT / "conftest.py"]
        for module in _imported(path)
        if _top(module) in MAY_IMPORT or module.startswith(".")
    ]
    assert strays == []
    assert len(everything) > 60


def test_heavy_packages_are_imported_inside_the_functions_that_need_them() -> None:
    early = [
        (path, module)
        for folder in [*MAY_IMPORT, "decibench"]
        for path in _sources(folder)
        for module in _imported(path, at_import_time=True)
        if _top(module) in HEAVY
    ]
    assert early == []


@pytest.mark.parametrize(
    ("source", "anywhere", "at_import_time"),
    [
        pytest.param("import numpy.random", ["numpy.random"], ["numpy.random"], id="import"),
        pytest.param("from a.b import c", ["a.b"], ["a.b"], id="from"),
        pytest.param("from decibench import cases", ["decibench.cases"], ["decibench.cases"], id="from-package"),
        pytest.param("from . import c", ["."], ["."], id="relative"),
        pytest.param("def f():\n    import numpy", ["numpy"], [], id="function"),
        pytest.param("class C:\n    import numpy", ["numpy"], ["numpy"], id="class"),
        pytest.param("try:\n    import numpy\nexcept ImportError: ...", ["numpy"], ["numpy"], id="try"),
        pytest.param("if TYPE_CHECKING:\n    import numpy", ["numpy"], [], id="types"),
        pytest.param("if TYPE_CHECKING: ...\nelse:\n    import numpy", ["numpy"], ["numpy"], id="else"),
    ],
)
def test_imports_are_found_where_they_are(
    tmp_path: Path, source: str, anywhere: list[str], at_import_time: list[str]
) -> None:
    path = tmp_path / "source.py"
    path.write_text(source, "utf-8")
    assert list(_imported(path)) == anywhere
    assert list(_imported(path, at_import_time=True)) == at_import_time


_PYTEST = {"pytest", "_pytest", "xdist", "pluggy"}


def _environment(pytester: pytest.Pytester) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(pytester.path)}


def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def _top(module: str) -> str:
    return module.split(".")[0]


def _imported(path: Path, *, at_import_time: bool = False) -> Iterator[str]:
    """Names of the modules that a file imports; with ``at_import_time`` only those a mere import of it loads."""
    yield from _imports(ast.parse(path.read_bytes(), str(path)), at_import_time)


def _imports(node: ast.AST, at_import_time: bool) -> Iterator[str]:
    children: list[ast.AST] = list(ast.iter_child_nodes(node))
    if at_import_time and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    if at_import_time and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        children = list(node.orelse)
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module == "decibench":
        yield from (f"decibench.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or "")
    for child in children:
        yield from _imports(child, at_import_time)
