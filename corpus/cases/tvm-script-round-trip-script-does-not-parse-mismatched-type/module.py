from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((n, 4), dtype="float32"), p7: R.Tensor((5, 4), dtype="float32"), v2: R.Tensor((n, 4), dtype="float32"), v3: R.Tensor(("n * 4",), dtype="float32"), v4: R.Tensor(("n * 4",), dtype="float32"), v5: R.Tensor(("n * 4",), dtype="float32"), t11: R.Tuple(R.Tensor((5, 4), dtype="float32")), _9: R.Tuple, v10: R.Tensor((5, 4), dtype="float32")) -> R.Tuple(R.Tensor(("n * 4",), dtype="float32"), R.Tensor(("n * 4",), dtype="float32")):
        R.func_attr({"passfuzz_note": 2})
        v6: R.Tensor((n * 4,), dtype="float32") = R.add(v4, v4)
        v8: R.Tensor((5, 4), dtype="float32") = R.negative(p7)
        return (v5, v4)
