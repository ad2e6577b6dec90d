"""[TVMScript] TVMScript does not read back what it writes: script does not parse: IRModule frame not find. Please...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global")]})
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        # from tvm.script import ir as I
        # from tvm.script import relax as R
        
        @R.function
        def a() -> R.Tensor((), dtype="float32"):
            return x

        b: R.Tensor((), dtype="float32") = a()
        c: R.Tensor((), dtype="float32") = R.hint_on_device(b, R.device(device_type=1, index=0), "global")
        return c

before = Module
after = relax.transform.RealizeVDevice()(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
