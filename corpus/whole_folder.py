"""Writes a folder so that readers see the old one, none, or the new one, never a part."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes a folder with these files, in place of one that is there. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")  # mkdtemp would need a chmod, which walls refuse
    fresh.mkdir()
    try:
        for name, content in contents.items():
            (fresh / name).write_bytes(content)
        _swap(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, folder: Path) -> None:
    """Renames `fresh` to `folder`; the folder that was there takes the name `fresh`, for its caller to remove."""
    if not folder.exists():
        fresh.rename(folder)
        return
    aside = fresh.with_name(f"{fresh.name}.old")
    folder.rename(aside)
    fresh.rename(folder)
    shutil.rmtree(aside)
