"""VerifyMemory refuses host code that touches memory of a device: "CPU code is generated that tries to access GPU
memory, which is illegal. This pass performs verification for this case." (include/tvm/tirx/analysis.h)."""

from __future__ import annotations

from generators.passes.row import Role
from generators.passes.table import the
from generators.tvm_api import PrimFunc, script_of
from oracles.evidence import HostTouchesDevice
from oracles.ir.host_memory import buffer_touched_by_host
from oracles.ir.walk import prim_funcs
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

VERIFIER = the(Role.GUARDS_DEVICE_MEMORY).name
_GPU = "gpu"
_HOST_AND_DEVICE = 0
"""The calling convention of a function that is not split yet (CallingConv, include/tvm/ir/function.h)."""


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("host touches device memory") for the first function that should have been refused, with the buffer."""
    if step.call.name != VERIFIER:
        return Skipped(f"about {VERIFIER} only", applies=False)
    if step.after is None:
        return Skipped("no result")
    functions = [(name, function) for name, function in prim_funcs(step.after) if _is_for_a_gpu(function)]
    if not functions:
        return Skipped("no function for a GPU", applies=False)
    for name, function in functions:
        if (buffer := buffer_touched_by_host(function)) is not None:
            detail = f"{name.name_hint}, {buffer.name}:\n{script_of(function)}"
            message = "host code touches memory of a device"
            return Failed("host touches device memory", message, detail, evidence=HostTouchesDevice())
    return PASSED


def _is_for_a_gpu(function: PrimFunc) -> bool:
    """Whether the pass verifies a function: it has a target that is a GPU, and is not split into host and device. A
    target without a host is that of a function which kernels call (src/tirx/transform/bind_target.cc)."""
    attributes = function.attrs or {}
    target = attributes.get("target")
    if target is None or int(attributes.get("calling_conv", _HOST_AND_DEVICE)) != _HOST_AND_DEVICE:
        return False
    return target.host is not None and _GPU in target.keys


ORACLE = StepOracle(
    "device_memory",
    "VerifyMemory lets no host code pass that touches memory of a device",
    judge,
    stage=Stage.RESULT,
    rank=50,
    foreign=Knowledge.ROW,
)
