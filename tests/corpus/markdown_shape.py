"""What a reader's program makes of Markdown: its tree without texts, and what GitHub would link in the texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_LINKED_BY_GITHUB = re.compile(r"@\w|://|www\.|(?<![\w/])#\d|GH-\d|mailto:|xmpp:", re.IGNORECASE)
"""What GitHub looks for in the text that is left after Markdown."""


def shape(text: str) -> list[tuple[str, str, str]]:
    """(type, tag, info) of every node in order; runs of text count once, and what a text or code says not at all."""
    return list(_once(_nodes(_PARSER.parse(text))))


def words(text: str) -> tuple[str, list[str]]:
    """All text outside of code, and what GitHub would make a link of."""
    said = "".join(
        child.content if child.type in ("text", "text_special") else " "
        for token in _PARSER.parse(text)
        for child in token.children or ()
        if child.type != "code_inline"
    )
    return said, _LINKED_BY_GITHUB.findall(said)


def _nodes(tokens: Iterable[Token]) -> Iterator[tuple[str, str, str]]:
    for token in tokens:
        if token.type == "inline":
            yield from _nodes(token.children or ())
            yield ("end", "", "")
        else:
            yield (token.type, token.tag, token.info)


def _once(nodes: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    last = None
    for node in nodes:
        if node[0] in ("text", "text_special"):
            node = ("text", "", "")
        if node != last or node[0] != "text":
            yield node
        last = node
