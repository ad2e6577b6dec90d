from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_attrs({"system_lib_prefix": "passfuzz_"})
    @R.function
    def main(x: R.Tensor((), dtype="int32")) -> R.Tuple(R.Tensor((), dtype="float32")):
        a: R.Tensor((), dtype="int32") = R.sort(x, axis=-1, descending=False)
        return (R.const(float("nan"), "float32"),)
