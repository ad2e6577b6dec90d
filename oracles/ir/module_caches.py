"""Caches of what oracles compute of modules: `after` of a step is `before` of the next one.

Entries go by the module object. When a pass changes a module in place, its entry still says what was true before the
pass: that is what an oracle needs to know whether the input was in order. `after` is always computed anew (`fresh`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from generators import tvm_api as T
from generators.tvm_api import IRModule, Node, PrimFunc
from oracles.ir.cache import Cache, CacheByAddress, Key, addresses, parts
from oracles.ir.walk import FUNCTION, named_functions

R = TypeVar("R")
MODULES = 8
"""Modules of which each cache remembers a result."""


def by_module(compute: Callable[[IRModule], R]) -> Cache[IRModule, R]:
    """The last few results of a function of a module."""
    return CacheByAddress(compute, MODULES)


def _hashes(module: IRModule) -> list[int]:
    return [int(T.structural_hash(function)) for _, function in named_functions(module)]


HASHES = Cache(_hashes, lambda module: parts([module.functions]), MODULES)
"""TVM's structural hash of each function of a module, in the order of `named_functions`. `oracles.walk` takes them anew
after each pass."""


def relax_functions_key(signature: Callable[[PrimFunc], Sequence[Node]] = lambda _: ()) -> Callable[[IRModule], Key]:
    """A key for a function that reads only the Relax functions of a module, its GlobalVars with their types, and of
    each PrimFunc the objects that `signature` gives.

    Passes of TIR leave these as they are: so there is one result for all modules that have these very objects, where
    the Relax functions have kept their hash.
    """

    def key(module: IRModule) -> Key:
        read: list[Node | None] = []
        seen: list[int | type] = []
        for (gvar, function), code in zip(named_functions(module), HASHES.of(module), strict=True):
            is_relax = type(function) is FUNCTION
            read += [gvar, gvar.ty, *((function,) if is_relax else signature(function))]
            seen.append(code if is_relax else type(function))
        return (addresses(read), tuple(seen)), read

    return key


def by_relax_functions(
    compute: Callable[[IRModule], R], signature: Callable[[PrimFunc], Sequence[Node]] = lambda _: ()
) -> Cache[IRModule, R]:
    """The last few results of a function of a module that reads no more than `relax_functions_key` says."""
    return CacheByAddress(Cache(compute, relax_functions_key(signature), MODULES).of, MODULES)
