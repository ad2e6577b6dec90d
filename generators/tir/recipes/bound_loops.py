"""What the shapes of kernels are made of: drafts without inputs, loops bound to threads, blocks with annotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import tvm
from tvm import s_tir, tirx

from generators.ranges import Range
from generators.source import Source, favour
from generators.tir.block_loops import BlockBody, block_of
from generators.tir.expressions import Operands
from generators.tir.function_draft import Annotations, DraftTensor, Extent, FunctionDraft
from generators.tir.functions import finished
from generators.tir.knobs import DEFAULT, TirKnobs
from generators.tir.launch import SERIAL, made_of, threads_of
from generators.tir.prim_program import PrimProgram
from generators.tir.terms import Term, held
from generators.tvm_api import Expr, Node, Stmt, Var

KNOBS: TirKnobs = replace(DEFAULT, forms=replace(DEFAULT.forms, dead=0.0))
"""A function without callers is of any kind; a kernel's module has none, since rules for GPUs may die on it."""
NOTHING: Annotations = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LoopAxis:
    """A loop: its variable, how often it runs, and the tag of the threads that it is bound to ("" for none)."""

    var: Var
    count: int
    tag: str = ""


def kernel_draft(source: Source, dtype: str, knobs: TirKnobs = KNOBS) -> FunctionDraft:
    """A function of kernels without inputs yet."""
    draft = FunctionDraft(source, knobs)
    draft.dtype = dtype
    draft.index_dtype = favour(source, "int32", "int64")
    return draft


def kernel_program(draft: FunctionDraft, *, schedulable: bool = True) -> PrimProgram:
    """The function, which no rule for GPUs schedules again."""
    draft.features.add("kernels")
    return finished(draft, schedulable=schedulable, attributes={"tirx.is_scheduled": True})


def add_input(draft: FunctionDraft, shape: Sequence[int], dtype: str, values: Range) -> DraftTensor:
    """An input with a compact layout."""
    return draft.add_tensor("A", tuple(draft.extent(n) for n in shape), dtype, values, role="input")


def small_range(draft: FunctionDraft, dtype: str, *, top: int = 4) -> Range:
    """Small whole numbers, of which sums and products are exact."""
    low, high = draft.source.pick(((-top, top), (0, top), (1, top), (-top, -1)))
    return Range(0 if dtype.startswith("u") and low < 0 else low, abs(high), True)


def axis(draft: FunctionDraft, count: int, tag: str = "") -> LoopAxis:
    """A loop with a new variable."""
    return LoopAxis(tirx.Var(draft.new_name("i"), draft.index_dtype), count, tag)


def term(draft: FunctionDraft, loop: LoopAxis) -> Term:
    """The variable of a loop with its range."""
    return Term(loop.var, draft.index_dtype, Range(0, max(loop.count - 1, 0), True))


def around(draft: FunctionDraft, loops: Sequence[LoopAxis], body: Stmt, kind: tirx.ForKind = SERIAL) -> Stmt:
    """The body in these loops, the first one outermost; those without threads are of this kind."""
    for loop in reversed(loops):
        count = draft.number(loop.count)
        if not loop.tag:
            body = tirx.For(loop.var, draft.number(0), count, kind, body)
            continue
        thread = threads_of(draft, loop.tag)
        body = tirx.For(loop.var, draft.number(0), count, tirx.ForKind.THREAD_BINDING, body, thread)
    return body


def row_major(draft: FunctionDraft, loops: Sequence[LoopAxis], values: Sequence[Expr] = ()) -> Expr:
    """The position of an iteration among all of these loops; values: what stands for their variables."""
    first, *others = values or [loop.var for loop in loops]
    position: Expr = first
    for loop, value in zip(loops[1:], others, strict=True):
        position = tirx.Add(tirx.Mul(position, draft.number(loop.count)), value)
    return position


def drawn_value(
    draft: FunctionDraft, leaves: Sequence[Term], indices: Sequence[Term], dtype: str, values: Range
) -> Term:
    """An expression of the dtype that depends on each of these values, brought into a range of whole numbers."""
    operands = Operands(draft, [], list(indices), lets=False)
    return held(made_of(operands, dtype, draft.source.integer(1, 2), *leaves), values, 0)


def realized(
    draft: FunctionDraft,
    name: str,
    body: BlockBody,
    *,
    iters: Sequence[tuple[Node, Expr]] = (),
    predicate: Expr | None = None,
    allocated: Sequence[DraftTensor] = (),
    known: Sequence[DraftTensor] = (),
    annotations: Annotations = NOTHING,
) -> Stmt:
    """A block and its realisation: axes with what they are bound to, and the regions that TVM's analysis finds.

    known: tensors that blocks around this one have allocated. Raises Unfit where the analysis fails.
    """
    block = block_of(draft, [one for one, _ in iters], name, body, known, dict(annotations), allocated)
    where = tirx.IntImm("bool", 1) if predicate is None else predicate
    return s_tir.SBlockRealize([value for _, value in iters], where, block)


def tile(draft: FunctionDraft, shape: Sequence[int], dtype: str, values: Range, scope: str) -> DraftTensor:
    """A buffer that a block allocates: no tensor of the root block."""
    dims: tuple[Extent, ...] = tuple(draft.extent(n) for n in shape)
    made = draft.add_tensor("S", dims, dtype, values, role="alloc", scope=scope)
    draft.tensors.remove(made)
    return made


def region(draft: FunctionDraft, tensor: DraftTensor, starts: Sequence[Expr], shape: Sequence[int]) -> Node:
    """A part of a tensor."""
    ranges = [tvm.ir.Range.from_min_extent(start, draft.number(n)) for start, n in zip(starts, shape, strict=True)]
    return tirx.BufferRegion(tensor.buffer, ranges)
