"""What every ``python -m decibench.<folder>`` door shares: exit statuses and an argument parser that keeps them."""

from __future__ import annotations

import argparse
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
    """Something the user asked for cannot be done; the message says what to do instead."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage errors end with status 4, not argparse's 2."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with status 4."""
        self.print_usage(sys.stderr)
        self.exit(Exit.USAGE, f"{self.prog}: error: {message}\n")


def run_door(parser: Parser, arguments: Sequence[str] | None) -> Exit:
    """Parse, call the chosen command (``set_defaults(run=...)``) and turn errors into a sentence and status 4."""
    namespace = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], Exit] = namespace.run
    try:
        return command(namespace)
    except (SuiteError, UsageError) as error:
        sys.stderr.write(f"{error}\n")
        return Exit.USAGE
    except BrokenPipeError:  # The reader of a pipe has seen enough, as in "list | head".
        sys.stderr.close()
        return Exit.COMPLETE
