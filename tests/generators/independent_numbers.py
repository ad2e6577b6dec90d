"""Reductions, products, casts, orders and creation by Python's own arithmetic, sorting and statistics, SciPy and ONNX.

Each function has the signature of its row's meaning and raises `Beyond` for calls that the other implementation lacks.
"""

from __future__ import annotations

import bisect
import itertools
import math
import operator
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto
from scipy.signal import windows

from tests.generators.onnx_reference import Beyond, onnx

# --- along axes, one list at a time --------------------------------------------------------------------------------


def _lines(x: Any, axes: tuple[int, ...]) -> tuple[list[list[Any]], tuple[int, ...]]:
    """The elements of `x` along `axes` as lists, for every index of the other axes; and the shape of those."""
    kept = [a for a in range(x.ndim) if a not in axes]
    shape = tuple(x.shape[a] for a in kept)
    rows = x.transpose(*kept, *axes).reshape(math.prod(shape), math.prod(x.shape[a] for a in axes))
    return rows.tolist(), shape


def _reduced(x: Any, axis: Any, keepdims: bool, function: Callable[[list[Any]], Any]) -> Any:
    named = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = tuple(sorted(a % x.ndim for a in named))
    rows, shape = _lines(x, axes)
    out = np.array([function(row) for row in rows]).reshape(shape)
    return np.expand_dims(out, axes) if keepdims else out


def _reduction(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    return lambda x, *, axis, keepdims: _reduced(x, axis, keepdims, function)


def _sum(line: list[Any]) -> Any:
    return math.fsum(line) if line and isinstance(line[0], float) else sum(line)


def _lower_middle(line: list[Any]) -> int:
    return sorted(range(len(line)), key=line.__getitem__)[(len(line) - 1) // 2]


def _median(x: Any, *, axis: Any, keepdims: bool) -> Any:
    if axis is None:
        return _reduced(x, None, keepdims, statistics.median_low)
    values, places = statistics.median_low, _lower_middle
    return _reduced(x, axis, keepdims, values), _reduced(x, axis, keepdims, places)


def _first(choose: Callable[..., int]) -> Callable[..., Any]:
    return _reduction(lambda line: choose(range(len(line)), key=line.__getitem__))


def _along(x: Any, axis: int, function: Callable[[list[Any]], list[Any]]) -> Any:
    """Every line along `axis` replaced by a list that `function` gives."""
    rows, shape = _lines(x, (axis % x.ndim,))
    out = [function(row) for row in rows]
    length = len(out[0]) if out else len(function([0] * x.shape[axis]))
    return np.moveaxis(np.array(out, None if out else x.dtype).reshape(*shape, length), -1, axis)


def _ranked(line: list[Any], descending: bool) -> list[int]:
    return sorted(range(len(line)), key=line.__getitem__, reverse=descending)


def _sort(x: Any, *, axis: int, descending: bool) -> Any:
    return _along(x, axis, lambda line: sorted(line, reverse=descending))


def _argsort(x: Any, *, axis: int, descending: bool, dtype: str) -> Any:
    return _along(x, axis, lambda line: _ranked(line, descending))


def _topk(x: Any, *, k: int, axis: int, ret_type: str, largest: bool, dtype: str) -> Any:
    count = k if k >= 1 else x.shape[axis]
    places = _along(x, axis, lambda line: _ranked(line, largest)[:count])
    values = _along(x, axis, lambda line: sorted(line, reverse=largest)[:count])
    return (values, places) if ret_type == "both" else values if ret_type == "values" else places


def _scan(step: Callable[[Any, Any], Any], identity: int) -> Callable[..., Any]:
    def scan(x: Any, *, axis: int | None, dtype: str | None, exclusive: bool) -> Any:
        flat = x.reshape(-1) if axis is None else x

        def one(line: list[Any]) -> list[Any]:
            total = list(itertools.accumulate(line, step))
            return [identity, *total[:-1]] if exclusive else total

        return _along(flat.astype(np.int64) if flat.dtype == np.bool_ else flat, axis or 0, one)

    return scan


# --- search --------------------------------------------------------------------------------------------------------


def _bucketize(x: Any, boundaries: Any, *, out_int32: bool, right: bool) -> Any:
    find = bisect.bisect_right if right else bisect.bisect_left
    edges = boundaries.tolist()
    return np.array([find(edges, v) for v in x.reshape(-1).tolist()], np.int64).reshape(x.shape)


def _unique(x: Any, ordered: bool, first: bool, inverse: bool, counts: bool, axis: int | None = None) -> Any:
    """The keys of a dict, which are in the order of their first appearance, or these sorted."""
    along = axis if x.ndim else None
    rows = x.reshape(-1, 1) if along is None else np.moveaxis(x, along, 0).reshape(x.shape[along], -1)
    keys = [tuple(row) for row in rows.tolist()]
    distinct = sorted(set(keys)) if ordered else list(dict.fromkeys(keys))
    starts = [keys.index(key) for key in distinct]
    values = x.reshape(-1)[starts] if along is None else np.take(x, starts, along)
    others = (starts, [distinct.index(key) for key in keys], [keys.count(key) for key in distinct])
    wanted = [values, *(np.array(o) for o, on in zip(others, (first, inverse, counts), strict=True) if on)]
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _multinomial(weights: Any, sample: Any, rows: Any, *, dtype: str) -> Any:
    edges = [list(itertools.accumulate(line)) for line in weights.tolist()]
    pairs = zip(sample[:, 0].tolist(), rows[:, 0].tolist(), strict=True)
    return np.array([[bisect.bisect_right(edges[row], u)] for u, row in pairs])


# --- products ------------------------------------------------------------------------------------------------------


def _matmul(a: Any, b: Any, *, out_dtype: str | None) -> Any:
    """Rows times columns, in Python's numbers."""
    left, right = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (np.broadcast_to(t, (*batch, *t.shape[-2:])) for t in (left, right))
    out = [
        sum(map(operator.mul, row, column))
        for place in np.ndindex(*batch)
        for row in left[place].tolist()
        for column in right[place].T.tolist()
    ]
    inner = ([] if a.ndim == 1 else [a.shape[-2]]) + ([] if b.ndim == 1 else [b.shape[-1]])
    return np.array(out, None if out else a.dtype).reshape((*batch, *inner))


_EINSUM: dict[str, Callable[..., Any]] = {
    "ij,jk->ik": np.dot,
    "ij,jk": np.dot,
    "ij,kj->ik": np.inner,
    "ji,jk->ik": lambda a, b: np.dot(a.T, b),
    "bij,bjk->bik": np.matmul,
    "bhqd,bhkd->bhqk": lambda a, b: np.matmul(a, b.swapaxes(2, 3)),
    "ij,jk,kl->il": lambda a, b, c: np.dot(a, np.dot(b, c)),
    "ij->ji": np.transpose,
    "ij->i": lambda a: np.sum(a, 1),
    "ij->": np.sum,
    "abc->cab": lambda a: np.moveaxis(a, -1, 0),
    "abcde->ecabd": lambda a: np.transpose(a, (4, 2, 0, 1, 3)),
    "abhqd,abhkd->abhqk": lambda a, b: np.matmul(a, np.swapaxes(b, -1, -2)),
    "ij,ij->ij": np.multiply,
    "ij,ij->": np.vdot,
    "i,i->": np.dot,
    "i,i": np.dot,
    "i,j->ij": np.outer,
    "i,j->ji": lambda a, b: np.outer(b, a),
    "ij,j->i": np.dot,
    "i,ij->j": np.dot,
    "ab,c->cab": lambda a, b: np.multiply.outer(b, a),
    "ba": np.transpose,
    "...ij,...jk->...ik": np.matmul,
    "...i->...": lambda a: np.sum(a, -1),
}


def _einsum(operands: tuple[Any, ...], *, subscripts: str) -> Any:
    wide = [t if t.dtype.kind == "f" else t.astype(np.int64) for t in operands]
    return _EINSUM[subscripts](*wide)


def _outer(a: Any, b: Any) -> Any:
    return np.array([[p * q for q in b.tolist()] for p in a.tolist()]).reshape(a.size, b.size)


# --- casts ---------------------------------------------------------------------------------------------------------


def _cast(x: Any, *, dtype: str) -> Any:
    return onnx("Cast", x, to=TensorProto.DOUBLE if "float" in dtype else TensorProto.DataType.Value(dtype.upper()))


def _per_axis(x: Any, scale: Any, zero: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """Scale and zero point in the one shape and the dtype that ONNX wants."""
    limits = np.iinfo(dtype)
    if (zero != np.round(zero)).any() or zero.size and not (limits.min <= zero.min() and zero.max() <= limits.max):
        raise Beyond("ONNX wants a zero point of the quantised dtype")
    shape = np.broadcast_shapes(scale.shape, zero.shape)
    shape = () if x.ndim == 0 or shape == (1,) else shape
    return x, *(np.array(np.broadcast_to(t, shape) if shape else t.reshape(())) for t in (scale, zero.astype(dtype)))


def _quantize(x: Any, scale: Any, zero: Any, *, axis: int, out_dtype: str) -> Any:
    return onnx("QuantizeLinear", *_per_axis(x, scale, zero, np.dtype(out_dtype)), axis=axis)


def _dequantize(x: Any, scale: Any, zero: Any, *, axis: int, out_dtype: str) -> Any:
    if x.dtype.kind == "f":
        raise Beyond("ONNX dequantises integers")
    return onnx("DequantizeLinear", *_per_axis(x, scale, zero, x.dtype), axis=axis)


# --- creation ------------------------------------------------------------------------------------------------------


def _full(shape: tuple[int, ...], fill: Any, *, dtype: str | None) -> Any:
    value = fill if dtype is None else _cast(fill, dtype=dtype)
    return onnx("Expand", value, np.array(shape, np.int64))


def _constant(number: float) -> Callable[..., Any]:
    return lambda shape, *, dtype: onnx("Expand", np.array(number), np.array(shape, np.int64))


def _constant_like(number: float) -> Callable[..., Any]:
    return lambda x, *, dtype: onnx("Expand", np.array(number), np.array(x.shape, np.int64))


def _arange(start: Any, stop: Any, step: Any, *, dtype: str) -> Any:
    return onnx("Range", *(np.array(n, np.float64) for n in (start, stop, step)))


def _eye(rows: int, columns: int, k: int, *, dtype: str) -> Any:
    return onnx("EyeLike", np.zeros((rows, columns)), k=k)


def _hamming(size: int, periodic: bool, alpha: float, beta: float, *, dtype: str) -> Any:
    return windows.general_cosine(size, [alpha, beta], sym=not periodic)


def _one_hot(x: Any, on: Any, off: Any, *, depth: int, axis: int) -> Any:
    """ONNX counts negative indices from the end, and its evaluator takes all of them modulo the depth; topi compares
    each with the places, so that one that is none leaves all of them off."""
    places = x.astype(np.int64)
    hot = onnx("OneHot", places, np.array(depth), np.array([off, on]), axis=axis)
    is_place = np.expand_dims((places >= 0) & (places < depth), axis)
    return np.where(is_place, hot, np.array(off, hot.dtype))


INDEPENDENT: dict[str, Callable[..., Any]] = {
    "relax.sum": _reduction(_sum),
    "relax.prod": _reduction(math.prod),
    "relax.max": _reduction(max),
    "relax.min": _reduction(min),
    "relax.mean": _reduction(statistics.fmean),
    "relax.variance": _reduction(statistics.pvariance),
    "relax.std": _reduction(statistics.pstdev),
    "relax.median": _median,
    "relax.argmax": _first(max),
    "relax.argmin": _first(min),
    "relax.sort": _sort,
    "relax.argsort": _argsort,
    "relax.topk": _topk,
    "relax.cumsum": _scan(operator.add, 0),
    "relax.cumprod": _scan(operator.mul, 1),
    "relax.bucketize": _bucketize,
    "relax.unique": _unique,
    "relax.nonzero": lambda x: onnx("NonZero", x),
    "relax.multinomial_from_uniform": _multinomial,
    "relax.matmul": _matmul,
    "relax.einsum": _einsum,
    "relax.outer": _outer,
    "relax.astype": _cast,
    "relax.wrap_param": _cast,
    "relax.quantize": _quantize,
    "relax.dequantize": _dequantize,
    "relax.full": _full,
    "relax.full_like": lambda x, fill, *, dtype: _full(x.shape, fill, dtype=dtype or str(x.dtype)),
    "relax.ones": _constant(1.0),
    "relax.zeros": _constant(0.0),
    "relax.ones_like": _constant_like(1.0),
    "relax.zeros_like": _constant_like(0.0),
    "relax.arange": _arange,
    "relax.eye": _eye,
    "relax.eye_like": lambda x, k, *, dtype: onnx("EyeLike", np.zeros(x.shape), k=k),
    "relax.tril": lambda x, k: onnx("Trilu", x, np.array(k), upper=0),
    "relax.triu": lambda x, k: onnx("Trilu", x, np.array(k), upper=1),
    "relax.hamming_window": _hamming,
    "relax.one_hot": _one_hot,
}
"""By row: what an implementation from elsewhere gives for the arguments of the row's meaning."""
