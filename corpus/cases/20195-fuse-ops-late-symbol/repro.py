"""FuseOps moves a call above the match_cast that defines its symbol

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
    from tvm.script import tirx as T

    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(private=True,s_tir=True)
        def ident(A: T.Buffer((4,),"float32"), B: T.Buffer((4,),"float32")):
            T.func_attr({"op_pattern":0})
            for i in range(4):
                with T.sblock("b"):
                    v=T.axis.spatial(4,i)
                    B[v]=A[v]
        @T.prim_func(private=True,s_tir=True)
        def fill(A: T.Buffer((4,),"float32"), b: T.handle):
            T.func_attr({"op_pattern":0})
            n=T.int64()
            B=T.match_buffer(b,(n,),"float32")
            for i in range(n):
                with T.sblock("b"):
                    v=T.axis.spatial(n,i)
                    B[v]=A[0]
        @R.function
        def main(x: R.Tensor((4,),"float32"), y: R.Tensor("float32",ndim=1)):
            cls = Module
            s1 = T.int64()
            with R.dataflow():
                a = R.call_tir(cls.ident, (x,), out_ty=R.Tensor((4,),"float32"))
                b = R.match_cast(y, R.Tensor((s1,),"float32"))
                d = R.call_tir(cls.fill, (a,), out_ty=R.Tensor((s1,),"float32"))
                R.output(d)
            return d

    MODULE = Module

    PASSES = [
        lambda: relax.transform.FuseOps(),
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
