"""What passfuzz lends to a Python that is not its own: its rooms and what they import.

`run`, `check` and `reduce` go on under the Python of `--tvm` (`fuzzer.under_test`), where nothing of ours is installed,
nor will be. Rooms are found before what this Python has itself, the rest after it, and by the names of IMPORTED alone:
the TVM and the NumPy that lie in the same folders stay unseen. Run by its path in a Python of any version: it imports
nothing of ours but itself.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

OLDEST = (3, 10)
ROOMS = ("generators", "oracles", "corpus", "reports", "fuzzer")
IMPORTED = (
    "_hypothesis_ftz_detector",
    "_hypothesis_globals",
    "_hypothesis_pytestplugin",
    "_pytest",
    "annotated_doc",
    "annotated_types",
    "capstone",
    "exceptiongroup",
    "hypothesis",
    "iniconfig",
    "jinja2",
    "markdown_it",
    "markupsafe",
    "mdurl",
    "msgspec",
    "packaging",
    "pluggy",
    "py",
    "pydantic",
    "pydantic_core",
    "pygments",
    "pytest",
    "rich",
    "shellingham",
    "sortedcontainers",
    "tomli",
    "tomlkit",
    "typer",
    "typing_extensions",
    "typing_inspection",
)
"""What passfuzz depends on, with what that depends on. Not NumPy and ml_dtypes: those that TVM imports are wanted."""
TRIED = ("numpy", "ml_dtypes", "msgspec", "typer", "jinja2")
"""What a Python must be able to import; compiled files of ours are for one version of Python."""
OWN_FAULT = 3


class Lent(NamedTuple):
    """root: the folder of our rooms, and folders: those of the rest. needs: requirements of passfuzz, as pip writes
    them. tvm, ffi, passfuzz: versions; those of TVM as it tells them itself."""

    root: str
    folders: tuple[str, ...]
    needs: tuple[str, ...]
    tvm: str
    ffi: str
    passfuzz: str


TAKEN: Lent | None = None
"""What this process runs with, that of a `--tvm`; None in one of passfuzz's own Python."""


class Finder:
    """Finds packages and modules of these names in these folders, for `sys.meta_path`."""

    def __init__(self, names: Sequence[str], folders: Sequence[str]) -> None:
        self.names, self.folders = frozenset(names), list(folders)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of one of the names; modules inside of it are found by the path of their package."""
        return PathFinder.find_spec(name, self.folders, target) if path is None and name in self.names else None


def to_lend(root: str, tvm: str, ffi: str, passfuzz: str) -> Lent:
    """What this Python lends. root: the folder of our rooms."""
    specs = [find_spec(name) for name in IMPORTED]
    folders = dict.fromkeys(_home(spec.origin) for spec in specs if spec is not None and spec.origin is not None)
    try:
        needs = tuple(requires("passfuzz") or ())
    except PackageNotFoundError:
        needs = ()
    return Lent(root, tuple(folders), needs, tvm, ffi, passfuzz)


def _home(file: str) -> str:
    folder, name = os.path.split(os.path.abspath(file))
    return os.path.dirname(folder) if name == "__init__.py" else folder


def start(lent: Lent, first: bool = False) -> str:
    """Python that takes what is lent. first: whether it is told in a line if this Python cannot do with it."""
    return f"import runpy; runpy.run_path({__file__!r})['take']({json.dumps(lent)!r}, {first});"


def take(text: str, first: bool) -> None:
    """Has this process find what is lent to it. Ends it with a line on stderr where it cannot do with that."""
    if sys.version_info < OLDEST:
        _refuse(f"is Python {_python()}; passfuzz needs 3.10 or newer")
    root, folders, needs, *versions = json.loads(text)
    lent = Lent(root, tuple(folders), tuple(needs), *versions)
    sys.meta_path.insert(0, Finder(ROOMS, (root,)))
    sys.meta_path.append(Finder(IMPORTED, folders))
    if first:
        _refuse_what_is_old(lent)
        _refuse_what_is_missing()
    # This file was run by its path; others import it by its name.
    vars(importlib.import_module("fuzzer.processes.lent"))["TAKEN"] = lent


def _refuse_what_is_old(lent: Lent) -> None:
    """What this Python has itself comes before what is lent, and may be too old."""
    from packaging.requirements import Requirement

    for need in map(Requirement, lent.needs):
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            has = version(need.name)
        except PackageNotFoundError:
            continue
        if not need.specifier.contains(has, prereleases=True):
            _refuse(f"has {need.name} {has}, and passfuzz needs {need.name}{need.specifier}: {_pip(str(need))}")


def _refuse_what_is_missing() -> None:
    missing = []
    for name in TRIED:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        _refuse(f"(Python {_python()}) cannot import {', '.join(missing)}, which passfuzz needs: {_pip(*missing)}")


def _pip(*names: str) -> str:
    wanted = (f"'{name}'" if set(name) & set("<>=;~! ") else name for name in names)
    return f"{sys.executable} -m pip install {' '.join(wanted)}"


def _python() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def _refuse(why: str) -> None:
    print(f"passfuzz: error: --tvm: {sys.executable} {why}", file=sys.stderr, flush=True)
    raise SystemExit(OWN_FAULT)
