"""The baseline of known findings (`--known FILE`): signatures that do not fail a campaign."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from corpus.store import CorruptCase, write_atomically

SCHEMA = 1


def read_known(path: Path) -> frozenset[str]:
    """The signatures (slugs) of a baseline file. CorruptCase when it is not one, FileNotFoundError when absent."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CorruptCase(path, str(error)) from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise CorruptCase(path, "not a baseline of this schema")
    known = data.get("known")
    if not isinstance(known, list) or not all(_is_entry(entry) for entry in known):
        raise CorruptCase(path, 'no list "known" of objects with "signature"')
    return frozenset(entry["signature"] for entry in known)


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("signature"), str)


def write_known(path: Path, signatures: Iterable[str], notes: dict[str, str] | None = None) -> None:
    """Writes a baseline; `notes` says of a signature why it is known (an issue, say)."""
    remarks = notes or {}
    entries = [{"signature": slug, "note": remarks.get(slug, "")} for slug in sorted(set(signatures))]
    text = json.dumps({"schema": SCHEMA, "known": entries}, indent=1) + "\n"
    write_atomically(path, text.encode())
