"""What a finding of wrong numbers says of whose fault they are: who agrees with whom, and the pass inside the pass; and
which pass makes built code end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.worker.draw import Repertoire
from generators.case import PassCall
from generators.passes.row import PassRow, Phase
from generators.source import SeededSource
from oracles.agreement import State, camps, conclusion, witnesses
from oracles.blame import first_wrong, lowering_of
from oracles.builds.build import as_built
from oracles.builds.needs import builder_of
from oracles.checks.numeric import follow
from oracles.reference.numbers import NoMeaning, Numbers, Wrong
from oracles.trace import MeaningState, Raised, Step
from oracles.workbench import Workbench


def whose_fault(case: Candidate, plan: Plan, repertoire: Repertoire) -> tuple[str, ...]:
    """Lines for a reader; () where the program means nothing to the reference, or a pass raises."""
    way = _way(case, plan, repertoire)
    if way is None:
        return ()
    states, bench = way
    passes, numbers = (*case.setup, *case.passes), bench.meaning.numbers
    after = states[-1] if passes else None
    found = camps(witnesses(states[0], after, numbers, bench, plan.target), numbers)
    lines = [f"{', '.join(camp.members)}: {camp.says or 'what the program means'}" for camp in found]
    inside = _wrong_part(passes[-1], repertoire.rows, states[-2], bench) if passes else None
    return (*filter(None, (conclusion(found), inside and f"The first wrong pass inside of it: {inside}.")), *lines)


def wrong_lowering(case: Candidate, plan: Plan, repertoire: Repertoire) -> str | None:
    """The first pass of building the case, behind its own, that the reference contradicts: what makes built code end.
    CODEGEN where there is none, None where nobody can say."""
    way, builder = _way(case, plan, repertoire), builder_of(plan.target)
    if way is None or builder is None:
        return None
    (*_, last), bench = way
    names, numbers = lowering_of(last.module, last.phase, builder), bench.meaning.numbers
    return first_wrong(names, last.module, numbers, last.calling, bench, synchronised=last.synchronised)


def _way(case: Candidate, plan: Plan, repertoire: Repertoire) -> tuple[list[State], Workbench] | None:
    """The module before and after each pass of the case; None where it means nothing to the reference, or a pass
    raises."""
    numbers = as_built(Numbers(case.module, case.calls))
    if isinstance(numbers.expected, NoMeaning):
        return None
    meaning, passes = MeaningState(numbers), (*case.setup, *case.passes)
    bench = Workbench(SeededSource(0), meaning, repertoire.names, plan.target)
    states = [State(case.module, Phase(plan.phase))]
    for step in _steps(states[0], passes, repertoire.rows, bench):
        follow(step, meaning)
        states.append(State(step.after, step.row.place.gives or step.phase, meaning.calling, meaning.synchronised))
    return (states, bench) if len(states) == len(passes) + 1 else None


def _steps(start: State, passes: Sequence[PassCall], rows: Mapping[str, PassRow], bench: Workbench) -> Iterator[Step]:
    module, phase = start.module, start.phase
    for index, call in enumerate(passes):
        after = bench.apply(call, module)
        if isinstance(after, Raised):
            return
        row = rows[call.name]
        yield Step(index, call, row, phase, module, after, None, 0)
        module, phase = after, row.place.gives or phase


def _wrong_part(call: PassCall, rows: Mapping[str, PassRow], before: State, bench: Workbench) -> str | None:
    """The first pass inside of a pass behind which the reference gives another result; None where nobody can say."""
    if rows[call.name].promise.calling != "same":
        return None
    entries = {entry.function for entry in bench.meaning.numbers.calls}
    for part in bench.parts(call, before.module):
        # A pass may compile modules of its own: FoldConstant does, for what it folds.
        if not entries <= {name.name_hint for name in part.after.functions}:
            continue
        if isinstance(bench.meaning.numbers.judge_module(part.after, before.calling, before.synchronised), Wrong):
            return part.name
    return None
