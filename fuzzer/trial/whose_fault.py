"""What a finding of wrong numbers says about whose fault they are: who agrees with whom, the first wrong pass inside a
pass of passes, and the pass that makes built code end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from corpus.reduce import Candidate
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.unjudged import bench_of
from generators.case import PassCall
from generators.passes.row import PassRow, Phase
from oracles.builds.agreement import conclusion, engines, groups
from oracles.builds.blame import first_wrong, lowering_of
from oracles.builds.build import as_built
from oracles.builds.needs import builder_of
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Wrong
from oracles.trace import Position, outcome_at
from oracles.walk import walk
from oracles.workbench import Workbench


def whose_fault(case: Candidate, plan: Plan, repertoire: Repertoire) -> tuple[str, ...]:
    """Lines for a reader; () if the reference cannot interpret the program, or a pass raises."""
    found = _positions(case, plan, repertoire)
    if found is None:
        return ()
    positions, bench = found
    passes, numbers = (*case.setup, *case.passes), bench.numbers.held_to(positions[-1].floor)
    after = positions[-1] if passes else None
    agreeing = groups(engines(positions[0], after, numbers, bench, plan.target), numbers)
    lines = [f"{', '.join(map(str, group.members))}: {group.says or 'what the program means'}" for group in agreeing]
    inside = _wrong_part(passes[-1], repertoire.rows, positions[-2], bench) if passes else None
    return (*filter(None, (conclusion(agreeing), inside and f"The first wrong pass inside of it: {inside}.")), *lines)


def wrong_lowering(case: Candidate, plan: Plan, repertoire: Repertoire) -> str | None:
    """The first pass of building the case, after its own passes, that the reference contradicts: it makes built code
    end. CODEGEN if there is none, None if the reference cannot decide."""
    found, builder = _positions(case, plan, repertoire), builder_of(plan.target)
    if found is None or builder is None:
        return None
    (*_, last), bench = found
    return first_wrong(lowering_of(last.module, last.phase, builder), last, bench.numbers, bench)


def _positions(case: Candidate, plan: Plan, repertoire: Repertoire) -> tuple[list[Position], Workbench] | None:
    """The case's positions before and after each pass; None if the reference cannot interpret it, or a pass raises."""
    numbers = as_built(Numbers(case.module, case.calls, tolerance=plan.tolerance))
    if isinstance(numbers.expected, NoMeaning):
        return None
    bench = bench_of(numbers, repertoire, plan.target)
    start = _copied(Position.at(case.module, Phase(plan.phase)))
    reached = [_copied(start)]
    for step in walk(start, (*case.setup, *case.passes), repertoire.rows, bench):
        if step.end is None:
            return None
        reached.append(_copied(step.end))
    return reached, bench


def _copied(position: Position) -> Position:
    """The position with a module of its own, which stays as it is where the next pass changes its input in place."""
    return replace(position, module=position.module.clone())


def _wrong_part(call: PassCall, rows: Mapping[str, PassRow], before: Position, bench: Workbench) -> str | None:
    """The first pass inside of a pass after which the reference gives another result; None if it cannot decide."""
    if not rows[call.name].promise.keeps_signature:
        return None
    entries = {entry.function for entry in bench.numbers.calls}
    for part in bench.parts(call, before.module):
        # A pass may compile modules of its own: FoldConstant does, for what it folds.
        if not entries <= {name.name_hint for name in part.after.functions}:
            continue
        if isinstance(outcome_at(replace(before, module=part.after), bench.numbers), Wrong):
            return part.name
    return None
