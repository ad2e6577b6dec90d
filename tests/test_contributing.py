"""The recipes of CONTRIBUTING.md work as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from generators import tvm_api
from generators.operators.row import Operator
from generators.passes.row import PassRow
from generators.passes.table import join
from oracles.oracle import StepOracle, TraceOracle
from tests.operator_harness import difference, draw_row, llvm_outputs
from tests.oracles.oracle_bench import RealBench, module_of, step_of

TEXT = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = x
            z = R.add(y, y)
            R.output(z)
        return z
"""


def blocks(title: str) -> list[str]:
    """The Python blocks under a heading."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def run(*sources: str) -> dict[str, Any]:
    """The names that the blocks define, one after another in one module."""
    names: dict[str, Any] = {"__name__": "recipe"}
    for source in sources:
        exec(compile(source, "CONTRIBUTING.md", "exec"), names)
    return names


@pytest.mark.parametrize("seed", range(3))
def test_the_operator_is_drawn_and_means_what_tvm_computes(seed: int) -> None:
    (row,) = run(*blocks("Add an operator"))["OPERATORS"]
    assert isinstance(row, Operator)
    sample = draw_row(row, seed)
    assert difference(sample, llvm_outputs(sample)) is None


def test_the_pass_can_be_constructed_and_applied() -> None:
    rows = run(*blocks("Add a pass"))["ROWS"]
    ((name, row),) = join(rows).items()
    assert isinstance(row, PassRow)
    applied = eval(row.sources[0], dict(tvm_api.PASS_NAMES))(module_of(MODULE))
    assert name == "CanonicalizeBindings"
    assert len(applied["main"].body.blocks[0].bindings) == 1


def test_the_oracle_has_a_row_and_judges() -> None:
    oracle = run(blocks("Add an oracle")[0])["ORACLE"]
    assert isinstance(oracle, (StepOracle, TraceOracle))
    assert oracle.name == "public_functions"


def test_the_tests_of_the_oracle_pass_and_can_fail() -> None:
    names = run(*blocks("Add an oracle"))
    tests = [name for name in names if name.startswith("test_")]
    assert len(tests) == 2
    for name in tests:
        names[name]()
    swapped = step_of(names["LOSES_MAIN"], names["MODULE"], RealBench())
    names["step_of"] = lambda *_: swapped
    with pytest.raises(AssertionError):
        names["test_a_pass_that_keeps_them_is_left_alone"]()
