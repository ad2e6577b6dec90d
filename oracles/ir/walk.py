"""Walking Relax functions: bindings with their surroundings, sub-expressions, variables of primitive expressions.

Plain recursion over TVM's objects. TVM's PyExprVisitor is avoided: it is slow and an error in it can end the process.
Oracles say what is right or wrong, not this file.

Two idioms of speed are used wherever the oracles read TVM's objects, and explained here only. `array[:]` reads an array
of TVM's as a list: to iterate over it takes twice as long. `type(x) is CALL` asks for the class of an object, where TVM
derives no class from it (tests/oracles/test_checkers.py checks that): isinstance would ask TVM's metaclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import tvm
from tvm import relax, tirx

from generators import tvm_api as T
from generators.tvm_api import BaseFunc, Binding, Expr, GlobalVar, IRModule, Node, PrimFunc, RelaxFunction, Stmt, Var
from oracles.ir.cache import CacheByAddress, Key, parts

CALL, VAR, OP = relax.Call, tvm.ir.Var, tvm.ir.Op
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


N = TypeVar("N")

EXPRESSIONS = 20_000
"""Expressions whose operands are remembered."""
MODULES = 100
"""Modules whose functions are remembered."""
_FUNCTIONS: CacheByAddress[Node, list[tuple[GlobalVar, BaseFunc]]] = CacheByAddress(
    lambda functions: list(functions.items()), MODULES
)


def named_functions(module: IRModule) -> list[tuple[GlobalVar, BaseFunc]]:
    """The (GlobalVar, function) pairs of a module; not to be changed.

    Remembered by the module's map. A pass that puts another function into the module in place gives it another map:
    TVM copies a map that is in use before it writes.
    """
    return _FUNCTIONS.of(module.functions)


def items(array: Sequence[N]) -> list[N]:
    """What an array of TVM's holds, or a list; not to be changed."""
    return array if isinstance(array, list) else T.items_of(array)


def parts_of(function: PrimFunc) -> list[Node | None]:
    """All that a PrimFunc is made of, immutable objects."""
    return [function.body, function.attrs, function.ret_type, *items(function.params)]


def prim_func_parts(function: PrimFunc) -> Key:
    """A key of caches, by the parts: passes that change nothing in a function give another object of the same parts."""
    return parts(parts_of(function))


def functions_of(module: IRModule) -> dict[str, BaseFunc]:
    """The functions of a module by name."""
    return {gvar.name_hint: function for gvar, function in named_functions(module)}


def relax_functions(module: IRModule) -> list[tuple[GlobalVar, RelaxFunction]]:
    """The (GlobalVar, relax.Function) pairs of a module, by name."""
    pairs = [(name, f) for name, f in named_functions(module) if type(f) is FUNCTION]
    return sorted(pairs, key=lambda pair: pair[0].name_hint)


def prim_funcs(module: IRModule) -> list[tuple[GlobalVar, PrimFunc]]:
    """The (GlobalVar, PrimFunc) pairs of a module, by name."""
    pairs = [(name, f) for name, f in named_functions(module) if type(f) is PRIM_FUNC]
    return sorted(pairs, key=lambda pair: pair[0].name_hint)


@dataclass(frozen=True, slots=True)
class Bound:
    """One binding: in a dataflow block or not, and the innermost Relax function around it."""

    binding: Binding
    value: Expr
    dataflow: bool
    function: RelaxFunction


def bindings(function: RelaxFunction) -> Iterator[Bound]:
    """Every binding of a Relax function in order of execution, inside If branches and local functions too."""
    yield from _of_sequence(function.body, function)


def _of_sequence(sequence: Expr, function: RelaxFunction) -> Iterator[Bound]:
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


_OPERANDS: dict[type, Callable[[Expr], tuple[Expr, ...]]] = {
    CALL: lambda call: (call.op, *call.args[:]),
    TUPLE: lambda whole: tuple(whole.fields[:]),
    TUPLE_GET_ITEM: lambda item: (item.tuple_value,),
    relax.If: lambda branching: (branching.cond,),
}
_READ: CacheByAddress[Expr, tuple[Expr, ...]] = CacheByAddress(lambda e: _OPERANDS[type(e)](e), EXPRESSIONS)


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The direct Relax sub-expressions of an expression, not those inside If branches, functions and sequences.

    Read once: several oracles ask for them, and modules before and after a pass share most expressions.
    """
    return _READ.of(expr) if type(expr) in _OPERANDS else ()


def prim_vars(expr: Expr) -> Iterator[Var]:
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
    elif kind in T.HELD_SCALARS:
        yield from prim_vars(expr.value)
    elif isinstance(expr, T.Call):
        for argument in expr.args:
            yield from prim_vars(argument)
    else:
        yield from tirx.analysis.undefined_vars(expr)


def nodes_of(body: Stmt | Expr, kinds: type[Node] | tuple[type[Node], ...]) -> list[Node]:
    """The nodes of these classes (one, or a tuple) in the body of a PrimFunc."""
    found: list[Node] = []
    T.visit(body, kinds, found.append)
    return found
