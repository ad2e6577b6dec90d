"""A pass is not applied to a module that TVM's documentation rules out for it, and the refusal has TVM's words."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

from generators.case import PassCall
from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call
from generators.source import SeededSource
from generators.tvm_api import IRModule
from oracles.checks import survives
from oracles.preconditions import KIND, refused
from oracles.reference.numbers import Numbers
from oracles.trace import Position, Step
from oracles.verdict import Skipped
from oracles.walk import walk
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of

MATMUL = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            y = R.matmul(x, x)
            R.output(y)
        return y
"""
MIXED = PASSES["ToMixedPrecision"]
DEVICES = PASSES["UpdateVDevice"]
ON_DEVICES = PassCall(DEVICES.name, "relax.transform.UpdateVDevice(relax.VDevice('llvm', 0, 'global'), 0)")


def with_device(module: IRModule) -> IRModule:
    return tvm.IRModule(dict(module.functions), global_infos={"vdevice": [relax.VDevice("llvm", 0, "global")]})


def step_of(module: IRModule, call: PassCall) -> tuple[Step, Workbench]:
    bench = Workbench(SeededSource(0), Numbers(module, ()))
    (step,) = walk(Position.at(module, Phase.HIGH), [call], PASSES, bench)
    return step, bench


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_floats_are_not_given_to_a_pass_that_takes_float32_only(dtype: str) -> None:
    step, bench = step_of(module_of(MATMUL.replace("float32", dtype)), default_call(MIXED.name))
    assert step.error is not None
    assert "fp32 only" in step.error.message
    assert survives.judge(step, bench) == Skipped(f"rejected: {MIXED.name}: {KIND}")


def test_whole_numbers_beside_float32_are() -> None:
    text = MATMUL.replace('"float32"):', '"float32"), z: R.Tensor((2,), "int64")):')
    step, _ = step_of(module_of(text), default_call(MIXED.name))
    assert step.error is None
    assert step.changed


def test_a_pass_that_updates_a_device_is_given_a_module_that_has_some() -> None:
    module = module_of(MATMUL)
    assert refused(DEVICES, with_device(module)) is None
    step, bench = step_of(module, ON_DEVICES)
    assert isinstance(survives.judge(step, bench), Skipped)


def test_a_pass_of_which_nothing_is_documented_takes_every_module() -> None:
    module = module_of(MATMUL.replace("float32", "float64"))
    assert [name for name, row in PASSES.items() if refused(row, module)] == [MIXED.name, DEVICES.name]
