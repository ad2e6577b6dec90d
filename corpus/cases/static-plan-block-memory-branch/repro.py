"""StaticPlanBlockMemory reuses the storage of a branch behind it

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
        def main(x: R.Tensor((2, 3), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2, 3), dtype="float32"):
            if c:
                a: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
                b: R.Tensor((2, 3), dtype="float32") = R.multiply(a, a)
                r: R.Tensor((2, 3), dtype="float32") = b
            else:
                a1: R.Tensor((2, 3), dtype="float32") = R.subtract(x, x)
                r: R.Tensor((2, 3), dtype="float32") = a1
            s: R.Tensor((2, 3), dtype="float32") = R.exp(r)
            t: R.Tensor((2, 3), dtype="float32") = R.sqrt(s)
            u: R.Tensor((2, 3), dtype="float32") = R.add(t, r)
            return u

    MODULE = Module

    for make in [
        lambda: relax.transform.LegalizeOps(),
        lambda: relax.transform.ToNonDataflow(),
        lambda: relax.transform.RemovePurityChecking(),
        lambda: relax.transform.CallTIRRewrite(),
    ]:
        MODULE = make()(MODULE)
    PASSES = [
        lambda: relax.transform.StaticPlanBlockMemory(),
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
