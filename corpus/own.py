"""Which case folders this user's passfuzz has written, on this machine. A secret key decides; no folder holds it.

`corpus.store.write_case` leaves a mark in each folder whose case its caller has made: a keyed hash (HMAC-SHA-256) of
all its files, with a key that is kept in the user's state folder. Another user's folder cannot have such a mark,
whatever its files say; nor has one of ours in which a file was changed or added, texts for people (`*.md`) apart, nor a
copy of a case that was not one's own. Where the key cannot be kept, there are no marks, and no folder is one's own.
"""

from __future__ import annotations

import hmac
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MARK = ".made-here"
"""The file in a case folder."""
_KEY_BYTES = 32
_LARGEST = 1 << 30
"""Bytes of a folder that is looked at."""


def state_folder() -> Path:
    """Where the key is: $XDG_STATE_HOME/passfuzz, else ~/.local/state/passfuzz. RuntimeError without a home."""
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "passfuzz"


def mark_of(contents: Mapping[str, bytes]) -> bytes | None:
    """The mark of a folder with these files; None where there is no key and none can be kept."""
    key = _key() or _new_key()
    return None if key is None else _mark(key, contents)


def can_mark() -> bool:
    """Whether there is a key, or one can be kept from now on."""
    return (_key() or _new_key()) is not None


def is_own(folder: Path) -> bool:
    """Whether this user's passfuzz has written the folder as it is."""
    key = _key()
    if key is None:
        return False
    try:
        entries = {entry.name: entry for entry in os.scandir(folder)}
        plain = all(entry.is_file(follow_symlinks=False) for entry in entries.values())
        if MARK not in entries or not plain or sum(entry.stat().st_size for entry in entries.values()) > _LARGEST:
            return False
        contents = {name: Path(entry.path).read_bytes() for name, entry in entries.items() if not _is_prose(name)}
    except OSError:
        return False
    mark = contents.pop(MARK)
    return hmac.compare_digest(mark, _mark(key, contents))


def is_own_mark(mark: bytes, contents: Mapping[str, bytes]) -> bool:
    """Whether `mark_of` gave this user that mark for these files."""
    key = _key()
    return key is not None and hmac.compare_digest(mark, _mark(key, contents))


def _mark(key: bytes, contents: Mapping[str, bytes]) -> bytes:
    digest = hmac.new(key, digestmod="sha256")
    for name, content in sorted((name, content) for name, content in contents.items() if not _is_prose(name)):
        encoded = os.fsencode(name)
        digest.update(len(encoded).to_bytes(8, "big") + encoded + len(content).to_bytes(8, "big") + content)
    return digest.hexdigest().encode() + b"\n"


def _is_prose(name: str) -> bool:
    return name.endswith(".md")


def _key_file() -> Path | None:
    try:
        return state_folder() / "key"
    except RuntimeError:
        return None


def _key() -> bytes | None:
    """The key; None where there is none that this user alone can read and write."""
    path = _key_file()
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            key = file.read(_KEY_BYTES + 1)
    except OSError:
        return None
    private = stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077
    return key if private and len(key) == _KEY_BYTES else None


def _new_key() -> bytes | None:
    """A key that is kept from now on; that of another process where both make one. None where none can be kept."""
    path = _key_file()
    if path is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, fresh = tempfile.mkstemp(prefix=".key.", dir=path.parent)
    except OSError:
        return None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
        with suppress(FileExistsError):
            os.link(fresh, path)
    except OSError:
        return None
    finally:
        Path(fresh).unlink(missing_ok=True)
    return _key()
