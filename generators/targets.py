"""The targets that modules are lowered for: how TVM constructs them, their pipelines, and what is done with the result.

No TVM is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass

_CUDA = 'tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")'


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target.

    source: the expression that constructs it. pipelines: rows of `generators.passes.table.PIPELINES`. threads: whether
    its loops run in threads, so that passes for GPUs have something to do, and a script of TVM's alone needs a device
    to show numbers. builder: the row of `oracles.builds.builders.BUILDERS` that builds and runs modules, where this
    machine has what it needs (`oracles.builds.needs.builder_of`).
    """

    name: str
    source: str
    meaning: str
    pipelines: tuple[str, ...]
    threads: bool = False
    builder: str = "llvm"


TARGETS: dict[str, TargetRow] = {
    row.name: row
    for row in (
        TargetRow("llvm", 'tvm.target.Target("llvm")', "built by LLVM and run on the CPU", ("default_build", "llvm")),
        TargetRow(
            "cuda",
            _CUDA,
            "lowered for CUDA down to the device code, interpreted thread by thread; built and run where a device is",
            ("cuda",),
            threads=True,
            builder="cuda",
        ),
        TargetRow(
            "cuda-cpu",
            _CUDA,
            "as cuda, and the CUDA source built by a C++ compiler and run on the CPU in three orders of threads",
            ("cuda",),
            threads=True,
            builder="cuda-cpu",
        ),
    )
}
