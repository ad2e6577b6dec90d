"""The rows of neural-network, image, vision, search and gradient operators (see `relax_op_rows` for the row
form).
"""

from __future__ import annotations

from collections.abc import Iterator

from tvm import relax
from tvm.relax import op
from tvm.relax.op import nn

from tests.oracles.reference.tir.relax_op_rows import OpRow, op_rows

F4 = "float32"


def _conv() -> Iterator[OpRow]:
    yield OpRow("conv1d", ("1x4x9:float32", "6x4x3:float32"), lambda x, w: nn.conv1d(x, w, strides=2, padding=1))
    yield OpRow("conv2d", ("1x3x8x8:float32", "4x3x3x3:float32"), lambda x, w: nn.conv2d(x, w, padding=1))
    yield OpRow(
        "conv2d-group",
        ("1x4x8x8:float32", "4x2x3x3:float32"),
        lambda x, w: nn.conv2d(x, w, strides=2, dilation=2, groups=2, padding=2),
    )
    yield OpRow(
        "conv2d-nhwc",
        ("1x8x8x3:float32", "3x3x3x4:float32"),
        lambda x, w: nn.conv2d(x, w, data_layout="NHWC", kernel_layout="HWIO"),
    )
    yield OpRow("conv3d", ("1x2x5x5x5:float32", "3x2x3x3x3:float32"), lambda x, w: nn.conv3d(x, w, padding=1))
    yield OpRow(
        "conv1d_transpose", ("1x4x5:float32", "4x3x3:float32"), lambda x, w: nn.conv1d_transpose(x, w, strides=2)
    )
    yield OpRow(
        "conv2d_transpose", ("1x4x4x4:float32", "4x3x3x3:float32"), lambda x, w: nn.conv2d_transpose(x, w, strides=2)
    )
    yield OpRow(
        "conv3d_transpose",
        ("1x2x3x3x3:float32", "2x2x2x2x2:float32"),
        lambda x, w: nn.conv3d_transpose(x, w, strides=(2, 2, 2)),
    )
    yield OpRow("conv2d-f16", ("1x3x6x6:float16", "4x3x3x3:float16"), lambda x, w: nn.conv2d(x, w, out_dtype=F4))


def _pool() -> Iterator[OpRow]:
    for kind in ("max", "avg"):
        one, two, three = (getattr(nn, f"{kind}_pool{n}d") for n in (1, 2, 3))
        yield OpRow(f"{kind}_pool1d", ("1x3x9:float32",), lambda x, f=one: f(x, pool_size=3, strides=2, padding=1))
        yield OpRow(
            f"{kind}_pool2d",
            ("1x3x8x8:float32",),
            lambda x, f=two: f(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1)),
        )
        yield OpRow(
            f"{kind}_pool2d-ceil",
            ("1x2x7x7:float32",),
            lambda x, f=two: f(x, pool_size=(2, 2), strides=(2, 2), ceil_mode=True, dilation=(2, 2)),
        )
        yield OpRow(
            f"{kind}_pool3d", ("1x2x5x5x5:float32",), lambda x, f=three: f(x, pool_size=(2, 2, 2), strides=(2, 2, 2))
        )
    yield OpRow("adaptive_avg_pool1d", ("1x3x9:float32",), lambda x: nn.adaptive_avg_pool1d(x, 4))
    yield OpRow("adaptive_avg_pool2d", ("1x3x8x7:float32",), lambda x: nn.adaptive_avg_pool2d(x, (3, 2)))
    yield OpRow("adaptive_avg_pool3d", ("1x2x5x5x5:float32",), lambda x: nn.adaptive_avg_pool3d(x, (2, 2, 2)))


def _norm() -> Iterator[OpRow]:
    five = ("5:float32",) * 4
    yield OpRow(
        "batch_norm",
        ("4x5:float32", "5:float32", "5:float32", "5:float32", "5:float32:0.5:2"),
        lambda x, g, b, m, v: nn.batch_norm(x, g, b, m, v, axis=1),
    )
    yield OpRow(
        "batch_norm-eval",
        ("4x5:float32", "5:float32", "5:float32", "5:float32", "5:float32:0.5:2"),
        lambda x, g, b, m, v: nn.batch_norm(x, g, b, m, v, axis=1, training=False),
    )
    yield OpRow("layer_norm", ("4x5:float32", *five[:2]), lambda x, g, b: nn.layer_norm(x, g, b, axes=[-1]))
    yield OpRow(
        "layer_norm-f16", ("4x5:float16", "5:float16", "5:float16"), lambda x, g, b: nn.layer_norm(x, g, b, axes=[-1])
    )
    yield OpRow(
        "group_norm", ("2x4x5:float32", "4:float32", "4:float32"), lambda x, g, b: nn.group_norm(x, g, b, 2, 1, [2])
    )
    yield OpRow(
        "instance_norm", ("2x4x5:float32", "4:float32", "4:float32"), lambda x, g, b: nn.instance_norm(x, g, b, 1, [2])
    )
    yield OpRow("rms_norm", ("4x5:float32", "5:float32"), lambda x, w: nn.rms_norm(x, w, axes=[-1]))
    yield OpRow("rms_norm-symbolic", ("nx5:float32", "5:float32"), lambda x, w: nn.rms_norm(x, w, axes=[-1]))


def _attention() -> Iterator[OpRow]:
    qkv = ("1x4x2x8:float32",) * 3
    yield OpRow("attention", qkv, nn.attention)
    yield OpRow("attention-causal", qkv, lambda q, k, v: nn.attention(q, k, v, causal_mask="TopLeft"))
    yield OpRow("attention-causal-br", qkv, lambda q, k, v: nn.attention(q, k, v, causal_mask="BottomRight"))
    yield OpRow("attention_bias", (*qkv, "1x2x4x4:float32"), lambda q, k, v, b: nn.attention(q, k, v, bias=b))


def _loss() -> Iterator[OpRow]:
    yield OpRow("cross_entropy", ("4x5:float32:0.1:1", "4x5:float32"), nn.cross_entropy_with_logits)
    for reduction in ("mean", "sum", "none"):
        yield OpRow(
            f"nll_loss-{reduction}",
            ("4x5:float32", "4:int64:0:5", "5:float32:0.1:1"),
            lambda p, t, w, r=reduction: nn.nll_loss(p, t, w, r, ignore_index=1),
        )
    yield OpRow(
        "nll_loss_backward",
        (":float32", "4x5:float32", "4:int64:0:5", "5:float32:0.1:1"),
        lambda g, p, t, w: op.grad.nll_loss_backward(g, p, t, w),
    )
    for kind in ("max", "avg"):
        backward = getattr(op.grad, f"{kind}_pool2d_backward")
        yield OpRow(
            f"{kind}_pool2d_backward",
            ("1x2x3x3:float32", "1x2x6x6:float32"),
            lambda g, x, f=backward: f(g, x, pool_size=(2, 2), strides=(2, 2)),
        )
    yield OpRow(
        "take_backward",
        ("3x5:float32", "8x5:float32", "3:int64:0:8"),
        lambda g, x, i: op.grad.take_backward(g, x, i, axis=0),
    )


def _shape_like() -> Iterator[OpRow]:
    for mode in ("constant", "reflect", "replicate", "circular"):
        yield OpRow(f"pad-{mode}", ("4x5:float32",), lambda x, m=mode: nn.pad(x, (0, 0, 2, 1), m, 1.5))
    yield OpRow("pad-all", ("1x3x4:float32",), lambda x: nn.pad(x, (0, 0, 1, 2, 1, 0)))
    yield OpRow("batch_flatten", ("2x3x4:float32",), nn.batch_flatten)
    scale, zero = "5:float32:0.1:1", "5:int8:-3:3"
    yield OpRow("quantize", ("4x5:float32", scale, zero), lambda x, s, z: op.quantize(x, s, z, 1, "int8"))
    yield OpRow("dequantize", ("4x5:int8", scale, zero), lambda x, s, z: op.dequantize(x, s, z, 1, F4))


def _image() -> Iterator[OpRow]:
    for method in ("nearest_neighbor", "linear", "cubic"):
        for mode in ("half_pixel", "align_corners", "asymmetric"):
            yield OpRow(
                f"resize2d-{method}-{mode}",
                ("1x2x4x4:float32",),
                lambda x, m=method, c=mode: op.image.resize2d(
                    x, (7, 3), method=m, coordinate_transformation_mode=c, layout="NCHW"
                ),
            )
    yield OpRow("resize3d", ("1x2x3x3x3:float32",), lambda x: op.image.resize3d(x, (5, 4, 2), method="linear"))
    yield OpRow("affine_grid", ("2x2x3:float32",), lambda x: op.image.affine_grid(x, (4, 5)))
    for method in ("bilinear", "nearest", "bicubic"):
        yield OpRow(
            f"grid_sample-{method}",
            ("1x2x4x4:float32", "1x2x3x3:float32:-1:1"),
            lambda x, g, m=method: op.image.grid_sample(x, g, m),
        )
    rois = "3x5:float32:0:2"
    yield OpRow("roi_align", ("1x2x6x6:float32", rois), lambda x, r: op.vision.roi_align(x, r, (2, 2), 1.0))
    yield OpRow(
        "roi_align-max",
        ("1x6x6x2:float32", rois),
        lambda x, r: op.vision.roi_align(x, r, (2, 3), 1.0, 2, True, "NHWC", "max"),
    )
    yield OpRow("roi_pool", ("3x2x6x6:float32", rois), lambda x, r: op.vision.roi_pool(x, r, (2, 2), 1.0))


def _vision() -> Iterator[OpRow]:
    yield OpRow("get_valid_counts", ("1x5x6:float32",), lambda x: op.vision.get_valid_counts(x, 0.0))
    yield OpRow("multibox", ("1x3x4:float32", "1x16:float32", "1x4x4:float32"), op.vision.multibox_transform_loc)
    yield OpRow(
        "nms",
        ("1x5x6:float32:0:2", "1:int32:5:6", "1x5:int32:0:5"),
        lambda d, v, i: op.vision.non_max_suppression(d, v, i, top_k=3),
    )
    yield OpRow(
        "nms-soft",
        ("2x5x6:float32:0:2", "2:int32:3:6", "2x5:int32:0:5"),
        lambda d, v, i: op.vision.non_max_suppression(d, v, i, soft_nms_sigma=0.5),
    )
    yield OpRow(
        "nms-all-class",
        ("2x4x4:float32:0:6", "2x3x4:float32:0:1"),
        lambda b, s: op.vision.all_class_non_max_suppression(
            b, s, relax.const(2, "int64"), relax.const(0.5, F4), relax.const(0.25, F4), "tensorflow"
        ),
    )
    yield OpRow("sort", ("4x5:float32",), lambda x: op.sort(x, 1), "sort")
    yield OpRow("argsort", ("4x5:float32",), lambda x: op.argsort(x, 1), "sort")
    yield OpRow("topk", ("4x5:float32",), lambda x: op.topk(x, 2, 1), "sort")
    yield OpRow(
        "multinomial",
        ("3x5:float32:0:1", "4x1:float32:0:1", "4x1:int64:0:3"),
        lambda p, u, i: op.multinomial_from_uniform(p, u, i),
        "sort",
    )


def nn_rows() -> Iterator[OpRow]:
    """Every row of this file."""
    for part in (_conv, _pool, _norm, _attention, _loss, _shape_like, _image, _vision):
        yield from part()


def all_rows() -> tuple[OpRow, ...]:
    """Every row of this table and of `relax_op_rows`."""
    return (*op_rows(), *nn_rows())
