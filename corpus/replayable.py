"""The cases of a corpus, in order. A corrupt one is an answer like any other and never stops the rest."""

from __future__ import annotations

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

    NotADirectoryError when there is no such folder.
    """
    if (corpus / "case.json").exists():
        return [corpus]
    if not corpus.is_dir():
        raise NotADirectoryError(f"{corpus} is not a folder")
    return sorted(path for path in corpus.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))


def replayable(corpus: Path = CORPUS) -> Iterator[Replayable]:
    """Reads the cases one by one."""
    for folder in case_folders(corpus):
        yield Replayable(folder, _read(folder))


def _read(folder: Path) -> StoredCase | CorruptCase:
    try:
        return read_case(folder)
    except CorruptCase as error:
        return error
