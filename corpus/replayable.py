"""The cases of a corpus, in order. A corrupt one is an answer like any other and never stops the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.store import CorruptCase, StoredCase, read_case

CORPUS = Path(__file__).parent / "cases"
"""The corpus that comes with passfuzz."""


@dataclass(frozen=True, slots=True)
class Replayable:
    """A folder with the case in it, or what is wrong with it."""

    folder: Path
    case: StoredCase | CorruptCase

    @property
    def slug(self) -> str:
        """The folder's name."""
        return self.folder.name


def case_folders(corpus: Path) -> list[Path]:
    """The case folders of a corpus by name; a folder that is itself a case is the only one.

    What cannot be looked into is among them: reading it says why. NotADirectoryError when there is no such folder, or
    it cannot be listed.
    """
    if os.path.lexists(corpus / "case.json"):
        return [corpus]
    try:
        paths = sorted(corpus.iterdir())
    except FileNotFoundError:
        raise NotADirectoryError(f"{corpus} is not a folder") from None
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise NotADirectoryError(f"{corpus} is not a folder that can be listed: {said}") from error
    return [path for path in paths if not path.name.startswith((".", "__")) and _may_be_case(path)]


def _may_be_case(path: Path) -> bool:
    try:
        return path.is_dir() or (path.is_symlink() and not path.exists())
    except OSError:
        return True


def replayable(corpus: Path = CORPUS) -> Iterator[Replayable]:
    """Reads the cases one by one."""
    for folder in case_folders(corpus):
        yield Replayable(folder, _read(folder))


def _read(folder: Path) -> StoredCase | CorruptCase:
    try:
        return read_case(folder)
    except CorruptCase as error:
        return error
