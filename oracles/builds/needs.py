"""What builds the modules of a target: one row for each builder, with what it needs of this machine.

How a builder builds and judges is the row of the same name in `oracles.builds.builders`, which needs TVM. No TVM is
imported here, and no driver is touched.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generators.targets import TARGETS
from oracles.builds import cuda_cpu

DRIVER_FILES = ("/dev/nvidiactl", "/dev/dxg")
"""The files through which processes reach the driver for CUDA, on Linux and under WSL."""


def present() -> bool:
    """Whether this machine has a driver for CUDA devices; whether it works, `oracles.builds.cuda_device` finds out."""
    return any(Path(name).exists() for name in DRIVER_FILES)


def _on_a_device(device: str | None, why_not: str) -> str:
    if device is not None:
        return f"built and run on {device}"
    return f"interpreted thread by thread; no device is here{f' ({why_not})' if why_not else ''}"


def _by_a_compiler(device: str | None, why_not: str) -> str:
    nvcc = shutil.which("nvcc")
    asked = f"{nvcc} checks the sources" if nvcc else "no nvcc: what our header does not know is left out"
    return f"built by {cuda_cpu.compiler_path()}; {asked}"


@dataclass(frozen=True, slots=True)
class BuilderRow:
    """What is known of a builder without TVM.

    missing: why modules for its targets cannot be judged on this machine, or None; may take seconds on its first call
    ever. hint: what to install then. present: whether it can build here; without it the reference alone judges.
    on_device: whether it runs modules on a device, so that a script run on that device shows the same. doctor: the
    doctor's line on its targets, from the name of the device that works, or why none does; None for no line.
    """

    name: str
    missing: Callable[[], str | None] = lambda: None
    hint: str = ""
    present: Callable[[], bool] = lambda: True
    on_device: bool = False
    doctor: Callable[[str | None, str], str] | None = None


LLVM = BuilderRow("llvm")
CUDA = BuilderRow("cuda", present=present, on_device=True, doctor=_on_a_device)
CUDA_CPU = BuilderRow(
    "cuda-cpu",
    missing=cuda_cpu.available,
    hint="install g++ or clang++, or name a C++ compiler in $CXX",
    doctor=_by_a_compiler,
)
ROWS: dict[str, BuilderRow] = {row.name: row for row in (LLVM, CUDA, CUDA_CPU)}


def row_of(target: str) -> BuilderRow:
    """The builder of a target."""
    return ROWS[TARGETS[target].builder]


def missing(target: str) -> str | None:
    """Why modules cannot be judged for a target here, with what to do about it, or None. May take seconds on its first
    call ever."""
    row = row_of(target)
    why = row.missing()
    return None if why is None else f"{why}; {row.hint}"


def builder_of(target: str) -> str | None:
    """The name of the builder that builds modules for a target on this machine; None where the reference alone judges
    them, as for a target with a device where there is none."""
    row = row_of(target)
    return row.name if row.present() else None
