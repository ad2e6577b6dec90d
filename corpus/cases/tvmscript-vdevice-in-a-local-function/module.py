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
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        # from tvm.script import ir as I
        # from tvm.script import relax as R
        
        @R.function
        def a() -> R.Tensor((), dtype="float32"):
            return x

        b: R.Tensor((), dtype="float32") = a()
        c: R.Tensor((), dtype="float32") = R.hint_on_device(b, R.device(device_type=1, index=0), "global")
        return c
