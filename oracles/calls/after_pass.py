"""How to call any function of a module after a pass, by the convention that the pass's row names.

The conventions are rows of `oracles.calls.table`. Each names an adapter, which gets the pass applied and the name of a
function, and answers with a way of calling that function. Adapters are in `weights`, `bound` and `lazy`; the two that
belong to no particular pass are here.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TypeAlias

from generators import tvm_api
from oracles.calls.table import CONVENTIONS
from oracles.calls.weights import takes_one_tuple, with_lifted_weights
from oracles.reference.calling import AppliedPass, Calling, LeftOut, Packed, Run, direct
from oracles.reference.values import Runtime

Adapter: TypeAlias = Callable[[AppliedPass, str], "Calling | None"]
"""How to call a function after the pass, when it was called directly before; None where that is not known."""


def after_pass(calling: Calling, convention: str, applied: AppliedPass) -> Calling:
    """How to call any function as in the starting module, when `calling` did until this pass.

    The result raises LeftOut for functions whose calling convention is unknown, and for arguments that the pass
    excludes.
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
    """`run` with these packed functions besides those that a call brings itself."""

    def call(name: str, values: list[Runtime], more: Packed | None = None) -> Runtime:
        return run(name, values, {**packed, **(more or {})})

    return call


def adapted(convention: str, applied: AppliedPass, function: str) -> Calling | None:
    """How to call `function` after the pass, when it was called directly before; None where that is not known."""
    row = CONVENTIONS.get(convention)
    if row is None:
        return None
    if function not in applied.old or function not in applied.new:
        return direct if row.known else None  # the call says that there is no such function
    return adapter_of(row.adapter)(applied, function)


@functools.cache
def adapter_of(source: str) -> Adapter:
    """The adapter that a row names as "module:function"."""
    module, _, name = source.partition(":")
    adapter: Adapter = getattr(importlib.import_module(module), name)
    return adapter


def same(applied: AppliedPass, function: str) -> Calling | None:
    """Functions are called as before."""
    return direct


def unknown(applied: AppliedPass, function: str) -> Calling | None:
    """What the modules show: an unchanged signature, or a new transform function."""
    transform = f"{function}_transform_params"
    inputs = applied.num_input(function)
    if inputs is not None and transform in applied.new:
        return with_lifted_weights(transform, inputs, takes_one_tuple(applied.new[transform]))
    types = [[tvm_api.type_of(p) for p in f[function].params] for f in (applied.old, applied.new)]
    same = len(types[0]) == len(types[1]) and all(
        tvm_api.structural_equal(a, b, map_free_vars=True) for a, b in zip(*types, strict=True)
    )
    return direct if same else None
