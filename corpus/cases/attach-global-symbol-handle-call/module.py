from __future__ import annotations

from typing import TypeVar

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_attrs({"system_lib_prefix": "p_"})
    @T.prim_func(private=True, s_tir=True)
    def prim(A: T.Buffer((1,), "int32")):
        T.call_packed("f", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(1), 0, 1, 0, 0))

    @R.function
    def main(x: R.Tensor((), dtype="int32")) -> R.Tensor((), dtype="int32"):
        return x
