"""Recipes of pipelines, doubled buffers, virtual threads and shared memory: what they draw is defined, the passes that
they are for change it, and it means the same afterwards, here and in LLVM's code."""

from __future__ import annotations

import os

from generators.passes.traits import SetUpWithout

os.environ.setdefault("TVM_NUM_THREADS", "1")

from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi

from generators.dtypes import Array
from generators.passes.row import Phase
from generators.passes.table import PASSES, SETUP, THREADED_SETUP, TIR_PIPELINE
from generators.source import SeededSource
from generators.targets import TARGETS
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.table import PRIM_RECIPES, draw_recipe
from generators.tir.relax_caller import wrapped
from generators.tvm_api import PASS_NAMES, IRModule
from oracles.ir.verifier import complaint
from oracles.reference.tir import run_prim_func, run_tracked
from tests.quick import one_in

SEEDS = range(8)
MINE = (
    *("asynchronous_copies", "double_buffered_tile", "double_buffers", "local_stage", "pipelined_kernel"),
    *("several_tiles", "software_pipeline", "thread_allreduce"),
    *("virtual_threads", "virtual_threads_in_kernel", "warp_memory"),
)
FIRES = (
    ("software_pipeline", "s_tir.InjectSoftwarePipeline"),
    ("pipelined_kernel", "s_tir.InjectSoftwarePipeline"),
    ("double_buffers", "s_tir.InjectDoubleBuffer"),
    ("double_buffered_tile", "s_tir.InjectDoubleBuffer"),
    ("virtual_threads", "s_tir.InjectVirtualThread"),
    ("virtual_threads_in_kernel", "s_tir.InjectVirtualThread"),
    ("local_stage", "s_tir.ManifestSharedMemoryLocalStage"),
    ("several_tiles", "s_tir.ThreadSync[shared.dyn]"),
    ("warp_memory", "s_tir.ThreadSync[warp]"),
    ("thread_allreduce", "s_tir.LowerThreadAllreduce"),
    ("asynchronous_copies", "s_tir.InjectPTXAsyncCopy"),
    ("several_tiles", "s_tir.MergeSharedMemoryAllocations"),
)
MOST = {"s_tir.ThreadSync[shared.dyn]": 0.5, "s_tir.MergeSharedMemoryAllocations": 0.25}
"""Less than nine in ten of the drawn functions are changed where the scope is drawn, too."""


WRONG = {("virtual_threads", 3), ("virtual_threads", 4), ("software_pipeline", 5)}
"""Draws that this TVM makes something else of. InjectVirtualThread does not see that a store under a condition on the
virtual thread is of some of them alone, and lets all share the buffer; FlattenBuffer simplifies a remainder by a
negative number wrongly."""


@cache
def drawn(recipe: str, seed: int) -> PrimProgram:
    program = draw_recipe(SeededSource(seed), PRIM_RECIPES[recipe])
    assert program is not None
    return program


def lowered(recipe: str, name: str, seed: int) -> IRModule:
    """The function as the setup of the pass gives it."""
    row, threads = PASSES[name], PRIM_RECIPES[recipe].threads
    calls = (THREADED_SETUP if threads else SETUP)[min(row.place.phases)]
    module = tvm.IRModule({"main": drawn(recipe, seed).func})
    for call in calls:
        if call.name in TIR_PIPELINE and call.name not in row.named(SetUpWithout):
            module = applied(recipe, call.source, module)
    return module


def applied(recipe: str, source: str, module: IRModule) -> IRModule:
    names = dict(PASS_NAMES)
    with eval(TARGETS["cuda" if PRIM_RECIPES[recipe].threads else "llvm"].source, names):
        return eval(source, names)(module)


def outputs(module: IRModule, program: PrimProgram) -> list[Array]:
    arguments = program.fresh_arguments()
    run_prim_func(module["main"], arguments, program.initialised())
    return [np.asarray(arguments[number]) for number in program.outputs]


@pytest.mark.parametrize("recipe", MINE)
def test_drawn_functions_are_well_formed_and_write_their_outputs(recipe: str) -> None:
    for seed in SEEDS:
        program = drawn(recipe, seed)
        assert complaint(wrapped(program).module) == "", seed
        arguments = program.fresh_arguments()
        known: list[Any] = [
            None if ready or not isinstance(argument, np.ndarray) else np.zeros(argument.shape, np.bool_)
            for ready, argument in zip(program.initialised(), arguments, strict=True)
        ]
        masks = run_tracked(program.func, arguments, known)
        assert all(mask is None or mask.all() for mask in masks), seed


@pytest.mark.parametrize(("recipe", "name"), one_in(2, FIRES))
def test_the_pass_changes_most_of_them_and_not_what_they_compute(recipe: str, name: str) -> None:
    changed = 0
    for seed in SEEDS:
        before = lowered(recipe, name, seed)
        after = applied(recipe, PASSES[name].sources[0], before)
        changed += not tvm_ffi.structural_equal(before, after)
        if (recipe, seed) in WRONG:
            continue
        for one, other in zip(outputs(before, drawn(recipe, seed)), outputs(after, drawn(recipe, seed)), strict=True):
            assert np.array_equal(one, other), seed
    assert changed >= MOST.get(name, 0.9) * len(SEEDS)


@pytest.mark.parametrize("recipe", [recipe for recipe in MINE if not PRIM_RECIPES[recipe].threads])
def test_the_rows_that_name_a_recipe_reach_targets_without_threads(recipe: str) -> None:
    rows = [row for row in PASSES.values() if recipe in row.fires.prim_recipes]
    assert rows and all(row.fires.in_repertoire for row in rows)
    assert not PRIM_RECIPES[recipe].fits(TARGETS["cuda"])


@pytest.mark.deep
@pytest.mark.parametrize("recipe", ["software_pipeline", "virtual_threads"])
def test_llvm_agrees_with_the_reference(recipe: str) -> None:
    """Through the whole pipeline of TVM. (CompactBufferAllocation loses the mark of doubled buffers.)"""
    for seed in SEEDS:
        program = drawn(recipe, seed)
        if (recipe, seed) in WRONG:
            continue
        built = tvm.compile(tvm.IRModule({"main": program.func}), target="llvm")
        given = [
            tvm.runtime.tensor(argument) if isinstance(argument, np.ndarray) else argument
            for argument in program.fresh_arguments()
        ]
        built["main"](*given)
        expected = outputs(tvm.IRModule({"main": program.func}), program)
        for number, values in zip(program.outputs, expected, strict=True):
            assert np.array_equal(given[number].numpy(), values), seed


def test_every_kind_of_pipeline_is_drawn() -> None:
    seen = frozenset[str]().union(*(drawn("software_pipeline", seed).features for seed in range(40)))
    assert {"symbolic", "nested_pipeline", "grouped_steps", "pipeline_sum"} <= seen
    assert any("asynchronous_stage" in drawn("pipelined_kernel", seed).features for seed in range(40))


def test_phases_of_the_passes_are_single() -> None:
    """`lowered` takes the first; where there were several, others would have to be tried."""
    assert (
        all(len(PASSES[name].place.phases) == 1 for _, name in FIRES)
        and Phase.SYNCED in PASSES["s_tir.InjectPTXAsyncCopy"].place.phases
    )
