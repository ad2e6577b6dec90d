"""Functions to differentiate: operators with a gradient, and a scalar loss at the end.

relax.transform.Gradient takes one dataflow block, float tensors as parameters and a scalar float result
(src/relax/transform/gradient.cc, GradientMutator).
"""

from __future__ import annotations

from functools import cache

import tvm
from tvm import relax

from generators.operators.row import Operator
from generators.operators.table import OPERATORS
from generators.ranges import Range
from generators.relax.body import Statement
from generators.relax.scope import FLOAT, Drawn, Scope
from generators.relax.values import Value
from generators.source import weighted
from generators.unavailable import Unavailable

_OTHER_OPERANDS = frozenset({"relax.take", "relax.where", "relax.nn.nll_loss", "relax.nn.cross_entropy_with_logits"})
"""Operators with a gradient that also take operands which are no float tensors."""


@cache
def _rows() -> tuple[tuple[Operator, int], ...]:
    has_gradient = [
        row
        for name, row in OPERATORS.items()
        if name not in _OTHER_OPERANDS and tvm.ir.Op.get(name).get_attr("FPrimalGradient") is not None
    ]
    return tuple((row, row.weight) for row in has_gradient)


def draw_differentiable(s: Scope) -> None:
    """A call of a random operator that has a gradient."""
    row = weighted(s.source, _rows())
    s.frame.module.drawing = row.name
    s.emit(row.draw(s))
    s.frame.module.operators[row.name] += 1


def draw_loss(s: Scope) -> Value:
    """A scalar made of a float tensor of the dataflow block, by sum or mean; it becomes the frame's loss."""
    floats = [v for v in s.values if isinstance(v, Value) and v.dtype in FLOAT and v.static and v.size > 0]
    floats = [v for v in floats if isinstance(v.expr, relax.Var)]
    if not floats:
        raise Unavailable("nothing to make a loss of")
    x = s.source.pick(floats[-3:])
    if s.source.flip(s.knobs.results.loss_by_sum):
        drawn = Drawn(relax.op.sum(x.expr), x.range.summed(x.size))
    else:
        drawn = Drawn(relax.op.mean(x.expr), Range(x.range.low, x.range.high))
    loss = s.emit_tensor(drawn, exported=True)
    s.frame.loss = loss.expr
    return loss


DIFFERENTIABLE = (Statement("differentiable operator", 1, draw_differentiable),)
