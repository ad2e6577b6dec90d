"""CUDA source that TVM prints goes through nvcc, where nvcc is there; nothing runs."""

from __future__ import annotations

import shutil

import pytest
import tvm

from generators.passes.row import Phase
from generators.passes.table import PIPELINES, rest_of_tir_pipeline
from oracles.builds import build as llvm
from oracles.builds import cuda_device
from oracles.builds.cuda_device import DeviceModule
from oracles.reference.numbers import Numbers
from oracles.trace import Raised
from tests.oracles.test_cuda_device import CALLS, bench_of, program


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("passes", [pytest.param(0, marks=pytest.mark.deep), 4])
def test_nvcc_takes_what_tvm_makes(monkeypatch: pytest.MonkeyPatch, passes: int) -> None:
    """From the Relax pipeline, and from some way into that of TIR."""
    monkeypatch.setenv("TVM_CUDA_COMPILE_MODE", "nvcc")
    monkeypatch.setenv("TVM_CUDA_NVCC_NO_FAST_MATH", "1")
    module = program("add")
    bench = bench_of(Numbers(module, CALLS), "cuda")
    names = (*PIPELINES["cuda"], *rest_of_tir_pipeline(Phase.SYMBOLED)[:passes])
    found = llvm.lowered_by(names, module, Phase.HIGH, bench, lambda stage: None)
    assert not isinstance(found, llvm.NotBuilt)
    assert found[1].of_relax == (passes == 0)
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host={"kind": "llvm", "opt-level": 0})
    executable = bench.guarded(lambda: cuda_device._compiled(DeviceModule(*found, bench), target))
    assert not isinstance(executable, Raised), executable
    sources = [part.inspect_source("cuda") for part in executable.mod.imports[0].imports if part.kind == "cuda"]
    assert sources and all("__global__" in text for text in sources)
    with target:
        assert all(tvm.get_global_func("tvm_callback_cuda_compile")(text) for text in sources)
