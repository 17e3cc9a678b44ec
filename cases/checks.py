"""What must hold between the fields of a case, between cases, and between cases and manifest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from decibench.cases.errors import Problem
from decibench.cases.request import request_hash
from decibench.cases.schema import Case, Counterfactual, Counts, Manifest, Question, Reference


@dataclass(frozen=True, slots=True)
class Located:
    """A case and where it was read."""

    file: str
    line: int
    case: Case

    def problem(self, field: str, message: str) -> Problem:
        """A problem at this place."""
        return Problem(self.file, message, self.line, field)


def check_cases(entries: Sequence[Located]) -> Iterator[Problem]:
    """Ids unique, groups in one split and family, references complete, links and references naming what exists."""
    first: dict[str, Located] = {}
    groups: dict[str, Located] = {}
    for entry in entries:
        case = entry.case
        known = first.setdefault(case.id, entry)
        if known is not entry:
            yield entry.problem("id", f"{case.id} is already used on line {known.line} of {known.file}; rename one")
        if case.id != f"{case.group}-{case.variant}":
            yield entry.problem("id", f"must be group and variant joined by a hyphen: {case.group}-{case.variant}")
        if not case.group.startswith(f"{case.family}-"):
            yield entry.problem("group", f"must start with the family: {case.family}-...")
        sibling = groups.setdefault(case.group, entry)
        if sibling.case.split != case.split:
            yield entry.problem(
                "split",
                f"group {case.group} is in {sibling.case.split} on line {sibling.line} of {sibling.file}; "
                "all variants of a scenario belong to one split",
            )
        if sibling.case.family != case.family:
            yield entry.problem("family", f"group {case.group} is of family {sibling.case.family} elsewhere")
        yield from _check_references(entry)
    for entry in entries:
        if entry.case.counterfactual is not None:
            yield from _check_link(entry, entry.case.counterfactual, first.get(entry.case.counterfactual.of))


def _check_references(entry: Located) -> Iterator[Problem]:
    case = entry.case
    for key in case.questions:
        if key not in case.references:
            yield entry.problem("references", f"has no reference for the question {key}; add one")
    for key, reference in case.references.items():
        question = case.questions.get(key)
        if question is None:
            yield entry.problem(f"references.{key}", "refers to a question the case does not ask; remove it")
        else:
            for field, message in _check_reference(question, reference):
                yield entry.problem(f"references.{key}.{field}", message)


def _check_reference(question: Question, reference: Reference) -> Iterator[tuple[str, str]]:
    options = question.options
    named = [("expected", reference.expected), *(("unsafe", label) for label in reference.unsafe)]
    if reference.demanded is not None:
        named.append(("demanded", reference.demanded))
    for field, label in named:
        if label not in options:
            shown = ", ".join(options[:8]) + (", ..." if len(options) > 8 else "")
            yield field, f"{label!r} is not an option of the question ({shown}); name one of them"
        elif field != "expected" and label == reference.expected:
            yield field, f"{label!r} is the expected option; only wrong options can be {field}"
    if len(set(reference.unsafe)) != len(reference.unsafe):
        yield "unsafe", "names an option twice; name it once"


def _check_link(entry: Located, link: Counterfactual, base: Located | None) -> Iterator[Problem]:
    """A counterfactual changes another case of its family and split, which is none itself, and asks it alike."""
    case = entry.case
    if base is None:
        yield entry.problem("counterfactual.of", f"{link.of} is no case of the suite; name the id of one")
        return
    other = base.case
    place = f"{other.id} on line {base.line} of {base.file}"
    if other.id == case.id:
        yield entry.problem("counterfactual.of", "is the case itself; name the case that this one changes")
        return
    for field, here, there in (("split", case.split, other.split), ("family", case.family, other.family)):
        if here != there:
            message = f"{place} is of the {field} {there}, this case of {here}; both must be of one {field}"
            yield entry.problem("counterfactual.of", message)
    if other.counterfactual is not None:
        message = f"{place} is itself a counterfactual, of {other.counterfactual.of}; name a case without a link"
        yield entry.problem("counterfactual.of", message)
    elif request_hash(case) == request_hash(other):
        yield entry.problem("counterfactual.of", f"{place} asks exactly the same; change the state or a question")
    for owner, where in ((case, "this case"), (other, place)):
        question = owner.questions.get(link.question)
        if question is None:
            message = f"{where} has no question {link.question}; name one that both cases ask"
            yield entry.problem("counterfactual.question", message)
        elif link.option not in question.options:
            message = f"{link.option!r} is no option of the question {link.question} in {where}; name one of both cases"
            yield entry.problem("counterfactual.option", message)


def check_counts(cases: Sequence[Case], manifest: Manifest, file: str) -> Iterator[Problem]:
    """Families, variants and splits of the manifest are exactly those of the cases, with the same counts."""
    families: dict[str, Counts] = dict(manifest.families)
    splits: dict[str, Counts] = dict(manifest.splits.items())
    for field, counts, labels in (
        ("families", families, [case.family for case in cases]),
        ("splits", splits, [str(case.split) for case in cases]),
    ):
        stated = {label: (entry.scenarios, entry.cases) for label, entry in counts.items()}
        yield from _compare(file, field, stated, count(cases, labels))
    stated_variants = {name: variant.cases for name, variant in manifest.variants.items()}
    found_variants = dict(Counter(case.variant for case in cases))
    yield from _compare(file, "variants", stated_variants, found_variants)


def count(cases: Sequence[Case], labels: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Scenarios and cases under each label, labels given case by case, in order of appearance."""
    groups: defaultdict[str, set[str]] = defaultdict(set)
    total: Counter[str] = Counter()
    for case, label in zip(cases, labels, strict=True):
        groups[label].add(case.group)
        total[label] += 1
    return {label: (len(groups[label]), total[label]) for label in total}


def _compare(file: str, field: str, stated: Mapping[str, object], found: Mapping[str, object]) -> Iterator[Problem]:
    for label in sorted(stated.keys() | found.keys()):
        if stated.get(label) != found.get(label):
            yield Problem(
                file,
                f"says {_counts(stated.get(label))}, the files hold {_counts(found.get(label))}; restore or freeze",
                None,
                f"{field}.{label}",
            )


def _counts(value: object) -> str:
    if isinstance(value, tuple):
        return f"{value[0]} scenarios with {value[1]} cases"
    return f"{value} cases" if value is not None else "nothing"
