"""The rest of `tvm.tirx.build` for PrimFuncs that a case has taken part of the way."""

from __future__ import annotations

from typing import Any

import tvm
from tvm.tirx import compilation_pipeline

from generators import tvm_api
from generators.passes.row import Phase
from generators.passes.table import PASSES, TIR_PIPELINE, default_call

FINAL = ("tirx.LowerTVMBuiltin", "tirx.LowerIntrin")
"""What tvm.tirx.build does to host functions after it has parted them from those of the device."""


def rest_of_tir_pipeline(phase: Phase) -> tuple[str, ...]:
    """The TIR passes that are still to come in this phase, in order."""
    for count, name in enumerate(TIR_PIPELINE, 1):
        if PASSES[name].gives is phase:
            return TIR_PIPELINE[count:]
    return TIR_PIPELINE


def tir_pipeline_from(phase: Phase) -> str:
    """The name of a registered TIR pipeline, as `relax.build` takes it, that goes on from this phase."""
    if phase.of_relax:
        return "default"
    name = f"passfuzz-{phase.name.lower()}"
    rest = rest_of_tir_pipeline(phase)
    before = [_constructed(n) for n in rest if n not in FINAL]
    final = [_constructed(n) for n in rest if n in FINAL]

    def factory() -> Any:
        return tvm.transform.Sequential(before), lambda: tvm.transform.Sequential(final), _nothing

    compilation_pipeline.register_tir_pipeline(name, factory)
    return name


def _nothing() -> Any:
    """The LLVM target has no device functions to finish."""
    return tvm.transform.Sequential([])


def _constructed(name: str) -> Any:
    return eval(default_call(name).source, dict(tvm_api.PASS_NAMES))  # an expression of the pass table
