"""[Relax] LegalizeOps changes how a public function is called: public function returns another type: two extents

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
    @R.function
    def main(x: R.Tensor((2, 2, 2, 2), dtype="float32"), y: R.Tensor((1, 2, 1, 2), dtype="float32")) -> R.Tensor((2, 1, 1, 2), dtype="float32"):
        a: R.Tensor((2, 1, 1, 2), dtype="float32") = R.nn.conv2d(x, y, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCWH", kernel_layout="OIHW", out_layout="NCWH", out_dtype=None)
        return a

before = Module
after = relax.transform.LegalizeOps()(before)
def contradict(one, other):
    fails = relax.analysis.BaseCheckResult.FAIL_L0
    return relax.analysis.type_base_check(one, other) == fails == relax.analysis.type_base_check(other, one)

left = {g.name_hint: f for g, f in after.functions.items()}
for g, f in before.functions.items():
    if isinstance(f, relax.Function) and f.attrs and "global_symbol" in f.attrs:
        assert g.name_hint in left, f"public function {g.name_hint} is gone"
        old, new = ([*[p.ty for p in function.params], function.ret_ty] for function in (f, left[g.name_hint]))
        same = len(old) == len(new) and not any(map(contradict, old, new))
        assert same, f"{g.name_hint} had the signature {old} and has {new}"
print("the bug is gone", flush=True)
