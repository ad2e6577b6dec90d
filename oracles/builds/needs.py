"""Whether this machine has what a target needs, and what builds its modules here. No TVM is imported here, and no
driver is touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from generators.targets import TARGETS
from oracles.builds import cuda_cpu

_OF_BUILDER: dict[str, Callable[[], str | None]] = {"cuda-cpu": cuda_cpu.available}
_OF_A_DRIVER = ("/dev/nvidiactl", "/dev/dxg")
"""The files through which processes reach the driver for CUDA, on Linux and under WSL."""
HINT = "install g++ or clang++, or name a C++ compiler in $CXX"


def missing(target: str) -> str | None:
    """Why modules cannot be judged for a target here, or None. May take seconds on its first call ever."""
    check = _OF_BUILDER.get(TARGETS[target].builder)
    return None if check is None else check()


def present() -> bool:
    """Whether this machine has a driver for CUDA devices; whether it works is said by `oracles.builds.cuda_device`."""
    return any(Path(name).exists() for name in _OF_A_DRIVER)


def builder_of(target: str) -> str | None:
    """The row of `oracles.builds.builders.BUILDERS` that builds modules for a target on this machine.

    None where the reference alone judges them: `cuda` without a device."""
    builder = TARGETS[target].builder
    return None if builder == "cuda" and not present() else builder
