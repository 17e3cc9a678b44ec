"""Texts of cases and models as plain text: on one line anywhere, and without a meaning of their own in Markdown."""

from __future__ import annotations

import re
from typing import Final

_ENTITY: Final = re.compile(r"&(?=#?\w+;)")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_MARK: Final = re.compile(
    r"""
    \\(?=[!-/:-@\[-`{-~])     # would take the meaning of what follows
    | `
    | \](?=[(\[])             # ends the text of a link, an image or a reference
    | (?<![^\W_])_(?=\S)      # emphasis opens before a word; macro_accuracy is none
    | [*~](?=\S)
    | (?<=:)/(?=/)            # addresses become links by themselves
    | (?<=\bwww)\.
    """,
    re.VERBOSE,
)
_BLOCK: Final = re.compile(r"^[#>=+[-]")
_NUMBERED: Final = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))")


def one_line(text: str) -> str:
    r"""The text with an escape for every character that would break a line, or steer a terminal.

    >>> one_line("two\nlines, \x1b[31mred")
    'two\\nlines, \\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain(text: str) -> str:
    r"""The text for the middle of a line of Markdown, shown as it is: no markup, no HTML, no link.

    What has no such meaning stays as it is.

    >>> plain("macro_accuracy of R&D [30%, 40%]: p < 0.05, *two* <b>words</b> [here](http://x)")
    'macro_accuracy of R&D [30%, 40%]: p < 0.05, \\*two* &lt;b>words&lt;/b> [here\\](http:\\//x)'
    """
    escaped = _MARK.sub(lambda mark: f"\\{mark[0]}", one_line(text))
    return _TAG.sub("&lt;", _ENTITY.sub("&amp;", escaped))


def in_cell(text: str) -> str:
    """The text for a cell of a table, which it cannot end."""
    return plain(text).replace("|", "\\|")


def in_code(text: str) -> str:
    r"""The text as a span of code, in which nothing needs an escape: its fence is longer than any in the text.

    >>> print(in_code('{"url":"http://x"}'), in_code("a `b`"))
    `{"url":"http://x"}` `` a `b` ``
    """
    found = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", found)), default=0))
    pad = " " if "`" in found or found.startswith(" ") else ""
    return f"{fence}{pad}{found}{pad}{fence}"


def in_paragraph(text: str) -> str:
    r"""The text for the beginning of a line, where it starts no heading, list, quotation or rule.

    >>> in_paragraph("# 1"), in_paragraph("1. x"), in_paragraph("1.5 points")
    ('\\# 1', '1\\. x', '1.5 points')
    """
    found = plain(text)
    return _NUMBERED.sub(r"\1\\", _BLOCK.sub(lambda mark: f"\\{mark[0]}", found))
