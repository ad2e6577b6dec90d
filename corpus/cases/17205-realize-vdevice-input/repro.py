"""RealizeVDevice changed the module that it was given

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
        I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global")]})
        @R.function
        def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
            with R.dataflow():
                y: R.Tensor((2,), dtype="float32") = R.hint_on_device(x, R.device(device_type=1, index=0), "global")
                z: R.Tensor((2,), dtype="float32") = R.add(y, y)
                R.output(z)
            return z

    MODULE = Module

    PASSES = [
        lambda: relax.transform.RealizeVDevice(),
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
