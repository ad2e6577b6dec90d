"""The baseline of known findings (`--known FILE`): signatures that do not fail a campaign, each with a note.

Signatures match exactly. That of a wrong result names the operators of the reduced module, so that one bug may have
several, and a new variant of a known bug is reported again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from corpus.store import CorruptCase, write_atomically

SCHEMA = 1


def read_known(path: Path) -> frozenset[str]:
    """The signatures of a baseline. Raises as `read_notes` does."""
    return frozenset(read_notes(path))


def read_notes(path: Path) -> dict[str, str]:
    """The notes by signature (slug). CorruptCase when the file is no baseline, FileNotFoundError when absent."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CorruptCase(path, str(error)) from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise CorruptCase(path, "not a baseline of this schema")
    known = data.get("known")
    if not isinstance(known, list) or not all(_is_entry(entry) for entry in known):
        raise CorruptCase(path, 'no list "known" of objects with "signature"')
    return {entry["signature"]: str(entry.get("note", "")) for entry in known}


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("signature"), str)


def write_known(path: Path, notes: Mapping[str, str]) -> None:
    """Writes a baseline; a note says of a signature what is known of it (an issue, say)."""
    entries = [{"signature": slug, "note": notes[slug]} for slug in sorted(notes)]
    text = json.dumps({"schema": SCHEMA, "known": entries}, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode())


def add_known(path: Path, notes: Mapping[str, str]) -> tuple[int, int]:
    """Adds to a baseline, which is made if need be; notes that stand in it stay. (how many were new, how many in all)

    Raises CorruptCase, and OSError for what cannot be written.
    """
    before = read_notes(path) if path.exists() else {}
    after = {**notes, **before}
    write_known(path, after)
    return len(after) - len(before), len(after)
