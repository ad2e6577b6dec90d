"""How often a pass changes the program: for each row of the pass table, the share of applications after which the
module differs, in the phase drawn for it and on programs drawn with its recipes.

Columns: applied (the pass ran), changed (share of those), raised (the pass refused), setup (a preparing pass
refused), dropped (the program had nothing to construct the pass with), ill (programs that are not well-formed),
rejected (draws that type inference refused). Rows below the goal are marked. A row runs in a child process of its
own, since a pass may kill it.

    python benchmarks/bench_fire_rate.py [--cases 40] [--seed 1] [--row-seconds 20] [--target llvm] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any

from generators import tvm_api as T
from generators.passes.sequences import DrawnSequence, draw_names, instantiate, to_fire
from generators.passes.table import PASSES
from generators.recipes.table import patterns_for
from generators.relax.relax_program import draw_program
from generators.source import SeededSource
from generators.targets import TARGETS

GOAL = 0.2
REFUSALS = (T.InternalError, ValueError, TypeError, RuntimeError, AttributeError, KeyError, IndexError, AssertionError)
COUNTS = ("applied", "changed", "raised", "setup", "dropped", "ill", "rejected")


def draw_case(name: str, target: str, seed: int, index: int) -> tuple[Any, DrawnSequence, int]:
    """A program with the recipes of the row, the passes for it, and how many draws were refused."""
    source = SeededSource(seed, index)
    steps = draw_names(source, PASSES, under_test=(name,), kinds=("single",), target=TARGETS[target])
    rows = to_fire(steps, PASSES)
    one = [source.pick(rows.recipes)] if rows.recipes else []
    program = draw_program(source, patterns=patterns_for(one), wants=rows.wants)
    return program.module, instantiate(source, steps, program.facts, PASSES), program.rejected.total()


def outcome(name: str, target: str, module: Any, drawn: DrawnSequence) -> str:
    """What became of the first application of the pass `name`; 'changed' and 'same' are the good ones."""
    calls = [*drawn.setup, *drawn.passes]
    at = next((i for i, call in enumerate(calls) if call.name == name), None)
    if at is None:
        return "dropped"
    with eval(TARGETS[target].source, dict(T.PASS_NAMES)):
        try:
            for call in calls[:at]:
                module = eval(call.source, dict(T.PASS_NAMES))(module)
        except REFUSALS:
            return "setup"
        before = module.clone()
        try:
            after = eval(calls[at].source, dict(T.PASS_NAMES))(module)
        except REFUSALS as error:
            return f"raised {type(error).__name__}: {str(error).strip().splitlines()[-1][:150]}"
    # The text as well: some passes renew GlobalVars, which structural equality takes for a difference.
    equal = T.structural_equal(before, after, map_free_vars=True) or T.script_of(before) == T.script_of(after)
    return "same" if equal else "changed"


def measure(name: str, target: str, indices: range, seed: int, results: Connection) -> None:
    """Sends one Counter of outcomes per case."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # TVM's warnings
    for index in indices:
        counts: Counter[str] = Counter()
        module, drawn, counts["rejected"] = draw_case(name, target, seed, index)
        if not T.relax.analysis.check_well_formed(module):
            counts["ill"] += 1
        result = outcome(name, target, module, drawn)
        kind = result.split()[0]
        counts["applied"] += kind in ("same", "changed", "raised")
        counts[kind] += 1
        if kind == "raised":
            counts[result] += 1
        results.send(counts)
    results.close()


def measure_apart(name: str, target: str, cases: int, seed: int, seconds: float) -> Counter[str]:
    """The outcomes of one row, from child processes that get this long together; a new one after each crash."""
    context = multiprocessing.get_context("fork")
    end = time.monotonic() + seconds
    total: Counter[str] = Counter()
    done = 0
    while done < cases and time.monotonic() < end:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=measure, args=(name, target, range(done, cases), seed, sender))
        child.start()
        sender.close()
        try:
            while receiver.poll(max(0.0, end - time.monotonic())):
                total += receiver.recv()
                done += 1
        except EOFError:
            child.join()
        if child.is_alive():
            child.kill()
            total["killed: out of time"] += 1
        elif child.exitcode:
            total[f"killed: exit {child.exitcode} at case {done}"] += 1
            done += 1
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--row-seconds", type=float, default=20)
    parser.add_argument("--target", default="llvm", choices=list(TARGETS))
    parser.add_argument("--only", nargs="*", default=list(PASSES))
    parser.add_argument("--errors", action="store_true", help="print the messages of refusals as well")
    options = parser.parse_args()
    print(f"{'pass':36}" + "".join(f"{title:>9}" for title in COUNTS))
    for name in options.only:
        total = measure_apart(name, options.target, options.cases, options.seed, options.row_seconds)
        share = total["changed"] / total["applied"] if total["applied"] else 0.0
        cells = [f"{share:.0%}" if title == "changed" else str(total[title]) for title in COUNTS]
        print(f"{name:36}" + "".join(f"{cell:>9}" for cell in cells) + ("" if share >= GOAL else "  <--"), flush=True)
        for text, count in total.most_common():
            if text.startswith("killed") or (options.errors and text.startswith("raised ")):
                print(f"    {count} x {text}")


if __name__ == "__main__":
    main()
