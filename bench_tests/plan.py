"""The plan of a run: which items there are, checked before anything is collected, alike in every process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TypeVar

from decibench.bench_tests.options import Options
from decibench.bench_tests.pricing import check_network
from decibench.candidates.config import CandidateSpec, resolve_candidates
from decibench.cases.door import UsageError
from decibench.cases.loading import Suite, find_suite, load_suite
from decibench.cases.schema import SPLITS, Case
from decibench.cases.seeded import seeded_order
from decibench.gates.gate import PrimaryGate, check_usable, read_gate
from decibench.gates.rules import read_costs, with_rules
from decibench.reports.journal import JOURNAL, SuiteRef
from decibench.reports.protocol import DEFAULT_PROTOCOL, Protocol

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class Item:
    """One pytest item: a case asked of a candidate in a trial."""

    candidate: str
    case: Case
    trial: int

    @property
    def id(self) -> str:
        """The parameter id: lower-case letters, digits and hyphens only, so that ``-k`` can select it."""
        return f"{self.candidate}-{self.case.id}" + (f"-t{self.trial}" if self.trial > 1 else "")


@dataclass(frozen=True)
class Plan:
    """Options, suite, candidates and protocol of a run; ``not_run`` are candidates that lack something, and what."""

    options: Options
    suite: Suite
    specs: Sequence[CandidateSpec]
    not_run: Mapping[str, str]
    protocol: Protocol
    gate: PrimaryGate | None

    @property
    def suite_ref(self) -> SuiteRef:
        """The suite as records name it."""
        manifest = self.suite.manifest
        return SuiteRef(name=manifest.name, version=manifest.version, hash=self.suite.hash)

    @cached_property
    def scope(self) -> list[Case]:
        """The cases of the declared scope: splits, families and variants."""
        o = self.options
        return [
            case
            for case in self.suite.cases
            if (not o.splits or case.split in o.splits)
            and (not o.families or case.family in o.families)
            and (not o.variants or case.variant in o.variants)
        ]

    @cached_property
    def cases(self) -> list[Case]:
        """The cases that become items: the scope, or what ``--smoke`` picks of it."""
        return self._smoke() if self.options.smoke else self.scope

    @cached_property
    def items(self) -> list[Item]:
        """The items in the order in which they are asked: every case in every trial."""
        asked = [(case, trial) for case in self.cases for trial in range(1, self.options.trials + 1)]
        return [Item(name, case, trial) for name, (case, trial) in self.in_turn(asked)]

    def in_turn(self, asked: Sequence[Asked]) -> Iterator[tuple[str, Asked]]:
        """Who is asked what, in order: candidate by candidate, or with ``--interleave`` all of them before the next.

        Interleaved candidates take turns in going first, so that none gains or loses by its place.
        """
        names = [spec.name for spec in self.specs]
        if not self.options.interleave:
            yield from product(names, asked)
            return
        for turn, one in enumerate(asked):
            first = turn % len(names)
            yield from ((name, one) for name in names[first:] + names[:first])

    def spec(self, name: str) -> CandidateSpec:
        """The candidate called ``name``."""
        return next(spec for spec in self.specs if spec.name == name)

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their id."""
        return {item.id: item for item in self.items}

    @property
    def development(self) -> list[Case]:
        """What a candidate may be fitted on: original cases of the development split, whatever the scope is."""
        return [c for c in self.suite.cases if c.split == "development" and c.variant == "original"]

    @property
    def fits_gate(self) -> bool:
        """Whether the scope holds what a gate is fitted on."""
        variants = self.suite.manifest.variants
        return any(case.split == "calibration" and variants[case.variant].role == "core" for case in self.scope)

    def _smoke(self) -> list[Case]:
        # Development cases only: a smoke run must never be a look at the holdout.
        picked: set[str] = set()
        for family in self.suite.manifest.families:
            ids = [c.id for c in self.scope if c.family == family and c.split == "development"]
            picked.update(seeded_order(ids, "smoke")[: self.options.smoke_calls])
        return [case for case in self.scope if case.id in picked]


def make_plan(options: Options) -> Plan:
    """Resolve and check everything the options name; UsageError or SuiteError says what to change."""
    suite = load_suite(find_suite(options.suite))
    _check_known("--split", options.splits, SPLITS)
    _check_known("--family", options.families, suite.manifest.families)
    _check_known("--variant", options.variants, suite.manifest.variants)
    specs = resolve_candidates(
        options.candidates,
        file=options.candidates_file,
        device=options.device,
        label=options.model_label,
        shorthand=options.shorthand,
    )
    check_network(options, specs)
    # A dry run asks nothing, so that it needs no key.
    not_run = {spec.name: spec.lacks for spec in specs if spec.lacks is not None and not options.dry_run}
    if len(not_run) == len(specs):
        raise UsageError("; ".join(f"{', '.join(names)} cannot be run: {what}" for what, names in _by_reason(not_run)))
    specs = [spec for spec in specs if spec.name not in not_run]
    gate = read_gate(options.gate) if options.gate else None
    rules = dict(gate.rules if gate else options.rules)
    if options.costs is not None:
        rules["costs"] = read_costs(options.costs, list(suite.manifest.families)).model_dump()
    protocol = with_rules(DEFAULT_PROTOCOL, rules)
    plan = Plan(options, suite, specs, not_run, protocol, gate)
    if not plan.scope:
        raise UsageError("--split, --family and --variant together leave no case of the suite; widen one of them")
    if not plan.cases:
        raise UsageError("--smoke takes development cases, and --split leaves none; leave --split out")
    if options.interleave and len(specs) == 1:
        lacking = "; ".join(f"{name} is not run: {what}" for name, what in not_run.items())
        raise UsageError(
            f"--interleave lets candidates take turns: {lacking or 'give a second --candidate'}, or leave it out"
        )
    if len(plan.by_id) != len(plan.items):
        raise UsageError("two candidates produce the same item ids; rename one of them")
    if gate is not None:
        _check_gate(gate, plan, options.gate)
    elif options.require_gate and not plan.fits_gate:
        raise UsageError("--require-gate fits a gate on core variants of calibration, and the scope leaves them out")
    return plan


def _by_reason(not_run: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    for what in dict.fromkeys(not_run.values()):
        yield what, [name for name, reason in not_run.items() if reason == what]


def _check_known(option: str, given: Sequence[str], known: Iterable[str]) -> None:
    names = list(known)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise UsageError(f"{option} {unknown[0]}: unknown; use {', '.join(names)}")


def _check_gate(gate: PrimaryGate, plan: Plan, path: Path | None) -> None:
    if len(plan.specs) + len(plan.not_run) != 1:
        raise UsageError("--gate belongs to one candidate; give exactly one --candidate")
    try:
        check_usable(gate)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    if gate.suite_hash != plan.suite.hash:
        raise UsageError(f"{path}: the gate was fitted on another suite or version; fit it again on this one")
    if gate.protocol_hash != plan.protocol.hash:
        raise UsageError(f"{path}: the gate was fitted under another protocol; fit it again under this one")
    if all(case.split != "holdout" for case in plan.scope):
        raise UsageError("--gate is checked on the holdout, and --split leaves it out; add --split holdout")


def journal_path(run_dir: Path, candidate: str) -> Path:
    """Where the journal of a candidate lies in a run."""
    return run_dir / candidate / JOURNAL
