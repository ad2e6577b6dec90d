"""Other ways in which TVM builds a module for a CPU: a row for each, and the reasons why others are left out.

What the ordinary build (`oracles.builds.build`) has right, each of them must have right as well: it ends, and where
its code runs on this machine, it gives the reference's numbers. Each row is an oracle of its own name, so that a
finding says how it was built. How a module is built by a row is in `oracles.builds.cpu_trial`; the text of a script in
`oracles/scripts/build_on_cpu.py.j2`. No TVM is imported here.

Code for LLVM is built at opt-level 0 or 2 by the ordinary build. C is run by the bytecode executor: what the compiled
one makes calls functions of TVM's run time that no header declares, for any module.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from generators.passes.table import with_trait
from generators.passes.traits import LeftOutBy, NoBuildSets

SHARE = 0.1
"""How many of the cases that the ordinary build has right are built in one other way, too. A build in a process of its
own takes some 0.2 s, and all of them together are to cost a campaign less than a twentieth of its time."""
WITHOUT_NOALIAS = 'tvm.tirx.transform.Apply(lambda function: function.without_attr("tirx.noalias"))'
_COMPILERS = ("g++", "gcc", "clang++", "clang", "c++", "cc")
"""The order in which `tvm.support.cc` looks for a compiler."""
_PATIENCE_S = 30
"""Seconds that a compiler may take for an empty file."""


class How(Enum):
    """What is done with a build."""

    RUN = "LLVM compiles it in this process"
    LOAD = "a C++ compiler makes a shared library of it, which is loaded"
    EMIT = "object code is made for another machine, and not run"


@dataclass(frozen=True, slots=True)
class CpuBuild:
    """One way of building.

    target: what constructs the target. options: the PassContext's config as an expression, "" for none. last: a pass
    after those of Relax, "" for none. lowers: whether the passes of the ordinary lowering, less those `without` which
    it does, do under these options all that this one does to the numbers.
    """

    name: str
    promise: str
    target: str = '{"kind": "llvm"}'
    options: str = ""
    exec_mode: str = "bytecode"
    last: str = ""
    how: How = How.RUN
    lowers: bool = False
    without: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it differs from the ordinary build before code generation, so that it makes sense only for modules
        whose PrimFuncs no pass has taken anywhere yet."""
        return bool(self.options or self.last) or self.exec_mode != "bytecode" or self.how is How.EMIT or self.is_c

    @property
    def is_c(self) -> bool:
        """Whether the code generator prints C."""
        return '"c"' in self.target

    @property
    def runs(self) -> bool:
        """Whether the code runs on this machine, so that its numbers are compared."""
        return self.how is not How.EMIT


def _leaving_out(name: str, option: str) -> CpuBuild:
    """A build without the pass that an option leaves out."""
    (left_out,) = (row.name for row, trait in with_trait(LeftOutBy) if trait.option == option)
    return _configured(name, f"without {left_out}", f'{{"{option}": True}}', without=(left_out,))


def _configured(name: str, what: str, options: str, lowers: bool = True, without: tuple[str, ...] = ()) -> CpuBuild:
    promise = f"built {what}, a module gives the same numbers"
    return CpuBuild(f"build_{name}", promise, options=options, lowers=lowers, without=without)


def _cross(name: str, triple: str, *features: str) -> CpuBuild:
    listed = ", ".join(f'"{feature}"' for feature in features)
    attributes = f', "mattr": [{listed}]' if features else ""
    what = f"{triple} ({' '.join(features)})" if features else triple
    target = f'{{"kind": "llvm", "mtriple": "{triple}"{attributes}}}'
    return CpuBuild(f"cross_{name}", f"what builds here builds for {what}, too", target=target, how=How.EMIT)


_UNROLL = '{"tirx.UnrollLoop": {"auto_max_step": 32, "auto_max_depth": 8, "auto_max_extent": 8}}'
_SIMPLIFY = (
    '{"tirx.StmtSimplify": {"transitively_prove_inequalities": True, "convert_boolean_to_and_of_ors": True, '
    '"apply_constraints_to_boolean_branches": True}}'
)
_PARTITION = '{"s_tir.LoopPartition": {"partition_const_loop": True, "no_unroll_loop_with_extent_one": True}}'
_HOIST = '{"s_tir.HoistIfThenElse": {"support_block_scope_hoisting": True}}'


def _rows() -> Iterable[CpuBuild]:
    same = "gives the same numbers"
    yield CpuBuild("build_o3", f"built at LLVM's opt-level 3, a module {same}", '{"kind": "llvm", "opt-level": 3}')
    yield CpuBuild("build_mcjit", f"run by LLVM's MCJIT, a module {same}", '{"kind": "llvm", "jit": "mcjit"}')
    yield CpuBuild("build_compiled", f"run by the compiled executor, a module {same}", exec_mode="compiled")
    yield CpuBuild("build_may_alias", f"built without tirx.noalias, a module {same}", last=WITHOUT_NOALIAS)
    yield CpuBuild("build_exported", f"exported and loaded again, a module {same}", how=How.LOAD)
    yield CpuBuild("build_c", f"built as C, a module {same}", '{"kind": "c"}', how=How.LOAD)
    yield _configured("no_vectorize", "without vectorisation", '{"tirx.disable_vectorize": True}', lowers=False)
    yield _leaving_out("no_storage_rewrite", "tirx.disable_storage_rewrite")
    yield _leaving_out("no_cse", "tirx.disable_cse_tir")
    yield _configured("no_assert", "without asserts", '{"tirx.disable_assert": True}', lowers=False)
    yield _configured("bounds", "with bound checks", '{"tirx.instrument_bound_checkers": True}', lowers=False)
    yield _configured("predicated", "with predicated buffers", '{"tirx.enable_buffer_level_predication": True}')
    yield _configured("unrolled", "with loops unrolled", _UNROLL)
    yield _configured("simplified", "with every option of StmtSimplify", _SIMPLIFY)
    yield _configured("partitioned", "with constant loops partitioned", _PARTITION)
    yield _configured("hoisted", "with conditions hoisted out of blocks", _HOIST)
    yield _cross("aarch64", "aarch64-linux-gnu")
    yield _cross("sve", "aarch64-linux-gnu", "+v9a", "+sve")
    yield _cross("riscv64", "riscv64-linux-gnu")
    yield _cross("rvv", "riscv64-linux-gnu", "+m", "+a", "+f", "+d", "+c", "+v")
    yield _cross("wasm32", "wasm32-unknown-unknown-wasm")
    yield _cross("armv7", "armv7l-linux-gnueabihf")
    yield _cross("i386", "i386-linux-gnu")
    yield _cross("powerpc64le", "powerpc64le-linux-gnu")
    yield _cross("s390x", "s390x-linux-gnu")
    yield _cross("loongarch64", "loongarch64-linux-gnu")
    yield _cross("hexagon", "hexagon-unknown-elf")
    yield _cross("macos", "arm64-apple-darwin")
    yield _cross("windows", "x86_64-pc-windows-msvc")


CPU_BUILDS: dict[str, CpuBuild] = {row.name: row for row in _rows()}

GROUPS: dict[str, frozenset[str]] = {
    "cpu_builds": frozenset(name for name, row in CPU_BUILDS.items() if row.runs),
    "cross_builds": frozenset(name for name, row in CPU_BUILDS.items() if not row.runs),
}
"""Names that stand for several oracles wherever oracles are named."""


def expanded(names: Iterable[str]) -> frozenset[str]:
    """The names with those of a group in its place."""
    return frozenset(member for name in names for member in GROUPS.get(name, frozenset((name,))))


def only_builds(names: frozenset[str]) -> bool:
    """Whether these oracles are other builds alone, which then need not be rare."""
    return bool(names) and names <= CPU_BUILDS.keys()


def no_compiler() -> str | None:
    """Why no shared library can be made here, or None. Asks the compiler that `tvm.support.cc` takes."""
    path = os.environ.get("PATH", "")
    compiler = os.environ.get("CXX") or os.environ.get("CC") or next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        return f"no C++ compiler: neither $CXX nor any of {', '.join(_COMPILERS)}"
    return _complaint(compiler, path)


@cache
def _complaint(compiler: str, path: str) -> str | None:
    """Why it makes no shared library of an empty file, or None. It is called by its name alone, as TVM does."""
    if shutil.which(compiler, path=path) is None:
        return f"no C++ compiler: $CXX or $CC is {compiler}, which is not there"
    with tempfile.TemporaryDirectory(prefix="passfuzz-") as folder:
        source = Path(folder) / "empty.c"
        source.touch()
        made = [compiler, "-shared", "-fPIC", "-o", str(source.with_suffix(".so")), str(source)]
        try:
            ran = subprocess.run(made, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the C++ compiler {compiler} does not work: {error}"
    said = (ran.stderr or ran.stdout).strip().splitlines() or [f"exit status {ran.returncode}"]
    return None if ran.returncode == 0 else f"the C++ compiler {compiler} does not work: {said[0]}"


NO_ROW: dict[str, str] = {
    **dict.fromkeys(("tirx.noalias", "tirx.is_entry_func"), "read by nothing on the way of a build for a CPU"),
    **dict.fromkeys(
        ("tirx.enable_debug", "tirx.add_lower_pass", "tirx.debug_keep_trivial_loop"), "registered, and read by nothing"
    ),
    **dict.fromkeys(
        ("tirx.merge_static_smem", "tirx.use_async_copy", "tirx.s_tir.ldg32", "tirx.vtcm_capacity"),
        "for targets with threads or memories that no CPU has",
    ),
    **dict.fromkeys(
        (
            *("tirx.instrument_lwp", "s_tir.instr_siblings", "s_tir.lwp_disable_func_prof", "s_tir.lwp_max_depth"),
            *("s_tir.lwp_min_height", "s_tir.reset_start_id"),
        ),
        "profiling by functions that Hexagon's run time alone has",
    ),
    **{row.name: trait.why for row, trait in with_trait(NoBuildSets)},
    "tirx.enable_fast_math": "meant to change the numbers",
    "testing.immutable_module": "a check of passes; it builds nothing else",
    **dict.fromkeys(
        (
            *("relax.FuseOps.max_depth", "relax.lift_transform_params.consume_params"),
            *("relax.transform.apply_legalize_ops", "relax.backend.use_cuda_graph", "relax.fallback_device_type"),
        ),
        "of a Relax pass, which the pass table applies under it or which needs a device",
    ),
}
"""The options of a PassContext that no row sets, and why."""

NO_CROSS: dict[str, str] = {
    **dict.fromkeys(("avr", "msp430"), "16 bits: TVM's run time has no such machine"),
    **dict.fromkeys(("bpfel", "bpfeb"), "a function has at most five arguments there"),
    "xcore": "LLVM has no object code for it",
    **dict.fromkeys(("r600", "amdgcn", "nvptx", "nvptx64", "spirv", "spirv32", "spirv64"), "a GPU's, of other targets"),
    **dict.fromkeys(
        ("armeb", "aarch64_be", "riscv32be", "riscv64be", "thumbeb"), "big-endian; s390x is the row for them"
    ),
    **dict.fromkeys(
        ("mips", "mipsel", "mips64", "mips64el", "sparc", "sparcv9", "sparcel", "lanai"),
        "no user of TVM is known",
    ),
    **dict.fromkeys(("powerpc", "powerpcle", "powerpc64", "loongarch32"), "a row has a machine of the same kind"),
    **dict.fromkeys(("riscv32", "thumb", "aarch64_32", "wasm64"), "a row has a machine of the same kind"),
    "x86_64": "usually this machine's: the ordinary build",
}
"""LLVM's targets that no row compiles for, and why."""
