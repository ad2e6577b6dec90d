"""Recipes of kernels and of narrow floats: whole and well-formed, changed by their pass, of one meaning after it."""

from __future__ import annotations

import os

from generators.passes.traits import TakesBlocks

os.environ.setdefault("TVM_NUM_THREADS", "1")

from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import s_tir, tirx

from generators.dtypes import Array
from generators.passes.row import Phase
from generators.passes.table import PASSES, THREADED_SETUP, TIR_PIPELINE, default_call
from generators.program_facts import Feature
from generators.source import SeededSource
from generators.targets import TARGETS
from generators.tir.hints import with_hints
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.table import PRIM_RECIPES, draw_recipe
from generators.tir.relax_caller import wrapped
from oracles.ir.verifier import complaint
from oracles.reference.errors import Trap
from oracles.reference.tir.engine import run_tracked
from oracles.workbench import constructed
from tests.quick import one_in

SEEDS = 12
FEW = 3
CUDA = TARGETS["cuda"]
KERNELS = {
    "auto_copy": "s_tir.LowerAutoCopy",
    "bfloat16_thread_reduction": "s_tir.LowerCrossThreadReduction",
    "fragment_copies": "s_tir.LowerAutoCopy",
    "fragments": "s_tir.InferFragment",
    "mma_copies": "s_tir.LowerAutoCopy",
    "mma_registers": "s_tir.TransformMmaBufferLayout",
    "permuted_layout": "s_tir.InjectPermutedLayout",
    "thread_reduction": "s_tir.LowerCrossThreadReduction",
}
HOSTS = {
    "bfloat16": "tirx.BF16ComputeLegalize",
    "bfloat16_loops": "tirx.BF16ComputeLegalize",
    "float8": "tirx.FP8ComputeLegalize",
    "float8_loops": "tirx.FP8ComputeLegalize",
    "vtcm_buffers": "s_tir.LowerVtcmAlloc",
}
FIRES_ON = {**KERNELS, **HOSTS}
BROKEN = {"auto_copy", "thread_reduction", "bfloat16_thread_reduction", *HOSTS}
"""Recipes on which TVM 0.27 makes mistakes: some of their draws come out wrong, or are refused."""
KINDS = {
    "auto_copy": ("auto_copy", "vector_bytes", "local_stage", "copied_back", "turned_tile", "merged_tile"),
    "thread_reduction": (
        *("thread_sum", "thread_two_sums", "thread_argmax", "thread_argmin", "reordered_pair", "predicate"),
        *("rows_in_threads", "two_thread_axes", "several_blocks_in_a_thread", "used_by_threads", "used_by_no_thread"),
        *("result_local", "result_shared", "result_global", "reduction_of_a_reduction", "axis_for_each_loop"),
    ),
    "fragment_copies": ("fused_store", "store_to_shared", "warp_execution"),
    "fragments": ("row_major", "col_major", "dtype_int8", "dtype_float16"),
    "permuted_layout": ("permuted_layout", "permuted_vectors"),
    "float8_loops": ("near_zero", "named_value", "narrow_comparison", "dtype_float8_e4m3fn", "dtype_float8_e5m2"),
}


@cache
def drawn(name: str, seed: int) -> PrimProgram:
    program = draw_recipe(SeededSource(seed), PRIM_RECIPES[name])
    assert program is not None
    return program


def outputs(function: Any, program: PrimProgram, *, whole: bool = False) -> list[Array]:
    """What the reference says that the function writes; whole: every element must be written."""
    arguments = program.fresh_arguments()
    known: list[Any] = [
        None if ready or not isinstance(argument, np.ndarray) else np.zeros(argument.shape, np.bool_)
        for ready, argument in zip(program.initialised(), arguments, strict=True)
    ]
    masks = run_tracked(function, arguments, known)
    assert not whole or all(mask is None or mask.all() for mask in masks)
    return [arguments[number] for number in program.outputs]


def lowered(program: PrimProgram, last: str, target: str) -> tuple[Any, Any]:
    """The module before and after a pass of the TIR pipeline."""
    before = after = program.module
    with tvm.target.Target(eval(TARGETS[target].source, {"tvm": tvm})):
        for name in TIR_PIPELINE:
            before = after
            after = eval(default_call(name).source, {"tvm": tvm, "s_tir": s_tir, "tirx": tirx})(before)
            if name == last:
                return before, after
    raise AssertionError(last)


@pytest.mark.parametrize("name", one_in(2, FIRES_ON))
def test_every_function_is_well_formed_and_writes_all_of_its_outputs(name: str) -> None:
    for seed in range(SEEDS):
        program = drawn(name, seed)
        assert complaint(wrapped(program).module) == "", seed
        results = outputs(program.func, program, whole=True)
        for number, result in zip(program.outputs, results, strict=True):
            values = result.astype(np.float64)
            held = program.parameters[number].range
            assert program.parameters[number].dtype == "bool" or held.low <= values.min() <= values.max() <= held.high


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_drawn(name: str) -> None:
    seen = {feature for seed in range(60) for feature in drawn(name, seed).features}
    assert not set(KINDS[name]) - seen


@pytest.mark.parametrize("name", one_in(2, FIRES_ON))
def test_the_pass_changes_most_of_them_and_keeps_their_meaning(name: str) -> None:
    changed = right = 0
    for seed in range(SEEDS):
        program = drawn(name, seed)
        try:
            before, after = lowered(program, FIRES_ON[name], "llvm" if name in HOSTS else "cuda")
        except tvm.error.InternalError:
            continue  # counted as neither
        changed += not tvm_ffi.structural_equal(before, after)
        try:
            results = outputs(after["main"], program)
        except Trap:
            continue
        expected = outputs(program.func, program)
        right += all(np.array_equal(a, b) for a, b in zip(expected, results, strict=True))
    assert changed >= 0.6 * SEEDS
    assert right >= (0.5 * SEEDS if name in BROKEN else SEEDS)


@pytest.mark.parametrize("name", ["fragments", "fragment_copies", "mma_copies"])
def test_hints_about_memory_leave_fragments_as_they_are(name: str) -> None:
    for seed in range(FEW):
        program = drawn(name, seed)
        bare: Any = program
        hinted = with_hints(SeededSource(seed), bare, ["buffer_dim_align"])
        expected = outputs(program.func, program)
        for last in ("s_tir.CompactBufferAllocation", "s_tir.LowerAutoCopy"):
            found = outputs(lowered(hinted, last, "cuda")[1]["main"], program)
            assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True)), (seed, last)


def test_products_of_fragments_are_those_of_numpy() -> None:
    for seed in range(SEEDS):
        program = drawn("fragments", seed)
        a, b, found = [np.asarray(x, np.float64) for x in (*program.arguments[:2], *outputs(program.func, program))]
        product = a @ (b.T if "col_major" in program.features else b)
        started = found - product
        assert np.all(started == started.flat[0])
        assert 0 <= started.flat[0] <= 3


def test_products_by_plain_copies_are_those_of_numpy() -> None:
    for seed in range(SEEDS):
        program = drawn("fragment_copies", seed)
        a, b, found = [np.asarray(x, np.float64) for x in (*program.arguments[:2], *outputs(program.func, program))]
        added = found - a @ b.T
        assert np.all(added == added.flat[0])
        assert 0 <= added.flat[0] <= 6


PLAIN_SUM = {"thread_sum", "kernels", "sblocks", "int32_index", "predicate", "one_result", "result_global"} | {
    *("turns_of_threads", "two_thread_axes", "axis_for_each_loop", "rows_in_threads"),
}
"""Features of a sum of the elements themselves, besides its dtype."""


def test_sums_over_threads_are_those_of_numpy() -> None:
    checked = 0
    for seed in range(200):
        program = drawn("thread_reduction", seed)
        plain = {feature for feature in program.features if not feature.startswith("dtype_")} <= PLAIN_SUM
        inputs = [a for p, a in zip(program.parameters, program.arguments, strict=True) if p.role == "input"]
        if not plain or len(inputs) != 1:
            continue
        (found,) = outputs(program.func, program)[:1]
        assert np.array_equal(np.asarray(found, np.float64), np.asarray(inputs[0], np.float64).sum(axis=-1)), seed
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("seed", [1, 7])
def test_floats_of_8_bits_run_on_llvm_as_the_reference_says(seed: int) -> None:
    program = drawn("float8", seed)
    built = tvm.compile(program.module, target="llvm")
    arguments = [tvm.runtime.tensor(a) for a in program.fresh_arguments()]
    built["main"](*arguments)
    for number, expected in zip(program.outputs, outputs(program.func, program), strict=True):
        assert np.array_equal(arguments[number].numpy().astype(np.float64), np.asarray(expected).astype(np.float64))


@pytest.mark.parametrize("recipe", [r for r in PRIM_RECIPES.values() if r.fits(CUDA)], ids=lambda recipe: recipe.name)
def test_what_is_drawn_for_a_gpu_comes_to_the_pass_that_it_is_for(recipe: PrimRecipe) -> None:
    """A rule for GPUs binds blocks to threads, and dies on loops without blocks."""
    named = [min(row.place.phases) for row in PASSES.values() if recipe.name in row.fires.prim_recipes]
    phase = min(named, default=Phase.LOOPS)  # Some are for loaded passes alone.
    refused = []
    for seed in range(FEW):
        program = wrapped(drawn(recipe.name, seed))
        module, bare = program.module, Feature.LOOPS_ALONE in program.facts.features
        with eval(CUDA.source, {"tvm": tvm}):
            for call in THREADED_SETUP[phase]:
                if bare and PASSES[call.name].has(TakesBlocks):
                    continue
                try:
                    module = constructed(call.source)(module)
                except (tvm.error.InternalError, ValueError) as error:
                    refused.append((call.name, str(error)))
                    break
    assert len(refused) < FEW, refused
