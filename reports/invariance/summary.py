"""Invariance: what changes in the answers when nothing that matters was changed, and what moves when it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from decibench.cases.schema import SPLITS, Model, Split
from decibench.reports.invariance.askings import askings_of
from decibench.reports.invariance.complements import Complement, complements_of
from decibench.reports.invariance.counterfactuals import Directional, directional_of
from decibench.reports.invariance.order_effects import (
    NEUTRAL_NAMES,
    OPTION_ORDERS,
    STATE_KEY_ORDERS,
    FormEffect,
    Instability,
    form_effect,
    retest_of,
    retest_pairs,
)
from decibench.reports.invariance.positions import PositionRates, position_rates
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record

_ONE_TRIAL: Final = "the retest noise is unknown: run with --trials 2"
_NO_RETEST: Final = "the retest noise is unknown: no request was answered twice"


class Invariance(Model):
    """Invariance on one split; a form is null where the suite has no variants of it.

    ``option_orders`` compares all pairs of the orders asked, ``neutral_keys`` the original with options called by
    number, ``state_key_orders`` the original with its keys in another order. ``retest`` is the noise floor of the core
    variants; null where nothing was answered twice, and ``retest_note`` says why. Every form has a floor of its own.
    ``positions`` has an entry per number of options, ``complements`` one per pair of questions that imply each other,
    ``directional`` sums up the linked cases.

    Intervals resample scenario groups. Trials are averaged within a scenario beforehand: repeating a run sharpens the
    figures of its scenarios and adds no scenario. What would shift all scenarios of a run alike is in no interval.
    """

    option_orders: FormEffect | None
    neutral_keys: FormEffect | None
    state_key_orders: FormEffect | None
    retest: Instability | None
    retest_note: str | None
    positions: list[PositionRates]
    complements: list[Complement]
    directional: Directional | None


def invariance_of(records: Sequence[Record], protocol: Protocol) -> dict[Split, Invariance]:
    """The invariance figures of every split that has records."""
    complements = complements_of(records, protocol)
    parts = {split: [record for record in records if record.split == split] for split in SPLITS}
    return {split: _of_split(part, complements.get(split, []), protocol) for split, part in parts.items() if part}


def _of_split(records: Sequence[Record], complements: list[Complement], protocol: Protocol) -> Invariance:
    askings = askings_of(records)
    pairs = retest_pairs(askings)
    retest = retest_of(askings, pairs, askings.core, protocol)
    return Invariance(
        option_orders=form_effect(askings, OPTION_ORDERS, pairs, protocol),
        neutral_keys=form_effect(askings, NEUTRAL_NAMES, pairs, protocol),
        state_key_orders=form_effect(askings, STATE_KEY_ORDERS, pairs, protocol),
        retest=retest,
        retest_note=None if retest else _ONE_TRIAL if pairs is None else _NO_RETEST,
        positions=position_rates(askings, protocol),
        complements=complements,
        directional=directional_of(records, protocol),
    )
