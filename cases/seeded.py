"""Seeded order without a random generator: the same on every platform and in every Python version."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def seeded_order(items: Iterable[T], seed: str) -> list[T]:
    """``items`` sorted by SHA-256 of ``seed|item``: a permutation that depends on seed and item only.

    >>> seeded_order(["a", "b", "c"], "x") == seeded_order(["c", "b", "a"], "x")
    True
    """
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed}|{item}".encode()).hexdigest())


def stratified_split(classes: Mapping[str, str], quotas: Mapping[str, int], seed: str) -> dict[str, str]:
    """Assign every item of ``classes`` (item to class) to a split of ``quotas`` (split to size), by seeded hash.

    Each class gets its proportional share of each split, rounded down, and at least one where it has as many
    items as there are splits and the split has room; what is left over goes, class by class, to the split that
    lacks most. Raises ValueError when the quotas do not sum to the number of items.
    """
    if sum(quotas.values()) != len(classes):
        raise ValueError(f"the split sizes sum to {sum(quotas.values())}, there are {len(classes)} scenarios")
    sizes = Counter(classes.values())
    names = seeded_order(sizes, f"{seed}|classes")
    lacking = dict(quotas)
    shares = {name: dict.fromkeys(quotas, 0) for name in names}
    # One of every class comes before more of any, so that a large class crowds out no small one.
    for least_only in (True, False):
        for name, share in shares.items():
            for split, size in quotas.items():
                goal = int(sizes[name] >= len(quotas))
                if not least_only:
                    goal = max(goal, sizes[name] * size // len(classes))
                more = min(goal - share[split], lacking[split], sizes[name] - sum(share.values()))
                share[split] += more
                lacking[split] -= more
    assigned: dict[str, str] = {}
    rest: list[str] = []
    for name, share in shares.items():
        members = seeded_order((item for item, label in classes.items() if label == name), seed)
        for split, number in share.items():
            assigned.update(dict.fromkeys(members[:number], split))
            members = members[number:]
        rest += members
    for item in rest:
        split = max(lacking, key=lambda name: lacking[name])
        assigned[item] = split
        lacking[split] -= 1
    return assigned


def balanced_orders(
    options: Mapping[str, Sequence[str]], expected: Mapping[str, str], strata: Mapping[str, str], seed: str
) -> dict[str, list[str]]:
    """An order of its ``options`` per item in which the expected option's position is balanced within each stratum.

    ``options`` maps an item to its options, ``expected`` to the expected one, ``strata`` to its stratum (the split).
    Positions are dealt out in turn over the seeded order of the items of a stratum. Where there are more positions
    than items they are spread evenly from a seeded start. The other options are shuffled by seed.
    """
    orders: dict[str, list[str]] = {}
    for stratum in sorted(set(strata.values())):
        members = seeded_order((item for item in expected if strata[item] == stratum), f"{seed}|{stratum}")
        for index, item in enumerate(members):
            others = seeded_order((o for o in options[item] if o != expected[item]), f"{seed}|{item}")
            places = len(options[item])
            position = index % places
            if places > len(members):  # Without a start of its own, every stratum would use the first position.
                start = seeded_order(range(places), f"{seed}|{stratum}|start")[0]
                position = (start + index * places // len(members)) % places
            others.insert(position, expected[item])
            orders[item] = others
    return orders
