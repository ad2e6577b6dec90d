"""FoldConstant after KillAfterLastUse makes the build fail: non-normalized expression

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
from __future__ import annotations

import os, signal, sys

os.environ.setdefault("TVM_NUM_THREADS", "1")
try:
    import numpy as np
    import tvm
    from tvm import relax
    from tvm.script import ir as I
    from tvm.script import relax as R

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
            with R.dataflow():
                a: R.Tensor((2,), dtype="float32") = R.add(R.const(np.array([1.0, 2.0], "float32"), "float32"), R.const(np.array([3.0, 4.0], "float32"), "float32"))
                b: R.Tensor((2,), dtype="float32") = R.add(x, a)
                R.output(b)
            return b

    MODULE = Module

    TARGET = tvm.target.Target("llvm")
    PASSES = [
        lambda: relax.transform.KillAfterLastUse(),
        lambda: relax.transform.FoldConstant(),
    ]
    [make() for make in PASSES]
except Exception as error:
    print("this TVM cannot run it:", " ".join(f"{type(error).__name__}: {error}".split())[:300])
    sys.exit(2)


def applied(module, passes):
    for make in passes:
        module = make()(module)
    return module


def check(module):
    tvm.compile(applied(module, PASSES), TARGET)


def look():
    return check(MODULE)


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
