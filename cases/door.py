"""What every ``python -m decibench.<folder>`` door shares: exit statuses and an argument parser that keeps them."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NoReturn

from decibench.cases.errors import SuiteError


class Exit(IntEnum):
    """Exit statuses of a run and of every door; 2 and 5 are pytest's own."""

    COMPLETE = 0
    FAILED = 1
    INTERRUPTED = 2
    USAGE = 4
    NOTHING_COLLECTED = 5
    GATE = 10
    INCOMPLETE = 11


class UsageError(Exception):
    """Something the user asked for cannot be done; the message says what to do instead, ``exit`` how a door ends."""

    def __init__(self, message: str, exit: Exit = Exit.USAGE) -> None:
        self.exit = exit
        super().__init__(message)


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage errors end with status 4, not argparse's 2."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with status 4."""
        self.print_usage(sys.stderr)
        self.exit(Exit.USAGE, f"{self.prog}: error: {message}\n")


def run_door(parser: Parser, arguments: Sequence[str] | None) -> Exit:
    """Parse, call the chosen command (``set_defaults(run=...)``) and turn errors into a sentence and status 4."""
    _print_any_text()
    namespace = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], Exit] = namespace.run
    try:
        return command(namespace)
    except (SuiteError, UsageError) as error:
        sys.stderr.write(f"{error}\n")
        return error.exit if isinstance(error, UsageError) else Exit.USAGE
    except BrokenPipeError:  # The reader of a pipe has seen enough, as in "list | head".
        sys.stderr.close()
        return Exit.COMPLETE
    except OSError as error:
        place = "the output" if error.filename is None else error.filename
        sys.stderr.write(f"{place}: cannot be read or written ({error.strerror}); check the name and the permissions\n")
    except UnicodeError as error:
        sys.stderr.write(f"a text cannot be encoded ({error}); remove the character that is not valid Unicode\n")
    return Exit.USAGE


def _print_any_text() -> None:
    # A path or a case may hold what the encoding of a terminal lacks; an escape is better than no output.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
