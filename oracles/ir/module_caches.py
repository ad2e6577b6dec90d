"""Caches of what oracles compute of modules: `after` of a step is `before` of the next one.

Entries go by the module object. When a pass changes a module in place, its entry still says what was true before the
pass: that is what an oracle needs to know whether the input was in order. `after` is always computed anew (`fresh`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from generators.tvm_api import IRModule, Node, PrimFunc
from oracles.ir.cache import Cache, Key, address, parts
from oracles.ir.walk import FUNCTION, named_functions

R = TypeVar("R")
MODULES = 8
"""Modules of which each cache remembers a result."""


def by_module(compute: Callable[[IRModule], R]) -> Cache[IRModule, R]:
    """The last few results of a function of a module."""
    return Cache(compute, address, MODULES)


def by_relax_functions(
    compute: Callable[[IRModule], R], signature: Callable[[PrimFunc], Sequence[Node]] = lambda _: ()
) -> Cache[IRModule, R]:
    """The same for a function that reads only the Relax functions of a module, the names of its functions, and of each
    PrimFunc the objects that `signature` gives.

    Passes of TIR leave these as they are: so there is one result for all modules that have these very objects. When a
    pass changes one of them in place, `oracles.checks.input_unchanged` reports it.
    """

    def key(module: IRModule) -> Key:
        read: list[Node | None] = []
        for gvar, function in named_functions(module):
            read += [gvar, function] if type(function) is FUNCTION else [gvar, *signature(function)]
        return parts(read)

    return Cache(Cache(compute, key, MODULES).of, address, MODULES)
