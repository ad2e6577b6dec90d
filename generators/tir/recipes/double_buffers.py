"""Buffers that a loop fills and then reads, marked `double_buffer_scope`, so that InjectDoubleBuffer fills them one
iteration ahead.

What the mark demands (src/s_tir/transform/inject_double_buffer.cc): all stores to the buffer are under it, what they
store depends on nothing that the loop changes, nothing reads the buffer outside of the loop, and the loop has an
iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import tirx

from generators.source import Source, weighted
from generators.tir.expressions import Operands, draw_condition
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, load
from generators.tir.functions import finished
from generators.tir.opaque import held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point, can_read, read
from generators.tir.recipes.block_drafts import Loop, add_input, drafted, loop_of, of_all, within
from generators.tir.recipes.memory_knobs import AROUND, DOUBLE_BUFFERS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Stmt

MARK = "double_buffer_scope"


def _draw(source: Source) -> PrimProgram:
    """A function with one such loop."""
    symbolic = source.flip(DOUBLE_BUFFERS.symbolic)
    draft = drafted(source, AROUND, symbols=("n",) if symbolic else ())
    turns = draft.symbolic("n", plus=1) if symbolic else draft.extent(weighted(source, DOUBLE_BUFFERS.turns))
    width = draft.extent(weighted(source, DOUBLE_BUFFERS.widths))
    inputs = [add_input(draft, (turns, width))]
    for _ in range(source.integer(0, 2)):
        inputs.append(add_input(draft, source.pick(((turns, width), (width,), (turns,)))))
    if symbolic and not any(d.text == "n" for t in inputs for d in t.dims):
        inputs.append(add_input(draft, (draft.symbolic("n"),)))
    loops = [loop_of(draft, turns)]
    if source.flip(DOUBLE_BUFFERS.repeated):
        loops.insert(0, loop_of(draft, draft.extent(source.integer(2, 3))))
    body: list[Stmt] = []
    buffers: list[DraftTensor] = []
    before: list[Stmt] = []
    for _ in range(2 if source.flip(DOUBLE_BUFFERS.second) else 1):
        buffer = _buffer(draft, width)
        (before if source.flip(DOUBLE_BUFFERS.outside) else body).append(tirx.AllocBuffer(buffer.buffer))
        body.append(tirx.AttrStmt(buffer.buffer.data, MARK, draft.number(1), _filled(draft, buffer, loops, inputs)))
        buffers.append(buffer)
    body.append(_used(draft, buffers, loops, inputs))
    inner = loops[-1].around(draft, sequence(*body))
    draft.statements.append(sequence(*before, within(draft, loops[:-1], inner)))
    draft.features.add("double_buffer")
    return finished(draft, schedulable=False)


def _buffer(draft: FunctionDraft, width: Extent) -> DraftTensor:
    """A buffer of one dim: FlattenBuffer does not follow the mark of others."""
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    layout: Layout = {"scope": "local"} if draft.source.flip() else {}
    return draft.add_tensor("B", (width,), dtype, values, fraction=fraction, role="alloc", **layout)


def _value(draft: FunctionDraft, dtype: str, at: Sequence[Point], tensors: Sequence[DraftTensor], *own: Term) -> Term:
    """A value made of an element of each of the tensors, and of `own`."""
    leaves = [read(draft, tensor, at) for tensor in tensors]
    operands = Operands(draft, [], [point.term for point in at])
    return of_all(operands, dtype, draft.source.integer(0, 1), *leaves, *own)


def _inputs(draft: FunctionDraft, at: Sequence[Point], inputs: Sequence[DraftTensor]) -> list[DraftTensor]:
    """The first of them, and at times another."""
    readable = [t for t in inputs if can_read(t, [point.extent for point in at])]
    return [readable[0], *([draft.source.pick(readable)] if draft.source.flip() else [])]


def _filled(draft: FunctionDraft, buffer: DraftTensor, loops: Sequence[Loop], inputs: Sequence[DraftTensor]) -> Stmt:
    """Every element stored, and perhaps changed."""
    source, width = draft.source, buffer.dims[0]
    vectors = width.value in (4, 8, 16) and source.flip(DOUBLE_BUFFERS.vectorized)
    each = loop_of(draft, width, kind=tirx.ForKind.VECTORIZED if vectors else tirx.ForKind.SERIAL)
    at, index = [loops[-1].point, each.point], [each.var]
    statements = [each.around(draft, store(buffer, _value(draft, buffer.dtype, at, _inputs(draft, at, inputs)), index))]
    if source.flip(DOUBLE_BUFFERS.updated):
        again = loop_of(draft, width)
        at = [loops[-1].point, again.point]
        now = load(buffer, [again.var])
        value = _value(draft, buffer.dtype, at, _inputs(draft, at, inputs), now)
        changed = store(buffer, value, [again.var])
        if source.flip(DOUBLE_BUFFERS.guarded):
            operands = Operands(draft, [], [point.term for point in at])
            changed = tirx.IfThenElse(draw_condition(operands, 0).expr, changed, None)
        statements.append(again.around(draft, changed))
        draft.features.add("double_buffer_updated")
    return sequence(*statements)


def _used(
    draft: FunctionDraft, buffers: Sequence[DraftTensor], loops: Sequence[Loop], inputs: Sequence[DraftTensor]
) -> Stmt:
    """An output's row of this iteration made of the buffers."""
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    dims = (loops[-1].point.extent, buffers[0].dims[0])
    output = draft.add_tensor("T", dims, dtype, values, fraction=fraction, role="output")
    each = loop_of(draft, dims[1])
    at = [loops[-1].point, each.point]
    value = _value(draft, dtype, at, [*buffers, *_inputs(draft, at, inputs)])
    return each.around(draft, store(output, value, [loops[-1].var, each.var]))


RECIPES: tuple[PrimRecipe, ...] = (PrimRecipe("double_buffers", _draw, host=True),)
