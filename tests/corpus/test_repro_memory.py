"""Repro scripts for traps about memory that a run may survive: what is read off the text of the module."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.store import StoredCase
from generators.case import Case, EntryCall, ModuleText, PassCall
from tests.corpus.test_repro import run, written

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
        found = StoredCase(case, "t", "numeric", f"reference trap: {symptom}", "P")
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
    found = StoredCase(case, "t", "numeric", "reference trap: out-of-bounds", "P", message, expectations=(expected,))
    assert run(written(tmp_path, found))[0] == status
