"""Walking Relax functions: bindings with their surroundings, sub-expressions, variables of primitive expressions.

Plain recursion over TVM's objects. TVM's PyExprVisitor is avoided: it is slow and an error in it can end the process.
TVM's arrays are read by `[:]`, as a list: iterating over one takes twice as long. Its classes that nothing is derived
from (tests/oracles/test_checkers.py) are told by `type(x) is`: isinstance asks their metaclass.
What is right or wrong about what is found is said by the oracles, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from generators import tvm_api as T
from oracles.ir.memo import ByAddress, named_functions

CALL, VAR, OP = tvm.ir.Call, tvm.ir.Var, tvm.ir.Op
TUPLE, TUPLE_GET_ITEM = tvm.ir.Tuple, tvm.ir.TupleGetItem
GLOBAL_VAR = tvm.ir.GlobalVar
FUNCTION, PRIM_FUNC = relax.Function, tirx.PrimFunc

_PAIRS = (
    *(tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Mod, tirx.FloorDiv, tirx.FloorMod, tirx.Min, tirx.Max),
    *(tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE, tirx.And, tirx.Or),
)
_PRIM_OPERANDS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys(_PAIRS, ("a", "b")),
    tirx.Not: ("a",),
    tirx.Cast: ("value",),
    tirx.Select: ("condition", "true_value", "false_value"),
}
_ATOMS = frozenset({tirx.IntImm, tirx.FloatImm, tvm.ir.StringImm, OP, GLOBAL_VAR, relax.ExternFunc, T.Constant})


def functions_of(module: Any) -> dict[str, Any]:
    """The functions of a module by name."""
    return {gvar.name_hint: function for gvar, function in named_functions(module)}


def relax_functions(module: Any) -> list[tuple[Any, Any]]:
    """The (GlobalVar, relax.Function) pairs of a module, by name."""
    pairs = [(name, f) for name, f in named_functions(module) if type(f) is FUNCTION]
    return sorted(pairs, key=lambda pair: pair[0].name_hint)


def prim_funcs(module: Any) -> list[tuple[Any, Any]]:
    """The (GlobalVar, PrimFunc) pairs of a module, by name."""
    pairs = [(name, f) for name, f in named_functions(module) if type(f) is PRIM_FUNC]
    return sorted(pairs, key=lambda pair: pair[0].name_hint)


@dataclass(frozen=True, slots=True)
class Bound:
    """One binding: in a dataflow block or not, and the innermost Relax function around it."""

    binding: Any
    value: Any
    dataflow: bool
    function: Any


def bindings(function: Any) -> Iterator[Bound]:
    """Every binding of a Relax function in order of execution, inside If branches and local functions too."""
    yield from _of_sequence(function.body, function)


def _of_sequence(sequence: Any, function: Any) -> Iterator[Bound]:
    if type(sequence) is not relax.SeqExpr:
        return
    for block in sequence.blocks[:]:
        dataflow = type(block) is relax.DataflowBlock
        for binding in block.bindings[:]:
            value = binding.value
            yield Bound(binding, value, dataflow, function)
            if type(value) is FUNCTION:
                yield from _of_sequence(value.body, value)
            elif type(value) is relax.If:
                yield from _of_sequence(value.true_branch, function)
                yield from _of_sequence(value.false_branch, function)


_OPERANDS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    CALL: lambda call: (call.op, *call.args[:]),
    TUPLE: lambda whole: tuple(whole.fields[:]),
    TUPLE_GET_ITEM: lambda item: (item.tuple_value,),
    relax.If: lambda branching: (branching.cond,),
}
_READ = ByAddress[tuple[Any, ...]](lambda expr: _OPERANDS[type(expr)](expr))


def operands(expr: Any) -> tuple[Any, ...]:
    """The direct Relax sub-expressions of an expression, not those inside If branches, functions and sequences.

    Read once: several oracles ask, of a module and, as passes leave most expressions alone, of the next one.
    """
    return _READ.of(expr) if type(expr) in _OPERANDS else ()


def prim_vars(expr: Any) -> Iterator[Any]:
    """The variables that occur in a primitive expression (a dimension, an index), in order, with repetitions.

    Variables bound by a Let inside of the expression are not reported.
    """
    kind = type(expr)
    if kind in _ATOMS:
        return
    if isinstance(expr, VAR):
        yield expr
    elif kind in _PRIM_OPERANDS:
        for field in _PRIM_OPERANDS[kind]:
            yield from prim_vars(getattr(expr, field))
    elif kind is CALL:
        for argument in expr.args:
            yield from prim_vars(argument)
    else:
        yield from tirx.analysis.undefined_vars(expr)


def nodes_of(body: Any, kinds: Any) -> list[Any]:
    """The nodes of these classes (one, or a tuple) in the body of a PrimFunc."""
    found: list[Any] = []

    def seen(node: Any) -> Any:
        found.append(node)
        return node

    tvm_ffi.structural_map(body, (kinds, seen))
    return found
