"""What oracles may do besides looking: a pass under the options of its call."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import pytest
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

from generators.case import PassCall
from generators.source import SeededSource
from oracles.ir.walk import nodes_of
from oracles.reference.numbers import Numbers
from oracles.workbench import Workbench


@I.ir_module
class Loop:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(0)


def loops_after(options: str) -> int:
    bench = Workbench(SeededSource(0), Numbers(Loop, ()))
    after: Any = bench.apply(PassCall("tirx.UnrollLoop", "tirx.transform.UnrollLoop()", options), Loop)
    return len(nodes_of(after["main"].body, tvm.tirx.For))


@pytest.mark.parametrize(("options", "loops"), [("", 1), ("{'tirx.UnrollLoop': {'auto_max_step': 16}}", 0)])
def test_a_pass_runs_under_its_options(options: str, loops: int) -> None:
    assert loops_after(options) == loops
