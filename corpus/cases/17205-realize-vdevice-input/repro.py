"""RealizeVDevice changed the module that it was given

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(1 if kind is AssertionError else 2)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

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

before = Module
text = before.script(show_meta=True)
after = relax.transform.RealizeVDevice()(before)
assert before.script(show_meta=True) == text, "the pass changed the module that it was given"
print("the bug is gone", flush=True)
