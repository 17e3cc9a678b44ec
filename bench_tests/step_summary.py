"""The step summary of GitHub Actions: what a run found, on the page of its workflow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 1024 * 1024
"""What GitHub shows of the summary of a step; of a larger one it shows nothing."""

_FILE: Final = "GITHUB_STEP_SUMMARY"
_NAMED: Final = 10


def write_step_summary(run_dir: Path, names: Iterable[str]) -> str | None:
    """Append the Markdown files ``names`` of ``run_dir`` to the step summary; nothing outside GitHub Actions.

    A file is copied whole or not at all, as long as the step summary stays within its limit; a sentence names the
    files of the others. Returns a sentence where the step summary cannot be written: it is a copy, and what a run
    found does not depend on it.
    """
    name = os.environ.get(_FILE)
    if os.environ.get("GITHUB_ACTIONS") != "true" or not name:
        return None
    parts = {part: (run_dir / part).read_text("utf-8") for part in names if (run_dir / part).is_file()}
    if not parts:
        return None
    path = Path(name)
    if path.exists() and not path.is_file():  # To open a pipe would be to wait for its reader.
        return f"{_FILE}: {name} is no file; the files of the run are complete without it"
    try:
        there = path.stat().st_size if path.exists() else 0
        # What another command of the step wrote may end within a line or a list.
        text = "\n".join([*([""] if there else []), *_fitting(parts, MOST_BYTES - there - 1)])
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        return f"{_FILE}: {name} cannot be written ({error.strerror}); the files of the run are complete without it"
    return None


def _fitting(parts: Mapping[str, str], room: int) -> list[str]:
    """The parts that fit into ``room`` bytes, and what is said of those that do not."""
    names = list(parts)
    sizes = {name: len(part.encode()) + 1 for name, part in parts.items()}
    if sum(sizes.values()) <= room:
        return list(parts.values())
    room -= len(_left_out(names))
    shown = []
    for name in names:
        if sizes[name] <= room:
            shown.append(name)
            room -= sizes[name]
    rest = _left_out([name for name in names if name not in shown])
    return [*(parts[name] for name in shown), *([rest] if room >= 0 else [])]


def _left_out(names: Sequence[str]) -> str:
    named = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    return f"\nToo long for a step summary, and left out here: {named} in the folder of the run.\n"
