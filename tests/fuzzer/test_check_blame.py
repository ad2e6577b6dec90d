"""Which of several passes under test brings a failed build about: not the last one because it is the last."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.commands.check import check_module

pytestmark = pytest.mark.warm

LOOPS = """\
from tvm.script import ir as I, tirx as T


@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for j in range(8):
            B[j] = 0
        for i in T.serial(T.min(A[0], 8)):
            B[i] = A[i] + A[0]
"""
PASSES = """\
import tvm
import tvm_ffi
from tvm import tirx


def over_prim_funcs(*entries):
    def change(func, mod, context):
        return func.with_body(tvm_ffi.structural_map(func.body, list(entries)))

    return lambda: tirx.transform.prim_func_pass(change, opt_level=0)


def unrolled(loop):
    if isinstance(loop.extent, tirx.IntImm):
        return loop
    return tirx.For(loop.loop_var, loop.min, loop.extent, tirx.ForKind.UNROLLED, loop.body)


PASSES = {
    "Swaps": over_prim_funcs((tirx.Add, lambda add: tirx.Add(add.b, add.a))),
    "Unrolls": over_prim_funcs((tirx.For, unrolled)),
    "Swaps again": over_prim_funcs((tirx.Add, lambda add: tirx.Add(add.b, add.a))),
}
CONTRACTS = {name: {"phase": "tir", "form": "any", "idempotent": False} for name in PASSES}
"""


@pytest.mark.parametrize(
    "order", [("Unrolls",), ("Unrolls", "Swaps"), ("Swaps", "Unrolls"), ("Swaps", "Unrolls", "Swaps again")]
)
def test_the_pass_from_which_on_builds_fail_is_to_blame(tmp_path: Path, order: tuple[str, ...]) -> None:
    module, load = tmp_path / "module.py", tmp_path / "mine.py"
    module.write_text(LOOPS, encoding="utf-8")
    load.write_text(PASSES, encoding="utf-8")
    result = check_module(module, order, "llvm", load, trust=True)
    failed = {row.pass_name: row.message for row in result.rows if row.verdict == "failed"}
    assert failed and all("Cannot unroll non-constant loop" in message for message in failed.values()), failed
    assert result.culprit == "Unrolls"
