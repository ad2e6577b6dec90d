"""What a script needs of the user's `--load` file: its text and all that it imports, or the files to put beside it."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from corpus.regular_files import read_regular
from corpus.scripts.imported_files import UserModule, imported_files

MOST_BYTES = 1 << 16
"""Files that are larger, all together, are not carried inside of a script."""
FILES = 4
"""As many are kept: a reduction writes a script for each of its successes."""
FOLDER = "PASSFUZZ_LOADED"
"""The variable that names another folder than the script's own for files that it does not carry."""
_LONGEST_NAME = 256
"""Characters of a text that may be the name of a file."""
_PLACES = {"__file__", "__path__", "__spec__", "__loader__", "__import__"}
_FINDERS = {"import_module", "spec_from_file_location", "run_path", "run_module", "get_data", "resources"}
"""A file that names one of these needs more than can be seen."""


@dataclass(frozen=True, slots=True)
class CarriedModule:
    """A module inside of a script. literal: its text as a Python literal."""

    name: str
    literal: str
    package: bool


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file with passes, for a script. literal: its text as a Python literal; carried: the modules that it imports.

    beside: where it cannot be carried, what the script needs in its own folder, the file itself first.
    """

    path: Path
    literal: str | None
    carried: tuple[CarriedModule, ...]
    beside: tuple[str, ...]


def loaded_file(path: Path) -> LoadedFile:
    """Reads the file and what it imports. Of one that cannot be read, or that Python cannot, no more than that."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return LoadedFile(path, None, (), (path.name,))
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=FILES)
def _read(path: Path, _changed_ns: int, _size: int) -> LoadedFile:
    """The file as it is; what it imports as it was when the file was read first, which is what a worker has loaded."""
    try:
        text = _text(path)
        needed = imported_files(path, ast.parse(text), MOST_BYTES)
    except _UNREADABLE:
        return LoadedFile(path, None, (), (path.name,))
    data = _data(path, needed)
    carried = None if data else _carried(text, needed)
    if carried is None:
        return LoadedFile(path, None, (), tuple(dict.fromkeys((path.name, *(module.top for module in needed), *data))))
    return LoadedFile(path, literal_of(text if text.endswith("\n") else f"{text}\n"), carried, ())


def _text(path: Path) -> str:
    return read_regular(path, MOST_BYTES).decode().replace("\r\n", "\n")


def _carried(text: str, needed: Sequence[UserModule]) -> tuple[CarriedModule, ...] | None:
    """The modules with their texts; None where a script cannot carry these and the text of the file itself."""
    if not text or not all(module.is_text for module in needed):
        return None
    try:
        texts = ["" if module.file is None else _text(module.file) for module in needed]
        if any(map(_looks_around, (text, *texts))) or sum(len(one.encode()) for one in (text, *texts)) > MOST_BYTES:
            return None
    except _UNREADABLE:
        return None
    return tuple(
        CarriedModule(module.name, literal_of(one), module.package) for module, one in zip(needed, texts, strict=True)
    )


def _data(path: Path, needed: Sequence[UserModule]) -> tuple[str, ...]:
    """The files that these name in a text of theirs, as lying beside the file, beside themselves or in the current
    folder: data that they read, by relative paths. What they name by a path that they put together of several parts, or
    by that of a folder, is not seen."""
    home = path.parent.absolute()
    files = (path.absolute(), *(module.file for module in needed if module.is_text and module.file is not None))
    found: set[str] = set()
    for file in files:
        try:
            tree = ast.parse(_text(file))
        except _UNREADABLE:
            continue
        for name in filter(None, map(_name_in, ast.walk(tree))):
            if _is_file(home / name) or _is_file(Path(name)):
                found.add(name)
            elif _is_file(file.parent / name):
                found.add(os.path.relpath(file.parent / name, home))
    modules = {os.path.relpath(file, home) for file in files}
    return tuple(sorted(found - modules))


def _name_in(node: ast.AST) -> str:
    """The relative path that a text may be; "" for what is none."""
    match node:
        case ast.Constant(str(text)):
            name = text
        case ast.Constant(bytes(data)):
            name = os.fsdecode(data)
        case _:
            return ""
    return "" if len(name) > _LONGEST_NAME or os.path.isabs(name) else name


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a text that no file can have as its name
        return False


def _looks_around(text: str) -> bool:
    """Whether a file asks where it is, or imports by a name that we cannot see."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name) if name in _PLACES | _FINDERS:
                return True
            case ast.Constant(str(name)) if name in _PLACES:
                return True
            case ast.alias(name) if not _FINDERS.isdisjoint(name.split(".")):
                return True
            case ast.Attribute(ast.Name("sys"), "path"):
                return True
    return False


_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)


def loaded_environment(load: str | None) -> dict[str, str]:
    """The variables with which a script finds what it does not carry, on the machine of who has written the file."""
    return {} if load is None else {FOLDER: str(Path(load).absolute().parent)}


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
