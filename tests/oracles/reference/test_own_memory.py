"""Results of operators in the reference have memory of their own, as TVM's kernels fill new tensors."""

from __future__ import annotations

import numpy as np
import pytest
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from generators.operators.table import OPERATORS
from oracles.reference.engine import interpreted
from oracles.reference.values import Tensor, carried, flattened, from_argument
from tests.operator_harness import draw_row


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_a_result_has_no_memory_of_an_operand(name: str) -> None:
    sample = draw_row(OPERATORS[name], 11)
    inputs = [from_argument(argument) for argument in sample.given]
    result = interpreted(sample.module)("main", inputs)
    operands = [leaf.value for leaf in flattened(tuple(inputs)) if isinstance(leaf, Tensor)]
    for leaf in flattened(result):
        if isinstance(leaf, Tensor):
            assert leaf.value.flags.writeable
            assert not any(np.may_share_memory(leaf.value, one) for one in operands)


@I.ir_module
class Lowered:
    @T.prim_func(private=True, s_tir=True)
    def bump(a: T.Buffer((2, 2), "float32")) -> None:
        for i, j in T.grid(2, 2):
            with T.sblock("bumped"):
                vi, vj = T.axis.remap("SS", [i, j])
                a[vi, vj] = a[vi, vj] + T.float32(1)

    @R.function(pure=False)
    def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2,), "float32")):
        cls = Lowered
        flipped = R.flip(x, axis=1)
        _ = cls.bump(flipped)
        turned = R.permute_dims(x)
        _1 = cls.bump(turned)
        wide = R.broadcast_to(y, (2, 2))
        _2 = cls.bump(wide)
        same = R.astype(x, "float32")
        _3 = cls.bump(same)
        return (x, y, flipped, turned, wide, same)


def test_what_a_kernel_writes_shows_in_its_argument_alone() -> None:
    x, y = np.array([[1, 2], [3, 5]], "float32"), np.array([7, 8], "float32")
    result = interpreted(Lowered)("main", [carried(x, "float32"), carried(y, "float32")])
    got = [leaf.value.tolist() for leaf in flattened(result) if isinstance(leaf, Tensor)]
    assert got == [
        [[1, 2], [3, 5]],
        [7, 8],
        [[3, 2], [6, 4]],
        [[2, 4], [3, 6]],
        [[8, 9], [8, 9]],
        [[2, 3], [4, 6]],
    ]
