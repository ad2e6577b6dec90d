"""Test suites of a TVM developer, run with `pytest --passfuzz` in a process and a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[2]

SUITE = """
import pytest
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.subtract(x, y)
            b = R.nn.relu(a)
            R.output(b)
        return b

@I.ir_module(s_tir=True)
class Loops:
    @T.prim_func(s_tir=True)
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("B"):
                v = T.axis.spatial(4, i)
                B[v] = A[v] * T.float32(2)

@relax.expr_functor.mutator
class Swap(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        return relax.op.add(*call.args) if call.op.name == "relax.subtract" else call
"""

FAULTY = (
    SUITE
    + """
@tvm.ir.transform.module_pass(opt_level=0, name="SwapsOperators")
def swaps(mod, ctx):
    new = mod.clone()
    new["main"] = Swap(mod).visit_expr(mod["main"])
    return new

@tvm.ir.transform.module_pass(opt_level=0, name="SwapsInPlace")
def swaps_in_place(mod, ctx):
    mod["main"] = Swap(mod).visit_expr(mod["main"])
    return mod

@tvm.ir.transform.module_pass(opt_level=0, name="PartsInPlace")
def parts_in_place(mod, ctx):
    return relax.transform.Normalize()(swaps_in_place(mod))

@tvm.ir.transform.module_pass(opt_level=0, name="LosesABinding")
class Loses:
    def transform_module(self, mod, ctx):
        f = mod["main"]
        body = relax.SeqExpr(f.body.blocks, relax.Var("nowhere", f.ret_ty))
        main = relax.Function(f.params, body, f.ret_ty, f.is_pure, f.attrs)
        return tvm.IRModule({name: main for name in mod.functions})

@tvm.ir.transform.module_pass(opt_level=0, name="WritesIntoItsInput")
def writes(mod, ctx):
    mod["main"] = mod["main"].with_attr("seen", 1)
    return mod

@pytest.mark.parametrize("transform", [swaps, Loses()], ids=["swaps", "loses"])
def test_fault(transform):
    assert transform(Module)["main"] is not None

def test_in_place():
    assert writes(Module.clone())["main"].attrs["seen"] == 1

@pytest.mark.parametrize("transform", [swaps_in_place, parts_in_place], ids=["alone", "inside"])
def test_rewrite_in_place(transform):
    assert transform(Module.clone())["main"] is not None
"""
)

LOCAL = (
    SUITE
    + """
def test_local():
    @tvm.ir.transform.module_pass(opt_level=0, name="SwapsLocally")
    def local(mod, ctx):
        new = mod.clone()
        new["main"] = Swap(mod).visit_expr(mod["main"])
        return new
    assert local(Module)["main"] is not None
"""
)
"""With a wrong pass that no name of the file gives."""

CLEAN = (
    SUITE
    + """
def test_legal():
    relax.transform.LegalizeOps()(Module)

def test_several():
    seq = tvm.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern()])
    assert len(seq(Module).functions) == 3

def test_loops():
    tvm.s_tir.transform.LowerInitBlock()(Loops)
    tvm.s_tir.transform.ConvertBlocksToOpaque()(Loops)

def test_build():
    tvm.compile(Module, "llvm")
"""
)

OUTCOMES = (
    SUITE
    + """
def test_pass(): relax.transform.LegalizeOps()(Module)
def test_fail(): assert len(relax.transform.LegalizeOps()(Module).functions) == 7
@pytest.mark.xfail(strict=True)
def test_xfail(): relax.transform.UpdateVDevice(relax.VDevice("llvm"), 7)(Module)
@pytest.mark.xfail
def test_xpass(): relax.transform.Normalize()(Module)
@pytest.fixture
def broken(): raise RuntimeError("set-up")
def test_error(broken): pass
def test_skip(): pytest.skip("not here")
def test_raises():
    with pytest.raises(TypeError):
        relax.transform.Normalize()("no module")
def test_output(capfd):
    tvm.transform.PrintIR("")(Module)
    text = capfd.readouterr()
    assert (text.out + text.err).count("def main") == 1
def test_same_object():
    given = relax.transform.Normalize()(Module)
    before = given.script()
    assert relax.transform.Normalize()(given).script() == before == given.script()
def test_instruments():
    seen = []
    @tvm.ir.instrument.pass_instrument
    class Counts:
        def run_before_pass(self, mod, info):
            seen.append(info.name)
    with tvm.transform.PassContext(instruments=[Counts()]):
        relax.transform.Normalize()(Module)
    assert seen == ["Normalize"]
"""
)

ENDS_THE_JUDGE = (
    SUITE
    + """
import os, time
TESTS = os.getpid()

@tvm.ir.transform.module_pass(opt_level=0, name="HarmsOthers")
def harms(mod, ctx):
    if os.getpid() != TESTS:
        HARM
    return mod.clone()

def test_judged():
    assert harms(Module).functions
"""
)
CONSTRUCTORS = {
    "SwapsOperators": "swaps",
    "LosesABinding": "Loses()",
    "WritesIntoItsInput": "writes",
    "SwapsInPlace": "swaps_in_place",
    "PartsInPlace": "parts_in_place",
}
"""How the suite itself constructs the passes that are wrong."""


def run(folder: Path, suite: str, *options: str, ini: str = "") -> tuple[int, str, dict[str, str]]:
    """Exit status, output and the outcome of each test of a suite in its own process and folder."""
    (folder / "test_suite.py").write_text(suite)
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}")
    command = [sys.executable, "-m", "pytest", "-p", "fuzzer.plugin.hooks", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [*command, "-p", "no:passfuzz", "-rA", "-W", "ignore", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    words = ("PASSED", "FAILED", "ERROR", "XFAIL", "XPASS", "SKIPPED")
    lines = [line.split(" - ")[0].split() for line in ended.stdout.splitlines() if line.startswith(words)]
    return ended.returncode, ended.stdout + ended.stderr, {" ".join(rest): word for word, *rest in lines}


def summary(out: Path) -> dict[str, Any]:
    text: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return text
