"""Loads the Python function that a user gives as a predicate: `FILE.py:function`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzer.trial.load_file import first_line, place_in
from oracles.forked import Ended, forked

if TYPE_CHECKING:
    from generators.tvm_api import IRModule

IMPORT_S = 60.0
"""Seconds that importing the file may take."""
NAMED_FUNCTIONS = 5


class NoFunction(Exception):
    """There is no such function; one line that says why."""


def loaded_function(file: str, name: str) -> Callable[[IRModule], object]:
    """The function. The file is imported in a child first: code at its top may hang, or end its process."""
    said = forked(lambda: _why_not(file, name), IMPORT_S)
    if isinstance(said, Ended):
        how = f"does not end within {IMPORT_S:g} s" if said.hung else f"ends its process ({said.how})"
        raise NoFunction(f"importing the file {how}")
    if said is not None:
        raise NoFunction(said)
    function = _imported(file)[name]
    assert callable(function), "the child has looked"
    return function


def _why_not(file: str, name: str) -> str | None:
    try:
        names = _imported(file)
    except SystemExit as end:
        return f"importing the file ends its process (exit {end.code}): {place_in(Path(file), end)}"
    except Exception as error:  # noqa: BLE001 - the boundary to the user's code
        return f"the file raises on import: {first_line(error)}: {place_in(Path(file), error)}"
    if callable(names.get(name)):
        return None
    there = [one for one, value in names.items() if callable(value) and getattr(value, "__module__", "") == _NAME]
    listed = f"it has {', '.join(there[:NAMED_FUNCTIONS])}" if there else "it has none"
    return f"no function {name} in the file; {listed}"


_NAME = "passfuzz_interesting"


def _imported(file: str) -> Mapping[str, object]:
    """The names of a file, whose neighbours it can import."""
    folder = str(Path(file).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.dont_write_bytecode = True  # nothing of ours stays in the user's folder
    spec = spec_from_file_location(_NAME, file)
    assert spec is not None and spec.loader is not None, "a file that ends in .py"
    module = module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    return vars(module)
