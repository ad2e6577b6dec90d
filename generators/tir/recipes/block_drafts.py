"""What recipes of blocks are made of: functions without inputs yet, blocks at the variables of loops, annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tvm
from tvm import s_tir, tirx

from generators import tvm_api
from generators.dtypes import is_float
from generators.ranges import Range
from generators.source import Source, weighted
from generators.tir.block_loops import SPATIAL, BlockBody, block_of
from generators.tir.expressions import Operands
from generators.tir.function_draft import Annotations, DraftTensor, Extent, FunctionDraft, Symbol, input_range
from generators.tir.knobs import TirKnobs
from generators.tir.launch import SERIAL, is_in, made_of, threads_of
from generators.tir.multi_reads import both
from generators.tir.opaque import held_range
from generators.tir.reads import Point
from generators.tir.terms import Term, capacity, clipped
from generators.tvm_api import Expr, Stmt


def drafted(source: Source, knobs: TirKnobs, *, symbols: Sequence[str] = ()) -> FunctionDraft:
    """A function without inputs; each symbol is the extent of one of the inputs to come."""
    draft = FunctionDraft(source, knobs)
    draft.dtype = weighted(source, knobs.dtypes)
    draft.index_dtype = "int64" if symbols or source.flip() else "int32"
    for name in symbols:
        draft.symbols[name] = Symbol(tirx.Var(name, "int64"), source.pick((5, 4, 7, 3, 2, 1)))
        draft.features.add("symbolic")
    return draft


def add_input(draft: FunctionDraft, dims: Sequence[Extent], dtype: str = "") -> DraftTensor:
    """An input of small whole numbers, or of halves."""
    dtype = dtype or draft.draw_dtype()
    values, fraction = input_range(draft, dtype), 0
    if is_float(dtype) and draft.source.flip(draft.knobs.inputs.fraction):
        fraction, values = 1, Range(values.low, values.high)
    return draft.add_tensor("A", tuple(dims), dtype, values, fraction=fraction, role="input")


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its point, the value of the point in terms of the variable, and how it runs. tag: of threads, or ""."""

    point: Point
    var: Expr
    kind: tirx.ForKind = SERIAL
    tag: str = ""
    start: int = 0

    def around(self, draft: FunctionDraft, body: Stmt, notes: Annotations | None = None) -> Stmt:
        """The loop around a body."""
        thread, kind = None, self.kind
        if self.tag:
            thread = threads_of(draft, self.tag)
            kind = tirx.ForKind.THREAD_BINDING
        start, extent = draft.number(self.start), self.point.extent.expr
        return tirx.For(self.var, start, extent, kind, body, thread, notes)


def loop_of(
    draft: FunctionDraft, extent: Extent, *, kind: tirx.ForKind = SERIAL, tag: str = "", start: int = 0
) -> Loop:
    """A new loop over the extent; its point counts from 0 wherever the variable starts."""
    var = tirx.Var(draft.new_name("i"), draft.index_dtype)
    value = tirx.Sub(var, draft.number(start)) if start else var
    return Loop(Point(Term(value, draft.index_dtype, draft.index_range(extent)), extent), var, kind, tag, start)


def within(draft: FunctionDraft, loops: Sequence[Loop], body: Stmt) -> Stmt:
    """The body in these loops, the first one outermost."""
    for loop in reversed(loops):
        body = loop.around(draft, body)
    return body


def of_all(operands: Operands, dtype: str, depth: int, *leaves: Term) -> Term:
    """A value that depends on each of these, and on others."""
    value = made_of(operands, dtype, depth, *leaves)
    for leaf in leaves:
        if not is_in(leaf.expr, value.expr):
            joined = both(operands.draft, value, leaf)
            value = clipped(joined, capacity(dtype, joined.fraction))
    return value


def output_over(draft: FunctionDraft, loops: Sequence[Loop]) -> DraftTensor:
    """An output with an element for each turn of these loops."""
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    dims = tuple(loop.point.extent for loop in loops)
    return draft.add_tensor("T", dims, dtype, values, fraction=fraction, role="output")


def value_at(draft: FunctionDraft, dtype: str, at: Sequence[Point], *leaves: Term) -> Term:
    """A short value that depends on each of these, and may on the points."""
    operands = Operands(draft, [], [point.term for point in at])
    return of_all(operands, dtype, draft.source.integer(0, 1), *leaves)


def block_at(
    draft: FunctionDraft,
    name: str,
    loops: Sequence[Loop],
    make: Callable[[list[Point]], Stmt | BlockBody],
    *,
    kinds: Sequence[int] = (),
    annotations: Annotations | None = None,
) -> Stmt:
    """A block with an axis for each of the loops, which are around it; `make` gets the points of its axes and gives its
    body, with an init where it has one. kinds: those of the axes, spatial if not given."""
    names = [tirx.Var(draft.new_name("v"), draft.index_dtype) for _ in loops]
    points = [
        Point(Term(var, draft.index_dtype, loop.point.term.range), loop.point.extent)
        for var, loop in zip(names, loops, strict=True)
    ]
    domains = [tvm.ir.Range.from_min_extent(draft.number(0), loop.point.extent.expr) for loop in loops]
    every = kinds or [SPATIAL] * len(loops)
    iters = [tirx.IterVar(domain, var, kind) for domain, var, kind in zip(domains, names, every, strict=True)]
    made = make(points)
    body = made if isinstance(made, BlockBody) else BlockBody(made)
    block = block_of(draft, iters, name, body, annotations=annotations)
    return s_tir.SBlockRealize([loop.point.term.expr for loop in loops], True, block)


def block_around(draft: FunctionDraft, name: str, body: Stmt, allocated: Sequence[DraftTensor]) -> Stmt:
    """A block without axes that allocates these buffers around the statements which use them; the root block does no
    longer."""
    known = [t.buffer for t in draft.tensors]
    bare = s_tir.SBlock([], [], [], name, body, None, [t.buffer for t in allocated])
    reads, writes = tvm_api.regions_of(bare, known)
    own = {t.name for t in allocated}
    draft.tensors = [t for t in draft.tensors if t not in allocated]
    outside = [[r for r in regions if str(r.source.name) not in own] for regions in (reads, writes)]
    block = s_tir.SBlock([], outside[0], outside[1], name, body, None, [t.buffer for t in allocated])
    return s_tir.SBlockRealize([], True, block)
