"""Device functions are finalised as TVM's own build does: code generation sees how vectors are aligned."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import pytest
import tvm
from tvm import relax

from generators.passes.row import Phase
from generators.passes.table import PASSES, PIPELINES, default_call
from generators.targets import TARGETS
from oracles.builds.cuda_cpu import lowering
from oracles.builds.cuda_cpu.lowering import lower
from oracles.workbench import constructed

AFTER = PIPELINES["cuda"][PIPELINES["cuda"].index("ApplyDefaultSchedule") + 1 :]


def rms_norm() -> tvm.IRModule:
    """rms_norm of rows of eight, which its rule for GPUs loads and stores as one vector each."""
    x = relax.Var("x", relax.TensorType((2, 2, 8), "float32"))
    w = relax.Var("w", relax.TensorType((8,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, w]):
        with builder.dataflow():
            out = builder.emit_output(relax.op.nn.rms_norm(x, w, [-1], 1e-5))
        builder.emit_func_output(out)
    return builder.get()


def test_vectors_of_a_scheduled_norm_are_loaded_whole() -> None:
    rule = PASSES["s_tir.dlight.gpu.RMSNorm"].sources[0]
    texts = ["relax.transform.LegalizeOps()", rule, *(default_call(name).source for name in AFTER)]
    module = rms_norm()
    with eval(TARGETS["cuda"].source):
        for text in texts:
            module = constructed(text)(module)
    cuda = lower(module, Phase.SYMBOLED).cuda
    assert "*(ulonglong4*)" in cuda and "make_ulonglong4" not in cuda


def test_no_compiler_is_asked_where_there_is_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.delenv(lowering.NO_COMPILER, raising=False)
    monkeypatch.setattr(lowering.relax, "build", lambda *_, **__: asked.append(os.environ[lowering.NO_COMPILER]))
    lower(rms_norm(), Phase.SYMBOLED)
    assert asked == ["1"] and lowering.NO_COMPILER not in os.environ
