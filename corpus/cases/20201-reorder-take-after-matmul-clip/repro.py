"""ReorderTakeAfterMatmul drops the mode of take

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
        def main(x: R.Tensor((1, 2), dtype="float32"), w: R.Tensor((2, 3), dtype="float32"), i: R.Tensor((2,), dtype="int64")) -> R.Tensor((1, 2), dtype="float32"):
            with R.dataflow():
                t: R.Tensor((2, 2), dtype="float32") = R.take(w, i, axis=1, mode="clip")
                f: R.Tensor((1, 2), dtype="float32") = R.matmul(x, t, out_dtype=None)
                R.output(f)
            return f

    MODULE = Module

    TARGET = tvm.target.Target("llvm")
    PASSES = [
        lambda: relax.transform.ReorderTakeAfterMatmul(),
    ]
    [make() for make in PASSES]
except Exception as error:
    print("this TVM cannot run it:", " ".join(f"{type(error).__name__}: {error}".split())[:300])
    sys.exit(2)


# function, arguments, what they give, how far each element may be off
EXPECTED = [
    (
        'main',
        [np.array([[1.0, 2.0]], "float32"), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32"), np.array([7, 1], "int64")],
        [np.array([[15.0, 12.0]], "float32")],
        [0.0],
    ),
]


def tensors(value):
    if type(value) is tuple:  # a ShapeTuple is a tuple, too
        return tuple(tensors(field) for field in value)
    return tvm.runtime.tensor(value) if isinstance(value, np.ndarray) else value


def flat(value):
    if hasattr(value, "numpy"):
        return [value.numpy()]
    if isinstance(value, tvm.runtime.ShapeTuple) or not hasattr(value, "__iter__"):
        return [np.array(value)]
    return [leaf for field in value for leaf in flat(field)]


def run(module, function, arguments, pipeline="default_build"):
    inputs = [tensors(argument) for argument in arguments]
    if any(g.name_hint == function and isinstance(f, tvm.tirx.PrimFunc) for g, f in module.functions.items()):
        tvm.compile(module, TARGET)[function](*inputs)
        return flat(inputs)
    machine = relax.VirtualMachine(tvm.compile(module, TARGET, relax_pipeline=pipeline), tvm.cpu())
    return flat(machine[function](*inputs))


def applied(module, passes):
    for make in passes:
        module = make()(module)
    return module


def differ(got, wanted, tolerances, what):
    if len(got) != len(wanted):
        return f"{what}: {len(got)} outputs instead of {len(wanted)}"
    for number, (a, b, tolerance) in enumerate(zip(got, wanted, tolerances)):
        if a.shape != b.shape:
            return f"{what}: output {number} has shape {a.shape} instead of {b.shape}"
        if a.dtype != b.dtype and "V" not in a.dtype.kind + b.dtype.kind:
            return f"{what}: output {number} is {a.dtype} instead of {b.dtype}"
        a, b = a.astype("float64"), b.astype("float64")
        wrong = ~((np.isnan(a) & np.isnan(b)) | (a == b) | (np.abs(a - b) <= tolerance))
        if wrong.any():
            return f"{what}: output {number} is {a[wrong].flat[0]} instead of {b[wrong].flat[0]}"


def check(module):
    module = applied(module, PASSES)
    for function, arguments, wanted, tolerances in EXPECTED:
        why = differ(run(module, function, arguments), wanted, tolerances, function)
        if why:
            return why


def look():
    return check(MODULE)


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
