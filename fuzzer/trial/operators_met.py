"""What a pass meets in a module: the operators of its Relax functions, and the kinds of nodes of its PrimFuncs.

Counted per pass for a share of the cases, since walking through PrimFuncs costs as much as a small pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import tvm
from tvm import tirx

from generators.tvm_api import IRModule, PrimFunc
from oracles.ir.cache import Cache
from oracles.ir.module_caches import by_module, by_relax_functions
from oracles.ir.operators import operator_calls
from oracles.ir.walk import nodes_of, prim_func_parts, prim_funcs

EVERY = 8
"""One case in so many is counted, by its index: so the counts do not follow the number of workers."""
FUNCTIONS = 256
"""PrimFuncs of which the kinds of nodes are remembered: most passes leave most of them alone."""


@dataclass(frozen=True, slots=True)
class Met:
    """operators: names, "relax.add". nodes: classes of nodes of TIR, "IfThenElse"."""

    operators: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()


def is_counted(index: int) -> bool:
    """Whether what passes meet is counted in the case of this index."""
    return index % EVERY == 0


def _operators(module: IRModule) -> frozenset[str]:
    return frozenset(str(call.op.name) for call, _ in operator_calls(module))


def _nodes(function: PrimFunc) -> frozenset[str]:
    return frozenset(type(node).__name__ for node in nodes_of(function.body, (tirx.Stmt, tvm.ir.Expr)))


_OPERATORS = by_relax_functions(_operators)
_NODES = Cache(_nodes, prim_func_parts, FUNCTIONS)


def _met(module: IRModule) -> Met:
    nodes = (_NODES.of(function) for _, function in prim_funcs(module))
    return Met(_OPERATORS.of(module), frozenset().union(*nodes))


MET = by_module(_met)
"""Of a module, as it was when it was asked about first."""
