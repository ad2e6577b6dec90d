"""Dead PrimFuncs: drawn ones without callers, added to programs of any kind."""

from __future__ import annotations

from dataclasses import replace

from tvm import relax

from generators import tvm_api
from generators.program import Program
from generators.source import Source
from generators.tir.functions import draw_dead_function

DEAD = "dead_prim"


def with_dead_prim_func(source: Source, program: Program) -> Program:
    """The program with one more private PrimFunc, before or after the others; its results stay."""
    function = draw_dead_function(source)
    taken = {gvar.name_hint for gvar in program.module.functions}
    name = relax.GlobalVar(next(n for n in (DEAD, *(f"{DEAD}{i}" for i in range(len(taken)))) if n not in taken))
    tvm_api.set_type(name, tvm_api.type_of(function))
    module = program.module
    pairs = [(name, function), *module.functions.items()]
    if source.flip():
        pairs = [*pairs[1:], pairs[0]]
    whole = tvm_api.replace_functions(module, dict(pairs))
    return replace(program, module=whole, features=program.features | {"dead_prim_func"})
