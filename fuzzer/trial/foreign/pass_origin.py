"""Where a pass of a user's own comes from: a Python file that is loaded, and an expression over its names.

A pass object does not say how it was made. What is looked for is a name of a loaded file that is such a pass, or that
constructs one without arguments, and that gives the same module. Worker processes only.
"""

from __future__ import annotations

import runpy
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import tvm

from fuzzer.processes.start import ROOT
from fuzzer.trial.load_file import RUN_NAME
from generators.tvm_api import Pass

_PASS = tvm.transform.Pass
_DIALECTS = ("relax", "tirx", "s_tir")
_UNNAMED = frozenset({"sequential", "_pipeline"})
"""What TVM calls its Sequentials and its pipelines."""


@dataclass(frozen=True, slots=True)
class PassOrigin:
    """file: of Python. expression: over its names, such as `MyPass()`."""

    file: Path
    expression: str


def origin_of(name: str, gives: Callable[[Callable[[], Pass]], bool]) -> PassOrigin | None:
    """The origin of the pass that calls itself `name`; None where no loaded file has one.

    gives: whether the pass that a function makes gives the module that was seen.
    """
    for file, module in _own_modules():
        for attribute, value in list(vars(module).items()):
            for expression, make in _makers(attribute, value, name):
                if gives(make):
                    return PassOrigin(file, expression)
    return None


def is_of_tvm(name: str) -> bool:
    """Whether a pass that calls itself so is one of TVM's: named after a dialect, registered, or defined in one of its
    Python modules."""
    if name in _UNNAMED or name.startswith(tuple(f"{dialect}." for dialect in _DIALECTS)):
        return True
    registered = (f"{dialect}.transform.{name}" for dialect in _DIALECTS)
    if any(tvm.get_global_func(one, allow_missing=True) is not None for one in registered):
        return True
    return any(hasattr(module, name) for key, module in list(sys.modules.items()) if key.startswith("tvm."))


def names_in(origin: PassOrigin) -> Mapping[str, object]:
    """The names of the origin's file: as it is loaded, else evaluated anew. Raises what the file raises."""
    for file, module in _own_modules():
        if file == origin.file:
            return vars(module)
    return runpy.run_path(str(origin.file), run_name=RUN_NAME)


def _own_modules() -> Iterator[tuple[Path, ModuleType]]:
    """The loaded modules that are neither of Python nor installed."""
    ours = {Path(path).resolve() for path in sysconfig.get_paths().values()} | {ROOT}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        path = Path(file).absolute() if isinstance(file, str) and file.endswith(".py") else None
        if path is not None and path.is_file() and not ours & set(path.resolve().parents):
            yield path, module


def _makers(attribute: str, value: object, name: str) -> Iterator[tuple[str, Callable[[], Pass]]]:
    """How a value of a module gives a pass of this name, if it does."""
    if not attribute.isidentifier():
        return
    if isinstance(value, _PASS):
        if str(value.info.name) == name:
            yield attribute, lambda: value
    elif isinstance(value, type) and issubclass(value, _PASS) or attribute == name and callable(value):
        yield f"{attribute}()", value
