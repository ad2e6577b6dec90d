"""The ranges that the float parameters of a function are drawn from, so that values flow through it as in a model.

A parameter that a sum of products meets with activations is a weight: with values of variance 1 over the number of
terms, what comes out varies as what goes in, and no softmax, sigmoid or normalisation after it saturates (LeCun et
al., Efficient BackProp, 1998, section 4.6). Everything else varies around zero by about
one; what has a domain of its own (the variance of a batch_norm) is drawn by `domains`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.operators.row import Operator, Rounding
from generators.operators.table import OPERATORS
from generators.ranges import Range
from oracles.ir.walk import operands
from oracles.reference.operators import plain

Path: TypeAlias = tuple[int, ...]
"""A tensor among the parameters: the number of the parameter, then fields of nested tuples."""
WIDTH = math.sqrt(3.0)
"""Half the width of a uniform distribution of variance 1."""
PLAIN = Range(-WIDTH, WIDTH)
_CARRIES = (Rounding.MOVE, Rounding.CAST)


def ranges_of(function: Any, extent: Callable[[Any], int]) -> dict[Path, Range]:
    """The ranges of the float tensors among the parameters that are not PLAIN.

    extent: the value of an extent under the values of symbols, or what it raises where that is unknown.
    """
    return _Ranges(function, extent).found()


class _Ranges:
    def __init__(self, function: Any, extent: Callable[[Any], int]) -> None:
        self._function = function
        self._extent = extent
        self._origin: dict[Any, Path] = {variable: (k,) for k, variable in enumerate(function.params)}
        self._ranges: dict[Path, Range] = {}

    def found(self) -> dict[Path, Range]:
        body = self._function.body
        for block in body.blocks if isinstance(body, relax.SeqExpr) else ():
            for binding in block.bindings:
                origin = self._of(binding.value)
                if origin is not None:
                    self._origin[binding.var] = origin
                if isinstance(binding.value, tvm_api.Call):
                    self._use(binding.value)
        return self._ranges

    def _of(self, expr: Any) -> Path | None:
        """The parameter whose elements an expression holds, none of them computed."""
        if isinstance(expr, tvm_api.TupleGetItem):
            whole = self._of(expr.tuple_value)
            return None if whole is None else (*whole, int(expr.index))
        if isinstance(expr, relax.Var):
            return self._origin.get(expr)
        row = _row_of(expr)
        if row is not None and row.rounding in _CARRIES and expr.args:
            return self._of(expr.args[0])
        return None

    def _use(self, call: Any) -> None:
        row = _row_of(call)
        if row is None:
            if isinstance(call.op, tvm_api.Op) and call.op.name == "relax.call_tir":
                self._use_in_prim_func(call)
            return
        if row.rounding is Rounding.RING and not row.elementwise and len(call.args) == 2:
            self._weight(row, call)

    def _weight(self, row: Operator, call: Any) -> None:
        """The right operand of a product of tensors, or the left one, is a weight where it is a parameter."""
        right, left = self._of(call.args[1]), self._of(call.args[0])
        weight = left if right is None else right
        terms = self._terms(row, call)
        if weight is not None and terms is not None:
            self._scale(weight, terms)

    def _terms(self, row: Operator, call: Any) -> int | None:
        shapes = [self._shape(argument) for argument in call.args]
        if row.terms is None or any(shape is None for shape in shapes):
            return None
        # Only extents are asked for: all elements of these arrays are one.
        arrays = [np.broadcast_to(np.float64(0), shape or ()) for shape in shapes]
        attributes = {name: plain(getattr(call.attrs, name)) for name in row.attributes}
        try:
            return int(row.terms(*arrays, **attributes))
        except (ValueError, IndexError, KeyError):
            return None  # a layout with split axes

    def _use_in_prim_func(self, call: Any) -> None:
        """A matrix or a kernel that a PrimFunc is given after its first operand may be a weight."""
        given = operands(call.args[1]) if isinstance(call.args[1], tvm_api.TupleExpr) else []
        for argument in given[1:]:
            origin, shape = self._of(argument), self._shape(argument)
            if origin is not None and shape is not None and len(shape) > 1 and min(shape) > 0:
                self._scale(origin, max(shape[0], math.prod(shape) // shape[0]))

    def _scale(self, path: Path, terms: int) -> None:
        self._ranges.setdefault(path, PLAIN.scaled(max(terms, 1) ** -0.5))

    def _shape(self, expr: Any) -> tuple[int, ...] | None:
        ty = tvm_api.type_of(expr)
        if not isinstance(ty, tvm_api.TensorType) or not isinstance(ty.shape, relax.ShapeExpr):
            return None
        try:
            return tuple(self._extent(value) for value in ty.shape.values)
        except ValueError:
            return None


def _row_of(expr: Any) -> Operator | None:
    called = isinstance(expr, tvm_api.Call) and isinstance(expr.op, tvm_api.Op)
    return OPERATORS.get(expr.op.name) if called else None
