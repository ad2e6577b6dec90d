"""What passes meet is counted: the operators and the kinds of nodes of the module before the pass."""

from __future__ import annotations

import pytest

from fuzzer.trial.operators_met import EVERY, MET, is_counted
from fuzzer.trial.record import Record
from generators.tvm_api import IRModule
from oracles.verdict import PASSED, Failed
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, step_of

MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def prim(A: T.Buffer((4,), "float32")):
        for i in range(4):
            if i > 2:
                A[i] = T.max(A[i], T.float32(0))

    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        a = R.sort(R.abs(x))
        return a
"""
KEEPS = module_pass(lambda module: module, "Keeps")


def other(module: IRModule) -> IRModule:
    return module_of(MODULE.replace("R.abs", "R.exp"))


def refuses(module: IRModule) -> IRModule:
    raise ValueError("not this one")


def test_the_operators_and_nodes_of_a_module() -> None:
    met = MET.of(module_of(MODULE))
    assert met.operators == {"relax.sort", "relax.abs"}
    assert {"For", "IfThenElse", "BufferStore", "Max", "GT"} <= met.nodes
    assert "While" not in met.nodes


def test_applied_changed_and_failed_are_counted_by_what_the_pass_was_given() -> None:
    record, bench = Record(0), RealBench()
    for does in (refuses, other):
        step = step_of(module_pass(does, "Planted"), module_of(MODULE), bench)
        record.count_step(step)
        record.add_verdict("numeric", PASSED, step)
    record.add_verdict("numeric", Failed("wrong result", "x"), step)
    assert set(record.counts.met_ops) == {"Planted"}
    assert record.counts.met_ops["Planted"]["relax.sort"] == (2, 1, 1)
    assert record.counts.met_nodes["Planted"]["IfThenElse"] == (2, 1, 1)


@pytest.mark.parametrize("index", range(2 * EVERY))
def test_a_share_of_the_cases_is_counted_whoever_judges_them(index: int) -> None:
    record = Record(index)
    record.count_step(step_of(KEEPS, module_of(MODULE), RealBench()))
    assert bool(record.counts.met_ops) == is_counted(index) == (index % EVERY == 0)
    assert record.counts.passes["Keeps"]["applied"] == 1
