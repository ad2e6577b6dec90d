"""Convolution, pooling, normalisation, attention, losses and padding by ONNX.

Each function has the signature of its row's meaning and raises `Beyond` for calls that the other implementation lacks.
Integers are handed over as float64, which holds their sums exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.generators.onnx_reference import Beyond, onnx

AXES = {1: "W", 2: "HW", 3: "DHW"}


def reordered(array: Any, source: str, target: str) -> Any:
    """An array whose axes are named by the letters of `source`, with them in the order `target`."""
    return np.transpose(array, [source.index(letter) for letter in target])


# --- convolution and pooling ---------------------------------------------------------------------------------------


def _convolution(
    data: Any, weight: Any, *, strides: Any, padding: Any, dilation: Any, groups: int, data_layout: str,
    kernel_layout: str, out_layout: str, out_dtype: str | None,
) -> Any:  # fmt: skip
    axes = AXES[len(strides)]
    x = reordered(data, data_layout, "NC" + axes).astype(np.float64)
    w = reordered(weight, kernel_layout, "OI" + axes).astype(np.float64)
    out = onnx("Conv", x, w, strides=strides, pads=padding, dilations=dilation, group=groups)
    return reordered(out, "NC" + axes, out_layout)


def _transposed(
    data: Any, weight: Any, *, strides: Any, padding: Any, output_padding: Any, dilation: Any, groups: int,
    data_layout: str, kernel_layout: str, out_layout: str, out_dtype: str | None,
) -> Any:  # fmt: skip
    """Group by group, since ONNX's reference takes no groups here."""
    axes = AXES[len(strides)]
    x = np.split(reordered(data, data_layout, "NC" + axes).astype(np.float64), groups, axis=1)
    w = np.split(reordered(weight, kernel_layout, "IO" + axes).astype(np.float64), groups)
    shared = {"strides": strides, "pads": padding, "dilations": dilation, "output_padding": output_padding}
    parts = [onnx("ConvTranspose", a, b, **shared) for a, b in zip(x, w, strict=True)]
    return reordered(np.concatenate(parts, 1), "NC" + axes, out_layout)


def _max_pool(
    data: Any, *, pool_size: Any, strides: Any, padding: Any, dilation: Any, ceil_mode: bool, count_include_pad: bool,
    layout: str, out_layout: str,
) -> Any:  # fmt: skip
    if set(strides) == set(dilation) == {1} and any(padding):
        raise Beyond("the reference of MaxPool forgets the padding where strides and dilations are 1")
    canonical = "NC" + AXES[len(pool_size)]
    out = onnx(
        "MaxPool", reordered(data, layout, canonical).astype(np.float64), kernel_shape=pool_size, strides=strides,
        pads=padding, dilations=dilation, ceil_mode=int(ceil_mode),
    )  # fmt: skip
    return reordered(out, canonical, out_layout)


def _avg_pool(
    data: Any, *, pool_size: Any, strides: Any, padding: Any, dilation: Any, ceil_mode: bool, count_include_pad: bool,
    layout: str, out_layout: str,
) -> Any:  # fmt: skip
    canonical, n = "NC" + AXES[len(pool_size)], len(pool_size)
    x = reordered(data, layout, canonical)
    for size, kernel, step, head, tail, apart in zip(
        x.shape[2:], pool_size, strides, padding[:n], padding[n:], dilation, strict=True
    ):
        if ceil_mode and (size + head + tail - (kernel - 1) * apart - 1) % step:
            raise Beyond("the reference of AveragePool moves windows forward to make room for a partial one")
    out = onnx(
        "AveragePool", x, kernel_shape=pool_size, strides=strides, pads=padding, dilations=dilation,
        ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad),
    )  # fmt: skip
    return reordered(out, canonical, out_layout)


def _adaptive(data: Any, *, output_size: Any, layout: str, out_layout: str) -> Any:
    """Where the bins are of one size, they are the windows of an average pooling."""
    canonical = "NC" + AXES[len(layout) - 2]
    x = reordered(data, layout, canonical)
    size = output_size or x.shape[2:]
    if any(n % m for n, m in zip(x.shape[2:], size, strict=True)):
        raise Beyond("ONNX has no bins of different sizes")
    window = [n // m for n, m in zip(x.shape[2:], size, strict=True)]
    return reordered(onnx("AveragePool", x, kernel_shape=window, strides=window), canonical, out_layout)


# --- normalisation -------------------------------------------------------------------------------------------------


def _switched(gamma: Any, beta: Any, center: bool, scale: bool) -> tuple[Any, Any]:
    return gamma if scale else np.ones_like(gamma), beta if center else np.zeros_like(beta)


def _batch_norm(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, *, axis: int, epsilon: float, center: bool, scale: bool,
    momentum: float, training: bool,
) -> Any:  # fmt: skip
    channels = np.moveaxis(x, axis, 1) if x.ndim > 1 else x[None]
    operands = (channels, *_switched(gamma, beta, center, scale), mean, variance)
    if training:  # here `momentum` is the share of the old statistics
        out, mean, variance = onnx(
            "BatchNormalization", *operands, outputs=3, epsilon=epsilon, momentum=1 - momentum, training_mode=1
        )
    else:
        out = onnx("BatchNormalization", *operands, epsilon=epsilon)
    return np.moveaxis(out, 1, axis) if x.ndim > 1 else out[0], mean, variance


def _last(x: Any, axes: Sequence[int]) -> tuple[Any, list[int]]:
    """The array with `axes` moved to the end in their order, and where they are there."""
    ends = list(range(-len(axes), 0))
    return np.moveaxis(x, axes, ends), ends


def _layer_norm(
    x: Any, gamma: Any, beta: Any, *, axes: tuple[int, ...], epsilon: float, center: bool, scale: bool
) -> Any:
    turned, ends = _last(x, axes)
    out = onnx("LayerNormalization", turned, *_switched(gamma, beta, center, scale), axis=-len(axes), epsilon=epsilon)
    return np.moveaxis(out, ends, axes)


def _rms_norm(x: Any, weight: Any, *, axes: tuple[int, ...], epsilon: float) -> Any:
    turned, ends = _last(x, axes)
    out = onnx("RMSNormalization", turned, weight, axis=-len(axes), epsilon=epsilon)
    return np.moveaxis(out, ends, axes)


def _images(x: Any, channel: int, axes: Sequence[int]) -> tuple[Any, Callable[[Any], Any]]:
    """`x` as (images, channels, elements to normalise over), and the way back."""
    named = [channel % x.ndim, *(a % x.ndim for a in axes)]
    order = [a for a in range(x.ndim) if a not in named] + named
    turned = x.transpose(order)
    outer = x.ndim - len(named)
    flat = turned.reshape(math.prod(turned.shape[:outer]), turned.shape[outer], -1)
    return flat, lambda out: out.reshape(turned.shape).transpose(np.argsort(order))


def _group_norm(
    x: Any, gamma: Any, beta: Any, *, num_groups: int, channel_axis: int, axes: tuple[int, ...], epsilon: float,
    center: bool, scale: bool,
) -> Any:  # fmt: skip
    images, back = _images(x, channel_axis, axes)
    operands = _switched(gamma, beta, center, scale)
    return back(onnx("GroupNormalization", images, *operands, num_groups=num_groups, epsilon=epsilon))


def _instance_norm(
    x: Any, gamma: Any, beta: Any, *, channel_axis: int, axes: tuple[int, ...], epsilon: float, center: bool,
    scale: bool,
) -> Any:  # fmt: skip
    images, back = _images(x, channel_axis, axes)
    operands = _switched(gamma, beta, center, scale)
    return back(onnx("InstanceNormalization", images, *operands, epsilon=epsilon))


# --- attention, losses, padding ------------------------------------------------------------------------------------


def _attention(
    query: Any, key: Any, value: Any, bias: Any = None, *, scale: float | None, causal_mask: str | None,
    window_size: int | None,
) -> Any:  # fmt: skip
    if window_size is not None:
        raise Beyond("the reference of Attention has no window")
    rows, columns = query.shape[1], key.shape[1]
    if causal_mask == "BottomRight":
        seen = np.where(np.tri(rows, columns, abs(columns - rows), dtype=np.bool_), 0.0, -np.inf)
        bias = seen if bias is None else bias + seen
    heads_first = [t.swapaxes(1, 2) for t in (query, key, value)]
    if bias is not None:  # one row for all queries would be masked as the first query is
        bias = np.broadcast_to(bias, (len(query), query.shape[2], rows, columns))
    out = onnx("Attention", *heads_first, bias, scale=scale, is_causal=int(causal_mask == "TopLeft"))
    return out.swapaxes(1, 2)


def _cross_entropy(x: Any, y: Any) -> Any:
    return -math.fsum((x * y).reshape(-1).tolist()) / (len(x) if x.ndim > 1 else 1)


def _nll_loss(predictions: Any, targets: Any, weights: Any = None, *, reduction: str, ignore_index: int) -> Any:
    alone = predictions.ndim == 1
    x, y = (predictions[None], targets[None]) if alone else (predictions, targets)
    out = onnx("NegativeLogLikelihoodLoss", x, y, weights, reduction=reduction, ignore_index=ignore_index)
    return out[0] if alone and reduction == "none" else out


def _pad(x: Any, *, pad_width: tuple[int, ...], pad_mode: str, pad_value: float) -> Any:
    widths = np.array([*pad_width[::2], *pad_width[1::2]], np.int64)
    mode = {"replicate": "edge", "circular": "wrap"}.get(pad_mode, pad_mode)
    return onnx("Pad", x, widths, x.dtype.type(pad_value) if mode == "constant" else None, mode=mode)


# --- gradients -----------------------------------------------------------------------------------------------------


def _taken_back(output_grad: Any, x: Any, indices: Any, *, axis: int | None) -> Any:
    """A product with the matrix of ones at the indices, which ONNX makes."""
    place = (axis or 0) % x.ndim
    ones = onnx("OneHot", indices.reshape(-1), np.int64(x.shape[place]), np.array([0.0, 1.0]))
    rest = [x.shape[a] for a in range(x.ndim) if a != place]
    rows = np.moveaxis(output_grad.reshape(*x.shape[:place], indices.size, *x.shape[place + 1 :]), place, 0)
    product = onnx("MatMul", ones.T, rows.reshape(indices.size, math.prod(rest)))
    return np.moveaxis(product.reshape(x.shape[place], *rest), 0, place)


def _nll_loss_backward(
    grad: Any, predictions: Any, targets: Any, weights: Any = None, *, reduction: str, ignore_index: int
) -> Any:
    """The loss is linear in the predictions: its losses at 1 for one class and 0 for the others are the derivatives."""
    alone = predictions.ndim == 1
    x, y = (predictions[None], targets[None]) if alone else (predictions, targets)

    def losses(at: Any) -> Any:
        return onnx("NegativeLogLikelihoodLoss", at, y, weights, reduction="none", ignore_index=ignore_index)

    if reduction == "mean":
        grad = grad / -losses(np.ones_like(x)).sum()
    parts = []
    for c in range(x.shape[1]):
        one = np.zeros_like(x)
        one[:, c] = 1
        parts.append(losses(one) * grad)
    out = np.stack(parts, 1)
    return out[0] if alone else out


def _max_pool2d_backward(grad: Any, data: Any, *, padding: Any, layout: str, out_layout: str, **has: Any) -> Any:
    """ONNX's MaxPool gives the positions of the largest elements in padded data."""
    if set(has["strides"]) == set(has["dilation"]) == {1}:
        raise Beyond("the reference of MaxPool counts positions otherwise where strides and dilations are 1")
    x, g = reordered(data, layout, "NCHW"), reordered(grad, out_layout, "NCHW")
    if any(padding) or has["ceil_mode"]:
        low = np.full((2,), 0)
        after = [has["strides"][i] * has["ceil_mode"] + padding[2 + i] for i in range(2)]
        widths = np.array([*low, *padding[:2], *low, *after], np.int64)
        padded = onnx("Pad", x, widths, np.float64(-1e30), mode="constant")
    else:
        padded = x
    _, where = onnx(
        "MaxPool", padded, outputs=2, kernel_shape=has["pool_size"], strides=has["strides"], dilations=has["dilation"]
    )
    where = where[:, :, : g.shape[2], : g.shape[3]] % math.prod(padded.shape[2:])
    images = math.prod(x.shape[:2])
    flat = onnx(
        "ScatterElements", np.zeros((images, math.prod(padded.shape[2:]))), where.reshape(images, -1),
        g.reshape(images, -1), axis=1, reduction="add",
    )  # fmt: skip
    top, left = padding[:2]
    inner = flat.reshape(padded.shape)[:, :, top : top + x.shape[2], left : left + x.shape[3]]
    return reordered(inner, "NCHW", layout)


def _avg_pool2d_backward(
    grad: Any, data: Any, *, pool_size: Any, strides: Any, padding: Any, dilation: Any, layout: str, out_layout: str,
    ceil_mode: bool, count_include_pad: bool,
) -> Any:  # fmt: skip
    """Each gradient by its window's count, spread by a transposed convolution with ones, less what is on padding."""
    x, g = reordered(data, layout, "NCHW"), reordered(grad, out_layout, "NCHW")
    images, (height, width) = g.reshape(-1, 1, *g.shape[2:]), x.shape[2:]
    ones, (top, left, bottom, right) = np.ones((1, 1, *pool_size)), padding
    counted = np.pad(np.ones((height, width)), ((top, bottom), (left, right)), constant_values=float(count_include_pad))
    more = [strides[i] * ceil_mode for i in range(2)]
    counts = onnx(
        "Conv", np.pad(counted, [(0, n) for n in more])[None, None], ones, strides=strides, dilations=dilation
    )
    shares = images / counts[:, :, : g.shape[2], : g.shape[3]]
    spread = onnx("ConvTranspose", shares, ones, strides=strides, dilations=dilation)
    spread = np.pad(spread, [(0, 0), (0, 0), (0, height + top), (0, width + left)])
    inner = spread[:, :, top : top + height, left : left + width].reshape(x.shape)
    return reordered(inner, "NCHW", layout)


INDEPENDENT: dict[str, Callable[..., Any]] = {
    **{f"relax.nn.conv{n}d": _convolution for n in AXES},
    **{f"relax.nn.conv{n}d_transpose": _transposed for n in AXES},
    **{f"relax.nn.max_pool{n}d": _max_pool for n in AXES},
    **{f"relax.nn.avg_pool{n}d": _avg_pool for n in AXES},
    **{f"relax.nn.adaptive_avg_pool{n}d": _adaptive for n in AXES},
    "relax.nn.batch_norm": _batch_norm,
    "relax.nn.layer_norm": _layer_norm,
    "relax.nn.rms_norm": _rms_norm,
    "relax.nn.group_norm": _group_norm,
    "relax.nn.instance_norm": _instance_norm,
    "relax.nn.attention": _attention,
    "relax.nn.attention_bias": _attention,
    "relax.nn.cross_entropy_with_logits": _cross_entropy,
    "relax.nn.nll_loss": _nll_loss,
    "relax.nn.pad": _pad,
    "relax.grad.avg_pool2d_backward": _avg_pool2d_backward,
    "relax.grad.max_pool2d_backward": _max_pool2d_backward,
    "relax.grad.nll_loss_backward": _nll_loss_backward,
    "relax.grad.take_backward": _taken_back,
}
"""By row: what an implementation from elsewhere gives for the arguments of the row's meaning."""
