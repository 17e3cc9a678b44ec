"""The terminal of pytest as a console of rich."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def console_of(reporter: Any) -> Console:
    """A console that writes where pytest's terminal ``reporter`` does."""
    from rich.console import Console

    writer = reporter._tw
    # A log has no width of its own; a terminal does.
    width = writer.fullwidth if sys.stdout.isatty() else max(100, writer.fullwidth)
    return Console(file=writer._file, width=width, force_terminal=writer.hasmarkup)
