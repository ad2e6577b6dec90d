"""Whose fault a wrong build is: the first pass of the lowering that the reference contradicts, or the code generator.

A build says that numbers are wrong and not where they became so. The reference goes through the passes of the same
lowering one by one, down to what the code generator is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call, rest_of_tir_pipeline
from generators.passes.traits import FollowsAnnotations
from generators.tvm_api import IRModule
from oracles.activities import Announce, Blaming, Interpreting, entering, unannounced
from oracles.builds.builders import BUILDERS
from oracles.builds.needs import LLVM
from oracles.ir.regions import declares_what_it_does
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.trace import Bench, Position, outcome_at
from oracles.verdict import CODEGEN
from oracles.walk import walk


def excuses(first: str | None) -> bool:
    """Whether the first wrong pass of the lowering says that the passes of the case before it are right. It does not
    where it follows annotations, which may be wrong."""
    if first is None or first == CODEGEN:
        return False
    return first not in PASSES or not PASSES[first].has(FollowsAnnotations)


def lowering_of(module: IRModule, phase: Phase, builder: str = LLVM.name) -> tuple[str, ...]:
    """The passes that a build applies to a module in this phase, Relax and TIR, in order."""
    return (*BUILDERS[builder].passes(module, phase), *rest_of_tir_pipeline(phase))


def first_wrong(
    names: Sequence[str],
    start: Position,
    numbers: Numbers,
    bench: Bench,
    announce: Announce = unannounced,
    options: str = "",
) -> str | None:
    """The first of these passes after which the reference gives another result; CODEGEN if there is none.

    None if the reference cannot decide: a pass raises, the reference cannot run the last result, or the blocks of the
    module declare regions other than those they access, which passes rely on. options: the PassContext's config that
    all of them are under.
    """
    if not declares_what_it_does(start.module):
        return None
    calls = [replace(default_call(name), options=options) for name in names]
    unsure, copied = False, replace(start, module=start.module.clone())
    for step in walk(copied, calls, PASSES, bench, around=lambda call: entering(announce, Blaming(call.name))):
        if step.end is None:
            return None
        announce(Interpreting())
        outcome = outcome_at(step.end, numbers)
        if isinstance(outcome, Wrong):
            return None if unsure else names[step.index]
        unsure = isinstance(outcome, Unsure)
    return None if unsure else CODEGEN
