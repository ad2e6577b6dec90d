"""How many cases a CPU second judges: every cheap oracle and the reference after every pass, with and without builds.

Rows: "cheap" never builds; "build" builds and runs every case that may be built; both apply Relax passes alone. "tir"
takes every case through the whole TIR pipeline, each pass judged; the lines after the table say the same of drawn
PrimFuncs alone, counted one by one. "campaign" is what `passfuzz run` does. Cases per CPU second are those judged over
the CPU seconds (user and system) of the processes that judged them, drawing included.
The last columns say where the time went; the last line says what drawing a module of 15 statements takes, and what
compiling it takes.

    python -m benchmarks.bench_throughput [--cases 480] [--built 60] [--seed 5] [--modules 20]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tvm
from tvm import relax

from benchmarks.batches import CHEAP, RELAX, JudgedBatch, judge_indices
from benchmarks.children import ToParent, in_child
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import draw_experiment
from generators.passes.sequence_kinds import Kind
from generators.passes.table import TIR_PASSES
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.tir.relax_caller import CALLED
from oracles.ir.walk import prim_funcs
from oracles.reference.numbers import Numbers
from oracles.trace import Position
from oracles.walk import walk
from oracles.workbench import Workbench

OPERATORS = 15
TARGET = {"kind": "llvm", "opt-level": 0}
PHASES = ("generate", "passes", "oracles", "reference", "build")


def measure(seed: int, cases: int, build_share: float, kinds: tuple[Kind, ...]) -> JudgedBatch:
    """The cases 0 to `cases` of the campaign with this seed; without a build_share, under the cheap oracles alone."""
    plan = Plan(seed=seed, build_share=build_share, oracles=() if build_share else CHEAP, kinds=kinds)
    return judge_indices(plan, range(cases), TIR_PASSES if kinds == RELAX else ())


def throughput_row(name: str, judged: JudgedBatch) -> str:
    """One row of the table: cases, rate, and milliseconds of CPU per case by phase."""
    cases = judged.tally.cases
    spent = "".join(f"{judged.tally.phases.get(phase, 0.0) / max(1, cases) * 1e3:11.1f}" for phase in PHASES)
    rate = cases / judged.cpu_s if judged.cpu_s else 0.0
    return f"{name:10}{cases:7}{judged.crashed:8}{judged.cpu_s:8.1f}{rate:9.1f}{spent}"


def prim_func_cases(seed: int, cases: int) -> tuple[list[int], int]:
    """The first cases of a campaign of TIR pipelines that drawn PrimFuncs are in, and how many these call."""
    plan = Plan(seed=seed, kinds=("tir_pipeline",))
    repertoire = repertoire_of(plan)
    indices, functions, index = list[int](), 0, 0
    while len(indices) < cases:
        module = draw_experiment(plan, repertoire, index).experiment.module
        calls = [gvar.name_hint for gvar in module.functions if gvar.name_hint.startswith(CALLED)]
        if calls:
            indices.append(index)
            functions += len(calls)
        index += 1
    return indices, functions


def lowered_prim_funcs(seed: int, indices: Sequence[int]) -> int:
    """How many PrimFuncs the modules of these cases hold where the TIR pipeline begins: drawn ones, some of which
    FuseTIR made one, and those that Relax operators became. A case that a pass ends has none."""
    plan = Plan(seed=seed, kinds=("tir_pipeline",))
    repertoire = repertoire_of(plan)

    def count(index: int, say: ToParent[int]) -> None:
        experiment = draw_experiment(plan, repertoire, index).experiment
        bench = Workbench(SeededSource(0), Numbers(experiment.module, ()))
        position: Position | None = Position.at(experiment.module)
        for step in walk(Position.at(experiment.module), experiment.setup, repertoire.rows, bench):
            position = step.end
        say(0 if position is None else len(prim_funcs(position.module)))

    return sum(number for index in indices for number in in_child(partial(count, index), int).messages)


def prim_funcs_row(seed: int, cases: int, build_share: float) -> str:
    """A line on drawn PrimFuncs through the whole TIR pipeline."""
    indices, functions = prim_func_cases(seed, cases)
    lowered = lowered_prim_funcs(seed, indices)
    plan = Plan(seed=seed, build_share=build_share, oracles=() if build_share else CHEAP, kinds=("tir_pipeline",))
    judged = judge_indices(plan, indices)
    tally, built = judged.tally, "built and run" if build_share else "not built"
    verdicts = 100 * tally.numeric_verdicts / max(1, tally.cases)
    return (
        f"{tally.cases} cases, {built}: {functions} drawn PrimFuncs, {functions / judged.cpu_s:.1f} per CPU second; "
        f"{lowered} in the pipeline, {lowered / judged.cpu_s:.1f} per CPU second; {verdicts:.1f} % of the cases with a "
        f"verdict on their numbers, {tally.invalid} invalid"
    )


def fifteen_operators(seed: int, modules: int) -> tuple[list[float], list[float]]:
    """Milliseconds of CPU to draw modules of OPERATORS statements, and to compile those that TVM compiles."""
    drawn: list[float] = []
    compiled: list[float] = []
    for index in range(modules):
        start = time.process_time()
        program = draw_program(SeededSource(seed, index), Knobs(operators=(OPERATORS, OPERATORS)))
        drawn.append((time.process_time() - start) * 1e3)
        milliseconds = _compile_time(program.module)
        if milliseconds is not None:
            compiled.append(milliseconds)
    return drawn, compiled


def _compile_time(module: Any) -> float | None:
    """Milliseconds of CPU of the default build, code unoptimised as in a campaign; None where it fails.

    In a child of its own, which the build may crash.
    """

    def build(say: ToParent[float]) -> None:
        start = time.process_time()
        relax.VirtualMachine(relax.build(module, target=tvm.target.Target(TARGET)), tvm.cpu())
        say((time.process_time() - start) * 1e3)

    said = in_child(build, float)
    return said.messages[0] if said.messages else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=480)
    parser.add_argument("--built", type=int, default=60)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--modules", type=int, default=20)
    options = parser.parse_args()
    print(f"{'':10}{'cases':>7}{'crashed':>8}{'cpu s':>8}{'cases/s':>9}" + "".join(f"{p + ' ms':>11}" for p in PHASES))
    rows: tuple[tuple[str, int, float, tuple[Kind, ...]], ...] = (
        ("cheap", options.cases, 0.0, RELAX),
        ("build", options.built, 1.0, RELAX),
        ("tir", options.cases // 8, 0.0, ("tir_pipeline",)),
        ("campaign", options.cases, Plan(0).build_share, ()),
    )
    for name, cases, share, kinds in rows:
        print(throughput_row(name, measure(options.seed, cases, share, kinds)), flush=True)
    for share in (0.0, 1.0):
        print(prim_funcs_row(options.seed, options.cases // 8, share), flush=True)
    drawn, compiled = fifteen_operators(options.seed, options.modules)
    print(
        f"a module of {OPERATORS} statements, medians of CPU time: drawn in {statistics.median(drawn):.1f} ms", end=""
    )
    took = f"{statistics.median(compiled):.1f} ms" if compiled else "-"
    print(f", compiled in {took} ({len(compiled)} of {len(drawn)} compile)")


if __name__ == "__main__":
    main()
