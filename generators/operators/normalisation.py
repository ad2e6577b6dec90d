"""Normalisation operators: batch, layer, group, instance and root-mean-square normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm.relax.op import nn

from generators.dtypes import Array, Scalar
from generators.operators.domain import POSITIVE
from generators.operators.knobs import KNOBS
from generators.operators.row import Operator, Rounding
from generators.ranges import Range
from generators.relax.scope import Drawn, Scope
from generators.relax.values import Value, extent

# Group and instance normalisation may compute the variance as E[x*x] - E[x]**2, whose error is a unit roundoff
# of max(x)**2 and not of the variance; small operands and a large allowance in ulps keep that from counting.
_BOUND = 4
_DIFFERENCE_OF_SQUARES = 1024.0
_NARROW = ("float32", "float16")
# Powers of two, which every float dtype holds, so that the attribute's own rounding does not count.
_EPSILONS = (2.0**-17, 2.0**-10, 0.125)
_LARGE_EPSILONS = (2.0**-10, 2.0**-7, 0.125)


def _data(s: Scope, dtypes: Sequence[str], least_rank: int = 1, static: bool = False) -> Value:
    return s.tensor(dtypes, (least_rank, 5), -_BOUND, _BOUND, static=static, nonempty=True)


def _per_channel(s: Scope, x: Value, axis: int, low: float = -_BOUND) -> Value:
    """One number per index of `axis`, of the dtype of `x`."""
    assert x.dims is not None
    return s.tensor((x.dtype,), dims=(x.dims[axis],), low=low, high=_BOUND)


def _normalised(count: int, gamma: Range, beta: Range, scale: bool = True, center: bool = True) -> Range:
    """The range of gamma * z + beta, where z is normalised over `count` elements and so at most sqrt(count)."""
    z = Range(-(count**0.5) - 0.01, count**0.5 + 0.01)
    scaled = z * gamma if scale else z
    return (scaled + beta if center else scaled).real()


def _along(vector: Array, axis: int, ndim: int) -> Array:
    """A vector as an array that broadcasts along one axis."""
    shape = [1] * ndim
    shape[axis] = vector.size
    return vector.reshape(shape)


def _over(weight: Array, axes: Sequence[int], ndim: int) -> Array:
    """An array whose dimension i belongs to axes[i], as an array that broadcasts against rank `ndim`."""
    positive = [a % ndim for a in axes]
    ordered = weight.transpose(np.argsort(positive))
    shape = [1] * ndim
    for axis, size in zip(sorted(positive), ordered.shape, strict=True):
        shape[axis] = size
    return ordered.reshape(shape)


def _standardised(x: Array, axes: tuple[int, ...], epsilon: float) -> Array | Scalar:
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=axes, keepdims=True) + epsilon)


def _switches(s: Scope, off: float = KNOBS.shared.rare, epsilons: Sequence[float] = _EPSILONS) -> dict[str, Any]:
    """The attributes that normalisations share; `off` is how often center or scale is False."""
    center, scale = (
        s.source.pick(((False, True), (True, False), (False, False))) if s.source.flip(off) else (True, True)
    )
    return {"epsilon": s.source.pick(epsilons), "center": center, "scale": scale}


def _draw_axes(s: Scope, x: Value, trailing: float) -> list[int]:
    """Distinct axes: with this probability the last one or two, else any, rarely in descending order."""
    if s.source.flip(trailing):
        first = s.source.integer(max(x.ndim - 2, min(x.ndim - 1, 1)), x.ndim - 1)
        axes = list(range(first, x.ndim))
    else:
        axes = [a for a in range(x.ndim) if s.source.flip()] or [s.source.integer(0, x.ndim - 1)]
        axes = axes[::-1] if s.source.flip(KNOBS.shared.rare) else axes
    return [a - x.ndim if s.source.flip(KNOBS.shared.negative_axes) else a for a in axes]


def _axes_or_one(s: Scope, axes: list[int]) -> list[int] | int:
    return axes[0] if len(axes) == 1 and s.source.flip(KNOBS.norms.one_axis_as_number) else axes


def _weight_over(s: Scope, x: Value, axes: Sequence[int]) -> Value:
    assert x.dims is not None
    return s.tensor((x.dtype,), dims=[x.dims[a] for a in axes], low=-_BOUND, high=_BOUND)


def _count(x: Value, axes: Sequence[int]) -> int:
    assert x.dims is not None
    total = 1
    for axis in axes:
        total *= extent(x.dims[axis])
    return total


def _draw_batch_norm(s: Scope) -> Drawn:
    # In 16 bits LegalizeOps gives the result another dtype than the operator's type says.
    dtypes = _NARROW[1:] if s.source.flip(KNOBS.shared.rare) else ("float32", "float64")
    x = _data(s, dtypes, static=not s.source.flip(KNOBS.shared.symbolic))
    axis = 1 if x.ndim > 1 and s.source.flip(KNOBS.norms.second_axis) else s.source.integer(0, x.ndim - 1)
    axis = axis - x.ndim if s.source.flip(KNOBS.shared.rare) else axis
    gamma, beta, mean = (_per_channel(s, x, axis) for _ in range(3))
    variance = _per_channel(s, x, axis, low=0.5)
    switches = _switches(s, off=KNOBS.norms.batch_norm_switched_off)
    training = s.source.flip(KNOBS.norms.training)
    momentum = s.source.pick((0.125, 0.5, 0.0, 1.0))
    count = _count(x, range(x.ndim)) // max(_count(x, (axis,)), 1)
    call = nn.batch_norm(
        x.expr, gamma.expr, beta.expr, mean.expr, variance.expr, axis, momentum=momentum, training=training, **switches
    )
    if not training:
        shifted = (x.range - mean.range).scaled(0.5**-0.5).real()
        scaled = shifted * gamma.range if switches["scale"] else shifted
        out = scaled + beta.range if switches["center"] else scaled
        return Drawn(call, (out.real(), mean.range, variance.range))
    out = _normalised(count, gamma.range, beta.range, switches["scale"], switches["center"])
    spread = Range(0, (x.range.high - x.range.low) ** 2 + 0.01)
    return Drawn(call, (out, mean.range.hull(x.range).real(), variance.range.hull(spread).real()))


def _batch_norm(
    x: Array, gamma: Array, beta: Array, mean: Array, variance: Array, *, axis: int, epsilon: float, center: bool,
    scale: bool, momentum: float, training: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """In training the statistics are the batch's, and `momentum` is the weight of the new ones.

    The operator's documentation gives momentum to the old statistics instead; LegalizeOps and
    DecomposeOpsForTraining agree on this rule, which is PyTorch's and goes with the default of 0.1.
    """
    used_mean, used_variance = mean, variance
    if training:
        others = tuple(a for a in range(x.ndim) if a != axis % x.ndim)
        used_mean, used_variance = x.mean(axis=others), x.var(axis=others)
        mean = (1 - momentum) * mean + momentum * used_mean
        variance = (1 - momentum) * variance + momentum * used_variance
    out = (x - _along(used_mean, axis, x.ndim)) / np.sqrt(_along(used_variance, axis, x.ndim) + epsilon)
    out = out * _along(gamma, axis, x.ndim) if scale else out
    return (out + _along(beta, axis, x.ndim) if center else out), mean, variance


def _draw_layer_norm(s: Scope) -> Drawn:
    x = _data(s, _NARROW)
    axes = _draw_axes(s, x, trailing=KNOBS.norms.trailing_axes)
    gamma, beta = _weight_over(s, x, axes), _weight_over(s, x, axes)
    switches = _switches(s)
    call = nn.layer_norm(x.expr, gamma.expr, beta.expr, _axes_or_one(s, axes), **switches)
    out = _normalised(_count(x, axes), gamma.range, beta.range, switches["scale"], switches["center"])
    return Drawn(call, out)


def _layer_norm(
    x: Array, gamma: Array, beta: Array, *, axes: tuple[int, ...], epsilon: float, center: bool, scale: bool
) -> Array:
    out = _standardised(x, axes, epsilon)
    out = out * _over(gamma, axes, x.ndim) if scale else out
    return out + _over(beta, axes, x.ndim) if center else out


def _channel_and_axes(s: Scope, x: Value) -> tuple[int, list[int]]:
    """A channel axis and other axes to normalise over: most often the second, and all but the first two."""
    channel = 1 if s.source.flip(KNOBS.norms.second_axis) else s.source.integer(0, x.ndim - 1)
    if s.source.flip(KNOBS.norms.usual_axes):
        axes = [a for a in range(x.ndim) if a != channel and (a > 1 or channel > 1)]
    else:
        axes = [a for a in range(x.ndim) if a != channel and s.source.flip(KNOBS.norms.axis_taken)]
    axes = axes or [a for a in range(x.ndim) if a != channel]
    return channel, [a - x.ndim if s.source.flip(KNOBS.shared.negative_axis) else a for a in axes]


def _draw_group_norm(s: Scope) -> Drawn:
    x = _data(s, _NARROW, 2, static=not s.source.flip(KNOBS.norms.symbolic_group_norm))
    assert x.dims is not None
    channel, axes = _channel_and_axes(s, x)
    channels = x.dims[channel]
    # A symbolic number of channels is divisible for certain by one only.
    groups = s.source.pick([g for g in range(1, channels + 1) if channels % g == 0]) if isinstance(channels, int) else 1
    gamma, beta = _per_channel(s, x, channel), _per_channel(s, x, channel)
    switches = _switches(s, epsilons=_LARGE_EPSILONS)
    channel = channel - x.ndim if s.source.flip(KNOBS.norms.negative_channel) else channel
    call = nn.group_norm(x.expr, gamma.expr, beta.expr, groups, channel, _axes_or_one(s, axes), **switches)
    count = _count(x, [channel, *axes]) // groups
    return Drawn(call, _normalised(count, gamma.range, beta.range, switches["scale"], switches["center"]))


def _group_norm(
    x: Array, gamma: Array, beta: Array, *, num_groups: int, channel_axis: int, axes: tuple[int, ...], epsilon: float,
    center: bool, scale: bool,
) -> Array:  # fmt: skip
    channel = channel_axis % x.ndim
    split = x.reshape(*x.shape[:channel], num_groups, -1, *x.shape[channel + 1 :])
    over = tuple(a if a < channel else a + 1 for a in (b % x.ndim for b in axes))
    out = _standardised(split, (*over, channel + 1), epsilon).reshape(x.shape)
    out = out * _along(gamma, channel, x.ndim) if scale else out
    return out + _along(beta, channel, x.ndim) if center else out


def _draw_instance_norm(s: Scope) -> Drawn:
    x = _data(s, _NARROW, 2)
    channel, axes = _channel_and_axes(s, x)
    gamma, beta = _per_channel(s, x, channel), _per_channel(s, x, channel)
    switches = _switches(s, epsilons=_LARGE_EPSILONS)
    channel = channel - x.ndim if s.source.flip(KNOBS.shared.rare) else channel
    call = nn.instance_norm(x.expr, gamma.expr, beta.expr, channel, axes, **switches)
    out = _normalised(_count(x, axes), gamma.range, beta.range, switches["scale"], switches["center"])
    return Drawn(call, out)


def _instance_norm(
    x: Array, gamma: Array, beta: Array, *, channel_axis: int, axes: tuple[int, ...], epsilon: float, center: bool,
    scale: bool,
) -> Array:  # fmt: skip
    out = _standardised(x, axes, epsilon)
    out = out * _along(gamma, channel_axis, x.ndim) if scale else out
    return out + _along(beta, channel_axis, x.ndim) if center else out


def _draw_rms_norm(s: Scope) -> Drawn:
    # float64 is left out: TOPI computes in float32 whatever the operands are (topi/nn/rms_norm.h).
    x = _data(s, ("float32", "float16", "bfloat16"), 1 if s.source.flip(KNOBS.shared.rare) else 2)
    axes = _draw_axes(s, x, trailing=1 - KNOBS.shared.rare)
    weight = _weight_over(s, x, axes)
    call = nn.rms_norm(x.expr, weight.expr, _axes_or_one(s, axes), s.source.pick(_EPSILONS))
    return Drawn(call, _normalised(_count(x, axes), weight.range, weight.range, center=False))


def _rms_norm(x: Array, weight: Array, *, axes: tuple[int, ...], epsilon: float) -> Array | Scalar:
    """x / sqrt(mean(x*x) + epsilon) * weight; the square is missing from the operator's documentation."""
    return x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + epsilon) * _over(weight, axes, x.ndim)


def _terms(x: Array, *_: Array, axes: tuple[int, ...], **__: object) -> int:
    """One mean is over all elements along the axes."""
    return math.prod(x.shape[a] for a in axes)


_SHARED = ("epsilon", "center", "scale")
OPERATORS = (
    Operator("relax.nn.batch_norm", _draw_batch_norm, _batch_norm, Rounding.SMOOTH,
             ("axis", *_SHARED, "momentum", "training"), ulps=32, weight=5, domains=((4, POSITIVE),)),
    Operator("relax.nn.layer_norm", _draw_layer_norm, _layer_norm, Rounding.SMOOTH, ("axes", *_SHARED), ulps=32,
             terms=_terms, weight=5),
    Operator("relax.nn.group_norm", _draw_group_norm, _group_norm, Rounding.SMOOTH,
             ("num_groups", "channel_axis", "axes", *_SHARED), ulps=_DIFFERENCE_OF_SQUARES),
    Operator("relax.nn.instance_norm", _draw_instance_norm, _instance_norm, Rounding.SMOOTH,
             ("channel_axis", "axes", *_SHARED), ulps=_DIFFERENCE_OF_SQUARES),
    Operator("relax.nn.rms_norm", _draw_rms_norm, _rms_norm, Rounding.SMOOTH, ("axes", "epsilon"), ulps=32,
             terms=_terms),
)  # fmt: skip
