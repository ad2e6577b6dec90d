"""The files of its author's that a Python file imports, found as Python finds them, and without running any.

What is installed (Python's own library, packages in site-packages, TVM and what it needs, passfuzz itself) is no user's
own file: a script imports it as the user's file does. What is imported by a name that the program makes up is not seen.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from corpus.regular_files import MEBIBYTE, read_regular

_OURS = Path(__file__).resolve().parents[2]
ROOMS = ("generators", "oracles", "corpus", "reports", "fuzzer")
"""Our folders: a file that imports one of them needs passfuzz."""
_INSTALLED = {"site-packages", "dist-packages"}
_EVERYWHERE = sys.stdlib_module_names | {"tvm", "tvm_ffi", "numpy", "ml_dtypes"}
"""What every script can import; a TVM that was built here lies anywhere."""


_MOST_SOURCE = 16 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class UserModule:
    """A module of the user's own. name: as it is imported. file: where its text is, None for a package without one.

    package: whether it has modules inside. top: the file or folder of the outermost package, as it lies beside.
    """

    name: str
    file: Path | None
    package: bool
    top: str

    @property
    def is_text(self) -> bool:
        """Whether there is text to carry, or nothing: no compiled code."""
        return self.file is None or self.file.suffix == ".py"


def imported_files(path: Path, tree: ast.Module, most_bytes: int) -> tuple[UserModule, ...]:
    """What the file imports, and what that imports, until it is more than `most_bytes`. tree: the file's text, parsed.

    Of a module that cannot be read or parsed, what it imports is not known.
    """
    search = (*(Path(entry or ".") for entry in sys.path), path.parent.absolute())
    found: dict[str, UserModule] = {}
    waiting = deque(name for node in ast.walk(tree) for name in _named(node, ""))
    size = 0
    while waiting and size <= most_bytes:
        for module in _along(waiting.popleft(), search):
            if module.name not in found:
                found[module.name] = module
                size += module.file.stat().st_size if module.file else 0
                package = module.name if module.package else module.name.rpartition(".")[0]
                waiting += [name for node in _nodes(module.file) for name in _named(node, package)]
    return tuple(sorted(found.values(), key=lambda module: module.name))


def _nodes(file: Path | None) -> Iterator[ast.AST]:
    try:
        source = b"" if file is None or file.suffix != ".py" else read_regular(file, _MOST_SOURCE)
        yield from ast.walk(ast.parse(source))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _named(node: ast.AST, package: str) -> list[str]:
    """The modules that an import may want: what is taken from a package may be a module inside. package: around the
    file, "" for the outermost, beside whose file a relative import is taken to look."""
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module, names, level):
            outer = package.split(".")[: len(package.split(".")) + 1 - level] if level and package else []
            base = ".".join([*outer, *([module] if module else [])])
            return [base, *(f"{base}.{alias.name}".lstrip(".") for alias in names)]
        case _:
            return []


def _along(name: str, search: Sequence[Path]) -> Iterator[UserModule]:
    """A module and the packages around it, from the outermost on, as far as they are there and the user's own."""
    places, parts, top = list(search), name.split("."), ""
    if parts[0] in _EVERYWHERE:
        return
    for at, part in enumerate(parts):
        file, places = _find(part, places)
        if (file is None and not places) or _is_installed(file or places[0] / part):
            return
        top = top or (part if places else (file or Path(part)).name)
        yield UserModule(".".join(parts[: at + 1]), file, bool(places), top)


def _find(part: str, places: Sequence[Path]) -> tuple[Path | None, list[Path]]:
    """The file of a module, and where modules inside of it are; nothing where it is in none of the places."""
    if not part.isidentifier():
        return None, []
    for place in places:
        folder = place / part
        if (folder / "__init__.py").is_file():
            return folder / "__init__.py", [folder]
        for suffix in (*EXTENSION_SUFFIXES, ".py"):
            if (file := place / f"{part}{suffix}").is_file():
                return file, []
    return None, [place / part for place in places if (place / part).is_dir()]


def _is_installed(path: Path) -> bool:
    whole = path.absolute()
    ours = any(whole.is_relative_to(_OURS / room) for room in ROOMS)
    own_library = any(whole.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return ours or own_library or not _INSTALLED.isdisjoint(whole.parts)
