"""Kernels compiled for the CPU, and their launches: on NumPy arrays, or on addresses as TVM's host code has them."""

from __future__ import annotations

import ctypes
import enum
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from generators.dtypes import Array
from oracles.builds.cuda_cpu.compiler import RUNTIME, toolchain
from oracles.builds.cuda_cpu.source import ENTRY
from oracles.evidence import KernelTrapKind

DEADLINE_S = 10.0
"""CPU seconds that a launch may take."""
NO_MEMORY = -1
"""The size of an argument that is a number."""
UNKNOWN = -2
"""The size of memory of which only the kernel knows how large it is."""
_MESSAGE = 512


class Order(enum.IntEnum):
    """In which order the threads of a block run between two barriers, and the blocks of a grid."""

    ASCENDING = 0
    DESCENDING = 1
    SHUFFLED = 2


ORDERS = tuple(Order)


class Fault(Exception):
    """A kernel did what has no meaning."""

    def __init__(self, kernel: str, kind: KernelTrapKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail} (kernel {kernel})")
        self.kernel = kernel
        self.kind: KernelTrapKind = kind
        self.detail = detail


class _Slot(ctypes.Union):
    _fields_ = [("pointer", ctypes.c_void_p), ("integer", ctypes.c_int64), ("real", ctypes.c_double)]


@dataclass(frozen=True, slots=True)
class Address:
    """Device memory: where it is and how many bytes of it a kernel may touch (None: not known)."""

    place: int
    size: int | None = None


@dataclass(frozen=True, slots=True)
class CompiledSource:
    """A loaded library, and the one that runs its threads. bounds: its kernels, each with the most threads of a block
    that it says it is for."""

    library: ctypes.CDLL
    scheduler: ctypes.CDLL
    bounds: dict[str, int | None]

    def launch(
        self,
        kernel: str,
        arguments: Sequence[Array | Address | int | float | bool],
        grid: Sequence[int],
        block: Sequence[int],
        *,
        shared: int = 0,
        order: Order = Order.ASCENDING,
        seed: int = 0,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """Runs a kernel. Arrays are contiguous and changed in place; missing extents are 1.

        shared: bytes of dynamic shared memory. Raises Fault; what arrays hold then is not changed.
        """
        if kernel not in self.bounds:
            raise Fault(kernel, "launch", "no kernel of this name")
        entry = getattr(self.library, f"{ENTRY}{kernel}")
        taken = getattr(self.library, f"{ENTRY}{kernel}_arity")()
        if taken != len(arguments):
            raise Fault(kernel, "launch", f"{len(arguments)} arguments for {taken} parameters")
        self._check_block(kernel, block)
        slots = (_Slot * max(1, len(arguments)))()
        sizes = (ctypes.c_int64 * max(1, len(arguments)))()
        for number, argument in enumerate(arguments):
            sizes[number] = _fill(slots[number], argument)
        extents = (ctypes.c_uint32 * 6)(*_padded(kernel, grid), *_padded(kernel, block))
        text = ctypes.create_string_buffer(_MESSAGE)
        failed = self.scheduler.cc_launch(
            entry,
            slots,
            sizes,
            len(arguments),
            extents,
            ctypes.c_uint64(shared),
            int(order),
            ctypes.c_uint64(seed),
            ctypes.c_double(deadline_s),
            text,
            ctypes.c_uint64(_MESSAGE),
        )
        if failed:
            kind, _, detail = text.value.decode(errors="replace").partition(": ")
            raise Fault(kernel, msgspec.convert(kind, KernelTrapKind), detail)

    def _check_block(self, kernel: str, block: Sequence[int]) -> None:
        most, threads = self.bounds[kernel], int(np.prod([int(extent) for extent in block]))
        if most is not None and threads > most:
            raise Fault(kernel, "launch", f"blocks of {threads} threads, the kernel is for {most}")


def _padded(kernel: str, extents: Sequence[int]) -> list[int]:
    for extent in extents:
        if not 0 < extent < 1 << 31:
            raise Fault(kernel, "launch", f"extents {list(extents)}")
    return [*map(int, extents), 1, 1, 1][:3]


def _fill(slot: _Slot, argument: Array | Address | int | float | bool) -> int:
    """Puts an argument into its slot; how many bytes it points to, NO_MEMORY or UNKNOWN."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous or not argument.flags.writeable:
            raise ValueError("a kernel takes contiguous arrays that can be written")
        slot.pointer = argument.ctypes.data
        return argument.nbytes
    if isinstance(argument, Address):
        slot.pointer = argument.place
        return UNKNOWN if argument.size is None else argument.size
    if isinstance(argument, (float, np.floating)):
        slot.real = float(argument)
    else:
        slot.integer = int(argument)
    return NO_MEMORY


@cache
def _scheduler(path: str) -> ctypes.CDLL:
    """The scheduler, where the libraries of kernels that are loaded later find it."""
    return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def compile_source(cuda: str) -> CompiledSource:
    """Compiles CUDA C++ for the CPU and loads it. Raises CompileError, and NoCompiler where there is none."""
    with tempfile.TemporaryDirectory(prefix="passfuzz-cuda-cpu-") as folder:
        path = Path(folder) / "kernels.so"
        tools = toolchain()
        bounds = tools.shared_library(cuda, path)
        scheduler = _scheduler(str(tools.folder / RUNTIME))
        return CompiledSource(ctypes.CDLL(str(path)), scheduler, bounds)
