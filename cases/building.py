"""From authored files to a frozen suite: the same bytes on every machine."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from decibench.cases.authoring import Family, SuiteSource, read_source
from decibench.cases.checks import count
from decibench.cases.errors import Problem, SuiteError
from decibench.cases.jsonio import canonical_json
from decibench.cases.loading import MANIFEST
from decibench.cases.schema import SPLITS, SUITE_SCHEMA, Case, Choice, Question, Role, Split
from decibench.cases.seeded import balanced_orders, stratified_split
from decibench.cases.variants import VARIANTS, Scenario

CASES: Final = "cases.jsonl"


def build_suite(authoring: Path) -> dict[str, bytes]:
    """The files of the suite authored in ``authoring``, by name; SuiteError when the source is faulty."""
    source, families = read_source(authoring)
    cases = [
        variant.make(scenario, source.texts)
        for family in families
        for scenario in _scenarios(source, family)
        for variant in VARIANTS.values()
    ]
    data = "".join(canonical_json(case.model_dump(exclude_none=True)) + "\n" for case in cases).encode()
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


def _scenarios(source: SuiteSource, family: Family) -> list[Scenario]:
    seed = f"{source.seed}|{family.name}"
    groups = {f"{family.name}-{s.slug}-{s.number:03}": (s, facts) for s, facts in family.scenarios}
    references = {group: facts.references() for group, (_, facts) in groups.items()}
    # The first question stands for the family's class; questions about one state follow from the same facts.
    classes = {group: next(iter(refs.values())).expected for group, refs in references.items()}
    try:
        splits = stratified_split(classes, {str(split): size for split, size in source.splits.items()}, seed)
    except ValueError as error:
        raise SuiteError([Problem("suite.toml", str(error), None, f"splits ({family.name})")]) from error
    questions: dict[str, dict[str, Question]] = {group: {} for group in groups}
    for key, question in family.questions.items():
        expected = {group: refs[key].expected for group, refs in references.items()}
        orders = balanced_orders(question.options, expected, splits, f"{seed}|{key}")
        for group in groups:
            questions[group][key] = _ordered(question, orders[group])
    return [
        Scenario(
            group=group,
            family=family.name,
            split=cast(Split, splits[group]),
            state=scenario.state.strip(),
            paraphrase=scenario.paraphrase.strip(),
            questions=questions[group],
            references=references[group],
        )
        for group, (scenario, _) in sorted(groups.items(), key=lambda item: item[1][0].number)
    ]


def _ordered(question: Question, order: Sequence[str]) -> Question:
    if isinstance(question, Choice):
        return question.model_copy(update={"criteria": {option: question.criteria[option] for option in order}})
    return question
