"""Axes of threads: stores that some threads alone make, by each of two axes, and loops over the same threads one after
the other, as schedules leave them.

A guard holds for all threads, for some, or for none of those that the other axis would have; nothing orders threads, so
each stores to elements of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tvm import s_tir, tirx

from generators.source import Source, favour, weighted
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.functions import finished
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.block_drafts import (
    Loop,
    add_input,
    block_at,
    drafted,
    loop_of,
    output_over,
    value_at,
    within,
)
from generators.tir.recipes.memory_knobs import AROUND, AXES, SHARED
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt


def _guarded(kind: str, source: Source) -> PrimProgram:
    """Two axes of threads of different extents: each element is stored by all, and by some of them once more."""
    draft = drafted(source, AROUND)
    draft.index_dtype = "int32"
    outer = loop_of(draft, draft.extent(weighted(source, SHARED.rows)), tag="" if kind == "vthread" else "blockIdx.x")
    first, second = (draft.extent(weighted(source, AXES.extents)) for _ in range(2))
    axes = [loop_of(draft, extent, tag=f"{kind}.{axis}") for extent, axis in ((first, "y"), (second, "x"))]
    every = [outer, *axes]
    at, points = [loop.var for loop in every], [loop.point for loop in every]
    given = add_input(draft, [loop.point.extent for loop in every])
    statements = list[Stmt]()
    for _ in range(source.integer(*AXES.outputs)):
        output = output_over(draft, every)
        statements.append(store(output, value_at(draft, output.dtype, points, load(given, at)), at))
        again = store(output, value_at(draft, output.dtype, points, load(output, at), load(given, at)), at)
        statements.append(tirx.IfThenElse(_guard(draft, axes), again, None))
    draft.statements.append(within(draft, every, sequence(*statements)))
    draft.features.add("thread_guard")
    if kind == "vthread":
        return finished(draft, schedulable=False)
    draft.features.add("kernels")
    return finished(draft, schedulable=False, attributes={"tirx.is_scheduled": True})


def _guard(draft: FunctionDraft, axes: Sequence[Loop]) -> Expr:
    """A comparison of an axis with a number: the extent of one of them, or one near it."""
    source = draft.source
    axis = source.pick(axes)
    bound = source.pick(axes).point.extent.value - favour(source, 0, 1)
    compared: Expr = axis.var
    if source.flip(AXES.scaled):
        factor = source.integer(2, 3)
        compared, bound = tirx.Mul(compared, draft.number(factor)), bound * factor - source.integer(0, 1)
    kind = favour(source, tirx.LT, tirx.LE, tirx.GE)
    return kind(compared, draft.number(bound))


def _siblings(source: Source) -> PrimProgram:
    """Loops over the same threads in one kernel, each with a block that stores for all threads or for some."""
    draft = drafted(source, AROUND)
    blocks = loop_of(draft, draft.extent(weighted(source, SHARED.rows)), tag="blockIdx.x")
    threads = weighted(source, AXES.extents)
    tiles, statements = list[tuple[DraftTensor, int]](), list[Stmt]()
    for _ in range(source.integer(*AXES.siblings)):
        loop = loop_of(draft, draft.extent(threads), tag="threadIdx.x")
        some = threads - (source.integer(0, threads - 1) if source.flip(AXES.predicated) else 0)
        part = Loop(
            Point(Term(loop.var, draft.index_dtype, draft.index_range(draft.extent(some))), draft.extent(some)),
            loop.var,
        )
        given = add_input(draft, [blocks.point.extent, part.point.extent])
        tile = source.flip(AXES.tile)
        target = _tile(draft, part) if tile else output_over(draft, [blocks, part])
        read = [(one, count) for one, count in tiles if source.flip(AXES.read)]
        make = partial(_stored, draft, target, given, read)
        realize = block_at(draft, draft.new_name("part"), [blocks, part], make)
        if some < threads:
            guard = tirx.LT(loop.var, draft.number(some))
            realize = s_tir.SBlockRealize(realize.iter_values, guard, realize.block)
        statements.append(loop.around(draft, realize))
        if tile:
            tiles.append((target, some))
    if all(t.role != "output" for t in draft.tensors):
        loop = loop_of(draft, draft.extent(threads), tag="threadIdx.x")
        given = add_input(draft, [blocks.point.extent, loop.point.extent])
        make = partial(_stored, draft, output_over(draft, [blocks, loop]), given, tiles)
        statements.append(loop.around(draft, block_at(draft, draft.new_name("part"), [blocks, loop], make)))
    draft.statements.append(within(draft, [blocks], sequence(*statements)))
    draft.features |= {"kernels", "sibling_threads"}
    return finished(draft, schedulable=True, attributes={"tirx.is_scheduled": True})


def _stored(
    draft: FunctionDraft,
    target: DraftTensor,
    given: DraftTensor,
    read: Sequence[tuple[DraftTensor, int]],
    at: list[Point],
) -> Stmt:
    """The element of a thread, made of its input and of what any thread has left in the tiles."""
    here = [point.term.expr for point in at]
    leaves = [load(given, here)]
    for tile, count in read:
        shifted = tirx.Add(here[-1], draft.number(draft.source.integer(0, count)))
        leaves.append(load(tile, [tirx.FloorMod(shifted, draft.number(count))]))
    return store(target, value_at(draft, target.dtype, at, *leaves), here[-len(target.dims) :])


def _tile(draft: FunctionDraft, loop: Loop) -> DraftTensor:
    """Shared memory with an element for each thread that stores."""
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    scope = draft.source.pick(("shared", "shared.dyn"))
    return draft.add_tensor("S", (loop.point.extent,), dtype, values, fraction=fraction, role="local", scope=scope)


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("sibling_threads", _siblings, threads=True),
    PrimRecipe("guards_of_threads", partial(_guarded, "threadIdx"), threads=True),
    PrimRecipe("guards_of_virtual_threads", partial(_guarded, "vthread"), host=True),
)
