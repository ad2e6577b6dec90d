"""Texts in a TOML file that people read and edit: how a long one stands in several lines, and where a field is. Pure
text."""

from __future__ import annotations

import io
import re
import sys
import textwrap

import tomlkit
from tomlkit.items import String, StringType, Trivia

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WIDTH = 118
"""Characters of a line, without the backslash that ends it."""


def in_lines(text: str) -> String:
    """The text as an item of tomlkit, in lines of WIDTH characters where it is longer than one.

    Each line ends with a backslash, so that the text that is read is this one, to the character (TOML 1.0, multi-line
    basic strings). A text that cannot be put together again from its words stands in one line.
    """
    escaped = tomlkit.string(text).as_string()[1:-1]
    lines = textwrap.wrap(escaped, WIDTH, break_long_words=False, break_on_hyphens=False)
    if len(lines) < 2 or " ".join(lines) != escaped or escaped[:1].isspace():  # A backslash eats what begins a line.
        return tomlkit.string(text)
    raw = "".join(("\\\n", " \\\n".join(lines)))
    return String(StringType.MLB, text, raw, Trivia())


_FENCES = ('"""', "'''")


def line_of(name: str, table: str, first: int) -> int:
    """The line of a field of a table in TOML whose text begins at line `first`; `first` where the field is not there.
    Texts of several lines are passed over."""
    named = re.compile(rf"[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=")
    inside = False
    for number, text in enumerate(io.StringIO(table), first):
        if name and not inside and named.match(text):
            return number
        inside ^= any(text.count(fence) % 2 for fence in _FENCES)
    return first


def without_comments_below(block: str) -> str:
    """TOML up to its last value: empty lines and comments below that are cut off. The last lines of a text in several
    lines are none, though they may look so. What is no TOML stays whole."""
    lines = list(io.StringIO(block))
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    while end < len(lines) and not _is_toml("".join(lines[:end])):
        end += 1
    return "".join(lines[:end])


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
