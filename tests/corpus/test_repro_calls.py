"""Repro scripts that run entry calls: arguments and results of every kind, calling conventions, reads out of bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tvm

from corpus.finding import Expectation
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase
from generators.case import Argument, Case, EntryCall, ModuleText, PassCall, Shape
from oracles.evidence import NotANumber, ReferenceTrap
from tests.corpus.test_repro import X, run, written

pytestmark = pytest.mark.warm


@pytest.mark.deep
def test_large_and_odd_inputs(tmp_path: Path) -> None:
    script = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2, 50), dtype="bfloat16"),
        s: R.Shape([7]),
        t: R.Tuple(R.Tensor((2,), dtype="int8"), R.Tensor((), dtype="bool")),
    ) -> R.Tuple(R.Tensor((50, 2), dtype="bfloat16"), R.Shape([7]), R.Tensor((2,), dtype="int8")):
        a = R.permute_dims(x)
        b: R.Tensor((2,), dtype="int8") = t[0]
        return (a, s, b)
"""
    import ml_dtypes

    x = np.arange(100).reshape(2, 50).astype(ml_dtypes.bfloat16)
    b = np.array([-3, 5], np.int8)
    case = Case(
        ModuleText(script),
        (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),),
        (EntryCall("main", (x, Shape((7,)), (b, np.array(True)))),),
    )
    outputs = (np.ascontiguousarray(x.T), np.array([7]), b)
    good = StoredCase(case, "t", "numeric", "s", "P", expectations=(Expectation(0, outputs, (0.0, 0, 0.0)),))
    assert run(written(tmp_path, good)) == (0, "the bug is gone\n")
    wrong = replace(good, expectations=(Expectation(0, (outputs[0], outputs[1], -b), (0.0, 0, 0.0)),))
    status, line = run(written(tmp_path, wrong))
    assert (status, line.strip()) == (1, "AssertionError('output 2 is -3 instead of 3')")


def test_options_of_a_pass_are_around_it(tmp_path: Path) -> None:
    options = "{'tirx.UnrollLoop': {'auto_max_step': 64}}"
    case = Case(ModuleText(WEIGHTED), (PassCall("tirx.UnrollLoop", "tirx.transform.UnrollLoop()", options),))
    path = written(tmp_path, StoredCase(case, "t", "survives", "crash", "tirx.UnrollLoop"))
    text = (path / "repro.py").read_text()
    assert f"with tvm.transform.PassContext(config={options}):\n" in text
    assert run(path) == (0, "the bug is gone\n")


def of_prim_func(*arguments: Argument) -> StoredCase:
    """A case that calls a PrimFunc, the first of whose arguments is one more in the second."""
    script = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                B[v] = A[v] + T.float32(1)
"""
    a = np.arange(4, dtype=np.float32)
    case = Case(
        ModuleText(script),
        (PassCall("Simplify", "tvm.s_tir.transform.CanonicalizeLoop()"),),
        (EntryCall("main", arguments),),
    )
    return StoredCase(case, "t", "numeric", "s", "P", expectations=(Expectation(0, (a, a + 1), (0.0, 0.0)),))


def test_the_arrays_of_a_prim_func_are_what_it_gives() -> None:
    a, b = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert "results = [t.numpy() for t in inputs]\n" in repro_text(of_prim_func(a, b))
    with_scalar = repro_text(of_prim_func(a, 3, b))
    assert "results = [t.numpy() for t in [inputs[index] for index in [0, 2]]]\n" in with_scalar


@pytest.mark.deep
def test_prim_funcs_are_run_too(tmp_path: Path) -> None:
    a = np.arange(4, dtype=np.float32)
    good = of_prim_func(a, np.zeros(4, np.float32))
    assert run(written(tmp_path, good)) == (0, "the bug is gone\n")
    wrong = replace(good, expectations=(Expectation(0, (a, a), (0.0, 0.5)),))
    assert run(written(tmp_path, wrong))[0] == 1


WEIGHTED = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((2,), dtype="float32"), w: R.Tensor((2,), dtype="float32"), v: R.Tensor((2,), dtype="float32")
    ) -> R.Tensor((2,), dtype="float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.multiply(w, v)
            b = R.add(x, a)
            R.output(b)
        return b
"""
CONVENTIONS = {
    "BindParams": "relax.transform.BindParams('main', {'w': np.array([3.0, 4.0], 'float32')})",
    "BundleModelParams": "relax.transform.BundleModelParams()",
    "LiftTransformParams": "relax.transform.LiftTransformParams()",
    "LiftTransformParams, shared": "relax.transform.LiftTransformParams(shared_transform=True)",
    "LazyGetInput": "relax.transform.LazyGetInput()",
    "LazySetOutput": "relax.transform.LazySetOutput()",
}
"""Passes after which the arguments are others, by the name in the table."""
NEGATING = """
import tvm
from tvm import relax

@relax.expr_functor.mutator
class Swap(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        return relax.op.subtract(*call.args) if getattr(call.op, "name", "") == "relax.add" else call

def change(mod, ctx):
    out = mod.clone()
    for g, f in mod.functions.items():
        out.update_func(g, Swap(mod).visit_expr(f))
    return out

PASSES = {"Swapping": lambda: tvm.transform.module_pass(change, opt_level=0, name="Swapping")}
"""


@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize(
    "name", [n if n == "BindParams" else pytest.param(n, marks=pytest.mark.deep) for n in CONVENTIONS]
)
def test_the_result_is_called_as_the_pass_asks(tmp_path: Path, name: str, swaps: bool) -> None:
    faults = tmp_path / "faults.py"
    faults.write_text(NEGATING)
    passes = [PassCall(name.split(",")[0], CONVENTIONS[name])]
    if swaps:
        passes.append(PassCall("Swapping", "loaded.PASSES['Swapping']()"))
    w, v = np.array([3.0, 4.0], np.float32), np.array([5.0, 6.0], np.float32)
    case = Case(ModuleText(WEIGHTED), tuple(passes), (EntryCall("main", (X, w, v)),), load=str(faults))
    expected = Expectation(0, (np.array([16.0, 26.0], np.float32),), (0.0,))
    status, line = run(written(tmp_path, StoredCase(case, "t", "numeric", "s", "P", expectations=(expected,))))
    said = "output 0 is" if name == "LazySetOutput" else "the output is"
    wanted = (1, f"AssertionError('{said} -14.0 instead of 16.0')") if swaps else (0, "the bug is gone")
    assert (status, line.strip()) == wanted


BEYOND = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def shifted(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                B[v] = A[v + OFFSET]

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        y = R.call_tir(Module.shifted, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""


@pytest.mark.parametrize(("offset", "status"), [(0, 0), (1, 1), (-3, 1)])
def test_a_read_outside_of_the_inputs_is_shown(tmp_path: Path, offset: int, status: int) -> None:
    """For any contents: the expectation is what one of the two kinds of memory gives."""
    x = np.arange(4, dtype=np.float32)
    padded = np.concatenate([np.zeros(4, np.float32), x, np.zeros(4, np.float32)])
    case = Case(
        ModuleText(BEYOND.replace("OFFSET", str(offset))),
        (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),),
        (EntryCall("main", (x,)),),
    )
    expected = Expectation(0, (padded[4 + offset : 8 + offset],), (0.0,))
    evidence = ReferenceTrap("out-of-bounds")
    found = StoredCase(case, "t", "numeric", "trap", "P", expectations=(expected,), evidence=evidence)
    assert run(written(tmp_path, found))[0] == status


def test_an_unwritten_result_is_not_taken_for_zeros(tmp_path: Path) -> None:
    silent = BEYOND.replace("B[v] = A[v + OFFSET]", "T.evaluate(0)")
    case = Case(
        ModuleText(silent),
        (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),),
        (EntryCall("main", (np.arange(4, dtype=np.float32),)),),
    )
    expected = Expectation(0, (np.zeros(4, np.float32),), (0.0,))
    message = "value: output 0[0] is nan, not 0.0 within 0"
    found = StoredCase(
        case, "t", "numeric", "wrong result", "P", message, expectations=(expected,), evidence=NotANumber()
    )
    assert run(written(tmp_path, found))[0] == 1


@pytest.mark.parametrize("evidence", [None, ReferenceTrap("out-of-bounds")])
def test_numbers_of_a_gpu_are_asked_of_a_gpu_alone(tmp_path: Path, evidence: ReferenceTrap | None) -> None:
    script = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")):
        return R.add(x, x)
"""
    x = np.ones(2, np.float32)
    case = Case(
        ModuleText(script),
        (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),),
        (EntryCall("main", (x,)),),
        target="cuda",
    )
    found = StoredCase(case, "t", "numeric", "s", "P", expectations=(Expectation(0, (x,), (0.0,)),), evidence=evidence)
    folder = written(tmp_path, found)
    text = (folder / "repro.py").read_text()
    assert "relax.VirtualMachine(" in text and "tvm.cpu()" not in text and "on_device(np" in text
    assert "walled" not in text
    if not tvm.cuda().exist:
        assert run(folder) == (2, "this needs a CUDA device and nvcc\n")


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("dtypes", [("int32",), ("float32",), ("int32", "float32")])
def test_elements_without_a_value_are_not_compared(tmp_path: Path, dtypes: tuple[str, ...], first: int) -> None:
    """Unwritten memory holds anything, also NaN, in every dtype."""
    fields = [f'R.Tensor((3,), dtype="{dtype}")' for dtype in dtypes]
    parameters = ", ".join(f"x{number}: {field}" for number, field in enumerate(fields))
    results = ", ".join(f"x{number}" for number in range(len(dtypes)))
    returns = fields[0] if len(fields) == 1 else f"R.Tuple({', '.join(fields)})"
    script = f"""
@I.ir_module
class Module:
    @R.function
    def main({parameters}) -> {returns}:
        return {results if len(fields) == 1 else f"({results})"}
"""
    given = tuple(np.array([1, 7 if dtype == "int32" else np.nan, 3], dtype) for dtype in dtypes)
    wanted = tuple(np.array([first, 0, 3], dtype) for dtype in dtypes)
    tolerances = (np.array([0, np.inf, 0]),) * len(dtypes)
    case = Case(ModuleText(script), (), (EntryCall("main", given),))
    stored = StoredCase(case, "t", "numeric", "s", "P", expectations=(Expectation(0, wanted, tolerances),))
    assert run(written(tmp_path, stored))[0] == first - 1
