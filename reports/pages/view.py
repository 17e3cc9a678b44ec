"""How much of the cases a page may show."""

from __future__ import annotations

from typing import Literal, TypeAlias

View: TypeAlias = Literal["full", "no-states", "aggregate-only"]
"""``full`` shows states, instructions and descriptions; ``no-states`` ids and distributions only; ``aggregate-only`` no
single decision at all."""


def withheld(view: View, *, texts: bool) -> str:
    """What a page leaves out and by which option; ``texts`` tells whether those of the cases are at hand.

    >>> withheld("full", texts=True)
    ''
    """
    if view == "aggregate-only":
        return "Single decisions are left out of this page, and no case is named in it (--aggregate-only)."
    if view == "no-states":
        return "States, instructions and descriptions of options are left out of this page (--no-states)."
    if not texts:
        return (
            "States, instructions and descriptions of options are not in this page: the suite that was measured was "
            "not at hand when it was made. Name it with --suite."
        )
    return ""
