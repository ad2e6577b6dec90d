"""How to call the result of a pass that changes the calling convention: one function per convention.

The names are those of `generators.passes.phases.CONVENTIONS`. An adapter gets the module before and after
the pass and answers with a new way of making an entry call; None where nobody can say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from generators import tvm_api
from oracles.reference.values import Runtime

Run: TypeAlias = Callable[[str, list[Runtime]], Runtime]
"""Runs a function of a module by name on runtime values: the interpreter, or a built module."""
Calling: TypeAlias = Callable[[Run, str, list[Runtime]], Runtime]
"""Makes the entry call (function, arguments as in the starting module) through `Run`."""


def direct(run: Run, function: str, arguments: list[Runtime]) -> Runtime:
    """The function takes and returns what it did."""
    return run(function, arguments)


def adapted(convention: str, before: Any, after: Any, function: str) -> Calling | None:
    """How to call `function` in `after`, when `before` was called directly. None where nobody can say."""
    adapter = _ADAPTERS.get(convention)
    return None if adapter is None else adapter(before, after, function)


def _functions(module: Any) -> dict[str, Any]:
    return {g.name_hint: f for g, f in module.functions.items()}


def _same(before: Any, after: Any, function: str) -> Calling | None:
    return direct


def _lifted(before: Any, after: Any, function: str) -> Calling | None:
    """The weights go through the transform function, what it returns follows the inputs."""
    functions = _functions(after)
    old = _functions(before)[function]
    if not old.attrs or "num_input" not in old.attrs or function not in functions:
        return direct
    inputs = int(old.attrs["num_input"])
    transform = next((n for n in (f"{function}_transform_params", "transform_params") if n in functions), None)
    if transform is None:
        return direct
    if transform == "transform_params" and len([f for f in old.params]) < inputs:
        return None
    takes_tuple = _takes_one_tuple(functions[transform])

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        weights = arguments[inputs:]
        lifted = run(transform, [tuple(weights)] if takes_tuple else weights)
        assert isinstance(lifted, tuple)
        return run(name, [*arguments[:inputs], *lifted])

    return call


def _takes_one_tuple(function: Any) -> bool:
    parameters = function.params
    return len(parameters) == 1 and isinstance(tvm_api.type_of(parameters[0]), tvm_api.TupleType)


def _bundled(before: Any, after: Any, function: str) -> Calling | None:
    old = _functions(before)[function]
    if not old.attrs or "num_input" not in old.attrs:
        return direct
    inputs = int(old.attrs["num_input"])
    return lambda run, name, arguments: run(name, [*arguments[:inputs], tuple(arguments[inputs:])])


def _bound(before: Any, after: Any, function: str) -> Calling | None:
    """The parameters that are gone hold the first entry call's values; the others follow by name."""
    left = [p.name for p in _functions(after)[function].params]
    names = [p.name for p in _functions(before)[function].params]
    if len(set(names)) != len(names) or any(name not in names for name in left):
        return None
    kept = [names.index(name) for name in left]
    return lambda run, name, arguments: run(name, [arguments[i] for i in kept])


def _unknown(before: Any, after: Any, function: str) -> Calling | None:
    """What can be seen: an unchanged signature, or a transform function beside the old one."""
    new = _functions(after).get(function)
    if new is None:
        return None
    if f"{function}_transform_params" in _functions(after):
        return _lifted(before, after, function)
    old = _functions(before)[function]
    types = [[tvm_api.type_of(p) for p in f.params] for f in (old, new)]
    same = len(types[0]) == len(types[1]) and all(
        tvm_api.structural_equal(a, b, map_free_vars=True) for a, b in zip(*types, strict=True)
    )
    return direct if same else None


_ADAPTERS: dict[str, Callable[[Any, Any, str], Calling | None]] = {
    "same": _same,
    "lift_transform_params": _lifted,
    "bundle_params": _bundled,
    "bind_params": _bound,
    "bind_symbolic_vars": _same,
    "unknown": _unknown,
}
