"""Products of tensors: matmul in every combination of ranks, einsum, outer.

Meaning: `relax.op.linear_algebra`, which defers to the array API's matmul and to Einstein's convention as NumPy
writes it. With `out_dtype`, operands are cast before they are multiplied (the legalisation in
`transform/legalize_ops/linear_algebra.py`), and their dtypes may differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tvm.relax import op

from generators.dtypes import Array, Scalar, is_float
from generators.operators.knobs import KNOBS
from generators.operators.row import Attributes, Operator, Rounding
from generators.ranges import Range
from generators.relax.scope import NUMERIC, Drawn, Scope
from generators.relax.values import Dim, Value, extent

WIDER = {
    "float32": ("float64", "float32", "float16"),
    "float16": ("float32", "float16"),
    "bfloat16": ("float32",),
    "float64": ("float64", "float32"),
    "int8": ("int32", "int16", "int64", "float32"),
    "uint8": ("int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int32", "int64"),
    "int64": ("int64",),
}
"""Result dtypes of a matmul by the left operand's dtype."""

MIXED = {"int8": ("uint8", "int8"), "uint8": ("int8", "uint8"), "float16": ("float32", "float16")}
"""Dtypes of the right operand where a result dtype is given; any other left dtype meets its own."""


def _contracted(a: Range, b: Range, count: int) -> Range:
    return (a * b).summed(count)


def _batch(s: Scope, dims: Sequence[Dim]) -> list[Dim]:
    """Batch dims that broadcast with `dims`: fewer, ones, or one more in front."""
    own = [1 if s.source.flip(KNOBS.shared.dim_of_one) else d for d in dims]
    if s.source.flip(KNOBS.products.fewer_batch_dims):
        own = own[s.source.integer(0, len(own)) :]
    if len(own) < 2 and s.source.flip(KNOBS.products.more_batch_dims):
        return [s.draw_extent(1), *([1] * (len(dims) - len(own))), *own]
    return own


def _partner(s: Scope, a: Value, dtypes: Sequence[str], left: bool) -> Value:
    """A tensor that `a` can be multiplied with, to stand on its right (or on its left)."""
    assert a.dims is not None
    inner = a.dims[-1] if left or a.ndim == 1 else a.dims[-2]
    position = -2 if left else -1
    if s.source.flip():
        ready = [
            v
            for v in s.values
            if isinstance(v, Value)
            and v.dims is not None
            and len(v.dims) == 2
            and v.dims[position] == inner
            and v.dtype in dtypes
        ]
        if ready:
            return s.source.pick(ready[-4:])
    if s.source.flip(KNOBS.products.vector):
        return s.tensor(dtypes, dims=(inner,))
    outer: Dim = a.dims[-1] if s.source.flip(KNOBS.products.square) else s.draw_extent()
    matrix = [inner, outer] if left else [outer, inner]
    return s.tensor(dtypes, dims=[*_batch(s, a.dims[:-2]), *matrix])


def _draw_matmul(s: Scope) -> Drawn:
    a = s.tensor(NUMERIC, (1, 5))
    assert a.dims is not None
    out = s.source.pick(WIDER[a.dtype]) if s.source.flip(KNOBS.products.wider_result) else None
    right = (
        MIXED.get(a.dtype, (a.dtype,))
        if out is not None and s.source.flip(KNOBS.products.mixed_operands)
        else (a.dtype,)
    )
    left = s.source.flip(KNOBS.products.drawn_on_the_left)
    b = _partner(s, a, right, left)
    first, second = (a, b) if left else (b, a)
    assert first.dims is not None
    values = _contracted(a.range, b.range, extent(first.dims[-1]))
    return Drawn(op.matmul(first.expr, second.expr, out_dtype=out), values)


def _matmul(a: Array, b: Array, out_dtype: str | None) -> Array | Scalar:
    if out_dtype is None:
        return np.matmul(a, b)
    carrier = np.float64 if is_float(out_dtype) else np.dtype(out_dtype)
    return np.matmul(a.astype(carrier), b.astype(carrier))


def _summed(a: Array, b: Array, **_: object) -> int:
    """One output element is a dot product along the last axis of the left operand."""
    return int(a.shape[-1])


EQUATIONS = (
    "ij,jk->ik",
    "ij,jk",
    "ij,kj->ik",
    "ji,jk->ik",
    "bij,bjk->bik",
    "bhqd,bhkd->bhqk",
    "ij,jk,kl->il",
    "ij->ji",
    "ij->i",
    "ij->",
    "abc->cab",
    "abcde->ecabd",
    "abhqd,abhkd->abhqk",
    "ij,ij->ij",
    "ij,ij->",
    "i,i->",
    "i,i",
    "i,j->ij",
    "i,j->ji",
    "ij,j->i",
    "i,ij->j",
    "ab,c->cab",
    "ba",
    "...ij,...jk->...ik",
    "...i->...",
)
"""Subscripts of drawn einsums: products, traces of contraction order, permutations, implicit output, ellipsis."""


def _draw_einsum(s: Scope) -> Drawn:
    subscripts = s.source.pick(EQUATIONS)
    terms, _, output = subscripts.partition("->")
    parts = terms.split(",")
    extra = s.draw_dims((0, 2)) if "..." in terms else ()
    known: dict[str, Dim] = {}
    operands: list[Value] = []
    for part in parts:
        letters = part.removeprefix("...")
        dtypes = (operands[0].dtype,) if operands else NUMERIC
        if not operands and not extra:
            operands.append(s.tensor(dtypes, (len(letters), len(letters))))
        else:
            dims = [known[c] if c in known else s.draw_extent() for c in letters]
            operands.append(s.tensor(dtypes, dims=[*extra, *dims]))
        tensor = operands[-1]
        assert tensor.dims is not None
        known.update(zip(letters, tensor.dims[len(extra) :], strict=True))
    if "->" not in subscripts:
        output = "".join(c for c in known if terms.count(c) == 1)
    values = operands[0].range
    for operand in operands[1:]:
        values = values * operand.range
    count = math.prod(extent(d) for c, d in known.items() if c not in output)
    return Drawn(op.einsum([o.expr for o in operands], subscripts), values.summed(count))


def _einsum(operands: tuple[Array, ...], subscripts: str) -> Array | Scalar:
    return np.einsum(subscripts, *operands)


def _draw_outer(s: Scope) -> Drawn:
    a = s.tensor(NUMERIC, (1, 1))
    b = s.tensor((a.dtype,), (1, 1))
    return Drawn(op.outer(a.expr, b.expr), a.range * b.range)


def _first_float(operands: Sequence[str | None], attributes: Attributes) -> str:
    named = next((d for d in operands if d is not None), None)
    return named or "float32"


OPERATORS = (
    Operator("relax.matmul", _draw_matmul, _matmul, Rounding.RING, ("out_dtype",), terms=_summed, weight=12),
    Operator("relax.einsum", _draw_einsum, _einsum, Rounding.RING, ("subscripts",), dtype_of=_first_float),
    Operator("relax.outer", _draw_outer, np.multiply.outer, Rounding.RING, weight=2),
)
