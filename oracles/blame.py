"""Whose fault a wrong build is: the first pass of the lowering that the reference contradicts, or the code generator.

A build says that numbers are wrong and not where they became so. The reference goes through the passes of the same
lowering one by one, down to what the code generator is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from generators.passes.row import Phase
from generators.passes.table import PASSES, default_call, rest_of_tir_pipeline
from oracles.builds.build import CODEGEN
from oracles.builds.builders import BUILDERS
from oracles.builds.needs import LLVM
from oracles.calls.protocol import Calling
from oracles.ir.regions import declares_what_it_does
from oracles.reference.numbers import Numbers, Unsure, Wrong
from oracles.trace import Bench, Raised

BY_ANNOTATION = frozenset({"tirx.VectorizeLoop"})
"""Passes that do as a pass before them has said of a loop, which the reference takes for a serial one: what is wrong
behind them may be the fault of either."""


def excuses(first: str | None) -> bool:
    """Whether the first wrong pass of the lowering says that the passes of the case before it are right."""
    return first is not None and first != CODEGEN and first not in BY_ANNOTATION


def lowering_of(module: Any, phase: Phase, builder: str = LLVM.name) -> tuple[str, ...]:
    """The passes that a build applies to a module in this phase, Relax and TIR, in order."""
    return (*BUILDERS[builder].passes(module, phase), *rest_of_tir_pipeline(phase))


def first_wrong(
    names: Sequence[str],
    module: Any,
    numbers: Numbers,
    calling: Calling,
    bench: Bench,
    enter: Callable[[str], None] = lambda stage: None,
    synchronised: bool = False,
    options: str = "",
) -> str | None:
    """The first of these passes behind which the reference gives another result; CODEGEN where there is none.

    None where nobody can say: a pass raises, the reference cannot run what the last one has made, or the blocks of the
    module do not say what they do, which passes go by. synchronised: the module is past ThreadSync. options: the
    PassContext's config that all of them are under.
    """
    if not declares_what_it_does(module):
        return None
    unsure, module = False, module.clone()
    for name in names:
        enter(f"blame: {name}")
        after = bench.apply(replace(default_call(name), options=options), module)
        if isinstance(after, Raised):
            return None
        gives = PASSES[name].gives if name in PASSES else None
        synchronised = synchronised or (gives is not None and gives >= Phase.SYNCED)
        outcome = numbers.judge_module(after, calling, synchronised)
        if isinstance(outcome, Wrong):
            return None if unsure else name
        unsure = isinstance(outcome, Unsure)
        module = after
    return None if unsure else CODEGEN
