"""The ranges that the float parameters of a function are drawn from, so that values flow through it as in a model.

A parameter that a sum of products meets with activations is a weight: with values of variance 1 over the number of
terms, what comes out varies as what goes in, and no softmax, sigmoid or normalisation after it saturates (LeCun et
al., Efficient BackProp, 1998, section 4.6). Everything else varies around zero by about
one; what has a domain of its own (the variance of a batch_norm) is drawn by `domains`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from tvm import relax

from fuzzer.trial.subject.parameters import ParameterPath, Use, ValueOrigin, operator_of, uses
from generators import tvm_api
from generators.operators.row import Operator, Rounding
from generators.ranges import Range
from generators.tvm_api import Call, Expr, IRModule
from oracles.ir.walk import operands
from oracles.reference.operators import plain

ExtentValue: TypeAlias = Callable[[Expr], int]
"""The value of an extent under the values of symbols. Raises ValueError where that is unknown."""
WIDTH = math.sqrt(3.0)
"""Half the width of a uniform distribution of variance 1."""
PLAIN = Range(-WIDTH, WIDTH)


def ranges_of(module: IRModule, name: str, extent: ExtentValue) -> dict[ParameterPath, Range]:
    """The ranges of the float tensors among the parameters of a function that are not PLAIN."""
    ranges: dict[ParameterPath, Range] = {}
    for use in uses(module, name):
        for origin, terms in _weights(use, extent):
            ranges.setdefault(origin.path, PLAIN.scaled(max(terms, 1) ** -0.5))
    return ranges


def _weights(use: Use, extent: ExtentValue) -> Iterator[tuple[ValueOrigin, int]]:
    """The parameters that a call meets as weights, and the number of terms that each is summed with."""
    row = operator_of(use.call)
    if row is None:
        if use.call.op.name == "relax.call_tir":
            yield from _weights_of_prim_func(use, extent)
    elif row.rounding is Rounding.RING and not row.elementwise and len(use.call.args) == 2:
        # The right operand of a product of tensors, or the left one, is a weight where it is a parameter.
        left, right = map(use.origin, use.call.args)
        weight = left if right is None else right
        terms = _terms(row, use.call, extent)
        if weight is not None and terms is not None:
            yield weight, terms


def _terms(row: Operator, call: Call, extent: ExtentValue) -> int | None:
    shapes = [_shape(argument, extent) for argument in call.args]
    if row.terms is None or any(shape is None for shape in shapes):
        return None
    # Only extents are asked for: all elements of these arrays are one.
    arrays = [np.broadcast_to(np.float64(0), shape or ()) for shape in shapes]
    attributes = {name: plain(getattr(call.attrs, name)) for name in row.attributes}
    try:
        return int(row.terms(*arrays, **attributes))
    except (ValueError, IndexError, KeyError):
        return None  # a layout with split axes


def _weights_of_prim_func(use: Use, extent: ExtentValue) -> Iterator[tuple[ValueOrigin, int]]:
    """A matrix or a kernel that a PrimFunc is given after its first operand may be a weight."""
    given = use.call.args[1]
    for argument in operands(given)[1:] if isinstance(given, tvm_api.TupleExpr) else ():
        origin, shape = use.origin(argument), _shape(argument, extent)
        if origin is not None and shape is not None and len(shape) > 1 and min(shape) > 0:
            yield origin, max(shape[0], math.prod(shape) // shape[0])


def _shape(expr: Expr, extent: ExtentValue) -> tuple[int, ...] | None:
    ty = tvm_api.type_of(expr)
    if not isinstance(ty, tvm_api.TensorType) or not isinstance(ty.shape, relax.ShapeExpr):
        return None
    try:
        return tuple(extent(value) for value in ty.shape.values)
    except ValueError:
        return None
