"""Puts the watch into TVM's modules as they are loaded: constructors of passes, `Pass.__call__` and `PassContext`.

What is called gives what it gave before, and raises what it raised.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tvm.ir.transform import Pass
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
R = TypeVar("R")
_DECORATORS = ("module_pass", "function_pass", "dataflowblock_pass", "prim_func_pass")
_PIPELINES = ("get_pipeline", "get_default_pipeline")
_IR = "tvm.ir.transform"
_NOTED: list[tuple[Pass, object, tuple[object, ...], dict[str, object]]] = []
"""Passes that were made before TVM was there as a whole."""


def module_loaded(module: ModuleType) -> None:
    """A module of TVM has been executed. The last is `tvm` itself, from which on passes are watched."""
    if module.__name__ == "tvm":
        _begin()
        return
    for name, value in list(vars(module).items()):
        if not isinstance(value, FunctionType) or value.__module__ != module.__name__:
            continue
        if name in _DECORATORS:
            setattr(module, name, _decorator(value))
        elif name in _PIPELINES or (name[:1].isupper() and not name.startswith("_")):
            setattr(module, name, _constructor(value))
    if module.__name__ == _IR:
        _watch_class(module.Sequential, f"{_IR}.Sequential")


def _begin() -> None:
    """TVM is there: what was noted is kept in order, and the calls of passes are seen from now on."""
    # Loaded here, as they import TVM: the stand-ins for passfuzz's own packages are gone by now.
    from_hook = sys.modules["sitecustomize"].inside
    seen = from_hook("seen")
    sys.modules["passfuzz_capture_seen"] = seen
    for noted in _NOTED:
        seen.note(*noted)
    _NOTED.clear()
    seen.begin()


def _note(made: Pass, constructor: object, arguments: tuple[object, ...], keywords: dict[str, object]) -> None:
    seen = sys.modules.get("passfuzz_capture_seen")
    if seen is None:
        _NOTED.append((made, constructor, arguments, keywords))
    else:
        seen.note(made, constructor, arguments, keywords)


def _constructor(function: Callable[P, R]) -> Callable[P, R]:
    """A function that makes a pass."""
    path = f"{function.__module__}.{function.__name__}"

    @functools.wraps(function)
    def construct(*arguments: P.args, **keywords: P.kwargs) -> R:
        made = function(*arguments, **keywords)
        _note(made, path, arguments, keywords)
        return made

    return construct


def _decorator(function: Callable[P, object]) -> Callable[P, object]:
    """A function that makes a pass of a function or of a class, at once or as a decorator."""
    path, signature = f"{function.__module__}.{function.__name__}", inspect.signature(function)

    def seen_made(made: object, given: FunctionType | type, options: dict[str, object]) -> object:
        if inspect.isclass(made):
            _watch_class(made, given if made.__module__.partition(".")[0] != "tvm" else None)
        else:
            _note(made, path, (given,), {**options, "name": options.get("name") or given.__name__})
        return made

    @functools.wraps(function)
    def decorate(*arguments: P.args, **keywords: P.kwargs) -> object:
        made = function(*arguments, **keywords)
        try:
            options = signature.bind(*arguments, **keywords).arguments
        except TypeError:
            return made
        given = options.pop("pass_func", None)
        if given is not None:
            return seen_made(made, given, options)
        if not callable(made):
            return made

        def finish(later: FunctionType | type) -> object:
            return seen_made(made(later), later, options)

        return functools.wraps(made)(finish)

    return decorate


def _watch_class(made: type[Pass], constructor: object) -> None:
    """Notes each instance of a class of passes. constructor: None for the class's own dotted name."""
    original = made.__init__
    head = f"{made.__module__}.{made.__name__}" if constructor is None else constructor

    @functools.wraps(original)
    def construct(self: Pass, *arguments: object, **keywords: object) -> None:
        original(self, *arguments, **keywords)
        _note(self, head, arguments, keywords)

    made.__init__ = construct
