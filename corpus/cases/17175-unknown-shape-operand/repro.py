"""LegalizeOps leaves operators with operands of unknown shape, and the build dies

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
from __future__ import annotations

import os, signal, sys

os.environ.setdefault("TVM_NUM_THREADS", "1")
try:
    import tvm
    from tvm import relax
    from tvm.script import ir as I
    from tvm.script import relax as R

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(dtype="float32", ndim=2)) -> R.Tensor(dtype="float32", ndim=2):
            with R.dataflow():
                y: R.Tensor(dtype="float32", ndim=2) = R.add(x, x)
                R.output(y)
            return y

    MODULE = Module

    TARGET = tvm.target.Target("llvm")
    PASSES = [
        lambda: relax.transform.LegalizeOps(),
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
