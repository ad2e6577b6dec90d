"""Repro scripts for traps about memory that a run may survive: what is read off the text of the module, and what is
run with several fills of unwritten memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.scripts.poison_fill import FILLS, Fill
from corpus.scripts.repro import fills_for
from corpus.scripts.setting import ScriptSetting
from corpus.store import StoredCase
from generators.case import Case, EntryCall, ModuleText, PassCall
from oracles.evidence import ReferenceTrap
from tests.corpus.test_repro import run, written

pytestmark = pytest.mark.warm

KILLED = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((4,), dtype="float32"):
        a: R.Tensor((4,), dtype="float32") = x
        b: R.Tensor((4,), dtype="float32") = x
        if c:
            _ = R.memory.kill_tensor(KILLED)
            r: R.Tensor((4,), dtype="float32") = x
        else:
            r: R.Tensor((4,), dtype="float32") = a
        _1 = R.memory.kill_tensor(a)
        return RESULT
"""


@pytest.mark.parametrize(("killed", "result", "status"), [("b", "r", 0), ("a", "r", 1), ("b", "a", 1)])
def test_use_of_a_killed_variable_is_read_off_the_text(tmp_path: Path, killed: str, result: str, status: int) -> None:
    case = Case(
        ModuleText(KILLED.replace("KILLED", killed).replace("RESULT", result)),
        (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),),
        (),
    )
    for symptom in ("use-after-kill", "double-free"):
        found = StoredCase(case, "t", "numeric", f"reference trap: {symptom}", "P", evidence=ReferenceTrap(symptom))
        assert run(written(tmp_path, found))[0] == status


LARGER = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32"), n: R.Shape(["k"])) -> R.Tensor((4,), dtype="float32"):
        k = T.int64()
        s = STORAGE
        a: R.Tensor((4,), dtype="float32") = R.memory.alloc_tensor(
            s, R.prim_value(4), R.shape([4]), R.dtype("float32"), R.prim_value(0)
        )
        return x
"""
MEMORY = 'R.memory.alloc_storage(R.shape([{}]), R.prim_value(0), R.str("global"), R.dtype("float32"))'
VM = 'R.vm.alloc_storage(R.shape([{}]), R.prim_value(0), R.dtype("{}"), R.str("global"))'


@pytest.mark.parametrize(
    ("storage", "status"),
    [
        (MEMORY.format("20"), 0),
        (MEMORY.format("19"), 1),
        (MEMORY.format("k"), 0),
        (VM.format("5", "float32"), 0),
        (VM.format("5", "uint8"), 1),
    ],
)
def test_a_tensor_larger_than_its_storage_is_read_off_the_text(tmp_path: Path, storage: str, status: int) -> None:
    x = np.arange(4, dtype=np.float32)
    case = Case(
        ModuleText(LARGER.replace("STORAGE", storage)),
        (PassCall("ToNonDataflow", "relax.transform.ToNonDataflow()"),),
        (EntryCall("main", (x,)),),
    )
    message = "variable a of function main takes 16 bytes at 4 of variable s of function main, of 19"
    expected = Expectation(0, (x,), (0.0,))
    evidence = ReferenceTrap("out-of-bounds", of_storage=True)
    found = StoredCase(case, "t", "numeric", "trap", "P", message, expectations=(expected,), evidence=evidence)
    assert run(written(tmp_path, found))[0] == status


FORGETS = """
import tvm, tvm_ffi
from tvm import s_tir, tirx

def without_init(block):
    init = None if FORGETS else block.init
    before = (block.iter_vars, block.reads, block.writes, block.name_hint, block.body)
    return s_tir.SBlock(*before, init, block.alloc_buffers, block.match_buffers, block.annotations)

def change(mod, context):
    result = mod.clone()
    for name, function in mod.functions.items():
        if isinstance(function, tirx.PrimFunc):
            body = tvm_ffi.structural_map(function.body, (s_tir.SBlock, without_init))
            result[name] = function.with_body(body)
    return result

PASSES = {"ForgetsInit": lambda: tvm.transform.module_pass(change, opt_level=0, name="ForgetsInit")}
"""
"""A pass that leaves out how reductions begin, or leaves them as they are."""
REDUCES = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((), dtype="DTYPE"):
        r: R.Tensor((), dtype="DTYPE") = R.OPERATOR(x)
        return r
"""


def reduction(tmp_path: Path, operator: str, forgets: bool = True) -> StoredCase:
    """A reduction of 1, 2, 3, 4 after the pass. What argmin compares with is allocated by the PrimFunc."""
    load = tmp_path / "forgets.py"
    load.write_text(FORGETS.replace("if FORGETS", f"if {forgets}"))
    wanted = {"min": np.float32(1), "max": np.float32(4), "argmin": np.int64(0)}[operator]
    case = Case(
        ModuleText(REDUCES.replace("DTYPE", str(wanted.dtype)).replace("OPERATOR", operator)),
        (PassCall("ForgetsInit", "loaded.PASSES['ForgetsInit']()"),),
        (EntryCall("main", (np.arange(1, 5, dtype=np.float32),)),),
        setup=(PassCall("LegalizeOps", "relax.transform.LegalizeOps()"),),
        load=str(load),
    )
    expected = Expectation(0, (np.array(wanted),), (0.0,))
    return StoredCase(
        case,
        "t",
        "numeric",
        "reference trap: uninitialised",
        "ForgetsInit",
        "x_red",
        expectations=(expected,),
        evidence=ReferenceTrap("uninitialised"),
    )


@pytest.mark.parametrize(
    ("operator", "fill", "status"),
    [
        ("max", Fill(0x4E), 1),
        pytest.param("max", Fill(0xCE), 0, marks=pytest.mark.deep),
        pytest.param("min", Fill(0x4E), 0, marks=pytest.mark.deep),
        pytest.param("min", Fill(0xCE), 1, marks=pytest.mark.deep),
        ("argmin", Fill(0xCE, scratch=True), 1),
        pytest.param("argmin", Fill(0x01, scratch=True), 1, marks=pytest.mark.deep),
    ],
)
def test_what_unwritten_memory_holds_is_what_the_script_says(
    tmp_path: Path, operator: str, fill: Fill, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_PERTURB_", "177" if fill.byte != 0x4E else "49")  # The script's own value counts.
    folder = written(tmp_path, replace(reduction(tmp_path, operator), setting=ScriptSetting(fill)))
    assert f"holds {fill.byte:#04x}" in (folder / "repro.py").read_text()
    assert run(folder)[0] == status


@pytest.mark.parametrize("fill", [FILLS[0], *(pytest.param(fill, marks=pytest.mark.deep) for fill in FILLS[1:])])
def test_a_correct_pass_is_cleared_with_every_fill(tmp_path: Path, fill: Fill) -> None:
    folder = written(tmp_path, replace(reduction(tmp_path, "argmin", forgets=False), setting=ScriptSetting(fill)))
    assert run(folder) == (0, "the bug is gone\n")


def test_only_where_unwritten_memory_matters_scripts_have_several_fills(tmp_path: Path) -> None:
    one = reduction(tmp_path, "min")
    assert fills_for(one) == FILLS
    assert fills_for(replace(one, symptom="wrong result", evidence=None)) == (Fill(),)
    assert not any(fill.scratch for fill in fills_for(replace(one, oracle="pipelines")))
    late = PassCall("tirx.MakePackedAPI", "tirx.transform.MakePackedAPI()")
    packed = replace(one.case, passes=(late, *one.case.passes))
    assert not any(fill.scratch for fill in fills_for(replace(one, case=packed)))
