"""What a finding of wrong numbers says of whose fault they are: who agrees with whom, and the pass inside the pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generators.case import EntryCall, PassCall
from generators.passes.row import PassRow, Phase
from generators.source import SeededSource
from generators.targets import TARGETS
from oracles.agreement import State, camps, conclusion, witnesses
from oracles.build import as_built
from oracles.numeric import follow
from oracles.reference.numbers import NoMeaning, Numbers, Wrong
from oracles.trace import MeaningState, Raised, Step
from oracles.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Experimented:
    """A failing experiment: a module, its entry calls, and all passes that are applied to it, in order."""

    module: Any
    calls: tuple[EntryCall, ...]
    passes: tuple[PassCall, ...]
    phase: Phase
    target: str


def whose_fault(case: Experimented, rows: Mapping[str, PassRow], names: Mapping[str, Any]) -> tuple[str, ...]:
    """Lines for a reader; () where the program means nothing to the reference, or a pass raises."""
    numbers = as_built(Numbers(case.module, case.calls))
    if isinstance(numbers.expected, NoMeaning):
        return ()
    meaning = MeaningState(numbers)
    bench = Workbench(SeededSource(0), meaning, names, case.target)
    states = [State(case.module, case.phase)]
    for step in _steps(case, rows, bench):
        follow(step, meaning)
        states.append(State(step.after, step.row.gives or step.phase, meaning.calling, meaning.synchronised))
    if len(states) != len(case.passes) + 1:
        return ()
    after = states[-1] if case.passes else None
    found = camps(witnesses(states[0], after, numbers, bench, TARGETS[case.target].built), numbers)
    lines = [f"{', '.join(camp.members)}: {camp.says or 'what the program means'}" for camp in found]
    inside = _wrong_part(case.passes[-1], rows, states[-2], bench) if case.passes else None
    return (*filter(None, (conclusion(found), inside and f"The first wrong pass inside of it: {inside}.")), *lines)


def _steps(case: Experimented, rows: Mapping[str, PassRow], bench: Workbench) -> Iterator[Step]:
    module, phase = case.module, case.phase
    for index, call in enumerate(case.passes):
        after = bench.apply(call, module)
        if isinstance(after, Raised):
            return
        row = rows[call.name]
        yield Step(index, call, row, phase, module, after, None, 0)
        module, phase = after, row.gives or phase


def _wrong_part(call: PassCall, rows: Mapping[str, PassRow], before: State, bench: Workbench) -> str | None:
    """The first pass inside of a pass behind which the reference gives another result; None where nobody can say."""
    if rows[call.name].calling != "same":
        return None
    entries = {entry.function for entry in bench.meaning.numbers.calls}
    for part in bench.parts(call, before.module):
        # A pass may compile modules of its own: FoldConstant does, for what it folds.
        if not entries <= {name.name_hint for name in part.after.functions}:
            continue
        if isinstance(bench.meaning.numbers.judge_module(part.after, before.calling, before.synchronised), Wrong):
            return part.name
    return None
