"""Calls that LLVM code of this TVM does not compute as documented: the exceptions of test_operators_llvm.py.

Here: the operators that no pipeline builds, and a rule per operator for single calls that TVM refuses to compile or
compiles to something else than its documentation says. Most have a case in corpus/cases. An operator that is not named
here is compared on every drawn call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tvm

from generators import tvm_api
from tests import operator_harness as harness
from tests.operator_harness import Sample

UNBUILDABLE = {
    "relax.ewise_fma": "LegalizeOps has no lowering of it (issue 17175)",
    "relax.nn.pixel_shuffle": "topi.nn of the released wheel does not export what the lowering calls",
    "relax.wrap_param": "no pipeline of TVM turns it into code",
}
"""Operator -> why no call of it can be compiled."""


def is_refused(sample: Sample) -> bool:
    """Whether this TVM refuses the sample's call, or compiles it to something else than documented."""
    rule = RULES.get(sample.row.name)
    return rule is not None and rule(sample)


def _attributes(sample: Sample) -> dict[str, Any]:
    return harness.attributes_of(sample.row, sample.call)


def _type(sample: Sample) -> str:
    """The type of the first operand as text."""
    return str(sample.call.args[0].ty)


def _is_empty(sample: Sample) -> bool:
    types = [t for a in sample.call.args for t in getattr(a.ty, "fields", [a.ty])]
    return any(int(n) == 0 for t in types for n in t.shape if isinstance(n, tvm.tirx.IntImm))


# --- shapes, axes, joining, splitting ----------------------------------------------------------------------


def _collapse_sum(sample: Sample) -> bool:
    return 0 in next(iter(sample.inputs.values()), np.zeros(1)).shape or "(0)" in _type(sample)


def _split(sample: Sample) -> bool:
    has = _attributes(sample)
    where, shape = has["indices_or_sections"], sample.call.args[0].ty.shape
    return isinstance(where, tuple) and (where[0] == 0 or where[-1] > int(shape[has["axis"]]))


# --- positions ---------------------------------------------------------------------------------------------


def _take(sample: Sample) -> bool:
    has = _attributes(sample)
    return has["axis"] is None and (has["mode"] == "nan" or tvm.ir.is_prim_expr(sample.call.args[1]))


def _scatter_elements(sample: Sample) -> bool:
    axis = _attributes(sample)["axis"]
    data, indices = (list(a.ty.shape) for a in sample.call.args[:2])
    del data[axis], indices[axis]
    return _is_empty(sample) or [str(n) for n in data] != [str(n) for n in indices]


def _strided_slice(sample: Sample) -> bool:
    data, axes = sample.call.args[:2]
    is_static = all(isinstance(n, tvm.tirx.IntImm) for n in data.ty.shape)
    return not is_static and any(int(a) < 0 for a in axes.fields)


# --- reductions, order, creation ---------------------------------------------------------------------------


def _arg_reduction(sample: Sample) -> bool:
    refused = any(text in _type(sample) for text in ("R.Tensor((), ", "bfloat16", "uint8"))
    return refused or _finds_nothing(sample)


def _finds_nothing(sample: Sample) -> bool:
    """Whether argmax looks at the least integers of a dtype alone, or argmin at the largest: TVM answers -1."""
    operand = np.asarray(sample.arguments[0])
    if operand.dtype.kind not in "iu":
        return False
    limits, axis = np.iinfo(operand.dtype), _attributes(sample)["axis"]
    of_most = sample.row.name == "relax.argmax"
    best = operand.max(axis=axis) if of_most else operand.min(axis=axis)
    return bool(np.any(best == (limits.min if of_most else limits.max)))


def _order(sample: Sample) -> bool:
    has = _attributes(sample)
    drops_keepdims = has.get("axis") is None and has.get("keepdims", False)
    is_long = "k" in has and has["k"] > int(sample.call.args[0].ty.shape[has["axis"]])
    return "bfloat16" in _type(sample) or drops_keepdims or is_long


def _of_nothing(sample: Sample) -> bool:
    operand = next((np.asarray(v) for v in sample.inputs.values() if not isinstance(v, tuple)), np.zeros(1))
    return operand.size == 0 or "(0" in _type(sample) or " 0" in _type(sample)


# --- neural networks and images ----------------------------------------------------------------------------


def _relays_layout(sample: Sample) -> bool:
    """The call asks for an output layout of its own, or for a window."""
    has = _attributes(sample)
    layout = has.get("layout", has.get("data_layout"))
    return has.get("out_layout", layout) != layout or has.get("window_size") is not None


def _norm_over_axes(sample: Sample) -> bool:
    """A switched-off operand; axes that are not ascending; and for rms_norm any but the last ones, or all."""
    has = _attributes(sample)
    if not (has.get("center", True) and has.get("scale", True)):
        return True
    rank = sample.call.args[0].ty.ndim
    axes = [a % rank for a in has["axes"]]
    if sample.row.name.endswith("rms_norm"):
        return axes != list(range(rank - len(axes), rank)) or len(axes) == rank
    return axes != sorted(axes)


def _norm_over_channels(sample: Sample) -> bool:
    has = _attributes(sample)
    return not (has["center"] and has["scale"]) or has["channel_axis"] < 0


def _conv_transpose(sample: Sample) -> bool:
    has = _attributes(sample)
    return has["data_layout"][:2] != "NC" or has["kernel_layout"][:2] != "IO" or _relays_layout(sample)


def _attention(sample: Sample) -> bool:
    half = _attributes(sample)["scale"] is not None and "float16" in _type(sample)
    return half or _relays_layout(sample)


def _all_class_non_max_suppression(sample: Sample) -> bool:
    """The limit of boxes is ignored where it is no constant; the ONNX format leaves the rest unwritten."""
    if not isinstance(sample.call.args[2], tvm_api.Constant):
        return True
    has = _attributes(sample)
    return has["output_format"] == "onnx" and int(sample.expected[1][0]) < len(sample.expected[0])


def _convolution(sample: Sample) -> bool:
    return _relays_layout(sample) or _attributes(sample)["data_layout"] == "NCWH"


def _resize3d(sample: Sample) -> bool:
    has = _attributes(sample)
    return bool(has["cubic_exclude"]) or has["out_dtype"] is not None


def _pool2d_backward(sample: Sample) -> bool:
    """Dilation is left as it is, and the result's layout is taken for that of the gradient."""
    return _relays_layout(sample) or set(_attributes(sample)["dilation"]) != {1}


def _along_axes(sample: Sample) -> Iterator[tuple[int, int, int]]:
    """Of both spatial axes: the place, the extent of the data, the number of windows."""
    has, (grad, data) = _attributes(sample), sample.arguments
    for i, axis in enumerate("HW"):
        yield i, data.shape[has["layout"].index(axis)], grad.shape[has["out_layout"].index(axis)]


def _max_pool2d_backward(sample: Sample) -> bool:
    """The lowering looks for a window at each multiple of the stride in the data, also where there is none any more: it
    reads past the ends of its buffers."""
    strides, padding = _attributes(sample)["strides"], _attributes(sample)["padding"]
    return _pool2d_backward(sample) or any(
        (n - 1 + padding[i]) // strides[i] >= windows for i, n, windows in _along_axes(sample)
    )


def _avg_pool2d_backward(sample: Sample) -> bool:
    """With padding counted, the lowering divides by the whole window where that reaches beyond the padding, too."""
    has = _attributes(sample)
    beyond = any(
        (windows - 1) * has["strides"][i] + has["pool_size"][i] > n + has["padding"][i] + has["padding"][2 + i]
        for i, n, windows in _along_axes(sample)
    )
    return _pool2d_backward(sample) or (beyond and has["count_include_pad"])


def _take_backward(sample: Sample) -> bool:
    """The lowering asserts that indices have rank 1, and takes an axis from the end for one after all others."""
    axis = _attributes(sample)["axis"]
    return sample.arguments[2].ndim != 1 or (axis is not None and axis < 0)


_POOLS = ("max", "avg", "adaptive_avg")
_NOT_OF_HALVES = ("sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atan2")
"""No intrinsic of LLVM computes them for float16."""
_NOT_OF_BFLOAT = ("isnan", "isinf", "isfinite", "power", "log_add_exp", "mod")
"""The lowering refuses bfloat16, or stores it into the uint16 buffer in its place."""
RULES: dict[str, Callable[[Sample], bool]] = {
    **{f"relax.{name}": lambda s: '"float16"' in _type(s) for name in _NOT_OF_HALVES},
    **{f"relax.{name}": lambda s: '"bfloat16"' in _type(s) for name in _NOT_OF_BFLOAT},
    "relax.concat": lambda s: _attributes(s)["axis"] is None,
    "relax.meshgrid": lambda s: len(s.call.args[0].ty.fields) == 1,
    "relax.repeat": lambda s: "R.Tensor((), " in _type(s),
    "relax.layout_transform": lambda s: "bool" in _type(s),
    "relax.collapse_sum_to": _collapse_sum,
    "relax.collapse_sum_like": _collapse_sum,
    "relax.split": _split,
    "relax.take": _take,
    "relax.scatter_elements": _scatter_elements,
    "relax.scatter_nd": _is_empty,
    "relax.index_put": _is_empty,
    "relax.strided_slice": _strided_slice,
    "relax.argmax": _arg_reduction,
    "relax.argmin": _arg_reduction,
    "relax.sort": _order,
    "relax.argsort": _order,
    "relax.topk": _order,
    "relax.median": _order,
    "relax.unique": lambda s: bool(harness.plain(s.call.args[3])),
    "relax.eye_like": lambda s: _attributes(s)["dtype"] is not None,
    "relax.one_hot": lambda s: bool(_attributes(s)["axis"] < -1),
    "relax.bucketize": _of_nothing,
    "relax.einsum": _of_nothing,
    "relax.nn.layer_norm": _norm_over_axes,
    "relax.nn.rms_norm": _norm_over_axes,
    "relax.nn.group_norm": _norm_over_channels,
    "relax.nn.instance_norm": _norm_over_channels,
    "relax.nn.batch_norm": lambda s: "float16" in _type(s) or _attributes(s)["axis"] < 0,
    "relax.nn.conv1d": _convolution,
    "relax.nn.conv2d": _convolution,
    "relax.nn.conv3d": _convolution,
    "relax.nn.conv1d_transpose": _conv_transpose,
    "relax.nn.conv2d_transpose": _conv_transpose,
    "relax.nn.conv3d_transpose": _conv_transpose,
    **{f"relax.nn.{kind}_pool{rank}d": _relays_layout for kind in _POOLS for rank in (1, 2, 3)},
    "relax.nn.adaptive_avg_pool1d": lambda s: _attributes(s)["output_size"] is None or _relays_layout(s),
    "relax.grad.max_pool2d_backward": _max_pool2d_backward,
    "relax.grad.avg_pool2d_backward": _avg_pool2d_backward,
    "relax.grad.take_backward": _take_backward,
    # The lowering reads the weight of a target that is no class, though it is ignored.
    "relax.grad.nll_loss_backward": lambda s: bool((s.arguments[2] < 0).any()),
    "relax.nn.attention": _attention,
    "relax.nn.attention_bias": _attention,
    "relax.image.grid_sample": lambda s: "float16" in _type(s),
    "relax.image.resize2d": lambda s: _attributes(s)["out_dtype"] is not None,
    "relax.image.resize3d": _resize3d,
    "relax.vision.roi_align": lambda s: "float16" in _type(s),
    "relax.vision.all_class_non_max_suppression": _all_class_non_max_suppression,
}
"""Operator -> whether a call of it is refused."""
