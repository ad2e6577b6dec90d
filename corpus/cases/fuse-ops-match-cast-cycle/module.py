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
    @R.function
    def main(v6: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            v24: R.Tensor((), dtype="float32") = R.abs(v6)
            m25: R.Tensor((), dtype="float32") = R.match_cast(v24, R.Tensor((), dtype="float32"))
            v27: R.Tensor((), dtype="float32") = R.add(m25, v24)
            R.output(v27)
        return v27
