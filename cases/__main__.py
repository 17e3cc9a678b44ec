"""``python -m decibench.cases``: build, validate, freeze, show and list suites."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from decibench.cases.door import Exit, Parser, UsageError, run_door
from decibench.cases.jsonio import read_json
from decibench.cases.lint import lint
from decibench.cases.loading import DEFAULT_SUITE, MANIFEST, Suite, find_suite, load_suite, shipped_suites
from decibench.cases.schema import Manifest, Role
from decibench.cases.show import show_case


def main(arguments: Sequence[str] | None = None) -> Exit:
    """Run the door with ``arguments`` (default: the command line) and return its exit status."""
    parser = Parser(prog="python -m decibench.cases", description="Work with suites of cases.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="build the shipped suites from their authoring files")
    build.add_argument("--check", action="store_true", help="write nothing; fail where a built file differs")
    build.set_defaults(run=_build)

    validate = commands.add_parser("validate", help="check a suite: hashes, counts, references; then warnings")
    validate.add_argument("suite", metavar="DIR", help="a suite directory or the name of a shipped suite")
    validate.set_defaults(run=_validate)

    freeze = commands.add_parser("freeze", help="write the manifest of your own cases (*.jsonl in DIR)")
    freeze.add_argument("directory", metavar="DIR", type=Path)
    freeze.add_argument("--name", help="suite name (default: the name of DIR)")
    freeze.add_argument("--version", default="1", help="version of these bytes (default: 1)")
    freeze.add_argument("--license", default="private", help="licence of the cases (default: private)")
    freeze.add_argument("--role", action="append", default=[], metavar="VARIANT=ROLE", help="core, attack or probe")
    freeze.set_defaults(run=_freeze)

    show = commands.add_parser("show", help="print a case as the model sees it, then its reference")
    show.add_argument("case", metavar="CASE-ID")
    show.add_argument("--suite", default=DEFAULT_SUITE, help=f"name or directory (default: {DEFAULT_SUITE})")
    show.set_defaults(run=_show)

    audit = commands.add_parser("audit", help="look for tell-tale cases: balance, leakage, duplicates, triviality")
    audit.add_argument("suite", metavar="DIR", nargs="?", default=DEFAULT_SUITE, help="a suite directory or name")
    audit.set_defaults(run=_audit)

    listing = commands.add_parser("list", help="list suites, families, variants, and candidates with their needs")
    listing.set_defaults(run=_list)
    return run_door(parser, arguments)


def _build(options: argparse.Namespace) -> Exit:
    from decibench.cases.authoring import AUTHORING
    from decibench.cases.building import build_suite
    from decibench.cases.freezing import frozen_version

    stale = 0
    for authoring in sorted(AUTHORING.iterdir()):
        target = AUTHORING.parent / authoring.name
        files = build_suite(authoring)
        changed = [n for n, data in files.items() if not (target / n).is_file() or (target / n).read_bytes() != data]
        stale += len(changed)
        if options.check:
            for name in files:
                print(
                    f"{target.name}/{name}: {'differs from its authoring files' if name in changed else 'as authored'}"
                )
            continue
        version = Manifest.model_validate(read_json(files[MANIFEST])).version
        if changed and frozen_version(target / MANIFEST) == version:
            where = authoring / "suite.toml"
            raise UsageError(f"{where}, field version: {version} is frozen with other bytes; give the change a new one")
        target.mkdir(exist_ok=True)
        for name in changed:
            (target / name).write_bytes(files[name])
            print(f"{target.name}/{name}: written")
    if options.check and stale:
        print("give the suite a new version in its suite.toml, then: python -m decibench.cases build", file=sys.stderr)
        return Exit.FAILED
    return Exit.COMPLETE


def _validate(options: argparse.Namespace) -> Exit:
    suite = load_suite(find_suite(options.suite))
    for warning in lint(suite):
        print(f"warning: {warning}")
    print(_summary(suite))
    return Exit.COMPLETE


def _freeze(options: argparse.Namespace) -> Exit:
    from decibench.cases.freezing import freeze

    roles = _roles(options.role)
    directory: Path = options.directory
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory; name the one that holds your *.jsonl files")
    name = options.name or directory.resolve().name
    path = freeze(directory, name, options.version, options.license, roles)
    print(f"{path} written\n{_summary(load_suite(directory))}")
    return Exit.COMPLETE


def _roles(texts: Sequence[str]) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for text in texts:
        variant, _, role = text.partition("=")
        if not variant or role not in get_args(Role):
            raise UsageError(f"--role {text}: write VARIANT=core, VARIANT=attack or VARIANT=probe")
        if variant in roles:
            raise UsageError(f"--role {text}: {variant} has the role {roles[variant]} already; give it one")
        roles[variant] = cast(Role, role)
    return roles


def _show(options: argparse.Namespace) -> Exit:
    suite = load_suite(find_suite(options.suite))
    case = suite.by_id.get(options.case) or suite.by_id.get(f"{options.case}-original")
    if case is None:
        close = difflib.get_close_matches(options.case, suite.by_id, n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"{suite.manifest.name} has no case {options.case}{hint}")
    print(show_case(case))
    return Exit.COMPLETE


def _audit(options: argparse.Namespace) -> Exit:
    # A door may look around: some audits ask candidates.
    from decibench.candidates.audits import audit_candidates
    from decibench.cases.audits import audit_text, visible

    suite = load_suite(find_suite(options.suite))
    if {case.split for case in visible(suite)} != {"development", "calibration"}:
        raise UsageError(f"{options.suite} lacks original cases in development or calibration; audits look at both")
    findings = [*audit_text(suite), *audit_candidates(suite)]
    for finding in findings:
        print(f"{'pass' if finding.passed else 'FAIL'}  {finding.audit}: {finding.figure}")
    return Exit.COMPLETE if all(finding.passed for finding in findings) else Exit.FAILED


def _list(options: argparse.Namespace) -> Exit:
    # The one place where this folder looks at its neighbour: a door may know every room.
    from decibench.candidates.registry import REGISTRY

    print("Suites")
    for path in shipped_suites().values():
        suite = load_suite(path)
        print("  " + _summary(suite).replace("\n", "\n  "))
    print(f"  your own: a directory with {MANIFEST} (python -m decibench.cases freeze DIR), --suite DIR")
    print("\nCandidates")
    lines = {name: f"{entry.about} Needs: {entry.needs}." for name, entry in REGISTRY.items()}
    lines["path/to/file.py"] = "Your own module with create_candidate(device). Needs: what it imports."
    width = max(map(len, lines))
    for name, line in lines.items():
        print(f"  {name:<{width}}  {line}")
    return Exit.COMPLETE


def _summary(suite: Suite) -> str:
    manifest = suite.manifest
    lines = [f"{manifest.name} {manifest.version} ({manifest.license}), {len(suite.cases)} cases, {suite.hash[:12]}"]
    for title, counts in (("families", manifest.families), ("splits", manifest.splits)):
        parts = (f"{name} ({c.scenarios} scenarios, {c.cases} cases)" for name, c in counts.items())
        lines.append(f"  {title}: {', '.join(parts)}")
    variants = (f"{name} ({variant.role})" for name, variant in manifest.variants.items())
    lines.append(f"  variants: {', '.join(variants)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
