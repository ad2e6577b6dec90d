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
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global")]})
    @R.function(private=True)
    def f(x: R.Tensor((), dtype="float32", vdevice="llvm:0:global")) -> R.Tensor((), dtype="float32", vdevice="llvm:0:global"):
        return x

    @R.function
    def main(x: R.Tensor((), dtype="float32", vdevice="llvm:0:global")) -> R.Tensor((), dtype="float32", vdevice="llvm:0:global"):
        cls = Module
        a: R.Tensor((), dtype="float32", vdevice="llvm:0:global") = R.sqrt(x)
        b: R.Tensor((), dtype="float32", vdevice="llvm:0:global") = cls.f(a)
        return b
