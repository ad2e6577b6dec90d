"""How far the reference follows a program through the pipeline of a target, and what that costs, next to compiling.

Each drawn program goes through the target's Relax pipeline and the TIR pipeline after it, pass by pass, and is
interpreted after every pass (for CUDA up to the host and device code; past ThreadSync, races are looked for as well).
A row per step at which programs are lost: how many got there, how many of them were interpreted (or are equal to what
was), and why not. Programs that a pass refuses or that crash in one are counted and left out; so are those without a
result of the reference at the start. The last lines give the CPU of all interpretation and of all passes, for LLVM
with that of one build, code generation and JIT included, at the default optimisation level.

    python -m benchmarks.bench_levels [--target llvm|cuda] [--programs 100] [--operators 10] [--seed 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import Counter, defaultdict
from typing import Any

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tvm
from tvm import relax

from benchmarks.children import Said, in_child
from fuzzer.worker.child import before_forking
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE, default_call
from generators.relax.knobs import Knobs
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure
from oracles.trace import Position
from oracles.walk import walk
from oracles.workbench import Workbench

INTERPRETED = ""
"""What is said of a step after which the reference ran the program."""


def steps(target: str) -> tuple[str, ...]:
    """The passes of the target's pipelines; the TIR pipeline is one for both (tvm/s_tir/pipeline.py)."""
    return (*PIPELINES[target], *TIR_PIPELINE)


def followed(seed: int, index: int, operators: int, target: str) -> dict[str, Any]:
    """What became of a program at each step, and CPU seconds of interpreting, of the passes and of one build."""
    program = draw_program(SeededSource(seed, index), Knobs(operators=(operators, operators)))
    numbers = Numbers(program.module, program.calls)
    if isinstance(numbers.expected, NoMeaning):
        return {"left_out": numbers.expected.reason}
    bench = Workbench(SeededSource(seed, index), numbers, target=target)
    said, spent, begun, start = [], 0.0, time.process_time(), Position.at(program.module)
    calls = [default_call(name) for name in steps(target)]
    for step in walk(start, calls, PASSES, bench):
        if step.end is None:
            return {"left_out": f"refused by {step.call.name}"}
        looked = time.process_time()
        outcome = numbers.judge_module(step.end.module, step.end.calling, step.end.synchronised)
        spent += time.process_time() - looked
        said.append(outcome.reason if isinstance(outcome, Unsure) and outcome.skipped else INTERPRETED)
    passes = time.process_time() - begun - spent
    build = _build_seconds(program.module) if target == "llvm" else 0.0
    return {"said": said, "interpreting": spent, "passes": passes, "build": build}


def _build_seconds(module: Any) -> float:
    target = tvm.target.Target("llvm")
    begun = time.process_time()
    compiled = relax.build(module, target, relax_pipeline=relax.get_default_pipeline(target))
    relax.VirtualMachine(compiled, tvm.cpu())
    return time.process_time() - begun


def apart(seed: int, index: int, operators: int, target: str) -> dict[str, Any]:
    """`followed` in a process of its own, which TVM may end."""
    said: Said[dict[str, Any]] = in_child(lambda say: say(followed(seed, index, operators, target)), dict[str, Any])
    return said.messages[0] if said.messages else {"left_out": "crashed or failed to build"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=("llvm", "cuda"), default="llvm")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--operators", type=int, default=10)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    before_forking()
    passed = steps(options.target)
    results = [apart(options.seed, index, options.operators, options.target) for index in range(options.programs)]
    whole = [result for result in results if "said" in result]
    left_out = Counter(result["left_out"] for result in results if "left_out" in result)
    print(f"{len(whole)} of {len(results)} programs go through all {len(passed)} passes; left out: {dict(left_out)}")
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for result in whole:
        for name, reason in zip(passed, result["said"], strict=True):
            reasons[name][reason] += 1
    for name in passed:
        share = reasons[name][INTERPRETED] / max(1, len(whole))
        lost = {reason: count for reason, count in reasons[name].items() if reason != INTERPRETED}
        print(f"{name:45}{share:7.1%}  {lost or ''}")
    everywhere = sum(all(reason == INTERPRETED for reason in result["said"]) for result in whole)
    print(f"interpreted after every step: {everywhere} of {len(whole)} ({everywhere / max(1, len(whole)):.1%})")
    for what in ("interpreting", "passes", "build") if options.target == "llvm" else ("interpreting", "passes"):
        seconds = [result[what] for result in whole]
        print(f"{what}: median {statistics.median(seconds) * 1e3:.0f} ms, sum {sum(seconds):.1f} s of CPU")
    if options.target != "llvm":
        return
    ratios = [result["interpreting"] / result["build"] for result in whole]
    print(f"interpreting over building: median {statistics.median(ratios):.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main()
