"""Reduction under the oracles themselves: what stays of the passes, and of attributes that others rely on."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.findings import with_each_setting
from corpus.reduce import Candidate, Smallest, as_case, reduce
from corpus.scripts.module_text import live_module
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.reduction_watch import Unwatched
from fuzzer.trial.rejudge import Rejudge
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.trial.shrinking import shrink as shrink_module
from fuzzer.trial.shrinking.built import is_built
from fuzzer.trial.shrinking.odd_order import WITHOUT_THEM
from fuzzer.trial.shrinking.shrink import expectations_of, shrink
from generators.case import Case, EntryCall, ModuleText, PassCall
from generators.passes.table import default_call
from oracles.evidence import Died
from oracles.reference.errors import symptom_of
from oracles.verdict import CRASH

pytestmark = pytest.mark.warm

LIKE = Case(ModuleText(""), (), (), "llvm")
HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"

SUBTRACTS = """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.subtract(x, y)
        b = R.exp(a)
        c = R.tanh(x)
        d = R.add(b, c)
        return d
"""
SWAPS = """
import tvm
from tvm import relax

@relax.expr_functor.mutator
class Swap(relax.PyExprMutator):
    def __init__(self, with_fma):
        super().__init__()
        self.with_fma = with_fma

    def visit_call_(self, call):
        call = super().visit_call_(call)
        if call.op != tvm.ir.Op.get("relax.subtract"):
            return call
        a, b = call.args
        return relax.op.ewise_fma(a, b, b) if self.with_fma else relax.op.subtract(b, a)

@tvm.transform.module_pass(opt_level=0, name="Swaps")
def swaps(mod, context):
    mutator = Swap("R.tanh" not in mod.script())
    return tvm.IRModule({gvar: mutator.visit_expr(function) for gvar, function in mod.functions.items()})

PASSES = {"Swaps": lambda: swaps}
"""
"""A wrong pass whose result TVM builds only where the module holds a tanh: for `ewise_fma` there is no code."""

NOT_LEGALISED = """
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.ewise_fma(x, x, x)
        b = R.exp(y)
        return a
"""

WORKSPACE = """
    @R.function
    def external(x: R.Tensor((4, 6), "float32")) -> R.Tensor((4, 6), "float32"):
        R.func_attr({"Codegen": "byoc", "WorkspaceSize": 64, "Composite": "byoc.unary"})
        return x

    @R.function
    def main(x: R.Tensor((4, 6), "float32")) -> R.Tensor((4, 6), "float32"):
        cls = Module
        a = cls.external(x)
        return a
"""

GIVES_A_FUNCTION = """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def inner(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(x, y)
        return inner
"""

GIVES_SEVERAL = """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return (R.add(x, x), R.shape([2, 3]), R.str("text"), R.prim_value(T.int64(4)))
"""


def reduced(candidate: Candidate, oracle: str, scratch: Path) -> Smallest:
    """What the first failure of an oracle reduces to."""
    plan = Plan(0, scratch=str(scratch))
    repertoire = replace(repertoire_of(plan), under_test=None)
    recorder = Recorder.create(scratch / "flight")
    asked = Failure(0, oracle, "", "", "", "", "B")
    failure = Rejudge(plan, repertoire, asked, recorder).failures(candidate)[0]
    rejudge = Rejudge(plan, repertoire, failure, recorder)
    assert rejudge.interesting(candidate)
    return reduce(candidate, rejudge.interesting, budget_s=600.0)


def whole(script: str, passes: tuple[PassCall, ...], *inputs: np.ndarray) -> Candidate:  # type: ignore[type-arg]
    return Candidate(live_module(ModuleText(HEAD + script)), (), passes, (EntryCall("main", inputs),))


def test_a_failure_of_the_build_alone_needs_no_pass(tmp_path: Path) -> None:
    passes = (default_call("RemoveUnusedParameters"), default_call("CanonicalizeBindings"))
    start = whole(NOT_LEGALISED, passes, np.ones((2, 3), np.float32), np.ones(4, np.float32))
    small = reduced(start, "build", tmp_path).candidate
    assert small.passes == () and small.setup == ()
    assert "R.ewise_fma(x, x, x)" in small.module.script() and "R.exp" not in small.module.script()


def test_an_attribute_that_gives_another_its_meaning_stays_with_it(tmp_path: Path) -> None:
    start = whole(WORKSPACE, (default_call("AllocateWorkspace"),), np.ones((4, 6), np.float32))
    small = reduced(start, "survives", tmp_path).candidate
    assert [call.name for call in small.passes] == ["AllocateWorkspace"]
    attrs = small.module["external"].attrs
    assert attrs["Codegen"] == "byoc" and int(attrs["WorkspaceSize"]) == 64
    assert "Composite" not in attrs


@pytest.mark.parametrize("stays", [pytest.param(True, marks=pytest.mark.deep), False])
def test_what_a_script_has_to_run_stays_buildable(stays: bool, tmp_path: Path) -> None:
    (tmp_path / "swaps.py").write_text(SWAPS, encoding="utf-8")
    plan = Plan(0, load=str(tmp_path / "swaps.py"), under_test=("Swaps",), scratch=str(tmp_path))
    repertoire = repertoire_of(plan)
    ones = np.ones((2, 3), np.float32)
    script = SUBTRACTS if stays else SUBTRACTS.replace("R.tanh", "R.sin")
    start = whole(script, (PassCall("Swaps", "PASSES['Swaps']()"),), ones, 2 * ones)
    asked = Failure(0, "numeric", "wrong result", "", "Swaps", "", "B")
    (failure,) = Rejudge(plan, repertoire, asked, Recorder.create(tmp_path / "flight")).failures(start)
    found = shrink(plan, repertoire, failure, start, as_case(start, LIKE), 600.0)
    assert found is not None and "R.subtract" in found.case.module.script
    assert ("R.tanh" in found.case.module.script) is stays and "R.exp" not in found.case.module.script
    assert is_built(start, plan, repertoire) is stays


OVERRUNS = """
import tvm
import tvm_ffi
from generators.tvm_api import TensorLoad, tirx

def beside(load):
    return tirx.BufferLoad(load.source, [index + 1 for index in load.indices])

@tvm.transform.module_pass(opt_level=0, name="Overruns")
def overruns(mod, context):
    def changed(function):
        if not isinstance(function, tirx.PrimFunc):
            return function
        return function.with_body(tvm_ffi.structural_map(function.body, [(TensorLoad, beside)]))
    return tvm.IRModule({gvar: changed(function) for gvar, function in mod.functions.items()})

PASSES = {"Overruns": lambda: overruns}
"""
COPIES = """
    @T.prim_func(private=True, s_tir=True)
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.exp(x)
        b = R.call_tir(cls.copy, (a,), out_ty=R.Tensor((4,), "float32"))
        c = R.tanh(b)
        return c
"""


def test_what_the_reference_alone_sees_is_kept_as_it_was_found(tmp_path: Path) -> None:
    """A script of the reduced case may not show it: how far a small buffer is overrun, memory decides."""
    (tmp_path / "overruns.py").write_text(OVERRUNS, encoding="utf-8")
    plan = Plan(0, load=str(tmp_path / "overruns.py"), under_test=("Overruns",), scratch=str(tmp_path))
    repertoire = repertoire_of(plan)
    start = whole(COPIES, (PassCall("Overruns", "PASSES['Overruns']()"),), np.arange(4, dtype=np.float32))
    asked = Failure(0, "numeric", symptom_of("out-of-bounds"), "", "Overruns", "", "B")
    (failure,) = Rejudge(plan, repertoire, asked, Recorder.create(tmp_path / "flight")).failures(start)
    found = shrink(plan, repertoire, failure, start, as_case(start, LIKE), 600.0)
    assert found is not None and found.unreduced is not None
    assert "R.exp" not in found.case.module.script and "R.exp" in found.unreduced.case.module.script
    assert found.unreduced.case.passes == start.passes and len(found.unreduced.expectations) == 1
    last = with_each_setting(found)[-1]
    assert (last.case, last.signature, last.reduced) == (found.unreduced.case, found.signature, None)
    assert all(setting.unreduced is None for setting in with_each_setting(found))
    assert last.verdict.message == failure.message and last.verdict.difference == "" and not last.official


class Stopped(Unwatched):
    """A user ends the reduction after the first success."""

    stopped = False

    def clock(self) -> float:
        return 1e9 if self.stopped else 0.0

    def better(self, candidate: Candidate, failure: Failure, calls: int) -> None:
        self.stopped = True


def test_once_a_user_has_ended_a_reduction_nothing_is_judged_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is large where a reduction has just begun, and each question about it takes long."""
    file = tmp_path / "mine.py"
    file.write_text(SWAPS, encoding="utf-8")
    plan = Plan(0, load=str(file), under_test=("Swaps",), scratch=str(tmp_path))
    repertoire = repertoire_of(plan)
    call = PassCall("Swaps", "PASSES['Swaps']()")
    start = whole(SUBTRACTS, (call,), np.ones((2, 3), np.float32), np.full((2, 3), 2, np.float32))
    asked = Failure(0, "numeric", "", "", "", "", "B")
    failure = Rejudge(plan, repertoire, asked, Recorder.create(tmp_path / "flight")).failures(start)[0]
    watch, late = Stopped(), list[str]()
    failures = Rejudge.failures

    def noted(rejudge: Rejudge, *given: Any, **named: Any) -> list[Failure]:
        if watch.stopped:
            late.append("a candidate")
        return failures(rejudge, *given, **named)

    monkeypatch.setattr(Rejudge, "failures", noted)
    for name in ("whose_fault", "aftermath_of", "official_entry"):
        monkeypatch.setattr(sys.modules[shrink.__module__], name, lambda *given, name=name: late.append(name))
    found = shrink(plan, repertoire, failure, start, as_case(start, LIKE), 600.0, watch)
    assert watch.stopped and found is not None and not late and found.expectations


def expected(script: str) -> tuple[Expectation, ...]:
    """What a repro of the module would compare with."""
    plan = Plan(0)
    return expectations_of(whole(script, (), np.ones(2, np.float32)), plan, repertoire_of(plan))


def test_a_result_that_is_a_function_is_not_written_down() -> None:
    assert expected(GIVES_A_FUNCTION) == ()


def test_each_part_of_a_result_is_an_array() -> None:
    (expectation,) = expected(GIVES_SEVERAL)
    assert [output.tolist() for output in expectation.outputs] == [[2.0, 2.0], [2, 3], "text", 4]
    assert expectation.outputs[0].dtype == np.float32 and expectation.outputs[1].dtype == np.int64


class FailsAnyhow:
    """A build that dies with any passes and with none."""

    last = None

    def interesting(self, candidate: Candidate) -> bool:
        return True

    def surely(self, candidate: Candidate) -> bool:
        return True


def test_what_dies_without_the_passes_under_test_too_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not as a failure that has not shown again."""
    monkeypatch.setattr(shrink_module, "Rejudge", lambda *asked: FailsAnyhow())
    plan = Plan(0, under_test=("ToNonDataflow",), scratch=str(tmp_path))
    start = whole(NOT_LEGALISED, (default_call("ToNonDataflow"),), np.ones((2, 3), np.float32), np.ones(4, np.float32))
    died = Failure(0, "survives", CRASH, "SIGSEGV in codegen", "", "codegen", "B", evidence=Died("SIGSEGV"))
    assert shrink(plan, repertoire_of(plan), died, start, as_case(start, LIKE), 600.0) is WITHOUT_THEM
