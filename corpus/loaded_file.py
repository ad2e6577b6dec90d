"""What a script needs of the user's `--load` file: its text, where it stands alone, else the files to put beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 1 << 16
"""A file that is larger is not carried inside of a script."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file with passes, for a script. literal: its text as a Python literal, where the file stands alone.

    beside: where it does not, the names of the files that the script needs in its own folder, the file itself first.
    """

    path: Path
    literal: str | None
    beside: tuple[str, ...]


def loaded_file(path: Path) -> LoadedFile:
    """Reads the file. One that cannot be read, or that Python cannot, has nothing to be carried."""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= MOST_BYTES else ""
        tree = ast.parse(text)
        needed = sorted(set(_files_needed(tree, path.parent)))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return LoadedFile(path, None, (path.name,))
    places = any(isinstance(node, ast.Name) and node.id == "__file__" for node in ast.walk(tree))
    if not text or needed or places:
        return LoadedFile(path, None, (path.name, *needed))
    return LoadedFile(path, literal_of(text if text.endswith("\n") else f"{text}\n"), ())


def literal_of(text: str) -> str:
    """A Python literal for the text, as readable as can be."""
    for quotes in ("'''", '"""'):
        literal = f"r{quotes}{text}{quotes}"
        try:
            if "\r" not in text and ast.literal_eval(literal) == text:
                return literal
        except (SyntaxError, ValueError):
            continue
    return repr(text)


def _files_needed(tree: ast.Module, folder: Path) -> Iterator[str]:
    """The files and folders beside the file that it imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                modules = [module or ""] if level == 0 or module else [alias.name for alias in names]
            case _:
                continue
        for module in modules:
            first = module.partition(".")[0]
            yield from (name for name in (f"{first}.py", first) if first and (folder / name).exists())
