"""The first wrong pass of a lowering whose build is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

from corpus.scripts.module_text import live_module
from generators.case import EntryCall, ModuleText, PassCall
from generators.passes.row import Phase
from oracles.builds import blame
from oracles.reference.numbers import Numbers
from oracles.trace import Position
from oracles.verdict import CODEGEN
from tests.oracles.oracle_bench import RealBench, module_pass, row_of

SUM = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), dtype="float32")):
        with R.dataflow():
            y = R.add(x, R.const(1.0, "float32"))
            z = R.multiply(y, x)
            R.output(z)
        return z
"""


def replaced(name: str, new: Any) -> PassCall:
    """A pass that makes calls of one operator calls of another."""

    def swap(module: Any) -> Any:
        def other(call: Any) -> Any:
            if getattr(call.op, "name", "") != name:
                return call
            return relax.BlockBuilder().normalize(new(*call.args))

        functions = {g: tvm_ffi.structural_map(f, [(tvm.ir.Call, other)]) for g, f in module.functions.items()}
        return tvm.IRModule(functions, attrs=module.attrs)

    return module_pass(swap, f"No-{name}")


def raising(module: Any) -> Any:
    raise ValueError("planted")


CALLS = {
    "Normalize": PassCall("Normalize", "relax.transform.Normalize()"),
    "DeadCode": PassCall("DeadCode", "relax.transform.DeadCodeElimination()"),
    "NoAdd": replaced("relax.add", relax.op.subtract),
    "NoMultiply": replaced("relax.multiply", relax.op.divide),
    "Raises": module_pass(raising, "Raises"),
}


@pytest.mark.parametrize(
    ("names", "culprit"),
    [
        (("Normalize", "DeadCode"), CODEGEN),
        (("Normalize", "NoAdd", "DeadCode"), "NoAdd"),
        (("NoMultiply", "NoAdd"), "NoMultiply"),
        (("Normalize", "Raises", "NoAdd"), None),
    ],
)
def test_the_first_wrong_pass_of_a_lowering_is_named(
    names: tuple[str, ...], culprit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "default_call", CALLS.__getitem__)
    monkeypatch.setattr(blame, "PASSES", {call.name: row_of(call.name) for call in CALLS.values()})
    module = live_module(ModuleText(SUM))
    numbers = Numbers(module, [EntryCall("main", (np.array([1.0, 2.0, 3.0], np.float32),))])
    assert blame.first_wrong(names, Position.at(module), numbers, RealBench()) == culprit


def test_the_lowering_of_a_high_level_module_goes_down_to_llvm() -> None:
    module = live_module(ModuleText(SUM))
    names = blame.lowering_of(module, Phase.HIGH)
    assert names.index("LegalizeOps") < names.index("VMShapeLower") < names.index("tirx.MakePackedAPI")
    assert "LegalizeOps" not in blame.lowering_of(module, Phase.LEGAL)
