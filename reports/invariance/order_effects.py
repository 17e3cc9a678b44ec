"""What the form of a question changes: order of options, neutral names of options, order of keys in the state.

Beside each figure stands the noise floor, the same figure between trials that asked exactly the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from decibench.cases.schema import Model
from decibench.reports.figure import UNDEFINED, Figure, bare_figure
from decibench.reports.invariance.askings import Askings, Pairs, compare, joined
from decibench.reports.metrics.mean import mean
from decibench.reports.protocol import Protocol
from decibench.reports.scenario_means import difference, figures_of, nested_weights, ratio

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats

ORIGINAL: Final = "original"
ORDERS: Final = (ORIGINAL, "options-reversed", "options-rotated")
NEUTRAL_KEYS: Final = "neutral-keys"
STATE_KEYS: Final = "state-keys-reordered"

_FIGURES: Final = (ratio(0, 2), ratio(1, 2, counts=True))

Share = Annotated[float, Field(ge=0, le=1)]


class Instability(Model):
    """How far answers to the same question lie apart.

    ``total_variation`` (0 to 1) and ``flip_share`` are averaged over the pairs of a question, over the questions of a
    scenario, and over scenarios. A flip is another top option, where a tie goes to the first option id. ``tie_share``
    is the share of pairs with a tie on either side. ``dropped`` pairs had a failed side, or other options on one side
    than on the other. Where no probabilities are stated a flip is another choice, ``total_variation`` has no
    value, and ``tie_share`` is null.
    """

    scenarios: int
    pairs: int
    dropped: int
    total_variation: Figure
    flip_share: Figure
    tie_share: Share | None


class FormEffect(Instability):
    """Instability between forms of a question that should change nothing, within the same trial.

    ``accuracy`` of each variant is over the decisions that are in a pair: answers that never move may never be right.
    ``retest`` is the noise floor, between trials of the same requests, and the excess is what a form adds to it;
    null without a second trial.
    """

    accuracy: dict[str, Share]
    retest: Instability | None
    excess_total_variation: Figure | None
    excess_flip_share: Figure | None


@dataclass(frozen=True, slots=True)
class Form:
    """Variants to compare, each with each; ``by_place`` where the options have other ids in the same order."""

    variants: tuple[str, ...]
    choice_only: bool = False
    by_place: bool = False


OPTION_ORDERS: Final = Form(ORDERS, choice_only=True)
NEUTRAL_NAMES: Final = Form((ORIGINAL, NEUTRAL_KEYS), choice_only=True, by_place=True)
STATE_KEY_ORDERS: Final = Form((ORIGINAL, STATE_KEYS))


def retest_pairs(askings: Askings) -> Pairs | None:
    """All pairs of trials of the same request; None where none has a second trial."""
    found = [compare(askings, first, second) for first, second in askings.repeated()]
    return joined(found) if found else None


def retest_of(askings: Askings, pairs: Pairs | None, among: Bools, protocol: Protocol) -> Instability | None:
    """Instability between the trials of the entries ``among``; None where none of them was answered twice."""
    kept = None if pairs is None else pairs.among(among)
    if kept is None or not kept.first.size:
        return None
    variation, flip = figures_of(askings.group[kept.first], _columns(askings, kept), _FIGURES, protocol)
    return Instability(**_counts(askings, kept), total_variation=_stated(askings, variation), flip_share=flip)


def form_effect(askings: Askings, form: Form, retest: Pairs | None, protocol: Protocol) -> FormEffect | None:
    """What ``form`` changes, with the noise of ``retest`` pairs; None where no pair was asked and answered."""
    import numpy as np

    a = askings
    eligible = a.is_choice if form.choice_only else np.ones_like(a.valid)
    sides = {variant: eligible & (a.variant == variant) for variant in form.variants}
    pairs = joined(
        [
            compare(a, *a.matched(first, second), by_place=form.by_place)
            for first, second in combinations(sides.values(), 2)
        ]
    )
    if not pairs.first.size:
        return None
    compared = np.zeros_like(a.valid)
    compared[pairs.first] = compared[pairs.second] = True
    noise = None if retest is None else retest.among(np.isin(a.case, a.case[compared]))
    return FormEffect(
        **_counts(a, pairs),
        **_figures(a, pairs, noise, protocol),
        accuracy={
            variant: share for variant, side in sides.items() if (share := mean(a.correct[compared & side])) is not None
        },
    )


def _figures(a: Askings, pairs: Pairs, noise: Pairs | None, protocol: Protocol) -> dict[str, Any]:
    """The figures of a form, its noise floor and its excess, all from the same resamples."""
    import numpy as np

    own, group = _columns(a, pairs), a.group[pairs.first]
    if noise is None or not noise.first.size:
        variation, flip = figures_of(group, own, _FIGURES, protocol)
        unknown = dict.fromkeys(("retest", "excess_total_variation", "excess_flip_share"))
        return {"total_variation": _stated(a, variation), "flip_share": flip, **unknown}
    floor = _columns(a, noise)
    columns = np.block([[own, np.zeros_like(own)], [np.zeros_like(floor), floor]])
    floors = [ratio(3, 5), ratio(4, 5, counts=True)]
    excess = [difference(*pair) for pair in zip(_FIGURES, floors, strict=True)]
    both = np.concatenate([group, a.group[noise.first]])
    variation, flip, retest_variation, retest_flip, excess_variation, excess_flip = figures_of(
        both, columns, [*_FIGURES, *floors, *excess], protocol
    )
    retest = Instability(**_counts(a, noise), total_variation=_stated(a, retest_variation), flip_share=retest_flip)
    return {
        "total_variation": _stated(a, variation),
        "flip_share": flip,
        "retest": retest,
        "excess_total_variation": _stated(a, excess_variation),
        "excess_flip_share": excess_flip,
    }


def _stated(a: Askings, figure: Figure) -> Figure:
    """A figure of distances; without a value where none is known."""
    return figure if a.stated else bare_figure(None, 0, UNDEFINED)


def _columns(a: Askings, pairs: Pairs) -> Floats:
    """Distance, flip and weight of every pair: the sums of these three give the means over scenarios.

    Without probabilities no mean of the distances is shown, and 0 stands for them.
    """
    import numpy as np

    weight = nested_weights(a.group[pairs.first], a.question[pairs.first])
    distance = pairs.distance if a.stated else np.zeros(weight.size)
    return np.stack([weight * distance, weight * pairs.flip, weight], axis=1)


def _counts(a: Askings, pairs: Pairs) -> dict[str, Any]:
    import numpy as np

    return {
        "scenarios": int(np.unique(a.group[pairs.first]).size),
        "pairs": int(pairs.first.size),
        "dropped": int(pairs.dropped.size),
        "tie_share": float(pairs.tie.mean()) if a.stated else None,
    }
