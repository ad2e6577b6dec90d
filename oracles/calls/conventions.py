"""How to call the result of a pass that changes the calling convention: one function per convention.

The names are those of `generators.passes.phases.CONVENTIONS`. An adapter gets the pass applied and a function of the
module, and answers with a new way of calling that function; None where nobody can say. Conventions whose callbacks
stand in for parameters and results are in `oracles.calls.lazy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from generators import tvm_api
from oracles.calls.lazy import fetched_by_callback, fetched_by_name, handed_to_callback
from oracles.calls.protocol import AppliedPass, Calling, LeftOut, Packed, Run, direct
from oracles.reference.annotations import bind_and_check
from oracles.reference.values import Runtime, Tensor, from_argument


def after_pass(calling: Calling, convention: str, applied: AppliedPass) -> Calling:
    """How to call any function as in the starting module, when `calling` did until this pass.

    The result raises LeftOut for functions that nobody can say of, and for arguments that the pass has excluded.
    """
    known: dict[str, Calling | None] = {}

    def call(run: Run, function: str, arguments: list[Runtime]) -> Runtime:
        def next_run(name: str, values: list[Runtime], packed: Packed | None = None) -> Runtime:
            if name not in known:
                known[name] = adapted(convention, applied, name)
            way = known[name]
            if way is None:
                raise LeftOut(f"calling convention {convention}")
            return way(run if packed is None else _providing(run, packed), name, values)

        return calling(next_run, function, arguments)

    return call


def _providing(run: Run, packed: Packed) -> Run:
    """`run` with these packed functions beside those that a call brings itself."""

    def call(name: str, values: list[Runtime], more: Packed | None = None) -> Runtime:
        return run(name, values, {**packed, **(more or {})})

    return call


def adapted(convention: str, applied: AppliedPass, function: str) -> Calling | None:
    """How to call `function` after the pass, when it was called directly before. None where nobody can say."""
    adapter = _ADAPTERS.get(convention)
    if adapter is None:
        return None
    if function not in applied.old or function not in applied.new:
        return None if adapter is _unknown else direct  # the call says that there is no such function
    return adapter(applied, function)


def _same(applied: AppliedPass, function: str) -> Calling | None:
    return direct


# --- weights ---------------------------------------------------------------------------------------------------


def _lifted(applied: AppliedPass, function: str) -> Calling | None:
    """The weights go through the transform function, what it returns follows the inputs."""
    inputs = applied.num_input(function)
    given = applied.arguments()
    if given is None:
        return None
    shared = given[0][0] if given[0] else given[1].get("shared_transform")
    others_only = isinstance(shared, list) and shared and function not in shared
    if inputs is None or function.endswith("transform_params") or others_only:
        return direct
    transform = next((n for n in (f"{function}_transform_params", "transform_params") if n in applied.new), None)
    if transform is None:
        return direct
    return _through(transform, inputs, _takes_one_tuple(applied.new[transform]))


def _through(transform: str, inputs: int, takes_tuple: bool) -> Calling:
    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        weights = arguments[inputs:]
        lifted = run(transform, [tuple(weights)] if takes_tuple else weights)
        assert isinstance(lifted, tuple)
        return run(name, [*arguments[:inputs], *lifted])

    return call


def _takes_one_tuple(function: Any) -> bool:
    parameters = function.params
    return len(parameters) == 1 and isinstance(tvm_api.type_of(parameters[0]), tvm_api.TupleType)


def _bundled(applied: AppliedPass, function: str) -> Calling | None:
    inputs = applied.num_input(function)
    if inputs is None:
        return direct
    return lambda run, name, arguments: run(name, [*arguments[:inputs], tuple(arguments[inputs:])])


# --- values that a pass has built in ---------------------------------------------------------------------------


def _bound(applied: AppliedPass, function: str) -> Calling | None:
    """The parameters that are gone hold the values named in the pass; calls with other values are left out."""
    given = applied.arguments()
    if given is None or len(given[0]) < 2 or not isinstance(given[0][1], dict):
        return None
    target, values = given[0][0], given[0][1]
    if target != function:
        return direct
    names = [p.name for p in applied.old[function].params]
    left = [p.name for p in applied.new[function].params]
    if len(set(names)) != len(names) or any(name not in names for name in left):
        return None

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        for parameter, argument in zip(names, arguments, strict=True):
            if parameter in values and not _is_value(argument, values[parameter]):
                raise LeftOut("entry call: has another value than the one bound")
        return run(name, [a for n, a in zip(names, arguments, strict=True) if n in left])

    return call


def _is_value(argument: Runtime, bound: Any) -> bool:
    if not isinstance(argument, Tensor) or not isinstance(bound, np.ndarray):
        return False
    value = from_argument(bound)
    assert isinstance(value, Tensor)
    same_type = value.dtype == argument.dtype and value.shape == argument.shape
    return same_type and value.value.tobytes() == argument.value.tobytes()


def _bound_symbols(applied: AppliedPass, function: str) -> Calling | None:
    """The parameters stay; calls with other extents than those named in the pass are left out."""
    given = applied.arguments()
    if given is None or not given[0] or not isinstance(given[0][0], dict):
        return None
    target = given[0][1] if len(given[0]) > 1 else given[1].get("func_name")
    if target not in (None, function):
        return direct
    types = [tvm_api.type_of(p) for p in applied.old[function].params]

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        symbols: dict[Any, int] = {}
        for ty, argument in zip(types, arguments, strict=True):
            bind_and_check(ty, argument, symbols, "", False)
        if any(given[0][0].get(symbol.name, extent) != extent for symbol, extent in symbols.items()):
            raise LeftOut("entry call: has another extent than the one bound")
        return run(name, arguments)

    return call


# --- passes of which nothing is known --------------------------------------------------------------------------


def _unknown(applied: AppliedPass, function: str) -> Calling | None:
    """What can be seen: an unchanged signature, or a transform function beside the old one."""
    transform = f"{function}_transform_params"
    inputs = applied.num_input(function)
    if inputs is not None and transform in applied.new:
        return _through(transform, inputs, _takes_one_tuple(applied.new[transform]))
    types = [[tvm_api.type_of(p) for p in f[function].params] for f in (applied.old, applied.new)]
    same = len(types[0]) == len(types[1]) and all(
        tvm_api.structural_equal(a, b, map_free_vars=True) for a, b in zip(*types, strict=True)
    )
    return direct if same else None


_ADAPTERS: dict[str, Callable[[AppliedPass, str], Calling | None]] = {
    "same": _same,
    "lift_transform_params": _lifted,
    "bundle_params": _bundled,
    "lazy_get_input": fetched_by_callback,
    "lazy_set_output": handed_to_callback,
    "lazy_transform_params": fetched_by_name,
    "bind_params": _bound,
    "bind_symbolic_vars": _bound_symbols,
    "unknown": _unknown,
}
