"""Modules of which two functions hold the same statements, loop variables and buffers: each function alone is
well-formed, and the variables are defined twice in the module.

A variable that is defined twice in one function is none of these: TVM's verifiers reject the function.
"""

from __future__ import annotations

from dataclasses import replace

import tvm
from tvm import relax

from generators import tvm_api
from generators.source import Source
from generators.tir.functions import draw_prim_func, draw_schedulable
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import KNOBS, with_symbols
from generators.tir.recipes.recipe import PrimRecipe

_TWIN = "twin"
_KNOBS = replace(with_symbols(KNOBS.sharing.symbolic), statements=(1, 3))


def draw_twins(source: Source) -> PrimProgram:
    """A function of any kind, and a private one of the same parameters and statements before or after it."""
    return _twins(source, draw_prim_func(source, _KNOBS))


def draw_block_twins(source: Source) -> PrimProgram:
    """The same with a function of blocks, which a rule can bind to threads."""
    return _twins(source, draw_schedulable(source, _KNOBS))


def _twins(source: Source, program: PrimProgram) -> PrimProgram:
    function = program.func
    twin = tvm_api.prim_func(tvm_api.parameters_of(function), function.body, function.ret_type, function.attrs)
    name = relax.GlobalVar(_TWIN)
    twin = twin.without_attr("global_symbol")
    tvm_api.set_type(name, tvm_api.type_of(twin))
    own = dict(program.module.functions.items())
    functions = {name: twin, **own} if source.flip(KNOBS.sharing.before) else {**own, name: twin}
    return replace(program, module=tvm.IRModule(functions), features=program.features | {"shared_statements"})


RECIPES = (PrimRecipe("twins", draw_twins, host=True), PrimRecipe("block_twins", draw_block_twins))
