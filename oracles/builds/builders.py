"""How modules are built, run and judged: a row for each builder of `oracles.builds.needs`.

How each of them works is in `oracles.builds.build` (LLVM), `oracles.builds.cuda_cpu` and
`oracles.builds.cuda_device`. `fuzzer.trial.build` says which modules are worth building, and whose fault a failure is;
`oracles.builds.needs` what a builder needs of this machine.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from generators.passes.row import Phase, Role
from generators.passes.table import the
from generators.targets import TARGETS
from generators.tvm_api import IRModule
from oracles.activities import Announce, Building
from oracles.builds import build as llvm
from oracles.builds import cuda_device, needs
from oracles.builds.cuda_cpu import machine, to_ptx
from oracles.builds.nvcc_says import refusal_in
from oracles.evidence import Evidence, HostTouchesDevice, InKernel, OrderOfThreads
from oracles.reference.calling import Calling, Run
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.trace import Bench
from oracles.verdict import BUILD, CODEGEN, DOES_NOT_BUILD, Failed, Skipped

RunOutcome: TypeAlias = "None | Wrong | Unsure"
LAUNCH_S = 3.0
"""CPU seconds that a launch of a kernel may take, which the reference has interpreted in less than a case may take."""


@dataclass(frozen=True, slots=True)
class SameBug:
    """What is one bug in every program that shows it. message: the one to use for all of them. culprit: where it is
    always the same, whatever the passes under test have made of the program."""

    message: str
    culprit: str | None = None


def same_bug(evidence: Evidence | None) -> SameBug | None:
    """The bug that a wrong build shows by its evidence alone; None where each program may show a bug of its own."""
    match evidence:
        case InKernel(kind=machine.EMPTY):
            return SameBug("a kernel for no element is launched nevertheless, and fails", CODEGEN)
        case OrderOfThreads():
            return SameBug("threads that no barrier orders give another result in another order")
        case HostTouchesDevice():
            return SameBug(
                "host code that touches memory of the device is built, and crashes", the(Role.GUARDS_DEVICE_MEMORY).name
            )
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Builder:
    """How modules are built and judged.

    passes: the Relax passes that building applies to a module in a phase. build: a module ready to run, where it
    stopped, or the verdict on it; it takes the optimisation level of host code and announces its stages.
    judge: whether the entry calls of a module ready to run give the reference's numbers. run: how a function of one is
    called. unusable: why nothing can be built here although the machine has what is needed, found out by a trial on the
    first call; None where it can.
    """

    passes: Callable[[IRModule, Phase], tuple[str, ...]]
    build: Callable[[IRModule, Phase, Bench, int, Announce], Any | llvm.NotBuilt | Failed | Skipped]
    judge: Callable[[Any, Numbers, Calling], RunOutcome]
    run: Callable[[Any], Run]
    unusable: Callable[[], str | None] = lambda: None


_OF_THREADS = next(row.name for row in TARGETS.values() if row.threads)
"""A target with the pipelines for GPUs."""


def _judged_by_llvm(built: llvm.Built, numbers: Numbers, calling: Calling) -> RunOutcome:
    return numbers.judge_run(built.run, calling)


def _passes_for_threads(module: IRModule, phase: Phase) -> tuple[str, ...]:
    """The rest of the pipeline, with the schedule wherever it has not been applied yet: it leaves scheduled PrimFuncs
    as they are, and device code is made of those alone (python/tvm/s_tir/dlight/base/transform.py)."""
    names = llvm.passes_to_come(module, phase, _OF_THREADS)
    threading = the(Role.BINDS_THREADS).name
    return (threading, *names) if phase.of_relax and threading not in names else names


def _built_for_threads(
    module: IRModule, phase: Phase, bench: Bench, opt_level: int, announce: Announce
) -> machine.CudaCpuModule | llvm.NotBuilt | Failed | Skipped:
    """Host code is always built without optimisation: there is little of it. The schedule changes the module that it is
    given, which is to be a copy."""
    names = _passes_for_threads(module, phase)
    lowered = llvm.lowered_by(names, module.clone(), phase, bench, announce)
    if isinstance(lowered, llvm.NotBuilt):
        return lowered
    announce(Building(BUILD, CODEGEN))
    built = machine.build(*lowered, bench, LAUNCH_S)
    if isinstance(built, llvm.NotBuilt):
        return replace(built, lowered_by=names)
    return refused(built) if isinstance(built, machine.NotCompiled) else built


def _built_for_device(
    module: IRModule, phase: Phase, bench: Bench, opt_level: int, announce: Announce
) -> cuda_device.DeviceModule | llvm.NotBuilt | Skipped:
    """Lowered here; code generation, which asks the device, and the runs are one step in a child of `judge`."""
    if (why := cuda_device.unusable()) is not None:
        return Skipped(f"{cuda_device.UNUSABLE}{why}")
    names = _passes_for_threads(module, phase)
    lowered = llvm.lowered_by(names, module.clone(), phase, bench, announce)
    if isinstance(lowered, llvm.NotBuilt):
        return lowered
    if (reason := cuda_device.needs_host_memory(lowered[0])) is not None:
        return Skipped(f"build: {reason}")
    return cuda_device.DeviceModule(*lowered, bench)


def refused(source: machine.NotCompiled) -> Failed | Skipped:
    """The verdict on CUDA source that the C++ compiler refuses: TVM is wrong if nvcc refuses it too."""
    if source.slow:
        return Skipped("cuda-cpu: the C++ compiler takes too long, or the disk is full")
    if shutil.which("nvcc") is None:
        return Skipped("cuda-cpu: source not known to our header, and no nvcc to ask")
    try:
        complaint = to_ptx(source.cuda, timeout_s=LAUNCH_S * 3)
    except TimeoutError:
        return Skipped("cuda-cpu: source not known to our header, and nvcc takes too long")
    if complaint is None:
        return Skipped("cuda-cpu: source not known to our header")
    no = refusal_in(complaint)
    return Failed(DOES_NOT_BUILD, no.message, f"{complaint}\n{source.cuda}", CODEGEN, no.evidence)


def unusable(target: str) -> str | None:
    """Why nothing can be built for a target although its builder is here, by a trial on the first call; else None."""
    builder = needs.builder_of(target)
    return None if builder is None else BUILDERS[builder].unusable()


BUILDERS: dict[str, Builder] = {
    needs.LLVM.name: Builder(llvm.passes_to_come, llvm.build, _judged_by_llvm, lambda built: built.run),
    needs.CUDA.name: Builder(
        _passes_for_threads,
        _built_for_device,
        cuda_device.judge,
        cuda_device.runner,
        unusable=lambda: cuda_device.unusable(),
    ),
    needs.CUDA_CPU.name: Builder(
        _passes_for_threads,
        _built_for_threads,
        machine.judge,
        lambda built: built.run,
    ),
}
