"""The step summary of GitHub Actions: what a run found, on the page of its workflow."""

from __future__ import annotations

from collections.abc import Sequence


def write_step_summary(parts: Sequence[str]) -> None:
    """Append Markdown ``parts`` to the step summary; nothing outside GitHub Actions. OSError where it cannot."""
