"""LiftTransformParams leaves a returned weight undefined

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
        def main(x: R.Tensor((2,), dtype="float32"), w: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((3, 2), dtype="float32"):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                w_t: R.Tensor((3, 2), dtype="float32") = R.permute_dims(w, axes=None)
                R.output(w_t)
            return w_t

    MODULE = Module

    PASSES = [
        lambda: relax.transform.LiftTransformParams(),
    ]
    [make() for make in PASSES]
except Exception as error:
    print("this TVM cannot run it:", " ".join(f"{type(error).__name__}: {error}".split())[:300])
    sys.exit(2)


def check(before, after, make):
    try:
        relax.analysis.well_formed(after)
        for f in after.functions.values():
            if isinstance(f, tvm.tirx.PrimFunc):
                sblocks = bool(f.attrs and f.attrs.get("s_tir", False))
                (tvm.s_tir if sblocks else tvm.tirx).analysis.verify_well_formed(f)
    except Exception as error:
        return f"ill-formed: {error}"


def look():
    module = MODULE
    for make in PASSES:
        after = make()(module)
        why = check(module, after, make)
        if why:
            return why
        module = after


if os.fork() == 0:  # In a child: a native crash or a hang is an answer too.
    signal.alarm(120)
    try:
        why = look()
    except Exception as error:
        why = f"stopped before the check: {type(error).__name__}: {error}"
        print(why, flush=True)
        os._exit(2)
    print(" ".join((why or "the bug is gone").split())[:300], flush=True)
    os._exit(1 if why else 0)
status = os.wait()[1]
if os.WIFSIGNALED(status):
    print("killed by signal", os.WTERMSIG(status))
sys.exit(1 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
