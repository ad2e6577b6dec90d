"""Recipes around matmul: chains, transposed and summed operands, parallel products, takes, bias and activation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Scope
from generators.relax.values import Dim, Value
from generators.source import favour
from generators.tvm_api import Expr


def _matrix(s: Scope, dims: Sequence[Dim], dtype: str, *, weights: float = KNOBS.matmul.weight) -> Value:
    """A factor: with probability `weights` a weight, else any tensor with these dims."""
    return b.weight(s, dims, dtype) if s.frame.open and s.source.flip(weights) else b.operand(s, dims, dtype)


def _maybe_batched(s: Scope, lead: tuple[Dim, ...], dims: list[Dim]) -> list[Dim]:
    """The dims after the batch dims, after ones instead of them, or alone."""
    return s.source.pick(([*lead, *dims], dims, [*([1] * len(lead)), *dims]))


def matmul_chain(s: Scope) -> None:
    """x @ (a @ b) or (a @ b) @ x, thin in x so that the other order is cheaper; rank 1 and batches too."""
    dtype = b.float_dtype(s)
    lead, thin = b.batch(s), b.small(s, 2)
    k, n, p = (s.draw_dim(2) for _ in range(3))
    left = s.source.flip(KNOBS.matmul.product_on_the_right)
    vector = s.source.flip(KNOBS.matmul.vector)
    if left:
        x = _matrix(s, [k] if vector else [*lead, thin, k], dtype, weights=0)
        product = b.matmul(s, *_pair(s, [k, n], [n, p], lead, dtype))
        out = b.matmul(s, x, product)
    else:
        x = _matrix(s, [p] if vector else [*lead, p, thin], dtype, weights=0)
        product = b.matmul(s, *_pair(s, [k, n], [n, p], lead, dtype))
        out = b.matmul(s, product, x)
    b.finish(s, product, out) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, out)


def _pair(s: Scope, one: list[Dim], two: list[Dim], lead: tuple[Dim, ...], dtype: str) -> tuple[Value, Value]:
    """Two factors, the same one twice where that fits."""
    first = _matrix(s, _maybe_batched(s, lead, one), dtype)
    if one == two and s.source.flip(KNOBS.matmul.same_factor):
        return first, first
    return first, _matrix(s, _maybe_batched(s, lead, two), dtype)


def _axes(s: Scope, rank: int) -> tuple[list[int] | None, list[int]]:
    """How a permutation is written, and the permutation: absent, last two swapped, identity, negative, any."""
    swap = [*range(rank - 2), rank - 1, rank - 2]
    kind = favour(s.source, "swap", "absent", "identity", "negative", "any")
    if kind == "absent":
        return None, list(reversed(range(rank)))
    order = swap if kind in ("swap", "negative") else list(range(rank))
    if kind == "any":
        order = [a % rank for a in s.permutation(rank)]
    return ([a - rank for a in order] if kind == "negative" else order), order


def matmul_of_permuted_product(s: Scope) -> None:
    """x @ permute_dims(a @ b, axes) with every way of writing the axes."""
    dtype = b.float_dtype(s)
    lead, thin = b.batch(s), b.small(s, 2)
    n, k, p = (s.draw_dim(2) for _ in range(3))
    n = p if s.source.flip(KNOBS.matmul.square) else n
    product = b.matmul(s, _matrix(s, [*lead, n, k], dtype), _matrix(s, [*lead, k, p], dtype))
    assert product.dims is not None
    written, order = _axes(s, product.ndim)
    turned = b.permuted(s, product, written)
    dims = [product.dims[a] for a in order]
    if s.source.flip(KNOBS.matmul.permuted_on_the_right):
        out = b.matmul(s, b.operand(s, [*dims[:-2], thin, dims[-2]], dtype), turned)
    else:
        out = b.matmul(s, turned, b.operand(s, [*dims[:-2], dims[-1], thin], dtype))
    b.finish(s, turned, out)


def matmul_of_permuted_weights(s: Scope) -> None:
    """x @ permute_dims(a @ b) or x @ (permute_dims(a) @ permute_dims(b)), x with a batch that may be symbolic."""
    dtype = b.float_dtype(s)
    k, n, thin = (s.source.integer(2, 6) for _ in range(3))
    s.frame.symbolic = True
    batch: list[Dim] = [s.frame.draw_symbol(s.source)] if s.source.flip(KNOBS.matmul.batch_symbolic) else [2]
    x = b.operand(s, [*batch, s.source.integer(1, 2), k], dtype)
    swap = s.source.pick((None, [1, 0], [-1, 0]))
    if s.source.flip():
        product = b.matmul(s, _matrix(s, [n, thin], dtype), _matrix(s, [thin, k], dtype))
        rhs = b.permuted(s, product, swap)
    else:
        left = b.permuted(s, _matrix(s, [thin, k], dtype), swap)
        right = b.permuted(s, _matrix(s, [n, thin], dtype), swap)
        rhs = b.matmul(s, left, right)
    out = b.matmul(s, x, rhs)
    b.finish(s, rhs, out) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, out)


def matmul_of_sum(s: Scope) -> None:
    """x @ (a + b): the sum may be transposed; b is a whole matrix, a row, a scalar, or a itself."""
    dtype = b.float_dtype(s)
    lead, (m, k, n) = b.batch(s), (b.side(s) for _ in range(3))
    turned = s.source.flip(KNOBS.matmul.sum_transposed)
    inner: list[Dim] = [n, k] if turned else [k, n]
    one = b.operand(s, inner, dtype)
    two = one if s.source.flip(KNOBS.matmul.doubled) else b.operand(s, _narrowed(s, inner), dtype)
    total = b.add(s, one, two)
    rhs = b.permuted(s, total, s.source.pick((None, [1, 0], [-1, -2]))) if turned else total
    out = b.matmul(s, b.operand(s, [k] if s.source.flip(KNOBS.matmul.vector_rarely) else [*lead, m, k], dtype), rhs)
    b.finish(s, total, out)


def _narrowed(s: Scope, dims: list[Dim]) -> list[Dim]:
    """Dims that broadcast with `dims`: the same in 80 % of the cases."""
    if s.source.flip(KNOBS.matmul.summand_whole):
        return dims
    return s.source.pick(([1, dims[1]], [dims[0], 1], [dims[1]], [1], []))


def _branches(s: Scope) -> tuple[str, Value, list[Value]]:
    """One lhs and two to four products with different rhs."""
    dtype = b.float_dtype(s)
    lead, m, k = b.batch(s), b.side(s), b.side(s)
    x = b.variable(s, [k] if s.source.flip(KNOBS.parallel_matmul.shared_vector) else [*lead, m, k], dtype)
    own = s.source.flip(KNOBS.parallel_matmul.own_batch)
    products: list[Value] = []
    for index in range(s.source.integer(2, 4)):
        n = b.side(s) if index == 0 or s.source.flip(KNOBS.parallel_matmul.width_symbolic) else b.small(s)
        dims: list[Dim] = (
            [k] if s.source.flip(KNOBS.parallel_matmul.branch_vector) else [*lead, k, n] if own else [k, n]
        )
        products.append(b.matmul(s, x, b.variable(s, dims, dtype)))
    return dtype, x, products


def parallel_matmuls(s: Scope) -> None:
    """Several products with one lhs: equal and different widths, a batched rhs, rarely rank 1."""
    _, _, products = _branches(s)
    b.finish(s, *products)


def _activations(s: Scope) -> tuple[Callable[[Expr], Expr], float] | None:
    op = relax.op.nn
    return s.source.pick(
        (None, (op.relu, 0.0), (op.gelu, -1.0), (op.silu, -1.0), (op.gelu_tanh, -1.0)),
    )


def parallel_matmuls_with_bias(s: Scope) -> None:
    """The same, each with a bias of its own width and the same activation; one branch may lack either."""
    dtype, _, products = _branches(s)
    activation = _activations(s)
    ends: list[Value] = []
    for product in products:
        assert product.dims is not None
        value = product
        if not s.source.flip(KNOBS.parallel_matmul.branch_lacks):
            dims: list[Dim] = (
                [1] if s.source.flip(KNOBS.parallel_matmul.bias_scalar) or not product.dims else [product.dims[-1]]
            )
            value = b.add(s, product, b.variable(s, dims, dtype))
        if activation is not None and not s.source.flip(KNOBS.parallel_matmul.branch_lacks):
            build, low = activation
            value = b.call(s, build(value.expr), Range(low, max(value.range.high, 0)))
        ends.append(value)
    b.finish(s, *ends)


def matmul_of_take(s: Scope) -> None:
    """x @ take(w, i) along the last axis, or along the first of three; modes and indices beyond the ends."""
    dtype = b.float_dtype(s)
    k, n, table = b.side(s), b.small(s), b.small(s, 6)
    mode = s.source.pick(("fast", "wrap", "clip"))
    low, high = (-2 * table, 2 * table) if mode != "fast" else (0, table - 1)
    if s.source.flip(KNOBS.matmul.take_last_axis):
        w, index = b.operand(s, [k, table], dtype), s.tensor(("int32", "int64"), dims=(n,), low=low, high=high)
        taken = b.call(s, relax.op.take(w.expr, index.expr, favour(s.source, 1, -1), mode), w.range)
        out = b.matmul(
            s,
            b.operand(s, [k] if s.source.flip(KNOBS.matmul.vector_rarely) else [*b.batch(s), b.side(s), k], dtype),
            taken,
        )
    else:
        w, size = b.operand(s, [table, k, n], dtype), b.small(s)
        index = s.tensor(("int32", "int64"), dims=(size,), low=low, high=high)
        taken = b.call(s, relax.op.take(w.expr, index.expr, 0, mode), w.range)
        out = b.matmul(s, b.operand(s, [size, b.side(s), k], dtype), taken)
    b.finish(s, taken, out)


def concat_of_permutes(s: Scope) -> None:
    """concat of two to four permute_dims with the same axes, of which one may be written in another way."""
    dtype = b.float_dtype(s)
    rank = favour(s.source, 2, 1, 3, 4)
    dims = [b.small(s) for _ in range(rank)]
    written, order = _axes(s, rank) if rank > 1 else (s.source.pick((None, [0])), [0])
    join = s.source.integer(0, rank - 1)
    parts: list[Value] = []
    for _ in range(s.source.integer(2, 4)):
        own: list[Dim] = list(dims)
        own[order[join]] = b.small(s)
        spelled = order if s.source.flip(KNOBS.matmul.axes_otherwise) else written
        parts.append(b.permuted(s, b.operand(s, own, dtype), spelled))
    axis = None if rank == 1 and s.source.flip(KNOBS.matmul.concat_axis_absent) else s.source.pick((join, join - rank))
    b.finish(s, parts[0], b.concat(s, parts, axis))


def transpose_matmul(s: Scope) -> None:
    """x @ permute_dims(w): the axes absent or written out, batches, a vector, the transposed value used again."""
    dtype = b.float_dtype(s)
    lead, (m, k, n) = b.batch(s), (b.side(s) for _ in range(3))
    w = _matrix(s, _maybe_batched(s, lead, [n, k]), dtype)
    rank = w.ndim
    swap = [*range(rank - 2), rank - 1, rank - 2]
    axes = None if rank == 2 and s.source.flip() else swap
    if s.source.flip(KNOBS.matmul.axes_negative):
        axes = [a - rank for a in swap]
    again = s.source.flip(KNOBS.matmul.transposed_returned)
    turned = b.permuted(s, w, axes, exported=again)
    out = b.matmul(s, b.operand(s, [k] if s.source.flip(KNOBS.matmul.vector_rarely) else [*lead, m, k], dtype), turned)
    b.finish(s, turned, out) if again else b.finish(s, out)


def matmul_bias_relu(s: Scope) -> None:
    """relu(x @ w + bias); the product may be used again, and a second bias and ReLU may follow."""
    dtype = b.float_dtype(s)
    m, k, n = (b.side(s) for _ in range(3))
    x = b.operand(s, [*b.batch(s), m, k], dtype)
    product = b.matmul(s, x, _matrix(s, [k, n], dtype))
    bias = b.operand(s, favour(s.source, [n], [1, n], [1]), dtype)
    total = b.add(s, product, bias) if s.source.flip(KNOBS.matmul.bias_on_the_right) else b.add(s, bias, product)
    out = b.relu(s, total)
    if s.source.flip(KNOBS.matmul.relu_again):
        out = b.relu(s, b.add(s, out, bias))
    b.finish(s, product, total, out) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, out)


def permute_chain(s: Scope) -> None:
    """permute_dims of permute_dims: axes absent, identity, negative, inverse of each other."""
    x = b.tensor(s, (1, 4))
    first = s.permutation(x.ndim)
    y = b.permuted(s, x, None if s.source.flip(KNOBS.matmul.axes_absent) else first)
    inverse = [int(a) for a in np.argsort([a % x.ndim for a in first])]
    second = s.source.pick((None, inverse, s.permutation(x.ndim)))
    z = b.permuted(s, y, second)
    b.finish(s, y, z) if s.source.flip() else b.finish(s, z)


def take_out_of_range(s: Scope) -> None:
    """The same take under the two modes that define indices beyond the ends."""
    x = s.tensor(("float32", "int32"), (1, 3), static=True, nonempty=True)
    axis = s.axis(x)
    assert x.shape is not None
    length = x.shape[axis]
    index = np.arange(-length - 1, length + 2) if s.source.flip() else np.array([length, -1, 0])
    places = tvm_api.constant(index, s.source.pick(("int64", "int32")))
    outs = [b.call(s, relax.op.take(x.expr, places, axis, mode), x.range) for mode in ("wrap", "clip")]
    b.finish(s, *outs)


RECIPES = (
    Recipe("matmul_chain", matmul_chain),
    Recipe("matmul_of_permuted_product", matmul_of_permuted_product),
    Recipe("matmul_of_permuted_weights", matmul_of_permuted_weights),
    Recipe("matmul_of_sum", matmul_of_sum),
    Recipe("parallel_matmuls", parallel_matmuls),
    Recipe("parallel_matmuls_with_bias", parallel_matmuls_with_bias),
    Recipe("matmul_of_take", matmul_of_take),
    Recipe("concat_of_permutes", concat_of_permutes),
    Recipe("transpose_matmul", transpose_matmul, dataflow=True),
    Recipe("matmul_bias_relu", matmul_bias_relu),
    Recipe("permute_chain", permute_chain),
    Recipe("take_out_of_range", take_out_of_range),
)
