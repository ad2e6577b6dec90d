"""Layouts with split axes: operands are merged, the plain meaning applies, and the result is split again."""

from __future__ import annotations

import numpy as np
import pytest

from generators.case import EntryCall
from oracles.reference.layouts import Split
from oracles.reference.numbers import Numbers
from oracles.reference.values import Tensor
from tests.oracles.oracle_bench import module_of


def test_an_element_lies_where_tvm_says() -> None:
    array = np.arange(2 * 8 * 3 * 5).reshape(2, 8, 3, 5)
    split = Split.read("NCHW4c").split(array)
    assert split.shape == (2, 2, 3, 5, 4)
    for n, c, h, w in ((0, 0, 0, 0), (1, 7, 2, 4), (1, 5, 0, 3), (0, 6, 1, 1)):
        assert split[n, c // 4, h, w, c % 4] == array[n, c, h, w]


@pytest.mark.parametrize(
    ("layout", "plain", "shape"),
    [
        ("NCHW4c", "NCHW", (1, 2, 3, 5, 4)),
        ("OIHW2i4o", "OIHW", (3, 5, 2, 2, 2, 4)),
        ("N4cHWC", "NHWC", (2, 4, 3, 3, 2)),
        ("NCHW2n4c", "NCHW", (2, 3, 2, 2, 2, 4)),
        ("NHWC", "NHWC", (2, 3, 4, 5)),
    ],
)
def test_merging_undoes_splitting(layout: str, plain: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape)).reshape(shape)
    split = Split.read(layout)
    assert split.plain == plain
    merged = split.merged(array)
    assert merged.ndim == len(plain)
    assert np.array_equal(split.split(merged), array)


def test_an_axis_that_does_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        Split.read("NCHW4c").split(np.zeros((1, 6, 2, 2)))


PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({x}, "float32"), w: R.Tensor({w}, "float32")):
        y = R.nn.conv2d(x, w, padding=(1, 1), {layouts})
        z = R.nn.max_pool2d(y, pool_size=(2, 2), layout="{pool}")
        return z
"""


def result(x: np.ndarray, w: np.ndarray, layouts: str, pool: str) -> np.ndarray:
    text = PROGRAM.format(x=x.shape, w=w.shape, layouts=layouts, pool=pool)
    (value,) = Numbers(module_of(text), (EntryCall("main", (x, w)),)).expected
    assert isinstance(value, Tensor)
    return value.value


def test_a_convolution_gives_the_same_in_split_layouts() -> None:
    random = np.random.default_rng(0)
    x = random.integers(-4, 5, (2, 8, 6, 6)).astype("float32")
    w = random.integers(-4, 5, (4, 8, 3, 3)).astype("float32")
    plain = result(x, w, 'data_layout="NCHW", kernel_layout="OIHW"', "NCHW")
    split_x = np.ascontiguousarray(x.reshape(2, 2, 4, 6, 6).transpose(0, 1, 3, 4, 2))
    split_w = np.ascontiguousarray(w.reshape(1, 4, 8, 3, 3).transpose(0, 2, 3, 4, 1))
    split = result(split_x, split_w, 'data_layout="NCHW4c", kernel_layout="OIHW4o", out_layout="NCHW4c"', "NCHW4c")
    assert plain.shape == (2, 4, 5, 5)
    assert np.array_equal(split.transpose(0, 1, 4, 2, 3).reshape(plain.shape), plain)
