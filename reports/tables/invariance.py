"""The tables of invariance: forms of a question, positions, implied answers, linked cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from decibench.cases.schema import Split
from decibench.reports.figure import Figure
from decibench.reports.invariance.complements import Complement
from decibench.reports.invariance.counterfactuals import Directional
from decibench.reports.invariance.order_effects import FormEffect
from decibench.reports.invariance.positions import PositionRates
from decibench.reports.invariance.summary import Invariance
from decibench.reports.tables.layout import Table, number, points, share

Write: TypeAlias = Callable[[float | None], str]

_OF_PROBABILITIES: Final = frozenset(
    {"total_variation", "retest", "excess_total_variation", "tie_share", "gap", "retest_gap", "excess_gap"}
)
"""Rows that only probabilities fill."""


def invariance_tables(invariance: Mapping[Split, Invariance]) -> Iterator[Table]:
    """What there is to tell of the last split: the holdout, where it was measured."""
    if not invariance:
        return
    split, found = list(invariance.items())[-1]
    named = {name: getattr(found, name) for name in ("option_orders", "neutral_keys", "state_key_orders")}
    forms = {name: effect for name, effect in named.items() if effect is not None}
    if forms:
        note = f"; {found.retest_note}" if found.retest_note else ""
        yield Table(
            f"Invariance ({split}, with 95% intervals over scenarios{note})", ["figure", *forms], list(_forms(forms))
        )
    if found.positions:
        yield _positions(split, found.positions)
    if found.complements:
        yield _complements(split, found.complements)
    if found.directional is not None:
        yield _directional(split, found.directional)


def _forms(forms: Mapping[str, FormEffect]) -> Iterator[list[str]]:
    figures: dict[str, Callable[[FormEffect], str]] = {
        "scenarios": lambda effect: str(effect.scenarios),
        "pairs": lambda effect: str(effect.pairs),
        "dropped": lambda effect: str(effect.dropped),
        "total_variation": lambda effect: _cell(effect.total_variation, number),
        "retest": lambda effect: _cell(getattr(effect.retest, "total_variation", None), number),
        "excess_total_variation": lambda effect: _cell(effect.excess_total_variation, number),
        "flip_share": lambda effect: _cell(effect.flip_share, share),
        "retest flips": lambda effect: _cell(getattr(effect.retest, "flip_share", None), share),
        "excess_flip_share, points": lambda effect: _cell(effect.excess_flip_share, points),
        "tie_share": lambda effect: share(effect.tie_share),
    }
    if all(effect.total_variation.value is None for effect in forms.values()):
        figures = {name: write for name, write in figures.items() if name not in _OF_PROBABILITIES}
    for name, write in figures.items():
        yield [name, *map(write, forms.values())]
    for variant in dict.fromkeys(variant for effect in forms.values() for variant in effect.accuracy):
        yield [f"accuracy {variant}", *(share(effect.accuracy.get(variant)) for effect in forms.values())]


def _positions(split: str, found: list[PositionRates]) -> Table:
    rows = []
    for rates in found:
        at = rates.largest - 1
        counts = [str(rates.scenarios), str(rates.decisions), share(rates.tie_share)]
        figures = [_cell(rates.chosen[at], share), share(rates.reference[at]), _cell(rates.excess[at], points)]
        rows.append([str(rates.options), *counts, str(rates.largest), *figures])
    columns = ["options", "scenarios", "decisions", "tie_share", "position", "chosen", "reference", "excess, points"]
    title = f"The position chosen most beyond its right answers ({split}; intervals do not allow for having picked it)"
    return Table(title, columns, rows)


def _complements(split: str, found: list[Complement]) -> Table:
    figures: dict[str, Callable[[Complement], str]] = {
        "scenarios": lambda c: str(c.scenarios),
        "cases": lambda c: str(c.cases),
        "dropped": lambda c: str(c.dropped),
        "gap": lambda c: _cell(c.gap, number),
        "retest_gap": lambda c: _cell(c.retest_gap, number),
        "excess_gap": lambda c: _cell(c.excess_gap, number),
        "contradiction_share": lambda c: _cell(c.contradiction_share, share),
        "retest share": lambda c: _cell(c.retest_contradiction_share, share),
        "excess share, points": lambda c: _cell(c.excess_contradiction_share, points),
        "tie_share": lambda c: share(c.tie_share),
    }
    if all(c.retest_contradiction_share is None for c in found):
        figures = {name: write for name, write in figures.items() if not name.startswith(("retest", "excess"))}
    if all(c.gap.value is None for c in found):
        figures = {name: write for name, write in figures.items() if name not in _OF_PROBABILITIES}
    rows = [[name, *map(write, found)] for name, write in figures.items()]
    asked = dict.fromkeys(question for c in found for question in c.questions)
    rows += [[f"accuracy {question}", *(share(c.accuracy.get(question)) for c in found)] for question in asked]
    return Table(f"Two questions whose answers imply each other ({split})", ["figure", *map(_asked, found)], rows)


def _asked(complement: Complement) -> str:
    """The family, the variant where it is one alone, and one of the two pairs of answers."""
    option, implied = next(iter(complement.implies.items()))
    variant = f" {complement.variants[0]}" if len(complement.variants) == 1 else ""
    return f"{complement.family}{variant}: {option} = {implied}"


def _directional(split: str, found: Directional) -> Table:
    figures = {
        "compliant": _cell(found.compliant, share),
        "anti_compliant": _cell(found.anti_compliant, share),
        "net, points": _cell(found.net, points),
        "retest_compliant": _cell(found.retest_compliant, share),
    }
    if found.excess_compliant is not None:
        figures["excess_compliant, points"] = _cell(found.excess_compliant, points)
    title = f"Linked cases ({split}; {found.pairs} pairs in {found.clusters} clusters, {found.dropped} dropped; "
    title += f"a probability must move by more than {found.threshold:g})"
    return Table(title, ["share of pairs", "with 95% interval"], list(figures.items()))


def _cell(figure: Figure | None, write: Write) -> str:
    """A figure with its interval, or with the exact bound on other scenarios where none of these differed."""
    if figure is None:
        return "-"
    if figure.interval is not None:
        low, high = write(figure.interval.low), write(figure.interval.high)
        # What varies in digits that are not shown would look certain.
        return f"{write(figure.value)} [{low}, {high}]" if low != high else write(figure.value)
    if figure.exceptions_below is not None:
        return f"{write(figure.value)} (exceptions < {share(figure.exceptions_below)})"
    return write(figure.value)
