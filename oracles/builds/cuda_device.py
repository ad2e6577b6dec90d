"""Modules built by TVM for the CUDA device of this machine and run there.

What touches the driver or the device happens in a child of its own (`oracles.forked`): a fault of the device ends
that child and no more, and a process that has forked never has a context that its children could not use. Device code
is compiled by nvcc without fast math, which is no promise of TVM's passes; NVRTC always uses it
(python/tvm/support/nvcc.py). What is lowered before is said in `oracles.builds.builders`; whether a device is here at
all, in `oracles.builds.needs`.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import re
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import BinaryIO

import numpy as np
import tvm
from tvm import relax

from generators import tvm_api
from generators.externs import EXTERNS
from generators.passes.row import Phase, Role
from generators.passes.table import rest_of_tir_pipeline, the
from generators.tvm_api import Device, Executable, IRModule, RuntimeTensor, Target
from oracles.builds import build as llvm
from oracles.builds.cuda_cpu.lowering import NO_COMPILER
from oracles.builds.nvcc_says import NvccRefusal, refusal_in
from oracles.builds.tir_build import compiled_from
from oracles.evidence import HostTouchesDevice, Hung
from oracles.forked import Ended, forked
from oracles.ir.host_memory import touched_by_host
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.calling import Calling, Run, direct
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.reference.values import Callback, Runtime, Tensor, carried
from oracles.trace import Bench, Raised
from oracles.tvm_errors import headline, in_a_line, states_limit
from oracles.verdict import CODEGEN, CRASH, DOES_NOT_BUILD, HANG

BUILD_S = 8
"""Seconds for the driver, code generation and nvcc."""
RUN_S = 4
"""Seconds for the entry calls of all rounds, once the module is built."""
TRIAL_S = 60
"""Seconds that the first program on a device may take: the driver loads, and nvcc is read from disk."""
ROUNDS = 2
"""How often the entry calls are made, each time by a new virtual machine: what one leaves on the device, the next
finds there. Constants begin anew with a machine, which copies them to the device."""
AS_SHIPPED, NOT_OPTIMISED = "", "-G"
"""What nvcc is told beside TVM's own flags."""
NVCC_ALONE = "build: wrong on the device only where nvcc optimises"
NOT_AGAIN = "build: wrong on the device, and right when it was run again"
NO_SECOND_OPINION = "build: wrong on the device, and nothing can be said where nvcc does not optimise"
UNUSABLE = "build: no CUDA device can be used here: "

_HOST_CALLS = ("tirx.tvm_call_packed", "tirx.tvm_call_cpacked")
_NVCC_FLAGS = "NVCC_APPEND_FLAGS"
"""What nvcc reads more flags from (NVIDIA, "NVCC Environment Variables")."""
_NO_MEMORY = re.compile(r"out of memory|OUT_OF_MEMORY|cudaErrorMemoryAllocation")
_STARTED_ABOVE = "cudaErrorInitializationError"
_FAULT = re.compile(r"[^\n]*(?:CUDA|an illegal|unspecified launch)[^\n]*")
_SAID = 20_000


class NoDevice(Exception):
    """No device can be used; one line that says why."""


class DeviceFault(RuntimeError):
    """What TVM raised in the child that ran a module."""


@dataclass(frozen=True, slots=True)
class DeviceModule:
    """A module lowered so far that only the device is missing; its PrimFuncs stand in `phase`."""

    module: IRModule
    phase: Phase
    bench: Bench


def needs_host_memory(module: IRModule) -> str | None:
    """Why a module cannot run on a device with any builder; None where it can."""
    if module.global_infos.get("vdevice"):
        return "values on devices that the program names"
    for _, function in prim_funcs(module):
        if any(tvm_api.op_name(call) in _HOST_CALLS for call in nodes_of(function.body, tvm_api.Call)):
            return "a PrimFunc calls the run-time library, which takes memory of the host"
    return None


@functools.cache
def unusable() -> str | None:
    """Why nothing can be built and run on a device here, by a trial in a child; None where it can. Takes seconds."""
    said = forked(_trial, TRIAL_S)
    return f"a trial ends with {said.how}" if isinstance(said, Ended) else said


def judge(built: DeviceModule, numbers: Numbers, calling: Calling = direct) -> None | Wrong | Unsure:
    """Builds for the device and makes every entry call there, `ROUNDS` times, each compared with the reference.

    None where all is well; Wrong("crash") or "hang" where the child that did it died, "does not build" where TVM
    raised before anything ran. Numbers are wrong where they are so without nvcc's optimisation as well: version 13.0
    makes wrong code of a right kernel (docs/judging.md), and what a source leaves undefined is no wrong pass by itself.
    Raises DeviceFault where running raised.
    """
    if isinstance(numbers.expected, NoMeaning):
        return Unsure(numbers.expected.reason)
    outcome = _judged_in_child(built, numbers, calling, AS_SHIPPED)
    if not _of_numbers(outcome):
        return outcome
    try:
        plain = _judged_in_child(built, numbers, calling, NOT_OPTIMISED)
        if plain is None:
            again = _judged_in_child(built, numbers, calling, AS_SHIPPED)
            return Unsure(NVCC_ALONE if _of_numbers(again) else NOT_AGAIN)
    except DeviceFault:
        return Unsure(NO_SECOND_OPINION)
    return outcome if _of_numbers(plain) else Unsure(NO_SECOND_OPINION)


def _of_numbers(outcome: None | Wrong | Unsure) -> bool:
    return isinstance(outcome, Wrong) and outcome.symptom not in (CRASH, HANG, DOES_NOT_BUILD)


def _judged_in_child(built: DeviceModule, numbers: Numbers, calling: Calling, flags: str) -> None | Wrong | Unsure:
    running = mmap.mmap(-1, 1)
    with tempfile.TemporaryFile(prefix="passfuzz-device-") as errors:
        ended = forked(lambda: _in_child(built, numbers, calling, running, errors, flags), BUILD_S)
        errors.seek(0)
        said = errors.read(_SAID).decode(errors="replace")
    if isinstance(ended, Raised):
        if _NO_MEMORY.search(ended.message):
            return Unsure("build: no memory is left on the device")
        raise DeviceFault(f"{ended.kind}: {ended.message}")
    return _of_the_end(ended, built, running[0] != 0, said) if isinstance(ended, Ended) else ended


def runner(built: DeviceModule) -> Run:
    """Runs functions of a module on the device, in this process: for children alone. Builds it on the first call."""

    @functools.cache
    def ready() -> llvm.Built:
        target, device = _prepared()
        return llvm.Built(relax.VirtualMachine(_compiled(built, target), device), device)

    def run(function: str, arguments: list[Runtime], packed: Mapping[str, Callback] = MappingProxyType({})) -> Runtime:
        return ready().run(function, arguments, packed)

    return run


# --- in the child ---------------------------------------------------------------------------------------


def here() -> tuple[Target, Device]:
    """The target for the device and the device. Raises NoDevice. Touches the driver."""
    if shutil.which("nvcc") is None:
        raise NoDevice("nvcc is missing, and without it device code is compiled with fast math")
    device = tvm.cuda(0)
    if not device.exist:
        raise NoDevice(_driver_says())
    arch = f"sm_{str(device.compute_version).replace('.', '')}"
    return tvm.target.Target({"kind": "cuda", "arch": arch}, host={"kind": "llvm", "opt-level": 0}), device


def _driver_says() -> str:
    """What the driver itself says where TVM sees no device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"the driver cannot be loaded: {error}"
    if code := int(driver.cuInit(0)):
        name = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(name))
        return f"the driver says {(name.value or b'error').decode()} ({code})"
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    known = f"{version.value // 1000}.{version.value % 1000 // 10}"
    return f"the driver is for CUDA {known}, and TVM sees no device through it"


def _prepared() -> tuple[Target, Device]:
    """The target and the device, with what nvcc and the driver need: the driver maps more memory than there is."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    os.environ.pop(NO_COMPILER, None)
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    target, device = here()
    for extern in EXTERNS.values():
        function = tvm.get_global_func(extern.name, allow_missing=True)
        if function is not None and not extern.writes:
            tvm.register_global_func(extern.name, _returning(function, device), override=True)
    return target, device


def _returning(function: Callable[..., RuntimeTensor], device: Device) -> Callable[..., RuntimeTensor]:
    """The packed function with its result, made on the host, on the device."""
    return lambda *arguments: function(*arguments).copyto(device)


def _compiled(built: DeviceModule, target: Target) -> Executable:
    with target:
        return compiled_from(built.module, target, built.phase, threads=True)


def _in_child(
    built: DeviceModule, numbers: Numbers, calling: Calling, running: mmap.mmap, errors: BinaryIO, flags: str
) -> None | Wrong | Unsure | Raised:
    """The outcome, or what was raised while it ran; `running` is set when that begins."""
    os.dup2(errors.fileno(), 2)
    os.environ[_NVCC_FLAGS] = f"{os.environ.get(_NVCC_FLAGS, '')} {flags}".strip()
    try:
        target, device = _prepared()
    except NoDevice as why:
        return Unsure(f"{UNUSABLE}{why}")
    executable = built.bench.guarded(lambda: _compiled(built, target))
    if isinstance(executable, Raised):
        return _not_compiled(executable)
    running[0] = 1
    signal.alarm(RUN_S)
    outcome: None | Wrong | Unsure | Raised
    outcome = built.bench.guarded(lambda: _rounds(executable, device, numbers, calling))
    return outcome


def _rounds(executable: Executable, device: Device, numbers: Numbers, calling: Calling) -> None | Wrong | Unsure:
    outcome: None | Wrong | Unsure = None
    for number in range(ROUNDS):
        outcome = numbers.judge_run(llvm.Built(relax.VirtualMachine(executable, device), device).run, calling)
        device.sync()
        if isinstance(outcome, Wrong):
            return replace(outcome, message=f"{outcome.message} (in a later round)") if number else outcome
        if isinstance(outcome, Unsure) and outcome.skipped:
            return outcome
    return outcome


def _trial() -> str | None:
    """Builds and runs x + x on the device: why that does not go, or None."""
    try:
        target, device = _prepared()
        builder = relax.BlockBuilder()
        x = relax.Var("x", tvm_api.TensorType((4,), "float32"))
        with builder.function("main", [x]):
            builder.emit_func_output(builder.emit(relax.op.add(x, x)))
        with target:
            executable = tvm.compile(builder.get(), target, relax_pipeline=relax.get_default_pipeline(target))
        machine = llvm.Built(relax.VirtualMachine(executable, device), device)
        result = machine.run("main", [_ONES])
    except NoDevice as why:
        return str(why)
    except Exception as error:  # noqa: BLE001 - the boundary to TVM and the driver: what they raise is the reason
        if _STARTED_ABOVE in str(error):
            return "the driver was started before this process was forked, as PyTorch does where it is loaded"
        no = _refused_by_nvcc(str(error))
        return no.message if no else f"{type(error).__name__}: {headline(str(error))}"
    assert isinstance(result, Tensor)
    return None if np.array_equal(result.value, _ONES.value + _ONES.value) else "1 + 1 is wrong there"


_ONES = carried(np.ones(4), "float32")


# --- what is said of a failure --------------------------------------------------------------------------


def _refused_by_nvcc(message: str) -> NvccRefusal | None:
    """What nvcc says in an error, which begins with the whole source; None where it is not of nvcc."""
    _, mark, complaints = message.partition("Compilation error:")
    return refusal_in(complaints) if mark else None


def _not_compiled(error: Raised) -> Wrong | Unsure:
    if states_limit(error):
        return Unsure(f"rejected: {CODEGEN}: {error.kind}")
    if (no := _refused_by_nvcc(error.message)) is not None:
        return Wrong(DOES_NOT_BUILD, no.message, 0, no.evidence)
    return Wrong(DOES_NOT_BUILD, in_a_line(error), 0, traceback=error.traceback)


def _of_the_end(ended: Ended, built: DeviceModule, running: bool, said: str) -> Wrong | Unsure:
    """The verdict on a child that gave no answer."""
    if ended.from_outside:
        return Unsure("build: killed from outside, or out of memory")
    if ended.hung or ended.by is signal.SIGALRM:
        late = Unsure("build: nvcc, or a busy machine, takes too long for the device")
        return Wrong(HANG, f"no answer from the device within {RUN_S} s", 0, Hung()) if running else late
    fault = _FAULT.search(said)
    where = "running on the device" if running else "building for the device"
    message = f"{ended.how} {where}{f': {headline(fault[0])}' if fault else ''}"
    verified = the(Role.GUARDS_DEVICE_MEMORY).name in rest_of_tir_pipeline(built.phase)
    by_host = running and fault is None and verified and touched_by_host(built.module)
    return Wrong(CRASH, message, 0, HostTouchesDevice() if by_host else None)
