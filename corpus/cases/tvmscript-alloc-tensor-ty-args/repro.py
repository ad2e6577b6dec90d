"""[TVMScript] TVMScript does not read back what it writes: script does not parse: alloc_tensor() got an unexpected...

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
    I.module_global_infos({"vdevice": [I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 0, "global"), I.vdevice({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64-conda-linux-gnu", "tag": ""}, 1, "global")]})
    @R.function
    def main(p1: R.Tensor((8, 3, 3, 4), dtype="float32"), p2: R.Tensor((3, 2, 3, 1), dtype="float32"), p3: R.Tensor((2, 1, 4), dtype="float32"), p4: R.Tensor((4, 5), dtype="float32"), p5: R.Tensor((2, 5, 3), dtype="float32"), p14: R.Tensor((2, 2), dtype="float32")) -> R.Tuple(R.Tensor((4, 1, 3), dtype="float32"), R.Tensor((2, 1, 3), dtype="float32"), R.Tensor((2, 2), dtype="float32")):
        with R.dataflow():
            v6: R.Tensor((2, 4, 3), dtype="float32") = R.matmul(p4, p5, out_dtype=None)
            v8: R.Tensor((2, 1, 3), dtype="float32") = R.matmul(p3, v6, out_dtype=None)
            v9: R.Tensor((2, 1, 3), dtype="float32") = R.ewise_fma(v8, v8, v8)
            v10: R.Tensor((2, 1, 3), dtype="float32") = R.abs(v9)
            v11: R.Tensor((2, 1, 3), dtype="float32") = R.maximum(v8, v9)
            v13: R.Tensor((4, 1, 3), dtype="float32") = R.concat((v10, v11), axis=0)
            v16: R.Tensor((2, 2), dtype="float32") = R.reshape(p14, R.shape([2, 2]))
            R.output(v6, v8, v13, v16)
        return (v13, v8, v16)

mod = relax.transform.LegalizeOps()(Module)
mod = relax.transform.FuseTIR()(mod)
with tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm"):
    mod = tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(),
        tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), tvm.s_tir.dlight.gpu.Fallback())(mod)
mod = relax.transform.RewriteDataflowReshape()(mod)
mod = relax.transform.ToNonDataflow()(mod)
mod = relax.transform.RemovePurityChecking()(mod)
before = mod
after = relax.transform.CallTIRRewrite()(before)
status = 1  # From here on, an exception is the bug.
from tvm_ffi import get_first_structural_mismatch as mismatch

for module in (before, after):
    assert not mismatch(module, tvm.ir.load_json(tvm.ir.save_json(module))), "JSON loads to another module"
    again = tvm.script.from_source(module.script(show_meta=True))
    assert not mismatch(module, again), f"the printed script is another module: {mismatch(module, again)}"
print("the bug is gone", flush=True)
