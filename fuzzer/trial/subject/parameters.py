"""Follows the parameters of a Relax function to the operators that use them.

Followed: parameters and their fields, other names for them, operators that move or cast elements, branches, and calls
of other functions of the module. A value that is computed on its way is no parameter any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from generators.operators.row import Operator, Rounding
from generators.operators.table import OPERATORS
from generators.tvm_api import BaseFunc, Call, Expr, IRModule, RelaxFunction, Var
from oracles.ir.walk import CALL, FUNCTION, GLOBAL_VAR, OP, TUPLE_GET_ITEM, VAR, bindings, functions_of

ParameterPath: TypeAlias = tuple[int, ...]
"""A parameter by its number, then the fields of its tuple."""
_SAME_VALUES = frozenset({"relax.astype", "relax.wrap_param", "relax.stop_lift_params"})
_CARRIES = (Rounding.MOVE, Rounding.CAST)
_DEPTH = 8
"""How deep calls of functions are followed: recursion would not end."""


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """The parameter, or field of one, whose elements a value holds. moved: an operator has moved them, so that they
    are at other places, some of them or with another sign."""

    path: ParameterPath
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """A call of an operator, in the function or in one that it calls."""

    call: Call
    origins: Mapping[Var, ValueOrigin]

    def origin(self, expr: Expr) -> ValueOrigin | None:
        """Where an operand comes from; None for what is computed."""
        return _origin(expr, self.origins)


def uses(module: IRModule, name: str) -> Iterator[Use]:
    """The calls of operators that the function `name` makes, in order of execution; none where it is no Relax
    function of the module."""
    functions = functions_of(module)
    function = functions.get(name)
    if function is not None and type(function) is FUNCTION:
        yield from _uses(
            functions, function, [ValueOrigin((number,)) for number in range(len(function.params))], _DEPTH
        )


def operator_of(expr: Expr) -> Operator | None:
    """The row of the operator that an expression calls."""
    return OPERATORS.get(expr.op.name) if type(expr) is CALL and type(expr.op) is OP else None


def _uses(
    functions: Mapping[str, BaseFunc], function: RelaxFunction, given: Sequence[ValueOrigin | None], depth: int
) -> Iterator[Use]:
    pairs = zip(function.params, given, strict=False)
    origins = {parameter: origin for parameter, origin in pairs if origin is not None}
    for bound in bindings(function):
        origin = _origin(bound.value, origins)
        if origin is not None:
            origins[bound.binding.var] = origin
        if type(bound.value) is CALL:
            yield from _uses_of_call(functions, bound.value, origins, depth)


def _uses_of_call(
    functions: Mapping[str, BaseFunc], call: Call, origins: Mapping[Var, ValueOrigin], depth: int
) -> Iterator[Use]:
    if type(call.op) is OP:
        yield Use(call, origins)
    elif type(call.op) is GLOBAL_VAR and depth > 1:
        called = functions.get(call.op.name_hint)
        if called is not None and type(called) is FUNCTION:
            yield from _uses(functions, called, [_origin(argument, origins) for argument in call.args], depth - 1)


def _origin(expr: Expr, origins: Mapping[Var, ValueOrigin]) -> ValueOrigin | None:
    if isinstance(expr, VAR):
        return origins.get(expr)
    if type(expr) is TUPLE_GET_ITEM:
        whole = _origin(expr.tuple_value, origins)
        return None if whole is None else replace(whole, path=(*whole.path, int(expr.index)))
    if type(expr) is not CALL or type(expr.op) is not OP or not expr.args:
        return None
    if expr.op.name in _SAME_VALUES:
        return _origin(expr.args[0], origins)
    row = operator_of(expr)
    if row is None or row.rounding not in _CARRIES:
        return None
    before = _origin(expr.args[0], origins)
    return None if before is None else replace(before, moved=True)
