"""[Relax] RunCodegen crashes (SIGSEGV in RunCodegen)

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
from __future__ import annotations
import mmap, os, signal, sys
finished = mmap.mmap(-1, 1)  # The child says here that it came to its end.
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    finished[0] = 1
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from typing import TypeVar
import numpy as np
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def turn1(p1: R.Tensor((), dtype="int64"), p2: R.Tensor((4, 5), dtype="float32")) -> R.Tensor((4, 5), dtype="float32"):
        cls = Module
        r3: R.Tensor((), dtype="bool") = R.greater(p1, R.const(0, "int64"))
        if r3:
            r4: R.Tensor((), dtype="int64") = R.subtract(p1, R.const(1, "int64"))
            r5: R.Tensor((4, 5), dtype="float32") = R.negative(p2)
            r6: R.Tensor((4, 5), dtype="float32") = cls.turn2(r4, r5)
            r9: R.Tensor((4, 5), dtype="float32") = r6
        else:
            with R.dataflow():
                r7: R.Tensor((4, 5), dtype="float32") = R.abs(p2)
                r8: R.Tensor((4, 5), dtype="float32") = r7
                R.output(r8)
            r9: R.Tensor((4, 5), dtype="float32") = r8
        return r9

    @R.function(private=True)
    def turn2(p1: R.Tensor((), dtype="int64"), p2: R.Tensor((4, 5), dtype="float32")) -> R.Tensor((4, 5), dtype="float32"):
        cls = Module
        r3: R.Tensor((), dtype="bool") = R.greater(p1, R.const(0, "int64"))
        if r3:
            with R.dataflow():
                r4: R.Tensor((), dtype="int64") = R.subtract(p1, R.const(1, "int64"))
                r5: R.Tensor((4, 5), dtype="float32") = R.add(p2, R.const(1.0, "float32"))
                r6: R.Tensor((4, 5), dtype="float32") = cls.turn3(r4, r5)
                r7: R.Tensor((4, 5), dtype="float32") = R.negative(r6)
                r8: R.Tensor((4, 5), dtype="float32") = r7
                R.output(r5, r8)
            r11: R.Tensor((4, 5), dtype="float32") = r8
        else:
            with R.dataflow():
                r9: R.Tensor((4, 5), dtype="float32") = R.nn.relu(p2)
                r10: R.Tensor((4, 5), dtype="float32") = r9
                R.output(r10)
            r11: R.Tensor((4, 5), dtype="float32") = r10
        return r11

    @R.function(private=True)
    def turn3(p1: R.Tensor((), dtype="int64"), p2: R.Tensor((4, 5), dtype="float32")) -> R.Tensor((4, 5), dtype="float32"):
        cls = Module
        r3: R.Tensor((), dtype="bool") = R.greater(p1, R.const(0, "int64"))
        if r3:
            with R.dataflow():
                r4: R.Tensor((), dtype="int64") = R.subtract(p1, R.const(1, "int64"))
                r5: R.Tensor((4, 5), dtype="float32") = R.negative(p2)
                r6: R.Tensor((4, 5), dtype="float32") = cls.turn1(r4, r5)
                r7: R.Tensor((4, 5), dtype="float32") = r6
                R.output(r7)
            r10: R.Tensor((4, 5), dtype="float32") = r7
        else:
            with R.dataflow():
                r8: R.Tensor((4, 5), dtype="float32") = R.abs(p2)
                r9: R.Tensor((4, 5), dtype="float32") = r8
                R.output(r9)
            r10: R.Tensor((4, 5), dtype="float32") = r9
        return r10

    @R.function
    def main(p1: R.Tensor((), dtype="int64"), p7: R.Tensor((n,), dtype="float16")) -> R.Tuple(R.Tensor((4, 5, 1, 1), dtype="float32"), R.Tensor((1, n), dtype="float16"), R.Tensor((4, 5), dtype="float32"), R.Tensor((1, 1, n), dtype="float16")):
        cls = Module
        with R.dataflow():
            v3: R.Tensor((4, 5), dtype="float32") = cls.turn1(p1, R.const(np.array([[-1.4252961874008179, 1.4541008472442627, -0.06007903441786766, -1.9988316297531128, 0.14823231101036072], [0.6421876549720764, 1.6637673377990723, 1.2900549173355103, -0.5476903915405273, 1.8822813034057617], [-0.8064905405044556, 1.058641791343689, 0.6094545125961304, 0.6549503803253174, -1.3243281841278076], [1.5595165491104126, -0.6505866050720215, 0.30830076336860657, -0.8662468791007996, -0.9513614773750305]], "float32"), "float32"))
            v4: R.Tensor((4, 5), dtype="float32") = R.floor(v3)
            v6: R.Tensor((4, 5, 1, 1), dtype="float32") = R.reshape(v4, R.shape([4, 5, 1, 1]))
            v8: R.Tensor((n,), dtype="float16") = R.nn.relu(p7)
            v9: R.Tensor((1, n), dtype="float16") = R.reshape(v8, R.shape([1, n]))
            v10: R.Tensor((1, 1, n), dtype="float16") = R.expand_dims(v9, axis=[0])
            v11: R.Tensor((1, 1, n), dtype="float16") = R.square(v10)
            R.output(v3, v4, v6, v8, v9, v11)
        t12: R.Tuple(R.Tensor((4, 5, 1, 1), dtype="float32"), R.Tensor((1, n), dtype="float16"), R.Tensor((4, 5), dtype="float32"), R.Tensor((1, 1, n), dtype="float16")) = v6, v9, v3, v11
        return t12

def show():
    global status
    transform = relax.transform.RunCodegen()
    status = 1  # From here on, an exception is the bug.
    transform(Module)

os.environ.setdefault("TVM_NUM_THREADS", "1")
child = os.fork()
if child == 0:
    signal.alarm(120)
    show()
    print("the bug is gone", flush=True)
    finished[0] = 1
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # A native crash, an exit or a hang is an answer too.
if not finished[0]:
    print("killed by signal" if code < 0 else "exit", abs(code))
sys.exit(code if finished[0] else 1)
