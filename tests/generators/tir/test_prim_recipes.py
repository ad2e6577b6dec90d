"""Recipes of PrimFuncs: what they draw is well-formed and judged, the passes whose rows name them change it, the
reference and LLVM agree on it."""

from __future__ import annotations

import os

from generators.passes.traits import SetUpWithout, TakesBlocks

os.environ.setdefault("TVM_NUM_THREADS", "1")

import ast
from functools import cache

import numpy as np
import pytest
import tvm
import tvm_ffi

from generators import tvm_api
from generators.joined import join
from generators.passes.row import PassRow, Phase
from generators.passes.table import PASSES, SETUP
from generators.passes.vocabulary import BLOCK_SHAPES, PRIM_SHAPES
from generators.program import Program
from generators.program_facts import Feature
from generators.source import SeededSource
from generators.targets import TARGETS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.table import ON_BLOCKS, ON_LOOPS, PRIM_RECIPES, draw_recipe, fitting
from generators.tir.relax_caller import wrapped
from oracles.builds.build import Built, build, excess_precision
from oracles.ir.verifier import complaint
from oracles.reference.engine import Interpreter
from oracles.reference.values import Runtime, Tensor, from_argument
from tests.oracles.oracle_bench import RealBench
from tests.quick import one_in

LLVM = TARGETS["llvm"]
DRAWS = 6
PLAIN = [recipe for recipe in PRIM_RECIPES.values() if not recipe.threads]
COMPARED_ELSEWHERE = {
    *("double_buffers", "software_pipeline", "virtual_threads", "vtcm_buffers"),
    *("float8", "float8_loops", "bfloat16", "bfloat16_loops"),
}
"""Recipes that this TVM dies on, or computes wrongly, in many draws: the tests of their families compare them."""
COMPARED = [recipe for recipe in PLAIN if recipe.name not in COMPARED_ELSEWHERE]
FIRED = [row for row in PASSES.values() if fitting(row.fires.prim_recipes, LLVM)]


@cache
def drawn(name: str, seed: int) -> Program:
    program = draw_recipe(SeededSource(31, seed), PRIM_RECIPES[name])
    assert program is not None
    return wrapped(program)


def tensors(value: Runtime) -> list[np.ndarray]:
    fields = value if isinstance(value, tuple) else (value,)
    return [field.value for field in fields if isinstance(field, Tensor)]


def applied(source: str, module: tvm.IRModule, options: str = "") -> tvm.IRModule:
    config = ast.literal_eval(options) if options else {}
    with tvm.target.Target("llvm"), tvm.transform.PassContext(config=config):
        return eval(source, dict(tvm_api.PASS_NAMES))(module)


def at_phase(program: Program, phase: Phase, without: tuple[str, ...] = ()) -> tvm.IRModule:
    module = program.module
    bare = Feature.LOOPS_ALONE in program.facts.features
    for call in SETUP[phase]:
        if call.name not in without and not (bare and PASSES[call.name].has(TakesBlocks)):
            module = applied(call.source, module)
    return module


@pytest.mark.parametrize("recipe", one_in(2, PLAIN), ids=lambda recipe: recipe.name)
def test_drawn_functions_are_well_formed_and_have_results(recipe: PrimRecipe) -> None:
    for seed in range(DRAWS):
        program = drawn(recipe.name, seed)
        assert complaint(program.module) == "", seed
        assert tensors(Interpreter(program.module).run(program.calls[0])), seed


@pytest.mark.parametrize("recipe", PLAIN, ids=lambda recipe: recipe.name)
def test_the_same_choices_give_the_same_function(recipe: PrimRecipe) -> None:
    again = draw_recipe(SeededSource(31, 0), recipe)
    assert again is not None
    before = [str(function) for function in drawn(recipe.name, 0).module.functions.values()]
    assert [str(function) for function in wrapped(again).module.functions.values()] == before


@pytest.mark.parametrize("row", one_in(2, FIRED), ids=lambda row: row.name)
def test_a_pass_changes_what_is_drawn_for_it(row: PassRow) -> None:
    """Three of ten applications, with the options that the row draws or without. Where TVM dies, the pass had something
    to do; where it dies on the way there, it has not come to it."""
    fired = applications = 0
    for recipe in fitting(row.fires.prim_recipes, LLVM):
        for seed in range(DRAWS):
            program = drawn(recipe.name, seed)
            try:
                before = at_phase(program, min(row.place.phases), row.named(SetUpWithout))
            except tvm.error.InternalError:
                continue
            options = ("", *row.fires.options)[seed % (len(row.fires.options) + 1)]
            applications += 1
            try:
                fired += not tvm_ffi.structural_equal(before, applied(row.sources[0], before, options))
            except tvm.error.InternalError:
                fired += 1
    assert fired >= 0.3 * applications > 0, (fired, applications)


@pytest.mark.deep
@pytest.mark.parametrize(
    "recipe", [r for r in PLAIN if r.name not in COMPARED_ELSEWHERE], ids=lambda recipe: recipe.name
)
def test_llvm_computes_what_the_reference_says(recipe: PrimRecipe) -> None:
    compared = 0
    for seed in range(DRAWS):
        program = drawn(recipe.name, seed)
        phase, needed = NEEDS.get(recipe.name, (Phase.SYMBOLED, ""))
        module = at_phase(program, phase)
        module = applied(needed, module) if needed else module
        stays = program.features & {"public_callee", "recursive_call"}
        if excess_precision(module) is None and not stays and (recipe.name, seed) not in LOWERED_WRONGLY:
            expected = Interpreter(module).run(program.calls[0])
            built = build(module, phase, RealBench(target="llvm"), 0)
            assert isinstance(built, Built), (seed, built)
            arguments = [from_argument(a) for a in program.calls[0].arguments]
            compared += equal(built.run("main", arguments), expected, seed)
    assert compared >= DRAWS // 2


def equal(found: Runtime, expected: Runtime, seed: int) -> bool:
    """Asserts that two results are equal."""
    for one, other in zip(tensors(found), tensors(expected), strict=True):
        np.testing.assert_array_equal(one.astype("float64"), other.astype("float64"), err_msg=str(seed))
    return True


def test_two_recipes_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="has two entries"):
        join((PLAIN[0], PLAIN[0]))


def test_every_recipe_is_named_by_a_row_or_for_all() -> None:
    named = {name for row in PASSES.values() for name in row.fires.prim_recipes}
    for_all = {*ON_BLOCKS, *ON_LOOPS}
    by_word = {name for shapes in (PRIM_SHAPES, BLOCK_SHAPES) for names in shapes.values() for name in names}
    assert named | for_all | by_word == set(PRIM_RECIPES) and not (named | by_word) & for_all


NEEDS = {
    "calls_of_prim_funcs": (Phase.LEGAL, "tirx.transform.InlinePrivateFunctions()"),
    "undefined_stores": (Phase.LOOPS, "s_tir.transform.RemoveStoreUndef()"),
}
"""Recipes with what no code generator takes, and the pass that removes it at a phase. MakePackedAPI finds no device for
a function whose parameters are addresses."""
LOWERED_WRONGLY = {("loops_with_borders", 0), ("jumping_loops", 2), ("moved_loops", 3), ("jumping_loops", 3)}
"""CompactBufferAllocation dies of a local buffer at an index that is 0 times a loop variable (the registry has it).
LoopPartition takes a loop with a hint beyond its end: TryPartition in src/s_tir/transform/loop_partition.cc.
FlattenBuffer drops a remainder by a negative number from an index: SplitFloorModConst in
src/arith/iter_affine_map.cc."""
