"""A finding's folder as a case of a corpus: copied under a name that says what it shows. Nothing of it is run.

The files are copied as they are. So the mark of one's own making (`corpus.own`) stays valid where it was, and a folder
of another user gets none.
"""

from __future__ import annotations

import re
from pathlib import Path

from corpus.escapes import is_slug
from corpus.named_errors import naming
from corpus.own import MARK
from corpus.regular_files import read_regular, regular_files
from corpus.store import MOST_TEXT, UNREADABLE, CorruptCase, StoredCase, why
from corpus.whole_folder import write_folder

LONGEST_SLUG = 60
ENDINGS = frozenset((".json", ".py", ".md", ".npz", ".txt"))
"""Of files that passfuzz writes into a case folder."""


def readable_slug(stored: StoredCase, cases: Path) -> str:
    """A name for the folder of a case, of its culprit and of what is wrong, that none in `cases` has."""
    said = f"{stored.culprit} {stored.symptom} {stored.message}"
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "-", said)
    words = re.findall(r"[a-z0-9]+", apart.lower())
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word
        if len(longer) > LONGEST_SLUG:
            break
        name = longer
    name = name if is_slug(name) else "case"
    numbers = iter(range(2, 1 << 20))
    slug = name
    while (cases / slug).exists():
        slug = f"{name}-{next(numbers)}"
    return slug


def copy_case(folder: Path, target: Path) -> None:
    """Copies the files of a case to `target`, which is not there yet and appears whole. Symbolic links, folders and
    files that passfuzz does not write are left out.

    Raises CorruptCase for what cannot be read, OSError for what cannot be written.
    """
    try:
        names = [name for name in regular_files(folder) if name == MARK or (is_slug(name) and _ending(name) in ENDINGS)]
        contents = {name: read_regular(folder / name, MOST_TEXT, follow=False) for name in names}
    except UNREADABLE as error:
        raise CorruptCase(folder, why(error)) from error
    with naming(target):
        write_folder(target, contents)


def _ending(name: str) -> str:
    return Path(name).suffix
