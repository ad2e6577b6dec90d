"""AnnotateEntryFunc changes the module that it is given

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it.
"""
from __future__ import annotations

import os, signal, sys

os.environ.setdefault("TVM_NUM_THREADS", "1")
try:
    import tvm
    from tvm.script import ir as I
    from tvm.script import tirx as T

    @I.ir_module
    class Module:
        @T.prim_func(s_tir=True)
        def main(A: T.Buffer((4,), "float32")):
            # with T.sblock("root"):
            for i in range(4):
                with T.sblock("b"):
                    T.reads()
                    T.writes(A[i])
                    A[i] = T.float32(0.0)

    MODULE = Module

    PASSES = [
        lambda: tvm.tirx.transform.AnnotateEntryFunc(),
    ]
    [make() for make in PASSES]
except Exception as error:
    print("this TVM cannot run it:", " ".join(f"{type(error).__name__}: {error}".split())[:300])
    sys.exit(2)


def check(before, after, make):
    # `after` was made from another copy; this one is watched.
    text = before.script(show_meta=True)
    make()(before)
    if before.script(show_meta=True) != text:
        return "the pass changed the module that it was given"


def look():
    module = MODULE
    for make in PASSES:
        after = make()(tvm.ir.load_json(tvm.ir.save_json(module)))
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
