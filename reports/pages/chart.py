"""A chart of a page: its drawing, and everything a reader without eyes for it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from decibench.reports.tables.layout import Table


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart.

    ``key`` is its place on the page ([a-z0-9-]). ``sentence`` says in words what the drawing shows, its figures
    included. ``spec`` is the drawing in Vega-Lite. ``table`` holds the same figures as text.
    """

    key: str
    title: str
    sentence: str
    spec: Mapping[str, Any]
    table: Table
