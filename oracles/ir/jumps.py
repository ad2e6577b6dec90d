"""Jumps out of a turn of a loop, and the loop that each belongs to: the innermost around it."""

from __future__ import annotations

from tvm import tirx

from generators import tvm_api as T
from generators.tvm_api import IRModule, Node, PrimFunc, Stmt, Var
from oracles.ir.walk import PRIM_FUNC, functions_of, nodes_of, prim_funcs

_JUMPS = ("break_loop", "continue_loop")
_LOOPS = (tirx.For, tirx.While)


def gives_jumps_to_other_loops(before: IRModule, after: IRModule) -> bool:
    """Whether a jump of a PrimFunc belongs to a loop that had none, or to none, where each had its loop."""
    old = functions_of(before)
    return any(
        type(counterpart := old.get(name.name_hint)) is PRIM_FUNC and not _owners(function) <= _owners(counterpart)
        for name, function in prim_funcs(after)
    )


def _owners(function: PrimFunc) -> set[Var | None]:
    """The variables of the loops that jumps belong to; None for a `while`, and for no loop."""
    loops = nodes_of(function.body, _LOOPS)
    owners: set[Var | None] = {getattr(loop, "loop_var", None) for loop in loops if _own(loop.body)}
    return owners | {None} if _own(function.body) else owners


def _own(body: Stmt) -> int:
    """How many jumps leave a turn of the loop of this body itself."""
    inner = [loop for loop in nodes_of(body, _LOOPS) if not loop.same_as(body)]
    inner += [body] if isinstance(body, _LOOPS) else []
    return len(_jumps(body)) - sum(_own(loop.body) for loop in inner)


def _jumps(body: Stmt) -> list[Node]:
    return [call for call in nodes_of(body, T.Call) if getattr(call.op, "name", "").rpartition(".")[2] in _JUMPS]
