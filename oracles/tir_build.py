"""The rest of `tvm.tirx.build` for PrimFuncs that a case has taken part of the way."""

from __future__ import annotations

from typing import Any

import tvm
from tvm.tirx import compilation_pipeline

from generators.passes.row import Phase
from generators.passes.table import default_call, rest_of_tir_pipeline
from oracles.workbench import constructed


def tir_pipeline_from(phase: Phase) -> str:
    """The name of a registered TIR pipeline, as `relax.build` takes it, that goes on from this phase."""
    if phase.of_relax:
        return "default"
    name = f"passfuzz-{phase.name.lower()}"
    rest = [constructed(default_call(n).source) for n in rest_of_tir_pipeline(phase)]

    def factory() -> Any:
        return tvm.transform.Sequential(rest), _nothing, _nothing

    compilation_pipeline.register_tir_pipeline(name, factory)
    return name


def _nothing() -> Any:
    """What is left for host and device functions: all of it has been done, and LLVM has no device functions."""
    return tvm.transform.Sequential([])
