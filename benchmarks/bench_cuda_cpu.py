"""How many random programs the `cuda-cpu` room runs as the reference says, and whether it sees that a barrier is gone.

Each drawn program goes through the official CUDA pipeline, its CUDA source is compiled for the CPU, and its entry calls
are run in every order of threads. A row per outcome: TVM refuses to compile, the C++ compiler refuses, runs and agrees
with what the reference says of the program as drawn, nothing can be said, wrong. Where a result is wrong, the reference
is asked about the module after each further pass: what it finds wrong as well is TVM's fault and counts as agreement.
Medians of what compiling and running cost are printed too.

Then barriers are deleted, one at a time and only such as are needed: the reference, which knows which accesses of two
threads no barrier orders, finds a data race without it. A row per barrier says whether running shows it too.

    python -m benchmarks.bench_cuda_cpu [--programs 90] [--operators 10] [--seed 3] [--barriers 20] [--nvcc]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from generators.passes.traits import TakesBlocks

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tvm_ffi
from tvm import tirx

from benchmarks.children import ToParent, in_child
from fuzzer.worker.child import before_forking
from generators import tvm_api
from generators.case import PassCall
from generators.passes.row import EVERY_SCOPE, Phase
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, default_call
from generators.program import Program
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.tir.relax_caller import draw_prim_program
from oracles.builds.build import NotBuilt, as_built, passes_to_come
from oracles.builds.cuda_cpu import available, to_ptx
from oracles.builds.cuda_cpu.machine import CudaCpuModule, NotCompiled, build, judge
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.trace import Position, Raised
from oracles.tvm_errors import headline
from oracles.walk import walk
from oracles.workbench import Workbench

TARGET = "cuda-cpu"
SYNCED = TIR_PIPELINE[: TIR_PIPELINE.index("s_tir.LowerThreadAllreduce") + 1]
"""The passes after which all barriers are explicit."""
REFUSED = "no CUDA, as nvcc says too"
AGREES_IT_IS_WRONG = "wrong, as the reference says too"
DEADLINE_S = 600
BARRIERS_EACH = 4
"""So many needed barriers are deleted of one program, each in another function."""


_listeners: list[ToParent[str]] = []
"""Called by a child with the stage that it comes to."""


def _stage(name: str) -> None:
    for say in _listeners:
        say(name)


@contextmanager
def _told(call: PassCall) -> Iterator[None]:
    """Says that a pass begins."""
    _stage(call.name)
    yield


class Left(Exception):
    """The program is left out, for this reason."""


def _program(source: SeededSource, operators: int) -> Program:
    """So many operators; without any, calls of drawn PrimFuncs, of which some are kernels."""
    if not operators:
        return draw_prim_program(source, for_schedules=True, threads=True)
    return draw_program(source, Knobs(operators=(operators, operators)))


def drawn(seed: int, index: int, operators: int) -> tuple[Any, Workbench, Numbers]:
    """A program after the Relax pipeline for CUDA, and what its entry calls give. Raises Left."""
    program = _program(SeededSource(seed, index), operators)
    numbers = Numbers(program.module, program.calls)
    if isinstance(numbers.expected, NoMeaning):
        raise Left(numbers.expected.reason)
    bench = Workbench(SeededSource(seed, index), numbers, target=TARGET)
    lifting = [name for name in passes_to_come(program.module, Phase.HIGH) if name == "LambdaLift"]
    pipeline = [n for n in PIPELINES["cuda"] if operators or not PASSES[n].has(TakesBlocks)]
    return applied((*lifting, *pipeline), program.module, bench), bench, as_built(numbers)


def applied(names: tuple[str, ...], module: Any, bench: Workbench) -> Any:
    """The module after these passes. Raises Left where one refuses it."""
    calls = [default_call(name) for name in names]
    for step in walk(Position.at(module), calls, PASSES, bench, around=_told):
        if step.end is None:
            raise Left(f"TVM: refused by {step.call.name}")
        module = step.end.module
    return module


def ran(seed: int, index: int, operators: int, nvcc: bool) -> dict[str, Any]:
    """What became of a program: `said`, and seconds of building and of judging."""
    module, bench, numbers = drawn(seed, index, operators)
    _stage("building")
    begun = time.perf_counter()
    built = build(module, Phase.HIGH, bench)
    building = time.perf_counter() - begun
    if isinstance(built, NotBuilt):
        return {"left_out": f"TVM: {headline(built.error.message)[:150]}"}
    if isinstance(built, NotCompiled):
        said = REFUSED if shutil.which("nvcc") and to_ptx(built.cuda) else "not compiled"
        return {"said": said, "detail": built.message.splitlines()[0][-150:]}
    _stage("running")
    begun = time.perf_counter()
    outcome = bench.guarded(lambda: judge(built, numbers))
    judging = time.perf_counter() - begun
    said, detail = _named_outcome(outcome)
    if nvcc and built.cuda and (complaint := to_ptx(built.cuda)):
        detail += f"; nvcc refuses: {complaint[:200]}"
    if said == "wrong" and (culprit := found_wrong(module, bench, numbers)) is not None:
        said, detail = AGREES_IT_IS_WRONG, f"{detail}; the reference: {culprit}"
    return {
        "said": said,
        "detail": detail,
        "build": building,
        "judge": judging,
        "barriers": "__syncthreads" in built.cuda,
    }


def found_wrong(module: Any, bench: Workbench, numbers: Numbers) -> str | None:
    """The first pass after which the reference finds a lowered module wrong; None where it finds nothing."""
    if isinstance(numbers.judge_module(module), Wrong):
        return "the Relax pipeline"
    for name in SYNCED:
        module = applied((name,), module, bench)
        if isinstance(numbers.judge_module(module), Wrong):
            return name
    return None


def _named_outcome(outcome: Any) -> tuple[str, str]:
    match outcome:
        case None:
            return "agrees", ""
        case Unsure(reason, _):
            return "unsure", reason
        case Wrong(symptom, message, _):
            return "wrong", f"{symptom}: {message}"
        case Raised(kind, message):
            return "raised", f"{kind}: {headline(message)}"
    raise AssertionError(outcome)


# --- Barriers ---------------------------------------------------------------------------------------------------------


def seen(seed: int, index: int, operators: int, nvcc: bool) -> dict[str, Any]:
    """For needed barriers of a program, one of each function: whether running shows that it is deleted."""
    module, bench, numbers = drawn(seed, index, operators)
    module = applied(SYNCED, module, bench)
    rows = []
    for name, candidates in _without_one(module):
        needed = next((m for m in candidates if _races(numbers, m)), None)
        if needed is None:
            continue
        built = build(needed, Phase.SYNCED, bench)
        if isinstance(built, CudaCpuModule):
            said, detail = _named_outcome(bench.guarded(lambda b=built: judge(b, numbers)))  # type: ignore[misc]
            rows.append((name, said, detail))
        if len(rows) == BARRIERS_EACH:
            break
    return {"rows": rows}


def _races(numbers: Numbers, module: Any) -> bool:
    outcome = numbers.judge_module(module, synchronised=EVERY_SCOPE)
    return isinstance(outcome, Wrong) and "race" in outcome.symptom


def _without_one(module: Any) -> Iterator[tuple[str, Iterator[Any]]]:
    """For each function with barriers: its name, and the module without its first barrier, its second, ..."""
    for variable, function in prim_funcs(module):
        count = sum(map(_is_barrier, nodes_of(function.body, tirx.Evaluate)))
        if count:
            yield variable.name_hint, (_without(module, variable, function, number) for number in range(count))


def _is_barrier(statement: Any) -> bool:
    return tvm_api.op_name(statement.value) == "tirx.tvm_storage_sync"


def _without(module: Any, variable: Any, function: Any, number: int) -> Any:
    left = [number]

    def dropped(statement: Any) -> Any:
        if not _is_barrier(statement):
            return statement
        left[0] -= 1
        return tirx.Evaluate(0) if left[0] == -1 else statement

    changed = module.clone()
    changed.update_func(variable, tvm_ffi.structural_map(function, [(tirx.Evaluate, dropped)]))
    return changed


# --- Processes --------------------------------------------------------------------------------------------------------


def apart(action: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """What an action gives in a process of its own, which TVM may end: then the stage that it ended in."""

    def answer(say: ToParent[str | dict[str, Any]]) -> None:
        _listeners.append(say)
        try:
            said = action(*arguments)
        except Left as why:
            said = {"left_out": str(why)}
        say(said)

    child = in_child(answer, str | dict[str, Any], DEADLINE_S)
    stage = child.messages[-1] if child.messages else "drawing"
    if isinstance(stage, dict):
        return stage
    ours = stage in ("building", "running")
    return {"said": "crashed", "detail": stage} if ours else {"left_out": f"TVM: crashed in {stage}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=90)
    parser.add_argument("--operators", type=int, default=10, help="0 for drawn PrimFuncs")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--barriers", type=int, default=20, help="stop when so many needed barriers were deleted")
    parser.add_argument(
        "--nvcc", action="store_true", help="ask nvcc about every source, not only those that are not compiled"
    )
    options = parser.parse_args()
    if (reason := available()) is not None:
        raise SystemExit(reason)
    before_forking()
    nvcc = options.nvcc and shutil.which("nvcc") is not None
    results = [apart(ran, options.seed, n, options.operators, nvcc) for n in range(options.programs)]
    _tell_runs(results)
    with_barriers = [n for n, result in enumerate(results) if result.get("barriers") and result["said"] == "agrees"]
    rows: list[tuple[str, str, str]] = []
    for number in with_barriers:
        if len(rows) >= options.barriers:
            break
        rows += apart(seen, options.seed, number, options.operators, nvcc).get("rows", [])
    shown = sum(said == "wrong" for _, said, _ in rows)
    print(f"needed barriers deleted: {len(rows)}, seen by running: {shown}")
    for name, said, detail in rows:
        print(f"  {name:40}{said:10}{detail[:120]}")


def _tell_runs(results: list[dict[str, Any]]) -> None:
    left_out = Counter(result["left_out"] for result in results if "left_out" in result)
    compiled = [result for result in results if "said" in result]
    said = Counter(result["said"] for result in compiled)
    print(f"{len(compiled)} of {len(results)} programs are compiled by TVM; left out: {dict(left_out)}")
    agree = said["agrees"] + said[AGREES_IT_IS_WRONG] + said[REFUSED]
    print(f"of these: {dict(said)}; agree: {agree / max(1, len(compiled)):.1%}")
    for number, result in enumerate(results):
        if result.get("said") != "agrees" and "said" in result or result.get("detail"):
            print(f"  program {number}: {result['said']}: {result['detail'][:300]}")
    for what in ("build", "judge"):
        seconds = [result[what] for result in compiled if what in result]
        if seconds:
            print(f"{what}: median {statistics.median(seconds) * 1e3:.0f} ms, longest {max(seconds) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
