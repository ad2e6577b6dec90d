"""Python runs this file at its start where `passfuzz capture` has put this folder on PYTHONPATH. Nothing heavy is here.

Where the process imports TVM, what is in `fuzzer.capture.inside` is loaded and told of each module of TVM that makes
passes. A process that never imports TVM is left as it is. The `sitecustomize` that this one hides runs, too.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
SPOOL = "PASSFUZZ_CAPTURE_SPOOL"
"""The variable that names the folder for what is captured."""
_INSIDE = ("fuzzer", "fuzzer.capture", "fuzzer.capture.inside")


def inside(name: str) -> ModuleType:
    """A module of `fuzzer.capture.inside` with those it imports.

    The packages above it are stand-ins, and gone afterwards: the command may have a `fuzzer` of its own.
    """
    known = {key: sys.modules.pop(key) for key in list(sys.modules) if key.partition(".")[0] == "fuzzer"}
    try:
        for package in _INSIDE:
            stand_in = ModuleType(package)
            stand_in.__path__ = [os.path.join(os.path.dirname(HERE), "inside")] if package == _INSIDE[-1] else []
            sys.modules[package] = stand_in
        return importlib.import_module(f"{_INSIDE[-1]}.{name}")
    finally:
        for key in [key for key in sys.modules if key.partition(".")[0] == "fuzzer"]:
            del sys.modules[key]
        sys.modules.update(known)


def _makes_passes(name: str) -> bool:
    """Whether a module of TVM defines passes, pass contexts or pipelines. tvm.relax.transform is a package of such."""
    words = name.split(".")
    return words[0] == "tvm" and len(words) > 2 and ("transform" in words[1:] or words[-1] == "pipeline")


class _Loader(importlib.abc.Loader):
    """Loads a module as its own loader does, and hands it on."""

    def __init__(self, finder: _Finder, loader: Any) -> None:
        self._finder = finder
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._finder.loaded(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # get_source and the like, for tracebacks


class _Finder(importlib.abc.MetaPathFinder):
    """Sees the imports of TVM's modules that make passes, and that of TVM as a whole."""

    def __init__(self) -> None:
        self._looking = False
        self._watch: Any = None

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if self._looking or not (name == "tvm" or _makes_passes(name)):
            return None
        self._looking = True
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        finally:
            self._looking = False
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return None
        spec.loader = _Loader(self, spec.loader)
        return spec

    def loaded(self, module: ModuleType) -> None:
        if self._watch is None:
            self._watch = inside("install")
        self._watch.module_loaded(module)


def _run_the_hidden_one() -> None:
    """Runs the `sitecustomize` that Python would have found without this folder."""
    places = [place for place in sys.path if os.path.abspath(place or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get(SPOOL):
    sys.meta_path.insert(0, _Finder())
    _run_the_hidden_one()
