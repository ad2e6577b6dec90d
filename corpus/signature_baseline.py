"""The baselines that passfuzz wrote before there was a registry of causes: JSON files of signatures with notes.

Signatures match exactly. That of a wrong result names the operators of the reduced module, so that one bug may have
several, and a new variant of a known bug is reported again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from corpus.regular_files import read_regular
from corpus.store import MOST_TEXT, UNREADABLE, CorruptCase, why, write_atomically

SCHEMA = 1


def read_known(path: Path) -> frozenset[str]:
    """The signatures of a baseline. Raises as `read_notes` does."""
    return frozenset(read_notes(path))


class _Entry(msgspec.Struct):
    signature: str
    note: str = ""


class _File(msgspec.Struct):
    schema: Literal[1]
    known: list[_Entry]


def read_notes(path: Path) -> dict[str, str]:
    """The notes by signature (slug). CorruptCase when the file is no baseline, FileNotFoundError when absent."""
    try:
        file = msgspec.json.decode(read_regular(path, MOST_TEXT), type=_File)
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise CorruptCase(path, f"not a baseline: {why(error)}") from error
    return {entry.signature: entry.note for entry in file.known}


def write_known(path: Path, notes: Mapping[str, str]) -> None:
    """Writes a baseline; a note says of a signature what is known of it (an issue, say)."""
    entries = [{"signature": slug, "note": notes[slug]} for slug in sorted(notes)]
    text = json.dumps({"schema": SCHEMA, "known": entries}, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode("utf-8", "replace"))


def add_known(path: Path, notes: Mapping[str, str]) -> tuple[int, int]:
    """Adds to a baseline, which is made if need be; notes that stand in it stay. (how many were new, how many in all)

    Raises CorruptCase, and OSError for what cannot be written.
    """
    before = read_notes(path) if os.path.lexists(path) else {}
    after = {**notes, **before}
    write_known(path, after)
    return len(after) - len(before), len(after)
