"""Reduction under the oracles themselves: what stays of the passes, and of attributes that others rely on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from corpus.finding import Expectation
from corpus.module_text import live_module
from corpus.reduce import Candidate, Smallest, reduce
from fuzzer.processes.flight import Recorder
from fuzzer.protocol import Failure, Plan
from fuzzer.trial.rejudge import Rejudge
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.trial.shrinking.shrink import expectations_of
from generators.case import EntryCall, ModuleText, PassCall
from generators.passes.table import default_call

HEAD = "@I.ir_module(s_tir=True)\nclass Module:\n"

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
