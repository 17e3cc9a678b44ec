"""Tables as text, laid out once for the terminal and for Markdown, and how figures are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column names and rows of text; the first ``keys`` columns name a row and are left-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    keys: int = 1


def share(value: float | None) -> str:
    """A share as a percentage; a dash where there is none."""
    return "-" if value is None else f"{value:.1%}"


def count(value: int | None) -> str:
    """A whole number; a dash where there is none."""
    return "-" if value is None else str(value)


def number(value: float | None) -> str:
    """A score with four decimals; a dash where there is none."""
    return "-" if value is None else f"{value:.4f}"


def millis(seconds: float | None) -> str:
    """Seconds as milliseconds, from a million on in six significant digits; a dash where there are none.

    >>> millis(0.0021), millis(1e300)
    ('2.10', '1e+303')
    """
    if seconds is None:
        return "-"
    return f"{1000 * seconds:.2f}" if abs(1000 * seconds) < 1e6 else f"{1000 * seconds:g}"


def dollars(value: float | None) -> str:
    """US dollars in four significant digits; said to be unknown where they are, which is not nothing.

    >>> dollars(0.00123456), dollars(None)
    ('0.001235', 'unknown')
    """
    return "unknown" if value is None else f"{value:.4g}"


def points(value: float | None) -> str:
    """A difference of shares in percentage points; a dash where there is none."""
    return "-" if value is None else f"{100 * value:+.1f}"


def percent(value: float) -> str:
    """A limit or a level as a percentage without needless zeros.

    >>> percent(0.05), percent(0.995)
    ('5%', '99.5%')
    """
    return f"{100 * value:.10g}%"
