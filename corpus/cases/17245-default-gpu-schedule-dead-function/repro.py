"""DefaultGPUSchedule fails on a dead PrimFunc: Cannot add loops on top of the root block

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
from __future__ import annotations

import os, signal, sys

os.environ.setdefault("TVM_NUM_THREADS", "1")
try:
    import tvm
    from tvm.script import ir as I
    from tvm.script import relax as R
    from tvm.script import tirx as T

    @I.ir_module
    class Module:
        @T.prim_func(private=True, s_tir=True)
        def dead(A: T.Buffer((4,), "float32")):
            with T.sblock("root"):
                T.reads()
                T.writes()
                for i in range(4):
                    A[i] = T.float32(0.0)

        @R.function
        def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
            return x

    MODULE = Module

    TARGET = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")
    def under_target(make):
        def call(module):
            with TARGET:
                return make()(module)

        return lambda: call

    PASSES = [
        under_target(lambda: tvm.s_tir.transform.DefaultGPUSchedule()),
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
