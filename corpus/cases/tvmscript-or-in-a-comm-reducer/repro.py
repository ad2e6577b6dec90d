"""[TVMScript] TVMScript does not read back what it writes: script does not parse: Cannot use and / or / not operator...

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
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

# TVMScript cannot say this module exactly; Module.show() prints what it can.
with open(os.path.join(os.path.dirname(__file__), "module.json"), encoding="utf-8") as file:
    Module = tvm.ir.load_json(file.read())

before = Module
after = relax.transform.ToNonDataflow()(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
