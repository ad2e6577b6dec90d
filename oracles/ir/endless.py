"""While loops of PrimFuncs that end at once or never: nothing in them can change their condition.

What is told is sure; a loop that runs for ever because of the numbers is not among it.
"""

from __future__ import annotations

from tvm import s_tir, tirx

from generators import tvm_api as T
from generators.tvm_api import IRModule, Node
from oracles.ir.walk import nodes_of, prim_funcs

_ALIASES = (tirx.DeclBuffer, s_tir.MatchBufferRegion)
_WAYS_OUT = (tirx.Break, tirx.Return)
_PURE = ("if_then_else", "likely", "exp", "fabs", "floor", "sqrt")
"""Calls, without the dialect that their name begins with, that change nothing and leave no loop; of all others anything
is assumed."""


def endless_loops(module: IRModule) -> int:
    """How many while loops have a condition that nothing in them can change: no store into a buffer that it reads of
    anything but the same element, no call that could write or leave the loop, no way out. Where a buffer of a function
    may be another one under a second name, none is counted."""
    functions = [function for _, function in prim_funcs(module) if not nodes_of(function.body, _ALIASES)]
    return sum(_is_endless(loop) for function in functions for loop in nodes_of(function.body, tirx.While))


def _is_endless(loop: tirx.While) -> bool:
    if nodes_of(loop.body, _WAYS_OUT) or not all(map(_is_pure, nodes_of(loop, T.Call))):
        return False
    read = {load.source for load in nodes_of(loop.condition, T.TensorLoad)}
    stores = [store for store in nodes_of(loop.body, tirx.BufferStore) if store.buffer in read]
    return all(_keeps(store) for store in stores)


def _is_pure(call: Node) -> bool:
    return (T.op_name(call) or "").rpartition(".")[2] in _PURE


def _keeps(store: Node) -> bool:
    """Whether a store leaves its element as it is."""
    value = store.value
    same = isinstance(value, T.TensorLoad) and value.source.same_as(store.buffer)
    return same and all(T.structural_equal(*pair) for pair in zip(value.indices, store.indices, strict=True))
