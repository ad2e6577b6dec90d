"""Statements whose order and indices matter, and blocks that run for a part of their loops: what is drawn has a
meaning, and transformations that do not ask change it."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import s_tir, tirx

from generators.program import Program
from generators.source import SeededSource
from generators.tir.recipes.table import ON_BLOCKS, ON_LOOPS, PRIM_RECIPES, draw_recipe
from generators.tir.relax_caller import wrapped
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap
from tests.generators.tir.test_prim_recipes import tensors

DRAWS = 60
(BLOCKS, MOVES, ORDERED), (LOOPS, TURNS, *_) = ON_BLOCKS, ON_LOOPS


@cache
def drawn(name: str) -> tuple[Program, ...]:
    programs = [draw_recipe(SeededSource(44, seed), PRIM_RECIPES[name]) for seed in range(DRAWS)]
    return tuple(wrapped(program) for program in programs if program is not None)


def results(module: Any, program: Program) -> list[np.ndarray]:
    return tensors(Interpreter(module).run(program.calls[0]))


def rewritten(module: Any, *entries: Any) -> Any:
    functions = {
        gvar: tvm_ffi.structural_map(f, list(entries)) if isinstance(f, tirx.PrimFunc) else f
        for gvar, f in module.functions.items()
    }
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def substituted(node: Any, values: dict[Any, Any]) -> Any:
    return tvm_ffi.structural_map(node, [(tirx.Var, lambda var: values.get(var, var))])


def backwards(loop: Any) -> Any:
    if not (isinstance(loop.extent, tirx.IntImm) and int(loop.min) == 0 and loop.step is None):
        return loop
    last = tirx.Sub(loop.extent, tirx.IntImm(str(loop.loop_var.ty.dtype), 1))
    body = substituted(loop.body, {loop.loop_var: tirx.Sub(last, loop.loop_var)})
    return tirx.For(loop.loop_var, loop.min, loop.extent, loop.kind, body, None, loop.annotations)


def inlined(sequence: Any) -> Any:
    """A load stands where its name did, after what was stored meanwhile."""
    statements = list(sequence.seq)
    names = {one.var: one.value for one in statements if isinstance(one, tirx.Bind)}
    kept = [one for one in statements if not isinstance(one, tirx.Bind)]
    return tirx.SeqStmt([substituted(one, names) for one in kept]) if len(kept) > 1 else sequence


def merged(sequence: Any) -> Any:
    """Neighbouring loops over the same numbers are one."""
    made: list[Any] = []
    for one in sequence.seq:
        last = made[-1] if made else None
        both = isinstance(one, tirx.For) and isinstance(last, tirx.For)
        if both and tvm_ffi.structural_equal([one.min, one.extent], [last.min, last.extent]):
            body = substituted(one.body, {one.loop_var: last.loop_var})
            made[-1] = tirx.For(last.loop_var, last.min, last.extent, last.kind, tirx.SeqStmt([last.body, body]))
        else:
            made.append(one)
    return tirx.SeqStmt(made) if len(made) > 1 else made[0]


def last_alone(loop: Any) -> Any:
    """The last turn of a loop that overwrites one element, also where there is none."""
    if not isinstance(loop.body, tirx.BufferStore) or isinstance(loop.extent, tirx.IntImm):
        return loop
    last = tirx.Sub(tirx.Add(loop.min, loop.extent), tirx.IntImm(str(loop.loop_var.ty.dtype), 1))
    return substituted(loop.body, {loop.loop_var: last})


def one_place_less(loop: Any) -> Any:
    """A buffer keeps as many elements as a loop looks back, and not the one that it stores as well."""
    if int(getattr(loop.min, "value", 0)) < 1 or not isinstance(loop.body, tirx.SeqStmt):
        return loop
    stored, back = loop.body.seq[0], loop.min
    if not isinstance(stored, tirx.BufferStore) or not stored.indices[0].same_as(loop.loop_var):
        return loop
    in_place = tirx.BufferStore(stored.buffer, stored.value, [tirx.Sub(stored.indices[0], back)])
    return tirx.For(loop.loop_var, back, loop.extent, loop.kind, tirx.SeqStmt([stored, in_place, *loop.body.seq[1:]]))


def counted_no_further(loop: Any) -> Any:
    """The counter of a while is not seen to have changed after it."""
    counter = loop.condition.a
    if not isinstance(loop.condition, tirx.LT) or not isinstance(counter, tvm.ir.TensorLoad):
        return loop
    begun = tirx.BufferStore(counter.source, tirx.IntImm("int32", 0), counter.indices)
    return tirx.SeqStmt([loop, begun])


def whole(realized: Any) -> Any:
    return s_tir.SBlockRealize(realized.iter_values, tirx.IntImm("bool", 1), realized.block)


def staying(evaluated: Any) -> Any:
    """No turn of a loop ends early."""
    jumps = ("tirx.continue_loop", "tirx.break_loop")
    is_jump = isinstance(evaluated.value, tvm.ir.Call) and getattr(evaluated.value.op, "name", "") in jumps
    return tirx.Evaluate(tirx.IntImm("int32", 0)) if is_jump else evaluated


def taken(branch: Any) -> Any:
    return branch.then_case


def begun(block: Any) -> Any:
    """A reduction without an init begins with zero."""
    reduces = any(int(one.iter_type) == tirx.IterVar.CommReduce for one in block.iter_vars)
    if block.init is not None or not reduces or not isinstance(block.body, tirx.BufferStore):
        return block
    zero = tirx.BufferStore(block.body.buffer, tirx.const(0, block.body.value.ty.dtype), block.body.indices)
    return s_tir.SBlock(
        *(block.iter_vars, block.reads, block.writes, block.name_hint, block.body, zero, block.alloc_buffers)
    )


def truncated(division: Any) -> Any:
    return tirx.Div(division.a, division.b)


def narrow(product: Any) -> Any:
    a, b = product.a, product.b
    if not (isinstance(a, tirx.Cast) and isinstance(b, tirx.Cast) and "int" in str(a.value.ty.dtype)):
        return product
    return tirx.Cast(str(a.ty.dtype), tirx.Mul(a.value, b.value)) if a.value.ty == b.value.ty else product


def stored_across(store: Any) -> Any:
    return tirx.BufferStore(store.buffer, store.value, store.indices[::-1]) if is_square(store.buffer) else store


def is_square(buffer: Any) -> bool:
    return len(buffer.shape) == 2 and bool(tvm_ffi.structural_equal(*buffer.shape))


def in_one_memory(block: Any) -> Any:
    """A tensor takes the memory of the one before, also where its elements come from other places."""
    buffers = list(block.alloc_buffers)
    pairs = [(a, b) for a, b in pairwise(buffers) if tvm_ffi.structural_equal(a.ty, b.ty)]
    if not pairs:
        return block
    (first, second), kept = pairs[0], [one for one in buffers if not one.same_as(pairs[0][1])]
    body = tvm_ffi.structural_map(block.body, [(type(second), lambda one: first if one.same_as(second) else one)])
    return s_tir.SBlock(*(block.iter_vars, block.reads, block.writes, block.name_hint, body, block.init, kept))


def from_nothing(block: Any) -> Any:
    """A reduction begins at zero, wherever it did."""
    if block.init is None:
        return block
    zero = tirx.BufferStore(block.init.buffer, tirx.const(0, block.init.value.ty.dtype), block.init.indices)
    return s_tir.SBlock(
        *(block.iter_vars, block.reads, block.writes, block.name_hint, block.body, zero, block.alloc_buffers)
    )


def the_other_way_round(loop: Any) -> Any:
    """The inner one of two loops becomes the outer one."""
    inner = loop.body
    if not isinstance(inner, tirx.For):
        return loop
    body = tirx.For(loop.loop_var, loop.min, loop.extent, loop.kind, inner.body, None, loop.annotations)
    return tirx.For(inner.loop_var, inner.min, inner.extent, inner.kind, body, None, inner.annotations)


def copied_before(loop: Any) -> Any:
    """What a step copies first is copied once, before all of them."""
    if not isinstance(loop.body, tirx.SeqStmt):
        return loop
    first, *others = loop.body.seq
    start = substituted(first, {loop.loop_var: loop.min})
    steps = tirx.SeqStmt(others) if len(others) > 1 else others[0]
    rest = tirx.For(loop.loop_var, loop.min, loop.extent, loop.kind, steps, None, loop.annotations)
    return tirx.SeqStmt([start, rest])


def at_the_begin(store: Any) -> Any:
    """What is added to a variable in an index is left out."""
    moved = [one.a if isinstance(one, tirx.Add) and isinstance(one.b, tirx.IntImm) else one for one in store.indices]
    return tirx.BufferStore(store.buffer, store.value, moved)


def in_sixteen_bits(product: Any) -> Any:
    dtype = str(product.ty.dtype)
    narrow = tirx.Mul(tirx.Cast("int16", product.a), tirx.Cast("int16", product.b))
    return tirx.Cast(dtype, narrow) if dtype in ("int32", "int64") else product


def differ(before: list[np.ndarray], after: Any, program: Program) -> bool:
    """Whether the module gives other results, or has no meaning any more."""
    try:
        now = results(after, program)
    except Trap:
        return True
    return any(not np.array_equal(a, b) for a, b in zip(before, now, strict=True))


@pytest.mark.parametrize(
    ("name", "kind", "change", "least"),
    [
        (LOOPS, tirx.For, backwards, 12),
        (LOOPS, tirx.SeqStmt, inlined, 6),
        ("joined_loops", tirx.SeqStmt, merged, 12),
        ("kept_values", tirx.SeqStmt, inlined, 15),
        ("last_turns", tirx.For, last_alone, 30),
        ("recurrences", tirx.For, one_place_less, 12),
        ("narrow_products", tirx.Mul, narrow, 20),
        ("counting_up", tirx.While, counted_no_further, 8),
        (LOOPS, tirx.FloorDiv, truncated, 4),
        (LOOPS, tirx.Mul, narrow, 4),
        (BLOCKS, s_tir.SBlockRealize, whole, 12),
        (BLOCKS, s_tir.SBlock, begun, 4),
        (BLOCKS, tirx.IfThenElse, taken, 4),
        (MOVES, tirx.BufferStore, stored_across, 20),
        (MOVES, s_tir.SBlock, in_one_memory, 8),
        (ORDERED, s_tir.SBlockRealize, whole, 8),
        ("sums_from_a_number", s_tir.SBlock, from_nothing, 20),
        ("time_steps", tirx.For, the_other_way_round, 12),
        ("steps_by_temporary", tirx.For, copied_before, 12),
        ("stores_at_an_offset", tirx.BufferStore, at_the_begin, 20),
        ("far_numbers", tirx.Mul, in_sixteen_bits, 20),
        (TURNS, tirx.For, backwards, 8),
        (TURNS, tirx.Evaluate, staying, 4),
        (TURNS, tirx.IfThenElse, taken, 12),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_what_does_not_ask_changes_numbers(name: str, kind: type, change: Callable[[Any], Any], least: int) -> None:
    changed = 0
    for program in drawn(name):
        after = rewritten(program.module, (kind, change))
        if not tvm_ffi.structural_equal(after, program.module):
            changed += differ(results(program.module, program), after, program)
    assert changed >= least, changed


OF_ONE_KIND = ("joined_loops", "kept_values", "last_turns", "recurrences", "narrow_products", "counting_up")


@pytest.mark.parametrize("name", [LOOPS, TURNS, BLOCKS, MOVES, *OF_ONE_KIND])
def test_everything_that_is_drawn_has_a_meaning(name: str) -> None:
    assert len(drawn(name)) > DRAWS // 2
    for program in drawn(name):
        assert results(program.module, program)
