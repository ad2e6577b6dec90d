"""How many cases a CPU second judges: every cheap oracle and the reference after every pass, with and without the build.

Rows: "cheap" never builds; "build" builds and runs every case that may be built; "campaign" builds the share that `passfuzz run`
does. Cases per CPU second are those judged over the CPU seconds of the processes that judged them (user and system), drawing
included. Below: where the time went, and what drawing and building a module of 15 operators takes.

    python -m benchmarks.bench_throughput [--cases 200] [--built 60] [--seed 5] [--modules 20]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.batches import Judged, judge_indices
from fuzzer.job import Plan
from generators.relax.knobs import Knobs
from generators.relax.program import draw_program
from generators.source import SeededSource

OPERATORS = 15
PHASES = ("generate", "passes", "oracles", "reference", "build")


def measure(seed: int, cases: int, build_share: float) -> Judged:
    """The cases 0 to `cases` of the campaign with this seed."""
    return judge_indices(Plan(seed=seed, build_share=build_share), range(cases))


def throughput_row(name: str, judged: Judged) -> str:
    """One row of the table: cases, rate, and milliseconds of CPU per case by phase."""
    cases = judged.tally.cases
    spent = "".join(f"{judged.tally.phases.get(phase, 0.0) / max(1, cases) * 1e3:11.1f}" for phase in PHASES)
    rate = cases / judged.cpu_s if judged.cpu_s else 0.0
    return f"{name:10}{cases:7}{judged.lost:6}{judged.cpu_s:8.1f}{rate:9.1f}{spent}"


def fifteen_operators(seed: int, modules: int) -> tuple[list[float], list[float]]:
    """Milliseconds of CPU to draw modules of OPERATORS statements, and to judge with the build those programs get."""
    drawn: list[float] = []
    built: list[float] = []
    for index in range(modules):
        start = time.process_time()
        program = draw_program(SeededSource(seed, index), Knobs(operators=(OPERATORS, OPERATORS)))
        drawn.append((time.process_time() - start) * 1e3)
        milliseconds = build_time(program.module)
        if milliseconds is not None:
            built.append(milliseconds)
    return drawn, built


def build_time(module: object) -> float | None:
    """Milliseconds of CPU that the build of a module takes as the oracle builds it; None where TVM refuses it."""
    from generators.passes.row import Phase
    from oracles.build import NotBuilt, build
    from oracles.meaning import MeaningState
    from oracles.workbench import Workbench

    bench = Workbench(SeededSource(0), MeaningState(None), {}, "llvm")
    start = time.process_time()
    outcome = build(module, Phase.HIGH, bench, 0, lambda stage: None)
    return None if isinstance(outcome, NotBuilt) else (time.process_time() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--built", type=int, default=60)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--modules", type=int, default=20)
    options = parser.parse_args()
    print(f"{'':10}{'cases':>7}{'lost':>6}{'cpu s':>8}{'cases/s':>9}" + "".join(f"{p + ' ms':>11}" for p in PHASES))
    shares = (("cheap", options.cases, 0.0), ("campaign", options.cases, Plan(0).build_share), ("build", options.built, 1.0))
    for name, cases, share in shares:
        print(throughput_row(name, measure(options.seed, cases, share)), flush=True)
    drawn, built = fifteen_operators(options.seed, options.modules)
    print(f"a module of {OPERATORS} statements: drawn in {statistics.median(drawn):.1f} ms", end="")
    print(f", built in {statistics.median(built):.1f} ms ({len(built)} of {len(drawn)} build), medians of CPU time")


if __name__ == "__main__":
    main()
