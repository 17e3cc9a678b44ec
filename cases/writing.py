"""Files that are written whole or not at all: a full disk or an error leaves what was there before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place to write to, beside ``path``, that takes its place at the end and is gone where anything fails.

    An OSError names ``path``. What is no regular file, such as ``/dev/stdout``, is written to directly.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        target = path.resolve()  # A link stays one.
        temporary = target.parent / f"{target.name}.tmp"
        try:
            yield temporary
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 to ``path``, whole or not at all."""
    with replacing(path) as place:
        place.write_text(text, "utf-8")
