"""From authored files to a frozen suite: the same bytes on every machine."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from decibench.cases.authoring import Family, ScenarioSource, SuiteSource, read_source
from decibench.cases.checks import count
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import canonical_json
from decibench.cases.loading import MANIFEST
from decibench.cases.rules import NO_TOOL, NO_TOOL_DESCRIPTION, CatalogFacts, FamilyFacts, Tool
from decibench.cases.schema import SPLITS, SUITE_SCHEMA, Case, Choice, Question, Reference, Role, Split
from decibench.cases.seeded import balanced_orders, seeded_order, stratified_split
from decibench.cases.states import stripped
from decibench.cases.variants import VARIANTS, Scenario

CASES: Final = "cases.jsonl"


def build_suite(authoring: Path) -> dict[str, bytes]:
    """The files of the suite authored in ``authoring``, by name; SuiteError when the source is faulty."""
    source, families = read_source(authoring)
    unknown = [name for name in source.variants if name not in VARIANTS]
    if unknown:
        raise SuiteError(
            [Problem("suite.toml", f"{unknown[0]} is unknown; use {', '.join(VARIANTS)}", None, "variants")]
        )
    made = [
        VARIANTS[name].make(scenario, source.texts)
        for family in families
        for scenario in _scenarios(source, family)
        for name in VARIANTS
        if name in source.variants
    ]
    cases = [case for case in made if case is not None]
    data = "".join(canonical_json(_fields(case)) + "\n" for case in cases).encode()
    roles = {name: variant.role for name, variant in VARIANTS.items()}
    facts = {"name": source.name, "version": source.version, "license": source.license}
    return {CASES: data, MANIFEST: manifest_bytes(facts, {CASES: data}, cases, roles)}


def manifest_bytes(
    facts: Mapping[str, str], files: Mapping[str, bytes], cases: Sequence[Case], roles: Mapping[str, Role]
) -> bytes:
    """The manifest of ``files``, which hold ``cases``; ``facts`` are name, version and license."""
    per_variant = Counter(case.variant for case in cases)

    def counts(labels: list[str]) -> dict[str, dict[str, int]]:
        found = count(cases, labels)
        return {label: {"scenarios": s, "cases": c} for label, (s, c) in found.items()}

    splits = counts([case.split for case in cases])
    manifest = {
        "schema": SUITE_SCHEMA,
        **facts,
        "files": [
            {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "cases": len(data.splitlines())}
            for name, data in files.items()
        ],
        "families": counts([case.family for case in cases]),
        "variants": {name: {"role": roles[name], "cases": number} for name, number in per_variant.items()},
        "splits": {split: splits[split] for split in SPLITS if split in splits},
    }
    return (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()


def _fields(case: Case) -> dict[str, Any]:
    return case.model_dump(exclude_none=True, exclude=None if case.tags else {"tags"})


def _scenarios(source: SuiteSource, family: Family) -> list[Scenario]:
    seed = f"{source.seed}|{family.name}"
    groups = {f"{family.name}-{s.slug}-{s.number:03}": (s, facts) for s, facts in family.scenarios}
    references = {group: facts.references(family.tools) for group, (_, facts) in groups.items()}
    classes = {group: _stratum(*groups[group], references[group]) for group in groups}
    try:
        splits = stratified_split(classes, {str(split): size for split, size in source.splits.items()}, seed)
    except ValueError as error:
        raise SuiteError([Problem("suite.toml", str(error), None, f"splits ({family.name})")]) from error
    questions: dict[str, dict[str, Question]] = {group: {} for group in groups}
    for key, question in family.questions.items():
        expected = {group: refs[key].expected for group, refs in references.items()}
        options = {group: _offered(group, groups[group][1], family, question) for group in groups}
        strata = {group: f"{splits[group]}{_size(groups[group][1])}" for group in groups}
        orders = balanced_orders(options, expected, strata, f"{seed}|{key}")
        for group in groups:
            questions[group][key] = _ordered(question, orders[group])
    return [
        Scenario(
            group=group,
            family=family.name,
            split=cast(Split, splits[group]),
            state=stripped(scenario.state),
            paraphrase=stripped(scenario.paraphrase),
            questions=questions[group],
            references=references[group],
            decisive=scenario.decisive.strip() if scenario.decisive else None,
            affirmative=family.affirmative,
            tags=_tags(scenario, facts),
            takes_injection=facts.takes_injection(),
        )
        for group, (scenario, facts) in sorted(groups.items(), key=lambda item: item[1][0].number)
    ]


def _stratum(scenario: ScenarioSource, facts: FamilyFacts, references: Mapping[str, Reference]) -> str:
    # The first question stands for the family's class; questions about one state follow from the same facts.
    label = facts.stratum() if isinstance(facts, CatalogFacts) else next(iter(references.values())).expected
    return f"{label}|{scenario.difficulty}" if scenario.difficulty else label


def _size(facts: FamilyFacts) -> str:
    return f"|{facts.size}" if isinstance(facts, CatalogFacts) else ""


def _tags(scenario: ScenarioSource, facts: FamilyFacts) -> dict[str, str]:
    tags = {"difficulty": scenario.difficulty} if scenario.difficulty else {}
    return tags | ({"options": str(facts.size)} if isinstance(facts, CatalogFacts) else {})


def _offered(group: str, facts: FamilyFacts, family: Family, question: Question) -> Sequence[str]:
    """The options of a question about tools: three neighbourhoods, so that the list does not point at the needed one.

    A neighbourhood is a tool with those that share its object or operation. One is round the needed tool, two are
    round tools drawn by seed; they are filled in turn.
    """
    if not isinstance(facts, CatalogFacts):
        return question.options
    needed = facts.needed(family.tools)
    decoys = [tool for tool in seeded_order(family.tools, f"{group}|decoys") if tool != needed][:2]
    queues = [_neighbourhood(centre, family.tools, f"{group}|{centre.name}") for centre in (needed, *decoys)]
    named = list(dict.fromkeys(tool.name for rank in zip(*queues, strict=True) for tool in rank))
    if not facts.offered:
        named.remove(needed.name)
    return [*named[: facts.size - 1], NO_TOOL]


def _neighbourhood(centre: Tool, tools: Sequence[Tool], seed: str) -> list[Tool]:
    """All ``tools``: ``centre``, those that share its object or operation, then the others, each by seed."""
    others = [tool for tool in seeded_order(tools, seed) if tool != centre]
    others.sort(key=lambda tool: tool.object != centre.object and tool.operation != centre.operation)
    return [centre, *others]


def _ordered(question: Question, order: Sequence[str]) -> Question:
    if isinstance(question, Choice):
        texts = {**question.criteria, NO_TOOL: NO_TOOL_DESCRIPTION}
        return question.model_copy(update={"criteria": {option: texts[option] for option in order}})
    return question
