"""How much of the cases a page may show."""

from __future__ import annotations

from typing import Literal, TypeAlias

View: TypeAlias = Literal["full", "no-states", "aggregate-only"]
"""``full`` shows states, instructions and descriptions; ``no-states`` ids and distributions only; ``aggregate-only`` no
single decision at all."""
