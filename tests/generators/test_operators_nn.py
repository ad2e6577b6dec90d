"""Rows of neural-network and image operators, by other formulas than their own and by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from generators.operators.table import OPERATORS

# --- the same number by another formula ------------------------------------------------------------------

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(2, 4, 5))


def _meaning(name: str, *operands: Any, **attributes: Any) -> Any:
    return OPERATORS[f"relax.{name}"].meaning(*operands, **attributes)


def test_convolution_agrees_with_numpys_correlation() -> None:
    signal, kernel = RANDOM.normal(size=(1, 1, 9)), RANDOM.normal(size=(1, 1, 3))
    out = _meaning(
        "nn.conv1d", signal, kernel, strides=(2,), padding=(1, 1), dilation=(1,), groups=1, data_layout="NCW",
        kernel_layout="OIW", out_layout="NCW", out_dtype=None,
    )  # fmt: skip
    assert np.allclose(out[0, 0], np.correlate(np.pad(signal[0, 0], 1), kernel[0, 0], "valid")[::2])


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_transposed_convolution_is_the_adjoint_of_convolution(groups: int, stride: int) -> None:
    x, w = RANDOM.normal(size=(2, 4, 7, 5)), RANDOM.normal(size=(6, 4 // groups, 3, 3))
    shared: dict[str, Any] = {
        "strides": (stride, stride), "padding": (1, 1, 1, 1), "dilation": (1, 1), "groups": groups,
        "data_layout": "NCHW", "out_layout": "NCHW", "out_dtype": None,
    }  # fmt: skip
    forward = _meaning("nn.conv2d", x, w, kernel_layout="OIHW", **shared)
    y = RANDOM.normal(size=forward.shape)
    back = _meaning("nn.conv2d_transpose", y, w, kernel_layout="IOHW", output_padding=(0, 0), **shared)
    assert back.shape == x.shape
    assert np.isclose((forward * y).sum(), (x * back).sum())


def test_pooling_by_hand() -> None:
    x = np.array([[[1.0, 2.0, 3.0, 4.0]]])
    window: dict[str, Any] = {
        "pool_size": (3,), "strides": (2,), "padding": (1, 0), "dilation": (1,), "ceil_mode": True,
        "layout": "NCW", "out_layout": "NCW",
    }  # fmt: skip
    assert _meaning("nn.max_pool1d", x, count_include_pad=True, **window).tolist() == [[[2.0, 4.0]]]
    assert _meaning("nn.avg_pool1d", x, count_include_pad=True, **window).tolist() == [[[1.0, 3.0]]]
    assert _meaning("nn.avg_pool1d", x, count_include_pad=False, **window).tolist() == [[[1.5, 3.0]]]
    adaptive = _meaning("nn.adaptive_avg_pool1d", x, output_size=(3,), layout="NCW", out_layout="NCW")
    assert adaptive.tolist() == [[[1.5, 2.5, 3.5]]]


def test_group_normalisation_of_one_channel_per_group_is_instance_normalisation() -> None:
    gamma, beta = RANDOM.normal(size=4), RANDOM.normal(size=4)
    shared: dict[str, Any] = {"channel_axis": 1, "axes": (2,), "epsilon": 0.125, "center": True, "scale": True}
    one_each = _meaning("nn.group_norm", X, gamma, beta, num_groups=4, **shared)
    assert np.allclose(one_each, _meaning("nn.instance_norm", X, gamma, beta, **shared))


def test_layer_normalisation_pairs_weights_with_axes_in_their_order() -> None:
    gamma, beta = RANDOM.normal(size=(4, 5)), RANDOM.normal(size=(4, 5))
    shared: dict[str, Any] = {"epsilon": 0.125, "center": True, "scale": True}
    ascending = _meaning("nn.layer_norm", X, gamma, beta, axes=(1, 2), **shared)
    assert np.allclose(ascending, _meaning("nn.layer_norm", X, gamma.T, beta.T, axes=(-1, -2), **shared))
    plain = (X - X.mean((1, 2), keepdims=True)) / np.sqrt(X.var((1, 2), keepdims=True) + 0.125)
    assert np.allclose(ascending, plain * gamma + beta)


@pytest.mark.parametrize(
    ("mask", "queries", "keys", "expected"),
    [
        ("TopLeft", 4, 2, [[1, 0], [1, 1], [1, 1], [1, 1]]),
        ("BottomRight", 4, 2, [[1, 1], [1, 1], [1, 1], [1, 1]]),
        ("TopLeft", 2, 4, [[1, 0, 0, 0], [1, 1, 0, 0]]),
        ("BottomRight", 2, 4, [[1, 1, 1, 0], [1, 1, 1, 1]]),
    ],
)
def test_attention_masks_as_its_documentation_shows(
    mask: str, queries: int, keys: int, expected: list[list[int]]
) -> None:
    query, key = np.zeros((1, queries, 1, 2)), np.zeros((1, keys, 1, 2))
    out = _meaning(
        "nn.attention", query, key, np.eye(keys).reshape(1, keys, 1, keys), scale=None, causal_mask=mask,
        window_size=None,
    )  # fmt: skip
    seen = np.array(expected)
    assert np.allclose(out[0, :, 0], seen / seen.sum(axis=1, keepdims=True))


def test_losses_by_hand() -> None:
    scores, targets = np.array([[-1.0, -2.0], [-3.0, -5.0]]), np.array([1, 0])
    weights = np.array([1.0, 3.0])
    assert _meaning("nn.nll_loss", scores, targets, weights, reduction="mean", ignore_index=-100) == (6 + 3) / 4
    assert _meaning("nn.nll_loss", scores, targets, weights, reduction="sum", ignore_index=0) == 6
    assert _meaning("nn.cross_entropy_with_logits", scores, np.ones((2, 2))) == 11 / 2


def test_the_gradient_of_the_likelihood_loss_by_hand() -> None:
    name, scores, targets = "grad.nll_loss_backward", np.zeros((2, 2)), np.array([1, 0])
    weights, per_target = np.array([1.0, 3.0]), np.array([2.0, 10.0])
    mean = _meaning(name, np.array(8.0), scores, targets, weights, reduction="mean", ignore_index=-100)
    assert mean.tolist() == [[0, -6], [-2, 0]]
    none = _meaning(name, per_target, scores, targets, weights, reduction="none", ignore_index=0)
    assert none.tolist() == [[0, -6], [0, 0]]
    alone = _meaning(name, np.array(8.0), scores[0], np.array(1), reduction="mean", ignore_index=-100)
    assert alone.tolist() == [0, -8]
    with pytest.raises(ValueError, match="of shape"):
        _meaning(name, np.array(8.0), scores, targets, reduction="none", ignore_index=-100)


@pytest.mark.parametrize("target", [-1, 2])
def test_a_target_that_is_no_class_has_no_loss_unless_it_is_ignored(target: int) -> None:
    scores, targets = np.ones((2, 2)), np.array([0, target])
    assert _meaning("nn.nll_loss", scores, targets, reduction="sum", ignore_index=target) == -1
    for name, first in (("nn.nll_loss", ()), ("grad.nll_loss_backward", (np.array(1.0),))):
        with pytest.raises(IndexError, match="no class"):
            _meaning(name, *first, scores, targets, reduction="sum", ignore_index=-100)


def test_gradients_of_pools_by_hand() -> None:
    x = np.array([[[[1.0, 5.0, 5.0, 4.0]]]])
    window: dict[str, Any] = {
        "pool_size": (1, 2), "strides": (1, 2), "padding": (0, 1, 0, 1), "dilation": (1, 1), "ceil_mode": False,
        "layout": "NCHW", "out_layout": "NCHW",
    }  # fmt: skip
    grad = np.array([[[[2.0, 6.0, 10.0]]]])
    largest = _meaning("grad.max_pool2d_backward", grad, x, count_include_pad=False, **window)
    assert largest.tolist() == [[[[2, 6, 0, 10]]]]  # of the equal ones the first
    counted = _meaning("grad.avg_pool2d_backward", grad, x, count_include_pad=True, **window)
    assert counted.tolist() == [[[[1, 3, 3, 5]]]]
    for name in ("grad.max_pool2d_backward", "grad.avg_pool2d_backward"):
        with pytest.raises(ValueError, match="of shape"):
            _meaning(name, grad[..., :1], x, count_include_pad=False, **window)
    uncounted = _meaning("grad.avg_pool2d_backward", grad, x, count_include_pad=False, **window)
    assert uncounted.tolist() == [[[[2, 3, 3, 10]]]]


@pytest.mark.parametrize(("mode", "expected"), [("reflect", [3, 2, 1, 2, 3, 2]), ("replicate", [1, 1, 1, 2, 3, 3]),
                                                ("circular", [2, 3, 1, 2, 3, 1])])  # fmt: skip
def test_padding_by_hand(mode: str, expected: list[int]) -> None:
    assert _meaning("nn.pad", np.array([1, 2, 3]), pad_width=(2, 1), pad_mode=mode, pad_value=0.0).tolist() == expected


def _resized(x: Any, size: int, method: str, mode: str, rounding: str = "") -> Any:
    out = _meaning(
        "image.resize2d", np.array(x).reshape(1, 1, 1, -1), (1, size), roi=(0.0,) * 4, layout="NCHW", method=method,
        coordinate_transformation_mode=mode, rounding_method=rounding, cubic_alpha=-0.75, cubic_exclude=0,
        extrapolation_value=0.0, out_dtype=None,
    )  # fmt: skip
    return out.reshape(-1)


def test_resizing_by_hand() -> None:
    assert np.allclose(_resized([0.0, 4.0], 4, "linear", "half_pixel"), [0, 1, 3, 4])
    assert np.allclose(_resized([0.0, 3.0, 6.0], 5, "linear", "align_corners"), [0, 1.5, 3, 4.5, 6])
    assert _resized([1.0, 2.0], 4, "nearest_neighbor", "asymmetric", "floor").tolist() == [1, 1, 2, 2]
    assert np.allclose(_resized([5.0] * 3, 7, "cubic", "half_pixel"), 5)


def test_sampling_at_an_identity_grid_gives_the_image_back() -> None:
    theta = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    picture = RANDOM.normal(size=(1, 2, 3, 4))
    for corners, method in itertools.product((True, False), ("bilinear", "bicubic")):
        grid = _meaning("image.affine_grid", theta, (3, 4), align_corners=corners)
        out = _meaning("image.grid_sample", picture, grid, method=method, layout="NCHW", padding_mode="border",
                       align_corners=corners)  # fmt: skip
        assert np.allclose(out, picture)


def test_activations_by_their_identities() -> None:
    softmax = _meaning("nn.softmax", X, axis=1)
    assert np.allclose(softmax.sum(axis=1), 1)
    assert np.allclose(np.exp(_meaning("nn.log_softmax", X, axis=1)), softmax)
    assert np.allclose(_meaning("nn.silu", X) - _meaning("nn.silu", -X), X)
    assert np.allclose(_meaning("nn.gelu", X), [[[v * 0.5 * math.erfc(-v / 2**0.5) for v in r] for r in m] for m in X])
    smooth = _meaning("nn.softplus", X, beta=2.0, threshold=50.0)
    assert np.allclose(smooth, np.log1p(np.exp(2 * X)) / 2)
