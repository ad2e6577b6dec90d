"""CombineParallelMatmul dies on a 1-D left-hand side

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
from __future__ import annotations

import os, signal, sys

os.environ.setdefault("TVM_NUM_THREADS", "1")
try:
    from tvm import relax
    from tvm.script import ir as I
    from tvm.script import relax as R

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), dtype="float32"), a: R.Tensor((4, 5), dtype="float32"), b: R.Tensor((4, 5), dtype="float32")) -> R.Tuple(R.Tensor((5,), dtype="float32"), R.Tensor((5,), dtype="float32")):
            with R.dataflow():
                c: R.Tensor((5,), dtype="float32") = R.matmul(x, a, out_dtype=None)
                d: R.Tensor((5,), dtype="float32") = R.matmul(x, b, out_dtype=None)
                R.output(c, d)
            return (c, d)

    MODULE = Module

    PASSES = [
        lambda: relax.transform.CombineParallelMatmul(),
    ]
    [make() for make in PASSES]
except Exception as error:
    print("this TVM cannot run it:", " ".join(f"{type(error).__name__}: {error}".split())[:300])
    sys.exit(2)


def look():
    module = MODULE
    for make in PASSES:
        module = make()(module)


if os.fork() == 0:  # In a child: a native crash or a hang is an answer too.
    signal.alarm(120)
    try:
        why = look()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    print(" ".join((why or "the bug is gone").split())[:300], flush=True)
    os._exit(1 if why else 0)
status = os.wait()[1]
if os.WIFSIGNALED(status):
    print("killed by signal", os.WTERMSIG(status))
sys.exit(1 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
