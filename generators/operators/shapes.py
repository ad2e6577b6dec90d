"""Operators between tensors and shapes: shape_of, size, shape_to_tensor, tensor_to_shape."""

from __future__ import annotations

import math

import numpy as np
from tvm.relax import op

from generators.dtypes import Array
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.ranges import Range, of_values
from generators.relax.scope import Drawn, Scope
from generators.relax.values import ShapeValue

EXTENTS = Range(0, 512, True)


def _draw_shape_of(s: Scope) -> Drawn:
    return Drawn(op.shape_of(s.any_tensor().expr), EXTENTS)


def _draw_size(s: Scope) -> Drawn:
    x = s.any_tensor()
    return Drawn(op.size(x.expr), of_values(x.size) if x.static else Range(0, s.knobs.max_elements, True), ())


def _draw_shape_to_tensor(s: Scope) -> Drawn:
    """Of a shape value in scope, or of a shape written with the dims of a tensor."""
    known = [v for v in s.values if isinstance(v, ShapeValue)]
    if known and s.source.flip(KNOBS.creation.shape_in_scope):
        shape = s.source.pick(known)
        return Drawn(op.shape_to_tensor(shape.expr), EXTENTS)
    x = s.tensor()
    return Drawn(op.shape_to_tensor(s.shape_expr(x.dims or ())), EXTENTS)


def _draw_tensor_to_shape(s: Scope) -> Drawn:
    x = s.tensor(("int64",), (1, 1), low=0, high=EXTENTS.high, static=True)
    return Drawn(op.tensor_to_shape(x.expr), EXTENTS)


def _size(x: Array) -> Array:
    return np.asarray(math.prod(x.shape), np.int64)


OPERATORS = (
    Operator("relax.shape_of", _draw_shape_of, np.shape, Rounding.EXACT, weight=3),
    Operator("relax.size", _draw_size, _size, Rounding.EXACT, weight=2),
    Operator("relax.shape_to_tensor", _draw_shape_to_tensor, lambda shape: np.array(shape, np.int64), Rounding.EXACT,
             weight=2),
    Operator("relax.tensor_to_shape", _draw_tensor_to_shape, lambda x: tuple(int(n) for n in x), Rounding.EXACT,
             weight=2, sized_by_values=True),
)  # fmt: skip
