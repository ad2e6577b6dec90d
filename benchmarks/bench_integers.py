"""Rewrites of integer expressions on functions that go through small ranges: what is changed, what is wrong.

    python -m benchmarks.bench_integers --cases 2000 [--rows tirx.StmtSimplify ...]

Each function is lowered to a phase of the row, interpreted, rewritten by the row with drawn options and interpreted
again. Discarded are functions in which the rewrite brings an overflow, which the reference says nothing about. A wrong
or crashed one is printed with its index, for `--index` to print it whole: TVM's fault or ours.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm
from tvm import tirx

from benchmarks.children import ToParent, in_child
from generators import tvm_api
from generators.passes.row import PassRow, Phase
from generators.passes.table import PASSES, TIR_PIPELINE
from generators.passes.traits import Refuses
from generators.program_facts import Feature
from generators.source import SeededSource
from generators.tir.integers import draw_integer_func
from generators.tir.prim_program import PrimProgram
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir import run_prim_func

BATCH = 25
DEADLINE_S = 120
REWRITES = tuple(name for name, row in PASSES.items() if Feature.INTEGERS in row.fires.wants)


def constructed(text: str) -> Any:
    """The pass."""
    return eval(text, dict(tvm_api.PASS_NAMES))


class Unlowered(Exception):
    """A pass on the way to the phase raises."""


def lowered(module: Any, phase: Phase) -> Any:
    """The module after the TIR passes that lead to the phase. Raises Unlowered."""
    for name in TIR_PIPELINE if phase >= Phase.BOUND else ():
        try:
            module = constructed(PASSES[name].sources[0])(module)
        except Exception as error:  # noqa: BLE001 - what a pass of TVM raises
            raise Unlowered(f"{name}: {str(error).strip().splitlines()[-1]}") from error
        if PASSES[name].place.gives is phase:
            break
    return module


def outputs(program: PrimProgram, module: Any) -> list[np.ndarray[Any, Any]]:
    """What the reference gives for the outputs."""
    arguments = program.fresh_arguments()
    run_prim_func(module[program.function], arguments, program.initialised())
    return [arguments[number] for number in program.outputs]


def functions(cases: int, seed: int) -> None:
    """Draws functions and interprets each."""
    begun, values = time.process_time(), 0
    invalid: Counter[str] = Counter()
    drawing = 0.0
    for index in range(cases):
        start = time.process_time()
        program = draw_integer_func(SeededSource(seed, index))
        drawing += time.process_time() - start
        if not tirx.analysis.verify_well_formed(program.func, assert_mode=False):
            invalid["ill-formed"] += 1
        try:
            values += sum(array.size for array in outputs(program, program.module))
        except (Trap, Unsupported) as error:
            invalid[str(error).split(":")[0]] += 1
    spent = time.process_time() - begun
    print(f"{cases / drawing:.0f} draws per CPU second; interpreted too, {cases / spent:.0f} functions and ", end="")
    print(f"{values / spent:.0f} values; {100 * sum(invalid.values()) / cases:.2f} % invalid {dict(invalid)}")


def difference(program: PrimProgram, module: Any, expected: list[np.ndarray[Any, Any]]) -> str:
    """How the reference stops, or the first element that is not as expected; "" where all are."""
    try:
        found = outputs(program, module)
    except (Trap, Unsupported) as error:
        return str(error)
    for number, one, other in zip(program.outputs, expected, found, strict=True):
        if not np.array_equal(one, other):
            where = tuple(int(i) for i in np.argwhere(one != other)[0])
            return f"{program.parameters[number].name}{list(where)} is {one[where]}, then {other[where]}"
    return ""


def judged(row: PassRow, seed: int, index: int, *, show: bool = False) -> tuple[str, str]:
    """What came of it ("unchanged", "agreed", "discarded", "refused", "raised", "wrong"; "unlowered" or
    "mislowered" where a pass on the way to the phase raises or is wrong), and what there is to say about it."""
    source = SeededSource(seed, index)
    program = draw_integer_func(source)
    phase = source.pick(sorted(row.place.phases))
    text, options = source.pick(row.sources), row.draw_options(source)
    try:
        with tvm.target.Target("llvm"):
            module = lowered(program.module, phase)
    except Unlowered as error:
        return "unlowered", str(error)
    expected = outputs(program, program.module)
    on_the_way = difference(program, module, expected)
    if on_the_way:
        return "mislowered", on_the_way
    said = f"{phase.name} {text[-90:]} {options}"
    try:
        with tvm.target.Target("llvm"), tvm.transform.PassContext(config=eval(options or "{}")):
            after = constructed(text)(module)
    except Exception as error:  # noqa: BLE001 - what a pass of TVM raises is what is counted
        kind = "refused" if (refuses := row.trait(Refuses)) and re.search(refuses.message, str(error)) else "raised"
        return kind, f"{said}: {str(error).strip().splitlines()[-1]}"
    if show:
        print(text, options, tvm_api.script_of(module), tvm_api.script_of(after), sep="\n")
    if tvm_api.structural_equal(module, after):
        return "unchanged", ""
    wrong = difference(program, after, expected)
    kind = "discarded" if "integer-overflow" in wrong else "wrong" if wrong else "agreed"
    return kind, f"{said}: {wrong}" if wrong else ""


def in_a_child(row: PassRow, seed: int, indices: Sequence[int]) -> list[tuple[int, str, str]]:
    """(index, verdict, what there is to say) of each; "ended" is what ends the child, and the rest is not judged."""

    def each(say: ToParent[tuple[int, str, str]]) -> None:
        for index in indices:
            say((index, *judged(row, seed, index)))

    done = in_child(each, tuple[int, str, str], DEADLINE_S).messages
    return done if len(done) == len(indices) else [*done, (indices[len(done)], "ended", "the process")]


def rewrites(row: PassRow, cases: int, seed: int) -> None:
    """Judges the row on functions of its own."""
    counts: Counter[str] = Counter()
    lines: list[str] = []
    index = 0
    while index < cases:
        results = in_a_child(row, seed, range(index, min(index + BATCH, cases)))
        for number, kind, said in results:
            counts[kind] += 1
            if kind in ("wrong", "raised", "ended", "unlowered", "mislowered"):
                lines.append(f"  {number} {kind} {said}")
        index = results[-1][0] + 1
    print(f"{row.name}: {dict(counts.most_common())}")
    for line in lines[:40]:
        print(line[:420])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_integers", description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", nargs="*", default=REWRITES, choices=REWRITES)
    parser.add_argument("--index", type=int)
    chosen = parser.parse_args(arguments)
    if chosen.index is not None:
        print(judged(PASSES[chosen.rows[0]], chosen.seed, chosen.index, show=True))
        return 0
    functions(chosen.cases, chosen.seed)
    for name in chosen.rows:
        rewrites(PASSES[name], chosen.cases, chosen.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
