"""The TIR generator: draws per CPU second, how many are invalid, and what schedule primitives make of them.

    python -m benchmarks.bench_prim_funcs --cases 400

Each schedule is drawn in a process of its own, since a primitive may end it. Wrong are schedules after which the
reference finds other numbers, or a trap; broken are primitives that raise something else than a refusal or leave the
function ill-formed. Both are to be looked at: TVM's fault or ours.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
import numpy as np
from tvm import s_tir

from benchmarks.children import ToParent, in_child
from generators.source import SeededSource
from generators.tir.functions import draw_prim_func, draw_schedulable
from generators.tir.prim_program import PrimProgram
from generators.tir.primitives import PRIMITIVES
from generators.tir.schedules import Scheduled, ScheduleStep, draw_schedule, replayed
from oracles.reference.tir import Trap, Unsupported, run_prim_func

DEADLINE_S = 30


@dataclass(slots=True)
class ScheduleTally:
    """What was counted over some schedules."""

    applied: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: ScheduleTally) -> None:
        """Both together."""
        for name in ("applied", "refused", "broken", "numbers"):
            getattr(self, name).update(getattr(other, name))
        self.wrong += other.wrong
        self.seconds += other.seconds


def outputs(program: PrimProgram, module: Any) -> list[Any]:
    """What the reference gives for the outputs of the function in a module."""
    arguments = program.fresh_arguments()
    run_prim_func(module[program.function], arguments, program.initialised())
    return [arguments[number] for number in program.outputs]


def verdict(program: PrimProgram, module: Any, expected: list[Any]) -> str:
    """ "same", "differs", or how the reference stopped."""
    try:
        found = outputs(program, module)
    except (Trap, Unsupported) as error:
        return str(error).split(":")[0]
    same = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(expected, found, strict=True))
    return "same" if same else "differs"


def functions(cases: int, seed: int) -> None:
    """Draws functions and runs each."""
    invalid: Counter[str] = Counter()
    spent, exact = 0.0, 0
    for index in range(cases):
        begun = time.process_time()
        program = draw_prim_func(SeededSource(seed, index))
        spent += time.process_time() - begun
        exact += program.exact
        if not s_tir.analysis.verify_well_formed(program.func, assert_mode=False):
            invalid["ill-formed"] += 1
            continue
        try:
            outputs(program, program.module)
        except (Trap, Unsupported) as error:
            invalid[str(error).split(":")[0]] += 1
    bad = sum(invalid.values())
    print(f"functions: {cases / spent:.0f} draws per CPU second, {100 * bad / cases:.2f} % invalid {dict(invalid)}")
    print(f"numbers judged in {100 * (cases - bad) / cases:.1f} %, exact in {100 * exact / cases:.1f} %")


def judged(scheduled: Scheduled, tally: ScheduleTally, index: int) -> None:
    """The numbers after the whole schedule; where they are wrong, the first step after which they are."""
    program = scheduled.original
    expected = outputs(program, program.module)
    found = verdict(program, scheduled.program.module, expected)
    tally.numbers[found] += 1
    if found == "same":
        return
    for count in range(1, len(scheduled.steps) + 1):
        module = replayed(program.module, scheduled.steps[:count]).mod
        if verdict(program, module, expected) != "same":
            tally.wrong.append(f"{index}: {found} after {scheduled.steps[count - 1].text}")
            return


def one_schedule(seed: int, index: int, steps: int, note: ToParent[str]) -> ScheduleTally:
    """One program scheduled and judged. `note` gets the text of each step before it is taken."""
    tally = ScheduleTally()
    source = SeededSource(seed, index)
    program = draw_schedulable(source)
    begun = time.process_time()

    def before(steps: tuple[ScheduleStep, ...]) -> None:
        note(steps[-1].primitive)

    scheduled = draw_schedule(source, program, steps, before=before)
    tally.seconds = time.process_time() - begun
    tally.applied.update(step.primitive for step in scheduled.steps)
    tally.refused.update(scheduled.refused)
    if scheduled.broken is not None:
        tally.broken[f"{scheduled.broken.step.primitive}: {scheduled.broken.error}"] += 1
    judged(scheduled, tally, index)
    return tally


class _Step(msgspec.Struct, frozen=True, tag=True):
    """A primitive is about to be applied."""

    primitive: str


class _Scheduled(msgspec.Struct, frozen=True, tag=True):
    tally: ScheduleTally


_ScheduleSaid: TypeAlias = _Step | _Scheduled


def in_a_child(seed: int, index: int, steps: int) -> ScheduleTally:
    """`one_schedule` in a forked process; what ends the process is counted with the primitive that did."""

    def work(say: ToParent[_ScheduleSaid]) -> None:
        say(_Scheduled(one_schedule(seed, index, steps, lambda primitive: say(_Step(primitive)))))

    last = [_Step("drawing"), *in_child(work, _ScheduleSaid, DEADLINE_S).messages][-1]
    if isinstance(last, _Scheduled):
        return last.tally
    return ScheduleTally(broken=Counter({f"{last.primitive}: ended the process": 1}))


def schedules(cases: int, seed: int, steps: int) -> None:
    """Draws schedules and judges each."""
    total = ScheduleTally()
    for index in range(cases):
        total.add(in_a_child(seed, index, steps))
    applied, refused, broken = (sum(c.values()) for c in (total.applied, total.refused, total.broken))
    drawn = max(applied + refused + broken, 1)
    shares = [
        f"{100 * count / drawn:.1f} % {what}"
        for count, what in ((applied, "applied"), (refused, "refused"), (broken, "broken"))
    ]
    print(f"schedules: {1000 * total.seconds / cases:.1f} ms each; of {drawn} primitives {', '.join(shares)}")
    print(f"numbers: {dict(total.numbers)}")
    silent = [row.name for row in PRIMITIVES if not total.applied[row.name] and not row.threads]
    print(f"never applied: {', '.join(silent) or 'none'}")
    for name, count in total.broken.most_common():
        print(f"  broken {count:4d}  {name}")
    for line in total.wrong:
        print(f"  wrong  {line[:200]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_prim_funcs", description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    chosen = parser.parse_args(arguments)
    functions(chosen.cases, chosen.seed)
    schedules(chosen.cases, chosen.seed, chosen.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main())
