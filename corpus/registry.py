"""The registry of known causes, `corpus/known.toml`: what is known of each, and which case shows it.

A finding is known where its cause is one of an entry's (`cause`, `also`), or where TVM's message holds the sentence
that an entry of a limit quotes. The first entry that matches wins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["open", "wont-fix", "limitation", "fixed-in"]


@dataclass(frozen=True, slots=True)
class KnownCause:
    """An entry.

    cause: as `str(corpus.cause.Cause)`; also: causes that a person has found to be the same bug. title: one line, as of
    an issue. versions: of TVM, on which it was seen. link: an issue or pull request. root: file:function in TVM's
    source. case: the folder in `corpus/cases` that shows it. note: for people. quote: of a limit, the sentence of TVM's
    message that states it. fixed_in: the version of TVM, where the status is "fixed-in". seen: the day it was last
    seen, "YYYY-MM-DD". tier: the best of all sightings. line: of the entry in its file.
    """

    cause: str
    title: str
    status: Status = "open"
    also: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    link: str = ""
    root: str = ""
    case: str = ""
    note: str = ""
    quote: str = ""
    fixed_in: str = ""
    seen: str = ""
    tier: str = "B"
    line: int = 0


class BadRegistry(Exception):
    """A registry that cannot be read; the text is one line: file, line, reason."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The entries in the order of the file. path: None for the empty one."""

    entries: tuple[KnownCause, ...] = ()
    path: Path | None = None

    def match(self, cause: str, message: str = "") -> KnownCause | None:
        """The first entry that a finding matches."""
        for entry in self.entries:
            if cause and cause in (entry.cause, *entry.also):
                return entry
            if entry.quote and entry.quote in message:
                return entry
        return None


def cause_id(cause: str) -> str:
    """Eight digits for a cause, the same on every machine, to be typed where its text is too long."""
    return hashlib.sha256(cause.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def read_registry(path: Path) -> Registry:
    """Reads a registry. Raises BadRegistry, and FileNotFoundError where there is none."""
    raise NotImplementedError


def add_entries(path: Path, entries: Iterable[KnownCause]) -> None:
    """Adds entries to a registry, whose comments and order stay; it is made if need be."""
    raise NotImplementedError
