"""Builds a module by a row of `oracles.builds.cpu_builds`, in a process of its own, and holds it to what it must give.

The ordinary build of the module is taken to agree with the reference: what is said here is about the difference between
the two. Native crashes, LLVM's fatal errors and builds without an end are verdicts, with what was said on stderr.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import tvm
from tvm import relax
from typing_extensions import assert_never

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.tvm_api import IRModule, Pass, VirtualMachine
from oracles.builds import build as llvm
from oracles.builds.blame import first_wrong, lowering_of
from oracles.builds.cpu_builds import CpuBuild, How, no_compiler
from oracles.builds.room import NO_ROOM, no_room
from oracles.builds.tir_build import compiled_from
from oracles.evidence import Evidence, Hung
from oracles.forked import Ended, forked
from oracles.ir.walk import prim_funcs
from oracles.reference.outcome import Unsure, Wrong
from oracles.tail import tail
from oracles.trace import Bench, Position, Raised
from oracles.tvm_errors import headline, in_a_line, states_limit
from oracles.verdict import (
    CODEGEN,
    CRASH,
    DOES_NOT_BUILD,
    DOES_NOT_RUN,
    HANG,
    PASSED,
    WRONG_RESULT,
    Failed,
    Skipped,
    Verdict,
)

LIMIT_S = 10
"""Seconds for one build and its runs."""
HANG_CPU_S = 4.0
"""CPU seconds that a build has had at least where it counts as hanging; on a busy machine others have them."""
ORDINARY_S = LIMIT_S / 20
"""CPU seconds of the ordinary build of a module of which another one that takes LIMIT_S is slow, and need not hang:
unrolled loops of a real model are that much code."""
BUILT_IN = "passfuzz-build-"
"""What the folder of a build is called, before random letters."""
SAID = 20_000
"""Bytes of stderr that are kept."""

_FATAL = re.compile(r"LLVM ERROR: ([^\n]*)|fatal error: error in backend: ([^\n]*)|Assertion `([^\n]*)' failed")
_C_ERROR = re.compile(r"\berror: ([^\n]*)")
_NO_FILE = "No such file or directory"
_NOT_OF_C = re.compile(r"\b(float16|float[468]_e\w+)\b")
"""Types that the C code generator calls by names of CUDA or not at all, and those that are computed in such types."""
_VECTOR = re.compile(r"\b(?:u?int\d+_t|u?char|u?int|float|double)\d+\b(?= was not declared)")
"""Names as CUDA and OpenCL have them."""
_HALF = re.compile(r"\bhalf\d*\b.* was not declared|unknown type name .?half\b")
_INTRINSIC = re.compile(r'Unresolved call ir\.Op\(.*?name="([\w.]+)"', re.DOTALL)
_VERIFIER = re.compile(r"(LLVM module verification failed with the following errors: [^!%@]*!?).*", re.DOTALL)
"""What LLVM's verifier says, without the instructions of which it says it."""
_FOLDERS = re.compile(rf"/[^\s:=‘'\"]*?(?:{BUILT_IN}[^/\s]*/|(?=(?:site|dist)-packages/))")
_NODE = re.compile(r"(Cannot select): .*?= (?:<[^>]*> )?([\w.:]+)")


def judge(row: CpuBuild, last: Position, bench: Bench) -> Verdict:
    """Failed("does not build"), "does not run", "wrong result", "crash" or "hang", by code generation of this row.

    Raises ChildRaised for an exception of ours."""
    why = _not_for(row, last)
    if why is not None:
        return why
    with tempfile.TemporaryDirectory(prefix=BUILT_IN) as folder:
        errors = Path(folder) / "stderr"
        ended = forked(lambda: _in_child(row, last, bench, errors), LIMIT_S)
        said = _printed(errors) if errors.exists() else ""
        ran = isinstance(ended, Failed) and ended.symptom == WRONG_RESULT
        full = isinstance(ended, (Ended, Failed)) and not ran and no_room(Path(folder))
    if full:
        return Skipped(NO_ROOM)
    if isinstance(ended, Failed) and ended.symptom == WRONG_RESULT and row.lowers:
        return replace(ended, culprit=_first_wrong(row, last, bench) or CODEGEN)
    if not isinstance(ended, Ended):
        return ended
    if ended.from_outside:
        return Skipped("build: killed from outside, or out of memory")
    if ended.hung and (row.how is How.LOAD or ended.cpu_s < HANG_CPU_S):
        return Skipped("build: the C++ compiler or a busy machine takes too long")
    if ended.hung and _takes_long(last, bench):
        return Skipped("build: the ordinary one takes long, too")
    return _of_the_end(row, ended, said)


def _takes_long(last: Position, bench: Bench) -> bool:
    """Whether the ordinary build of the module takes more than ORDINARY_S, or does not end either."""
    took = forked(lambda: _ordinary_s(last, bench), LIMIT_S)
    return isinstance(took, Ended) or took > ORDINARY_S


def _ordinary_s(last: Position, bench: Bench) -> float:
    begun = time.process_time()
    lowered = _lowered(last, bench)
    if not isinstance(lowered, llvm.NotBuilt):
        target = tvm.target.Target("llvm")
        with target, tvm.transform.PassContext(opt_level=3):
            bench.guarded(lambda: compiled_from(lowered[0], target, lowered[1]))
    return time.process_time() - begun


def _printed(file: Path) -> str:
    with file.open("rb") as stream:
        return tail(stream.fileno(), SAID)


def _first_wrong(row: CpuBuild, last: Position, bench: Bench) -> str | None:
    """The first pass of the lowering under this row that the reference contradicts; see `oracles.builds.blame`."""
    names = [name for name in lowering_of(last.module, last.phase) if name not in row.without]
    return first_wrong(names, last, llvm.as_built(bench.numbers), bench, options=row.options)


def _not_for(row: CpuBuild, last: Position) -> Skipped | None:
    """Why a row has nothing to say of a module."""
    if row.whole and not last.phase.of_relax:
        return Skipped("PrimFuncs have been lowered for the ordinary build already", applies=False)
    if row.whole and any(function.attrs and "target" in function.attrs for _, function in prim_funcs(last.module)):
        return Skipped("PrimFuncs have a target already", applies=False)
    if row.how is How.LOAD and (lacking := no_compiler()) is not None:
        return Skipped(f"build: {lacking}")
    if row.is_c and (found := _NOT_OF_C.search(T.json_of(last.module))):
        return Skipped(f"build: C has no {found[1]}")
    return None


def _in_child(row: CpuBuild, last: Position, bench: Bench, errors: Path) -> Verdict:
    """The verdict. What is written on stderr goes to the file `errors`."""
    with errors.open("wb") as file:
        os.dup2(file.fileno(), 2)
    return _judged(row, last, bench, errors.parent)


def _lowered(last: Position, bench: Bench) -> tuple[IRModule, Phase] | llvm.NotBuilt:
    names = llvm.passes_to_come(last.module, last.phase)
    return llvm.lowered_by(names, last.module, last.phase, bench)


def _judged(row: CpuBuild, last: Position, bench: Bench, folder: Path) -> Verdict:
    lowered = _lowered(last, bench)
    if isinstance(lowered, llvm.NotBuilt):
        return Skipped(f"build: {lowered.culprit} stops")
    built = bench.guarded(lambda: _machine(row, *lowered, folder))
    if isinstance(built, Raised):
        return _not_built(row, built)
    if not row.runs:
        return PASSED
    return _numbers(row, llvm.Built(built), bench, last)


def _machine(row: CpuBuild, module: IRModule, phase: Phase, folder: Path) -> VirtualMachine | None:
    """A virtual machine for the build; None where there is nothing to run."""
    target = tvm.target.Target(ast.literal_eval(row.target))
    config = ast.literal_eval(row.options) if row.options else {}
    with target, tvm.transform.PassContext(opt_level=3, config=config):
        if row.last:
            module = _last_pass(row.last)(module)
        executable = compiled_from(module, target, phase, exec_mode=row.exec_mode)
    match row.how:
        case How.RUN:
            return relax.VirtualMachine(executable, tvm.cpu())
        case How.LOAD:
            path = str(folder / "exported.so")
            executable.export_library(path, workspace_dir=str(folder))
            return relax.VirtualMachine(tvm.runtime.load_module(path), tvm.cpu())
        case How.EMIT:
            for library in executable.mod.imports:
                if library.kind == "llvm":  # A module without PrimFuncs comes with an empty one of C.
                    library.write_to_file(str(folder / "emitted.o"), "o")
            return None
        case _:
            assert_never(row.how)


@functools.cache
def _last_pass(source: str) -> Pass:
    return eval(source, {"tvm": tvm})


def _numbers(row: CpuBuild, built: llvm.Built, bench: Bench, last: Position) -> Verdict:
    numbers = llvm.as_built(bench.numbers).held_to(last.floor)
    outcome = bench.guarded(lambda: numbers.judge_run(built.run, last.calling))
    if isinstance(outcome, Raised):
        message = in_a_line(outcome)
        return _failed(row, DOES_NOT_RUN, message, outcome.traceback or outcome.message)
    match outcome:
        case None:
            return PASSED
        case Unsure():
            return outcome.verdict
        case Wrong(symptom, message, call, evidence):
            if last.lost is not None:
                return Skipped(last.lost)
            return _failed(row, symptom, message, f"entry call {call}: {message}", evidence)
        case _:
            assert_never(outcome)


# --- what is said of a failure ---------------------------------------------------------------------------


def _failed(row: CpuBuild, symptom: str, message: str, detail: str, evidence: Evidence | None = None) -> Failed:
    how = f"{row.promise}: target {row.target}"
    return Failed(symptom, message, f"{how}{', ' if row.options else ''}{row.options}\n{detail}", CODEGEN, evidence)


def without_folders(said: str) -> str:
    """What a compiler says, without the folders of this machine that our files and TVM's headers are in."""
    return _FOLDERS.sub("", said)


def _not_built(row: CpuBuild, error: Raised) -> Verdict:
    if row.how is How.LOAD and (found := _C_ERROR.search(error.message)):
        if _NO_FILE in error.message:
            return Skipped("build: the C++ compiler lacks a header")
        complaint = re.sub("[‘’']", "", found[1]).partition("; did you mean")[0]
        complaint = _VECTOR.sub("a vector type", complaint)
        if _HALF.search(complaint):
            return Skipped("build: C has no float16")
        return _failed(row, DOES_NOT_BUILD, f"the C++ compiler: {complaint}", without_folders(error.message))
    if states_limit(error):
        return Skipped(f"rejected: {row.name}: {error.kind}")
    intrinsic = _INTRINSIC.search(error.message)
    said = f"no code for the intrinsic {intrinsic[1]}" if intrinsic else _VERIFIER.sub(r"\1", headline(error.message))
    return _failed(row, DOES_NOT_BUILD, f"{error.kind}: {said}", error.traceback or error.message)


def _of_the_end(row: CpuBuild, ended: Ended, said: str) -> Verdict:
    """The verdict on a child that gave no answer."""
    if ended.hung:
        return _failed(row, HANG, f"no answer within {LIMIT_S} s", said, Hung())
    found = _FATAL.search(said)
    fatal = next(filter(None, found.groups()), "") if found else ""
    node = _NODE.search(fatal)
    if node is not None:
        fatal = f"{node[1]} {node[2]}"
    return _failed(row, CRASH, f"{ended.how}: {headline(fatal)}" if fatal else ended.how, said)
