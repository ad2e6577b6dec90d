"""Recipes around conv2d, normalisation and layouts."""

from __future__ import annotations

from tvm import relax, tirx

from generators.ranges import Range
from generators.recipes import blocks as b
from generators.recipes.knobs import KNOBS
from generators.recipes.recipe import Recipe
from generators.relax.scope import Drawn, Scope
from generators.relax.values import Value, extent
from generators.source import favour
from generators.tvm_api import Node
from generators.unavailable import Unavailable


def _image(s: Scope, channels: int | None = None) -> Value:
    """A float32 image batch in NCHW: one in scope, or a new one."""
    if channels is None and s.source.flip(KNOBS.convolution.image_in_scope):
        near = [v for v in s.values if isinstance(v, Value) and v.static and v.dtype == "float32" and v.ndim == 4]
        near = [v for v in near if v.size > 0]
        if near:
            return s.source.pick(near)
    n = favour(s.source, 1, 2)
    return b.operand(s, (n, channels or b.small(s), s.source.integer(2, 6), s.source.integer(2, 6)))


def _conv(s: Scope, x: Value, *, weight: Value | None = None, outputs: int | None = None) -> Value:
    """conv2d of an NCHW image with a window that fits."""
    assert x.shape is not None
    channels = x.shape[1]
    groups = channels if s.source.flip(KNOBS.convolution.depthwise) else 1
    kernel = [min(s.source.integer(1, 3), x.shape[2]), min(s.source.integer(1, 3), x.shape[3])]
    out = groups * (outputs or b.small(s, 3))
    w = weight or b.operand(s, (out, channels // groups, *kernel))
    assert w.shape is not None
    padding = favour(s.source, 0, 1, [0, 1, 1, 0])
    build = relax.op.nn.conv2d(x.expr, w.expr, strides=favour(s.source, 1, 2), padding=padding, groups=groups)
    terms = w.shape[1] * w.shape[2] * w.shape[3]
    return b.call(s, build, (x.range * w.range).including(0).summed(terms))


def _bias(s: Scope, x: Value) -> Value:
    """x plus a bias per channel: a constant, a parameter, or one number."""
    assert x.shape is not None
    dims = (
        (1, x.shape[1], 1, 1)
        if s.source.flip(KNOBS.convolution.bias_per_channel)
        else s.source.pick(((1,), (), (x.shape[3],), x.shape))
    )
    other = b.constant(s, dims) if s.source.flip() else b.operand(s, dims)
    return b.add(s, x, other)


def _pooled(s: Scope, x: Value) -> Value:
    assert x.shape is not None
    size = (min(2, x.shape[2]), min(2, x.shape[3]))
    build = s.source.pick((relax.op.nn.max_pool2d, relax.op.nn.avg_pool2d))
    return b.call(s, build(x.expr, size, s.source.pick((1, 2))), x.range)


def conv2d_chain(s: Scope) -> None:
    """conv2d, bias, relu, pool, and maybe another conv2d; every link may be missing."""
    x = _conv(s, _image(s))
    first = x
    for _ in range(s.source.integer(1, 2)):
        if s.source.flip(KNOBS.convolution.chain_bias):
            x = _bias(s, x)
        if s.source.flip(KNOBS.convolution.chain_relu):
            x = b.relu(s, x)
        if s.source.flip(KNOBS.convolution.chain_pool):
            x = _pooled(s, x)
        if s.source.flip(KNOBS.convolution.chain_conv):
            x = _conv(s, x)
    b.finish(s, first, x) if s.source.flip() else b.finish(s, x)


def _agnostic(s: Scope, x: Value) -> Value:
    """An operator that a layout can pass through, or that pins it: elementwise, reduction, concat, pad, transpose."""
    assert x.shape is not None
    kind = s.source.integer(0, 6)
    if kind == 0:
        return b.unary(s, x, b.SIMPLE_UNARY + b.SMOOTH_UNARY)
    if kind == 1:
        return _bias(s, x)
    if kind == 2:
        keep = s.source.flip(KNOBS.convolution.rank_kept)
        axes: list[int] | None = s.source.pick(([2, 3], [1], [-1], None, [1, 2]))
        return b.call(s, relax.op.max(x.expr, axes, keep), x.range) if x.size else x
    if kind == 3:
        y = b.unary(s, x)
        axis = s.source.pick((1, -3, 0, 3, -1))
        return b.call(s, relax.op.concat([x.expr, y.expr], axis), x.range.hull(y.range))
    if kind == 4:
        return b.call(s, relax.op.nn.softmax(x.expr, s.source.pick((1, -1, 3))), Range(0, 1))
    if kind == 5:
        return b.permuted(s, x, s.permutation(4))
    return b.call(s, relax.op.strided_slice(x.expr, [s.source.pick((1, 2, -1))], [0], [1]), x.range)


def conv2d_between_layout_agnostic(s: Scope) -> None:
    """Operators without a layout before and after a conv2d; some change the rank."""
    x = _image(s)
    if s.source.flip(KNOBS.convolution.before_conv):
        x = b.unary(s, x)
    y = _conv(s, x)
    z = y
    for _ in range(s.source.integer(1, 3)):
        z = _agnostic(s, z)
        if z.shape is None or z.ndim != 4:
            break
    if z.shape is not None and z.ndim == 4 and s.source.flip(KNOBS.convolution.second_conv) and min(z.shape) > 0:
        z = _conv(s, z)
    b.finish(s, y, z) if s.source.flip() else b.finish(s, z)


def conv2d_batch_norm(s: Scope) -> None:
    """batch_norm of a conv2d whose weights are constants, with field 0 used, rarely a statistic too."""
    x = _image(s)
    assert x.shape is not None
    outputs = b.small(s, 3)
    kernel = (min(2, x.shape[2]), s.source.integer(1, min(3, x.shape[3])))
    w = b.constant(s, (outputs, x.shape[1], *kernel))
    padding, strides = s.source.pick((0, 1)), s.source.pick((1, 2))
    terms = x.shape[1] * kernel[0] * kernel[1]
    conv = relax.op.nn.conv2d(x.expr, w.expr, strides=strides, padding=padding)
    y = b.call(s, conv, (x.range * w.range).including(0).summed(terms))
    _normalise(s, y, outputs)


def _normalise(s: Scope, y: Value, channels: int) -> None:
    gamma, beta, mean = (b.constant(s, (channels,)) for _ in range(3))
    variance = b.constant(s, (channels,), low=1)
    switches = {
        "center": s.source.flip(KNOBS.convolution.batch_norm_switch),
        "scale": s.source.flip(KNOBS.convolution.batch_norm_switch),
        "training": s.source.flip(KNOBS.convolution.batch_norm_training),
    }
    bn = relax.op.nn.batch_norm(
        y.expr, gamma.expr, beta.expr, mean.expr, variance.expr, 1, epsilon=s.source.pick((1e-5, 0.5)), **switches
    )
    bound = (y.range - mean.range).magnitude * max(gamma.range.magnitude, 1) + beta.range.magnitude
    if switches["training"]:
        bound = 300 * max(gamma.range.magnitude, 1) + beta.range.magnitude
    spread = Range(-1, max(4, (y.range.high - y.range.low) ** 2))
    whole = s.emit(Drawn(bn, (Range(-bound, bound), y.range.hull(mean.range).real(), spread)))
    out = b.tensor_item(s, whole, 0)
    after = b.relu(s, out) if s.source.flip() else out
    others = [b.item(s, whole, s.source.pick((1, 2)))] if s.source.flip(KNOBS.convolution.statistic_beside) else []
    b.finish(s, *([y] if s.source.flip(KNOBS.convolution.conv_returned) else []), *others, after)


def batch_norm(s: Scope) -> None:
    """batch_norm over any axis: field 0 used, the statistics possibly as well, or the whole tuple."""
    whole = b.row(s, "relax.nn.batch_norm")
    out = b.tensor_item(s, whole, 0)
    others = [b.item(s, whole, i) for i in (1, 2) if s.source.flip(KNOBS.convolution.statistic_used)]
    if s.source.flip(KNOBS.convolution.tuple_whole):
        others.append(whole)
    b.finish(s, *others, out)


def layer_norm(s: Scope) -> None:
    """layer_norm of a value that is used again."""
    b.finish(s, b.as_tensor(b.row(s, "relax.nn.layer_norm")))


def layout_transform_pairs(s: Scope) -> None:
    """A layout transform and its inverse, or the same one again; the value between is used or changed."""
    x = s.tensor(("float32", "int32"), (1, 3), static=True, nonempty=True)
    assert x.shape is not None
    there, back = _maps(s, x.shape)
    y = b.call(s, relax.op.layout_transform(x.expr, there), x.range)
    middle = b.relu(s, y) if s.source.flip(KNOBS.convolution.layout_changed_between) else y
    z = b.call(s, relax.op.layout_transform(middle.expr, back), middle.range)
    out = b.add(s, z, x) if s.source.flip() and z.dims == x.dims and x.dtype == "float32" else z
    b.finish(s, y, out) if s.source.flip(KNOBS.shared.middle_returned) else b.finish(s, out)


def _maps(s: Scope, shape: tuple[int, ...]) -> tuple[Node, Node]:
    """Two index maps: most often inverses, else maps that agree in shape only."""
    rank = len(shape)
    names = [tirx.Var(f"i{a}", "int64") for a in range(rank)]
    at = s.source.integer(0, rank - 1)
    factors = [f for f in range(2, shape[at] + 1) if shape[at] % f == 0 and f < shape[at]]
    if factors and s.source.flip(KNOBS.convolution.layout_split):
        f = s.source.pick(factors)
        split = [*names[:at], names[at] // f, names[at] % f, *names[at + 1 :]]
        wide = [tirx.Var(f"j{a}", "int64") for a in range(rank + 1)]
        fused = [*wide[:at], wide[at] * f + wide[at + 1], *wide[at + 2 :]]
        return tirx.IndexMap(names, split, None), tirx.IndexMap(wide, fused, None)
    order = [a % rank for a in s.permutation(rank)]
    inverse = [order.index(a) for a in range(rank)]
    again = order if s.source.flip(KNOBS.convolution.layout_no_inverse) else inverse
    return (
        tirx.IndexMap(names, [names[a] for a in order], None),
        tirx.IndexMap(names, [names[a] for a in again], None),
    )


def scaled_image(s: Scope) -> None:
    """conv2d of an image times a constant, with the constant on either side."""
    x = _image(s)
    factor = b.constant(s, s.source.pick(((), (1,), (1, 1, 1, 1))))
    scaled = b.multiply(s, x, factor)
    if scaled.shape is None or extent(scaled.shape[0]) == 0:
        raise Unavailable("an empty batch")
    out = b.multiply(s, _conv(s, scaled), factor)
    b.finish(s, out)


RECIPES = (
    Recipe("conv2d_chain", conv2d_chain),
    Recipe("conv2d_between_layout_agnostic", conv2d_between_layout_agnostic),
    Recipe("conv2d_batch_norm", conv2d_batch_norm),
    Recipe("conv2d_scaled", scaled_image),
    Recipe("batch_norm", batch_norm),
    Recipe("layer_norm", layer_norm),
    Recipe("layout_transform_pairs", layout_transform_pairs),
)
