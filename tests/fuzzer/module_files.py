"""Text of module files as users write them, for tests of the command line."""

from __future__ import annotations

GOOD = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""
