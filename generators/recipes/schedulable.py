"""Recipes of the shapes that dlight's schedule rules match: products with thin factors, reductions of rows,
normalisations, transposes.

Extents go beyond those of other recipes, so that some tiles are full.
"""

from __future__ import annotations

from collections.abc import Callable

from tvm import relax

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.values import Dim, Value
from generators.source import favour
from generators.tvm_api import Expr
from generators.unavailable import Unavailable

_LENGTHS = (4, 8, 16, 32, 64, 3, 7, 20, 33)


def _length(s: Scope, most: int = 64) -> int:
    """An extent, most often a power of two."""
    return s.source.pick([n for n in _LENGTHS if n <= most])


def _maybe_symbolic(s: Scope, most: int = 64, share: float = KNOBS.schedulable.symbolic_length) -> Dim:
    """The same, or with probability `share` a symbol of the function."""
    if s.source.flip(share):
        s.frame.symbolic = True
        return s.frame.draw_symbol(s.source)
    return _length(s, most)


def _epilogue(s: Scope, out: Value) -> Value:
    """Nothing, an activation, or a sum with a vector or a whole tensor: an epilogue that fuses."""
    kind = s.source.integer(0, 3)
    if kind == 1:
        return b.unary(s, out)
    if kind == 2 and out.dims:
        dims = [out.dims[-1]] if s.source.flip(KNOBS.schedulable.vector_added) else list(out.dims)
        return b.add(s, out, b.operand(s, dims, out.dtype))
    return out


def matrix_vector(s: Scope) -> None:
    """A matrix times a vector or a vector times a matrix, in batches too, with operators before and after that fuse."""
    dtype = b.float_dtype(s)
    k = _maybe_symbolic(s, 32, KNOBS.schedulable.symbolic_inner)
    n = _maybe_symbolic(s, 16)
    lead: list[Dim] = (
        [s.source.integer(2, 3)] if s.source.flip(KNOBS.schedulable.lead_dim) and isinstance(k, int) and k <= 8 else []
    )
    kind = s.source.pick((*("rows",) * KNOBS.schedulable.by_rows, "sum", "columns", "one row"))
    if kind == "rows":
        vector: list[Dim] = [*lead, k, 1] if lead or s.source.flip(KNOBS.schedulable.column_vector) else [k]
        out = b.matmul(s, _scaled(s, b.operand(s, [*lead, n, k], dtype)), b.operand(s, vector, dtype))
    elif kind == "sum":
        product = b.multiply(s, b.operand(s, [*lead, n, k], dtype), b.operand(s, [k], dtype))
        out = _summed(s, product, [-1], keep=s.source.flip(KNOBS.schedulable.sum_keepdims))
    else:
        vector = [*lead, 1, k] if lead or kind == "one row" else [k]
        out = b.matmul(s, b.operand(s, vector, dtype), _scaled(s, b.operand(s, [*lead, k, n], dtype)))
    b.finish(s, _epilogue(s, out))


def _scaled(s: Scope, matrix: Value) -> Value:
    """A matrix as it is, or computed: a rule inlines the computation into the product."""
    return b.unary(s, matrix) if s.source.flip(KNOBS.schedulable.factor_computed) else matrix


def _summed(s: Scope, x: Value, axes: list[int], *, keep: bool = False) -> Value:
    assert x.shape is not None
    count = 1
    for axis in axes:
        count *= max(x.shape[axis], 1)
    return b.call(s, relax.op.sum(x.expr, axes, keep), x.range.summed(count))


def low_batch_matrix_vector(s: Scope) -> None:
    """Few rows, a symbolic number of them, times a matrix as it is or transposed."""
    dtype = b.float_dtype(s)
    s.frame.symbolic = True
    rows: Dim = s.frame.draw_symbol(s.source)
    k, n = _length(s, 32), _length(s, 16)
    if k * n > s.knobs.max_elements:
        k = 8
    x = b.operand(s, [rows, k], dtype)
    if s.source.flip():
        out = b.matmul(s, x, b.operand(s, [k, n], dtype))
    else:
        w = b.operand(s, [n, k], dtype)
        values = (x.range * w.range).summed(k)
        out = b.call(s, relax.op.einsum([x.expr, w.expr], "ik,jk->ij"), values)
    b.finish(s, _epilogue(s, out))


def wide_matmul(s: Scope) -> None:
    """A product with no thin side, in some cases batched, with factors computed or transposed."""
    dtype = b.float_dtype(s)
    lead: list[Dim] = [2] if s.source.flip(KNOBS.schedulable.lead_dim) else []
    m, k, n = (_maybe_symbolic(s, 16) for _ in range(3))
    left = _scaled(s, b.operand(s, [*lead, m, k], dtype))
    if s.source.flip(KNOBS.schedulable.factor_transposed):
        turned = b.permuted(s, b.operand(s, [n, k], dtype), [1, 0])
        out = b.matmul(s, left, turned)
    else:
        out = b.matmul(s, left, _scaled(s, b.operand(s, [*lead, k, n], dtype)))
    b.finish(s, _epilogue(s, out))


_REDUCERS: tuple[Callable[..., Expr], ...] = (relax.op.max, relax.op.min)


def sum_of_rows(s: Scope) -> None:
    """A sum (15 % an extreme) over the last axes or the first ones, of computed values; the result is used."""
    rank = favour(s.source, 2, 3)
    dims: list[Dim] = [_maybe_symbolic(s, 16, KNOBS.schedulable.symbolic_rows) for _ in range(rank - 1)]
    dims.append(_length(s, 33 if rank == 2 else 8))
    x = b.operand(s, dims, b.float_dtype(s))
    if x.size is None or x.size == 0:
        raise Unavailable("nothing to add up")
    x = b.unary(s, x) if s.source.flip(KNOBS.schedulable.rows_computed) else x
    axes = favour(s.source, [-1], [0], *(([-2], [-2, -1]) if rank == 3 else ()))
    if s.source.flip(KNOBS.schedulable.summed):
        out = _summed(s, x, axes, keep=s.source.flip(KNOBS.shared.keepdims))
    else:
        out = b.call(s, s.source.pick(_REDUCERS)(x.expr, axes, s.source.flip(KNOBS.shared.keepdims)), x.range)
    if s.source.flip(KNOBS.schedulable.rows_added_back) and out.ndim == x.ndim:
        out = b.add(s, out, x)
    b.finish(s, _epilogue(s, out))


def normalised_rows(s: Scope) -> None:
    """Softmax and layer norm, and by hand: a row less its maximum, or its sum, or its mean."""
    kind = s.source.integer(0, 3)
    if kind == 0:
        out = b.as_tensor(b.row(s, "relax.nn.softmax", "relax.nn.log_softmax", "relax.nn.softmax"))
    elif kind == 1:
        out = b.as_tensor(b.row(s, "relax.nn.layer_norm", "relax.nn.instance_norm"))
    else:
        dims: list[Dim] = [_maybe_symbolic(s, 8, KNOBS.schedulable.symbolic_rows), _length(s, 33)]
        x = b.operand(s, dims, b.float_dtype(s))
        if kind == 2 or not x.size:
            out = b.call(s, relax.op.nn.softmax(x.expr, -1), Range(0, 1))
        else:
            out = b.call(s, relax.op.subtract(x.expr, _summed(s, x, [-1], keep=True).expr), x.range.summed(40))
    b.finish(s, out if s.source.flip() else _epilogue(s, out))


def rms_norm_rows(s: Scope) -> None:
    """rms_norm as its row draws it, or over the last axis with whole tiles of eight, most often of rank three."""
    if s.source.flip(KNOBS.schedulable.rms_norm_by_row):
        return b.finish(s, b.row(s, "relax.nn.rms_norm"))
    n = s.source.pick((8, 16, 32))
    dims: list[Dim] = [_maybe_symbolic(s, 8), n]
    dims = dims if s.source.flip(KNOBS.schedulable.rms_norm_rank_two) else [favour(s.source, 1, 2), *dims]
    dtype = s.source.pick(("float32", "float16"))
    x, w = b.operand(s, dims, dtype), b.operand(s, [n], dtype)
    out = b.call(s, relax.op.nn.rms_norm(x.expr, w.expr, [-1], 1e-5), Range(-6, 6) * w.range)
    return b.finish(s, out)


def transposed_matrix(s: Scope) -> None:
    """permute_dims of a matrix, of one that is computed, and a product or sum with the result."""
    dtype = b.float_dtype(s)
    m, n = _maybe_symbolic(s, 20), _maybe_symbolic(s, 16)
    x = b.operand(s, [m, n], dtype)
    x = b.unary(s, x) if s.source.flip(KNOBS.schedulable.matrix_computed) else x
    out = b.permuted(s, x, s.source.pick((None, [1, 0], [-1, -2])))
    b.finish(s, b.unary(s, out) if s.source.flip(KNOBS.schedulable.matrix_computed) else out)


RECIPES = (
    Recipe("matrix_vector", matrix_vector),
    Recipe("low_batch_matrix_vector", low_batch_matrix_vector),
    Recipe("wide_matmul", wide_matmul),
    Recipe("sum_of_rows", sum_of_rows),
    Recipe("normalised_rows", normalised_rows),
    Recipe("rms_norm_rows", rms_norm_rows),
    Recipe("transposed_matrix", transposed_matrix),
)
