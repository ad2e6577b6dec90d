"""Jumps out of a turn of a loop, and the loop that each belongs to: the innermost around it."""

from __future__ import annotations

from tvm import tirx

from generators import tvm_api as T
from generators.tvm_api import IRModule, Node, PrimFunc, Stmt, Var
from oracles.ir.walk import PRIM_FUNC, functions_of, nodes_of, prim_funcs

_JUMPS = ("break_loop", "continue_loop")
_LOOPS = (tirx.For, tirx.While)


def gives_jumps_to_other_loops(before: IRModule, after: IRModule) -> bool:
    """Whether a jump of a PrimFunc belongs to a loop that was there and had none, or to no loop, where each had one.
    Loops that a pass has made anew, or renamed, are passed over."""
    old = functions_of(before)
    return any(
        type(counterpart := old.get(name.name_hint)) is PRIM_FUNC and _gives(counterpart, function)
        for name, function in prim_funcs(after)
    )


def _gives(before: PrimFunc, after: PrimFunc) -> bool:
    strayed = bool(_own(after.body)) and not _own(before.body)
    return strayed or bool((_owners(after) - _owners(before)) & _variables(before))


def _variables(function: PrimFunc) -> set[Var]:
    return {loop.loop_var for loop in nodes_of(function.body, tirx.For)}


def _owners(function: PrimFunc) -> set[Var]:
    """The variables of the loops that jumps belong to."""
    return {loop.loop_var for loop in nodes_of(function.body, tirx.For) if _own(loop.body)}


def _own(body: Stmt) -> int:
    """How many jumps leave a turn of the loop of this body itself."""
    inner = [loop for loop in nodes_of(body, _LOOPS) if not loop.same_as(body)]
    inner += [body] if isinstance(body, _LOOPS) else []
    return len(_jumps(body)) - sum(_own(loop.body) for loop in inner)


def _jumps(body: Stmt) -> list[Node]:
    return [call for call in nodes_of(body, T.Call) if getattr(call.op, "name", "").rpartition(".")[2] in _JUMPS]
