"""TVM's side: a module after the Relax pipeline for CUDA is lowered, its device functions are printed as CUDA C++, and
its host functions are compiled for a device that is the CPU.

What is changed in the host functions, and why:
- the choice of a device is left out, and workspaces are the CPU's, because there is no other device;
- asserts are left out, because they say that tensors are on the device (`tirx.disable_assert`).
Calls of kernels are kept: a name that no imported module has is looked up among the registered functions of the
process.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import relax
from tvm.tirx import compilation_pipeline

from generators import tvm_api
from generators.passes.row import Phase
from generators.passes.table import FINISHES_DEVICE, FINISHES_HOST, rest_of_tir_pipeline
from generators.prim_expr import UnboundSymbol, UnknownPrimExpr, evaluate
from generators.tvm_api import Buffer, Call, Executable, IRModule, Pass, Var
from oracles.builds.tir_build import TirPipeline, in_order
from oracles.ir.walk import nodes_of
from oracles.reference.tir.context import SET_DEVICE
from oracles.reference.tir.decode.abi import DL_CPU
from oracles.reference.tir.decode.callees import LAUNCH_PARAMS, SHARED_BYTES
from oracles.workbench import OPT_LEVEL

NO_DEVICE = "passfuzz.cuda_cpu.no_device"
"""A packed function that does nothing, called where the host chooses a device."""
NO_COMPILER = "TVM_COMPILE_FORCE_FALLBACK"
"""The environment variable under which code generation for CUDA keeps the source alone."""
_WORKSPACES = ("tirx.TVMBackendAllocWorkspace", "tirx.TVMBackendFreeWorkspace")
_PIPELINE = "passfuzz-cuda-cpu"


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """What a launch of a kernel gives besides its arguments.

    tags: what the numbers after the parameters are ("threadIdx.x", ...; SHARED_BYTES for dynamic shared memory).
    buffers: for each parameter those that the function declares on the memory that it points to.
    """

    name: str
    tags: tuple[str, ...]
    parameters: tuple[Var, ...]
    buffers: tuple[tuple[Buffer, ...], ...]

    def sizes(self, arguments: Sequence[object]) -> list[int | None]:
        """How many bytes each argument points to, None where the function does not say."""
        values = {
            parameter: value
            for parameter, value in zip(self.parameters, arguments, strict=True)
            if isinstance(value, (int, float))
        }
        return [_largest([_bytes(buffer, values) for buffer in held]) for held in self.buffers]


def _largest(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


@dataclass(frozen=True, slots=True)
class Lowered:
    """An executable whose kernels are to be registered under their names, and their source ("": there is none)."""

    executable: Executable
    cuda: str
    kernels: tuple[KernelLaunch, ...]


def lower(module: IRModule, phase: Phase) -> Lowered:
    """Builds a module whose Relax functions are lowered; its PrimFuncs stand in `phase`.

    Raises what TVM raises.
    """
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host={"kind": "llvm", "opt-level": 0})
    devices: list[IRModule] = []

    def pipeline() -> TirPipeline:
        rest = rest_of_tir_pipeline(phase)
        return (
            tvm.transform.Sequential(in_order(name for name in rest if name not in FINISHES_HOST)),
            lambda: tvm.transform.Sequential([*in_order(n for n in rest if n in FINISHES_HOST), _module_pass(_on_cpu)]),
            lambda: tvm.transform.Sequential(
                [*in_order(FINISHES_DEVICE), _module_pass(lambda device: _taken(device, devices))]
            ),
        )

    compilation_pipeline.register_tir_pipeline(_PIPELINE, pipeline)
    config = {"tirx.disable_assert": True}
    with source_alone(), target, tvm.transform.PassContext(opt_level=OPT_LEVEL, config=config):
        executable = relax.build(module, target, relax_pipeline=None, tir_pipeline=_PIPELINE)
        sources = [
            tvm.get_global_func("target.build.cuda")(device, target).inspect_source("cuda") for device in devices
        ]
    kernels = [kernel for device in devices for kernel in _kernels(device)]
    return Lowered(executable, "\n".join(map(str, sources)), tuple(kernels))


@contextmanager
def source_alone() -> Iterator[None]:
    """While it lasts, code generation for CUDA asks no compiler, as it does where a driver is
    (src/backend/cuda/codegen/cuda_fallback_module.h)."""
    before = os.environ.get(NO_COMPILER)
    os.environ[NO_COMPILER] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[NO_COMPILER]
        else:
            os.environ[NO_COMPILER] = before


def _module_pass(change: Callable[[IRModule], IRModule]) -> Pass:
    return tvm.transform.module_pass(lambda module, context: change(module), opt_level=0, name="passfuzz.cuda_cpu")


def _taken(device: IRModule, taken: list[IRModule]) -> IRModule:
    """Keeps the device functions and leaves none, so that nothing is imported in which the host would find them."""
    taken.append(device)
    return tvm.IRModule({}, attrs=device.attrs)


def _on_cpu(host: IRModule) -> IRModule:
    """The host functions with the CPU for their device."""
    return tvm.IRModule(
        {
            name: tvm_ffi.structural_map(function, [(tvm_api.Call, _call_on_cpu)])
            for name, function in host.functions.items()
        },
        attrs=host.attrs,
        global_infos=host.global_infos,
    )


def _call_on_cpu(call: Call) -> Call:
    name = tvm_api.op_name(call)
    arguments = list(call.args)
    if name in _WORKSPACES:
        arguments[0] = tvm.tirx.IntImm(str(arguments[0].ty.dtype), DL_CPU)
    elif arguments and type(arguments[0]).__name__ == "StringImm" and str(arguments[0].value) == SET_DEVICE:
        arguments[0] = tvm.ir.StringImm(NO_DEVICE)
    else:
        return call
    return tvm_api.Call(call.op, arguments, call.attrs, call.ty_args, call.span, call.ty)


def _kernels(device: IRModule) -> list[KernelLaunch]:
    found = []
    for variable, function in device.functions.items():
        attrs = function.attrs
        if LAUNCH_PARAMS not in attrs:
            continue
        name = str(attrs["global_symbol"]) if "global_symbol" in attrs else variable.name_hint
        buffers: dict[int, list[Buffer]] = {}
        for declared in nodes_of(function.body, tvm.tirx.DeclBuffer):
            buffers.setdefault(declared.data.__chandle__(), []).append(declared.buffer)
        parameters = tuple(function.params)
        held = tuple(tuple(buffers.get(parameter.__chandle__(), ())) for parameter in parameters)
        found.append(KernelLaunch(name, tuple(map(str, attrs[LAUNCH_PARAMS])), parameters, held))
    return found


def _bytes(buffer: Buffer, values: Mapping[Var, float]) -> int | None:
    """The bytes from where a buffer's pointer points to its end, None where the values do not say."""
    try:
        extents = [int(evaluate(extent, values)) for extent in buffer.shape]
        before = int(evaluate(buffer.elem_offset, values))
    except (UnboundSymbol, UnknownPrimExpr, ZeroDivisionError):
        return None
    dtype = tvm_ffi.dtype(str(buffer.dtype))
    elements = math.prod(extents)
    return (before + elements if elements else 0) * int(dtype.lanes) * -(-int(dtype.bits) // 8)


__all__ = ["NO_COMPILER", "NO_DEVICE", "SHARED_BYTES", "KernelLaunch", "Lowered", "lower", "source_alone"]
