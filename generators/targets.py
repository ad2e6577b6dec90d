"""The targets that modules are lowered for: how TVM constructs them, their pipelines, and what builds and runs them.

A target is one row. A kind of builder that does not exist yet is a row of `oracles.builds.needs` and one of
`oracles.builds.builders`. No TVM is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass

_CUDA = 'tvm.target.Target({"kind": "cuda", "arch": "sm_90"}, host="llvm")'

DEFAULT = "llvm"
"""The target of cases that name none."""


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target.

    source: the expression that constructs it. kind: TVM's name for the kind of that target. pipelines: rows of
    `generators.passes.table.PIPELINES`. threads: whether its loops run in the threads of a GPU. Then passes for GPUs
    apply, and a script that imports only TVM needs a device to show numbers. builder: the row of
    `oracles.builds.needs.ROWS` that builds and runs modules, where this machine has what it needs. of_kind: it is the
    target of modules of which only TVM's kind of target is known; one row of each kind is.
    """

    name: str
    source: str
    meaning: str
    pipelines: tuple[str, ...] = ("default_build", "llvm")
    threads: bool = False
    builder: str = "llvm"
    kind: str = "llvm"
    of_kind: bool = False


TARGETS: dict[str, TargetRow] = {
    row.name: row
    for row in (
        TargetRow("llvm", 'tvm.target.Target("llvm")', "built by LLVM and run on the CPU", of_kind=True),
        TargetRow(
            "cuda",
            _CUDA,
            "lowered for CUDA down to the device code, interpreted thread by thread; built and run where a device is",
            ("cuda",),
            threads=True,
            builder="cuda",
            kind="cuda",
            of_kind=True,
        ),
        TargetRow(
            "cuda-cpu",
            _CUDA,
            "as cuda, and the CUDA source built by a C++ compiler and run on the CPU in three orders of threads",
            ("cuda",),
            threads=True,
            builder="cuda-cpu",
            kind="cuda",
        ),
    )
}
"""All targets by name. Their order is only that of lists for a reader."""


def of_kind(kind: str | None) -> str:
    """The name of the target that stands for one of TVM's kinds; DEFAULT where there is none."""
    return next((row.name for row in TARGETS.values() if row.kind == kind and row.of_kind), DEFAULT)
