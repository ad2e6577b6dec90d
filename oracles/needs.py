"""Whether this machine has what a target needs. No TVM is imported here."""

from __future__ import annotations

from collections.abc import Callable

from generators.targets import TARGETS
from oracles import cuda_cpu

_OF_BUILDER: dict[str, Callable[[], str | None]] = {"cuda-cpu": cuda_cpu.available}
HINT = "install g++ or clang++, or name a C++ compiler in $CXX"


def missing(target: str) -> str | None:
    """Why modules cannot be judged for a target here, or None. May take seconds on its first call ever."""
    check = _OF_BUILDER.get(TARGETS[target].builder or "")
    return None if check is None else check()
