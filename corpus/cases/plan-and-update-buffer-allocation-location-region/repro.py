"""[S-TIR] PlanAndUpdateBufferAllocationLocation gives an ill-formed module: PrimFunc non_max_suppression:...

Exit status: 1 the bug is there, 0 it is gone, 2 this TVM cannot run it."""
import os, sys
status = 2

def on_error(kind, error, trace):
    sys.__excepthook__(kind, error, trace)
    print(repr(error), flush=True)
    os._exit(status)  # At once: objects of TVM in a traceback may crash Python's end.

sys.excepthook = on_error
import tvm
from tvm import relax, s_tir
from tvm.script import ir as I, relax as R
sys.excepthook = on_error  # TVM puts its own before it, which shows no errors of its parser and ends with 1.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), dtype="int32"), y: R.Tensor((1, 1), dtype="int32"), z: R.Tensor((1, 1, 6), dtype="float32")) -> R.Tuple(R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int32")):
        a: R.Tuple(R.Tensor((1, 1), dtype="int32"), R.Tensor((1, 1), dtype="int32")) = R.vision.non_max_suppression(z, x, y, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1, coord_start=2, score_index=1, id_index=0, return_indices=True, invalid_to_bottom=False, soft_nms_sigma=0.0, score_threshold=0.0)
        return a

mod = relax.transform.LegalizeOps()(Module)
after = s_tir.transform.PlanAndUpdateBufferAllocationLocation()(mod)
status = 1  # From here on, an exception is the bug.
relax.analysis.well_formed(after)
for function in after.functions.values():
    if isinstance(function, tvm.tirx.PrimFunc):
        s_tir = function.attrs and function.attrs.get("s_tir", False)
        (tvm.s_tir if s_tir else tvm.tirx).analysis.verify_well_formed(function)
print("the bug is gone", flush=True)
