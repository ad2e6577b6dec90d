"""Programs for pass rows that schedule PrimFuncs: with one of the row's shapes, where such a pass may stand first."""

from __future__ import annotations

from typing import Any

from generators import tvm_api
from generators.passes.row import PassRow, Phase
from generators.passes.table import SETUP
from generators.recipes.table import patterns_for
from generators.relax.relax_program import draw_program
from generators.source import SeededSource


def construct(text: str) -> Any:
    return eval(text, dict(tvm_api.PASS_NAMES))


def legalised(row: PassRow, index: int) -> Any:
    """A program with one of the row's shapes, where the pass may stand first."""
    source = SeededSource(31, index)
    program = draw_program(source, patterns=patterns_for([source.pick(row.fires.recipes)]))
    module = program.module
    for call in SETUP[Phase.LEGAL]:
        module = construct(call.source)(module)
    return module
