"""Rows that move elements (axes, joining, indexing, scattering, slicing, shapes) by ONNX, and by NumPy in another way.

Each function has the signature of its row's meaning and raises `Beyond` for calls that the other implementation lacks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.generators.onnx_reference import Beyond, onnx


def _int64(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


# --- shapes and axes ---------------------------------------------------------------------------------------------


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    return onnx("Reshape", x, _int64(*shape), allowzero=1)


def _batch_flatten(x: Any) -> Any:
    if not x.size:
        raise Beyond("the reference of Flatten infers an extent, which an empty tensor does not tell")
    return onnx("Flatten", x, axis=1)


def _transpose(x: Any, *, axes: tuple[int, ...] | None) -> Any:
    return onnx("Transpose", x, perm=None if axes is None else [a % x.ndim for a in axes]) if x.ndim else x


def _squeeze(x: Any, *, axis: tuple[int, ...] | None) -> Any:
    named = [a for a in (range(x.ndim) if axis is None else axis) if x.shape[a] == 1]
    return onnx("Squeeze", x, _int64(*named)) if named else x


def _unsqueeze(x: Any, *, axis: tuple[int, ...]) -> Any:
    return onnx("Unsqueeze", x, _int64(*axis)) if axis else x


def _collapse_sum(x: Any, shape: tuple[int, ...]) -> Any:
    """Every element is added to the one that broadcasting would have copied to its place."""
    places = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), x.shape)
    sums = np.bincount(places.reshape(-1), x.reshape(-1).astype(np.float64), int(np.prod(shape)))
    return sums.reshape(shape).astype(x.dtype)


def _pixel_shuffle(x: Any, *, upscale_factor: int) -> Any:
    flat = x.reshape(-1, *x.shape[-3:])
    out = onnx("DepthToSpace", flat, blocksize=upscale_factor, mode="CRD")
    return out.reshape(*x.shape[:-3], *out.shape[-3:])


def _layout_transform(x: Any, *, index_map: Any, pad_value: Any) -> Any:
    """TVM's own evaluation of the map, index by index."""
    if x.size > 64:
        raise Beyond("one index at a time is slow")
    shape = [int(n) for n in index_map.map_shape(list(x.shape))]
    out = np.full(shape, 0 if pad_value is None else pad_value, x.dtype)
    for place in np.ndindex(*x.shape):
        out[tuple(int(i) for i in index_map.map_indices(list(place)))] = x[place]
    return out


# --- joining, splitting, repeating -------------------------------------------------------------------------------


def _stack(tensors: tuple[Any, ...], *, axis: int | None) -> Any:
    at = _int64(axis or 0)
    return onnx("Concat", *(onnx("Unsqueeze", t, at) for t in tensors), axis=axis or 0)


def _meshgrid(tensors: tuple[Any, ...], *, indexing: str | None) -> Any:
    swap = indexing == "xy" and len(tensors) > 1
    ordered = (tensors[1], tensors[0], *tensors[2:]) if swap else tensors
    points = list(itertools.product(*(t.tolist() for t in ordered)))
    columns = list(zip(*points, strict=True)) if points else [()] * len(tensors)
    shape, dtype = [t.size for t in ordered], tensors[0].dtype
    grids = [np.array(c, dtype).reshape(shape) for c in columns]
    return tuple((grids[1], grids[0], *grids[2:]) if swap else grids)


def _split(x: Any, *, indices_or_sections: Any, axis: int) -> Any:
    length, where = x.shape[axis], indices_or_sections
    if isinstance(where, int):
        step = -(-length // where)
        sizes = [max(0, min(step, length - step * i)) for i in range(where)]
    else:
        ends = [0, *where, length]
        sizes = [b - a for a, b in itertools.pairwise(ends)]
    if len(sizes) == 1 or min(sizes) < 0:
        raise Beyond("ONNX splits into several parts inside the axis")
    return onnx("Split", x, _int64(*sizes), outputs=len(sizes), axis=axis)


def _tile(x: Any, *, repeats: tuple[int, ...]) -> Any:
    rank = max(len(repeats), x.ndim)
    wide = x.reshape((1,) * (rank - x.ndim) + x.shape)
    return onnx("Tile", wide, _int64(*(1,) * (rank - len(repeats)), *repeats))


def _repeat(x: Any, *, repeats: int, axis: int | None) -> Any:
    flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    positions = [i for i in range(flat.shape[along]) for _ in range(repeats)]
    return onnx("Gather", flat, _int64(*positions), axis=along)


def _flip(x: Any, *, axis: int) -> Any:
    return onnx("Slice", x, _int64(-1), _int64(-(2**62)), _int64(axis), _int64(-1))


def _reverse_sequence(x: Any, lengths: Any, *, seq_axis: int, batch_axis: int) -> Any:
    ends = np.minimum(np.maximum(lengths, 1), x.shape[seq_axis]).astype(np.int64)
    rows = np.moveaxis(x, (batch_axis, seq_axis), (0, 1))
    return np.moveaxis(onnx("ReverseSequence", rows, ends, batch_axis=0, time_axis=1), (0, 1), (batch_axis, seq_axis))


# --- reading and writing at positions ----------------------------------------------------------------------------


def _take(x: Any, indices: Any, *, axis: int | None, mode: str) -> Any:
    along, where = 0 if axis is None else axis, np.asarray(indices).astype(np.int64)
    if mode in ("wrap", "clip"):
        return np.take(x, where, along, mode=mode)  # type: ignore[call-overload]
    return onnx("Gather", x, where, axis=along)


def _points(indices: Any) -> Any:
    """Index tensors that broadcast, as the last axis of one tensor."""
    tensors = indices if isinstance(indices, tuple) else (indices,)
    return np.stack(np.broadcast_arrays(*tensors), -1).astype(np.int64)


def _gather_elements(x: Any, indices: Any, *, axis: int) -> Any:
    along = axis % x.ndim
    if any(a != b for i, (a, b) in enumerate(zip(x.shape, indices.shape, strict=True)) if i != along):
        raise Beyond("the reference of GatherElements wants equal extents off the axis, which the standard does not")
    return onnx("GatherElements", x, indices.astype(np.int64), axis=along)


def _gather_nd(x: Any, indices: Any, *, batch_dims: int) -> Any:
    if indices.size == 0:
        raise Beyond("the reference of GatherND stacks its results and so needs one")
    return onnx("GatherND", x, indices, batch_dims=batch_dims)


def _index_tensor(x: Any, indices: Any) -> Any:
    return _gather_nd(x, _points(indices), batch_dims=0)


def _mode(reduction: str) -> str:
    if reduction == "mean":
        raise Beyond("a mean of the old and the new element is TVM's own")
    return "none" if reduction == "update" else reduction


def _scatter_elements(data: Any, indices: Any, updates: Any, *, axis: int, reduction: str) -> Any:
    return onnx("ScatterElements", data, indices.astype(np.int64), updates, axis=axis, reduction=_mode(reduction))


def _scatter_nd(data: Any, indices: Any, updates: Any, *, reduction: str) -> Any:
    return onnx("ScatterND", data, indices.astype(np.int64), updates, reduction=_mode(reduction))


def _index_put(data: Any, indices: Any, values: Any, *, accumulate: bool) -> Any:
    return onnx("ScatterND", data, _points(indices), values, reduction="add" if accumulate else "none")


def _slice_scatter(data: Any, source: Any, start: int, end: int, step: int, *, axis: int) -> Any:
    places = np.moveaxis(np.broadcast_to(np.arange(start, end, step), np.moveaxis(source, axis, -1).shape), -1, axis)
    return onnx("ScatterElements", data, places, source, axis=axis)


def _slice(x: Any, axes: Any, begin: Any, end: Any, strides: Any = None, *, assume_inbound: bool = False) -> Any:
    steps = strides or (1,) * len(axes)
    return onnx("Slice", x, *(_int64(*(int(n) for n in numbers)) for numbers in (begin, end, axes, steps)))


def _dynamic_slice(x: Any, begin: Any, end: Any, strides: Any) -> Any:
    return onnx("Slice", x, begin, end, _int64(*range(x.ndim)), strides)


INDEPENDENT: dict[str, Callable[..., Any]] = {
    "relax.reshape": _reshape,
    "relax.flatten": lambda x: onnx("Reshape", x, _int64(-1)) if x.size else x.reshape(-1),
    "relax.nn.batch_flatten": _batch_flatten,
    "relax.permute_dims": _transpose,
    "relax.expand_dims": _unsqueeze,
    "relax.squeeze": _squeeze,
    "relax.broadcast_to": lambda x, shape: onnx("Expand", x, _int64(*shape)),
    "relax.collapse_sum_to": _collapse_sum,
    "relax.collapse_sum_like": lambda x, like: _collapse_sum(x, like.shape),
    "relax.nn.pixel_shuffle": _pixel_shuffle,
    "relax.layout_transform": _layout_transform,
    "relax.concat": lambda tensors, *, axis: onnx("Concat", *tensors, axis=axis or 0),
    "relax.stack": _stack,
    "relax.meshgrid": _meshgrid,
    "relax.split": _split,
    "relax.tile": _tile,
    "relax.repeat": _repeat,
    "relax.flip": _flip,
    "relax.reverse_sequence": _reverse_sequence,
    "relax.take": _take,
    "relax.gather_elements": _gather_elements,
    "relax.gather_nd": _gather_nd,
    "relax.index_tensor": _index_tensor,
    "relax.scatter_elements": _scatter_elements,
    "relax.scatter_nd": _scatter_nd,
    "relax.index_put": _index_put,
    "relax.slice_scatter": _slice_scatter,
    "relax.strided_slice": _slice,
    "relax.dynamic_strided_slice": _dynamic_slice,
    "relax.shape_of": lambda x: tuple(onnx("Shape", x).tolist()),
    "relax.size": lambda x: onnx("Size", x),
    "relax.shape_to_tensor": lambda shape: onnx("Shape", np.broadcast_to(np.float64(0), shape)),
}
"""By row: what an implementation from elsewhere gives for the arguments of the row's meaning."""
