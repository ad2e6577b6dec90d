"""Threads of a GPU: their extents, barriers, shuffles, and reductions over threads.

The meaning of the threads is in `oracles/reference/tir/threads.py`.
"""

from __future__ import annotations

from generators import tvm_api
from oracles.reference.errors import Unsupported
from oracles.reference.tir.constants import settled
from oracles.reference.tir.decode.access import access
from oracles.reference.tir.decode.dispatch import expression, statement
from oracles.reference.tir.decode.state import DecodeState, ExpressionRule, Rules
from oracles.reference.tir.decode.tvm_objects import dtype_of
from oracles.reference.tir.decode.variables import fresh
from oracles.reference.tir.nodes import Allreduce, Call, Const, Expr, For, Stmt, Sync

_SHUFFLES: dict[str, str] = {
    "tvm_warp_shuffle": "shuffle",
    "tvm_warp_shuffle_up": "shuffle_up",
    "tvm_warp_shuffle_down": "shuffle_down",
    "tvm_warp_shuffle_xor": "shuffle_xor",
    "cuda.__shfl_sync": "shuffle",
    "cuda.__shfl_up_sync": "shuffle_up",
    "cuda.__shfl_down_sync": "shuffle_down",
    "cuda.__shfl_xor_sync": "shuffle_xor",
}
"""Arguments: mask, value, lane or distance, width. TVM's own builtins also have the size of a warp."""
_ALL_LANES = (1 << 32) - 1


class UnknownThreads(Unsupported):
    """The number of threads is only known when the kernel is launched."""

    def __init__(self, tag: str) -> None:
        super().__init__(f"number of {tag} computed at run time")


def _thread_extent(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """The body of an attribute that starts threads, for each of them."""
    tag = str(node.node.thread_tag)
    extent = settled(state.here.extents.get(tag) or expression(state, node.value))
    var = fresh(state, node.node.var, dtype_of(node.node.var.ty, state.here.lane))
    if not isinstance(extent, Const):
        raise UnknownThreads(tag)
    return For(var, extent, "launch", tag, statement(state, node.body))


def _reduce_scope(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """The body of an attribute that gives the reducer of tvm_thread_allreduce."""
    state.here.reducers.append(node.node)
    body = statement(state, node.body)
    state.here.reducers.pop()
    return body


def _barrier(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    scope = str(call.args[0].value)
    return Sync(scope, site=f"tvm_storage_sync({scope!r})")


def _active_mask(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """The mask of active threads, which is only passed on as the mask of a shuffle: it changes no value."""
    return Const(_ALL_LANES, dtype_of(node.ty, state.here.lane))


def _shuffle(name: str) -> ExpressionRule:
    """The rule of a shuffle: a value of another thread of the warp."""

    def rule(state: DecodeState, node: tvm_api.Expr) -> Expr:
        value, lane, width = (expression(state, arg) for arg in list(node.args)[1:4])
        return Call(name, (value, lane, width), dtype_of(node.ty, state.here.lane))

    return rule


def _allreduce(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_thread_allreduce(size, values..., condition, results..., threads...)`, with `size` values and results."""
    args = list(call.args)
    if not state.here.reducers:
        raise Unsupported("tirx.tvm_thread_allreduce[no reducer]")
    reducer, size = state.here.reducers[-1], int(args[0].value)
    left = tuple(fresh(state, var, dtype_of(var.ty, state.here.lane)) for var in reducer.lhs)
    right = tuple(fresh(state, var, dtype_of(var.ty, state.here.lane)) for var in reducer.rhs)
    results = []
    for place in args[2 + size : 2 + 2 * size]:
        load = place.value if type(place).__name__ == "Cast" else place
        if not isinstance(load, tvm_api.TensorLoad):
            raise Unsupported("tirx.tvm_thread_allreduce[result]")
        results.append(access(state, load.source, load.indices))
    return Allreduce(
        left,
        right,
        tuple(expression(state, part) for part in reducer.result),
        tuple(expression(state, part) for part in reducer.identity_element),
        tuple(expression(state, value) for value in args[1 : 1 + size]),
        expression(state, args[1 + size]),
        tuple(results),
        tuple(expression(state, var) for var in args[2 + 2 * size :]),
    )


RULES = Rules(
    attributes={"thread_extent": _thread_extent, "virtual_thread": _thread_extent, "reduce_scope": _reduce_scope},
    effects={"tvm_storage_sync": _barrier, "tvm_thread_allreduce": _allreduce},
    calls={
        "tvm_warp_activemask": _active_mask,
        "cuda.__activemask": _active_mask,
        **{name: _shuffle(shuffle) for name, shuffle in _SHUFFLES.items()},
    },
)
