"""What is known of each bug of TVM before the registry holds it: `docs/bugs/notes.toml`, and the pages made of it.

`python -m corpus.bug_notes` writes the pages.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from corpus.bug_pages import Severity, pages, write
from corpus.regular_files import read_regular
from corpus.store import MOST_TEXT

ROOT = Path(__file__).resolve().parents[1]
NOTES = ROOT / "docs" / "bugs" / "notes.toml"
CASES = ROOT / "corpus" / "cases"
FOUND_ON = "0.27.0.post1"

Status: TypeAlias = Literal["open", "wont-fix", "limitation", "fixed-in"]


class BadNotes(Exception):
    """Notes that cannot be read; the text is one line."""


class BugNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry; `corpus.bug_pages.Bug` says what the fields mean.

    signatures: findings that show it. cases: folders in `corpus/cases` that show it. read: whether the source was read
    line by line.
    """

    title: str
    severity: Severity
    passes: tuple[str, ...]
    signatures: tuple[str, ...]
    cases: tuple[str, ...]
    status: Status
    link: str
    root: str
    why: str
    fix: str
    read: bool
    quote: str = ""
    fixed_in: str = ""

    @property
    def case(self) -> str:
        return self.cases[0] if self.cases else ""

    @property
    def versions(self) -> tuple[str, ...]:
        return (FOUND_ON,)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    bug: tuple[BugNote, ...]


def read_notes(path: Path) -> tuple[BugNote, ...]:
    """The entries in the order of the file. Raises BadNotes, and FileNotFoundError where there is none."""
    try:
        return msgspec.toml.decode(read_regular(path, MOST_TEXT), type=_File).bug
    except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
        raise BadNotes(f"{path}: {error}") from error


def main() -> int:
    write(NOTES.parent, pages(read_notes(NOTES), CASES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
