"""One kernel while it is drawn: its blocks and threads, their guards, and a thread's statements for an element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import tvm_ffi
from tvm import tirx

from generators.tir.expressions import Operands, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load
from generators.tir.opaque import held_range
from generators.tir.reads import Point, counter
from generators.tir.site import Site, sequence, store
from generators.tir.stores import updated
from generators.tir.terms import Term
from generators.tvm_api import Expr, Node, Stmt, Var

SERIAL = tirx.ForKind.SERIAL
_THREAD_INDEX = 1
"""The kind of an IterVar that is bound to threads."""


ThreadAxis = tuple[Var, Expr, str]
"""A variable of blocks or threads, how many there are, and the tag of the axis."""


def threads_of(draft: FunctionDraft, tag: str) -> Node:
    """What a loop is bound to that runs over the blocks or threads of this tag."""
    return tirx.IterVar(None, tirx.Var(tag, draft.index_dtype), _THREAD_INDEX, tag)


class Launch:
    """The kernel that stores to one tensor. again: the tensor holds something already."""

    def __init__(self, site: Site, tensor: DraftTensor, again: bool) -> None:
        self.tensor = tensor
        self.again = again
        self.draft = site.draft
        self.source = site.draft.source
        self._place = site

    def axis(self, tag: str, count: Expr) -> ThreadAxis:
        """A new axis of blocks or threads."""
        return tirx.Var(self.draft.new_name("i"), self.draft.index_dtype), count, tag

    def bound(self, axes: list[ThreadAxis], *body: Stmt) -> Stmt:
        """The body for every block and thread."""
        nest = sequence(*body)
        for var, count, tag in reversed(axes):
            thread = threads_of(self.draft, tag)
            nest = tirx.For(var, self.draft.number(0), count, tirx.ForKind.THREAD_BINDING, nest, thread)
        return nest

    def inside(self, indices: list[Expr], axes: list[ThreadAxis]) -> Site:
        """Where one thread computes the element: it reads tensors of other kernels. Threads whose number is known
        may use it."""
        counted = zip(indices, self.tensor.dims, strict=True)
        points = [Point(Term(i, self.draft.index_dtype, self.draft.index_range(d)), d) for i, d in counted]
        for var, count, _ in axes:
            if isinstance(count, tirx.IntImm):
                turns = Extent("any", int(count), int(count), int(count), None)
                points.append(Point(Term(var, self.draft.index_dtype, self.draft.index_range(turns)), turns))
        inner = self._place.inside(*points, turns=self.tensor.elements)
        inner.tensors = [t for t in inner.tensors if t is not self.tensor]
        inner.recent = [element for element in inner.recent if element[0] is not self.tensor]
        return inner

    def element(self, inner: Site, indices: list[Expr], *leaves: Term) -> Stmt:
        """The statements of a thread for its element. leaves: values that it should use."""
        if leaves:
            operands = inner.operands([t for t in inner.tensors if not t.special], 1)
            before = (load(self.tensor, indices),) if self.again else ()
            value = made_of(operands, self.tensor.dtype, self.source.integer(0, 1), *leaves, *before)
            first = store(self.tensor, value, indices)
        elif self.again:
            first = self._changed(inner, indices)
        else:
            first = store(self.tensor, inner.value(self.tensor.dtype), indices)
        if not self.source.flip(self.draft.knobs.kernels.summed):
            return first
        loop = counter(self.draft, self.draft.extent(self.source.integer(*self.draft.knobs.kernels.turns)))
        deeper = inner.inside(loop, turns=loop.extent.high)
        more = self._changed(deeper, indices)
        self.draft.features.add("inner_loop")
        return sequence(first, tirx.For(loop.term.expr, self.draft.number(0), loop.extent.expr, SERIAL, more))

    def _changed(self, site: Site, indices: list[Expr]) -> Stmt:
        """The element updated from its old value, or stored anew where that might overflow."""
        try:
            return updated(site, self.tensor, indices)
        except Unfit:
            return store(self.tensor, site.value(self.tensor.dtype), indices)

    def times(self, dims: tuple[Extent, ...]) -> Expr:
        """How many elements these dims have, as an expression."""
        if all(dim.static for dim in dims):
            return self.draft.number(prod(dim.value for dim in dims))
        total = dims[0].expr
        for dim in dims[1:]:
            total = tirx.Mul(total, dim.expr)
        return total

    def blocks(self, total: Expr, threads: int) -> Expr:
        """How many blocks of so many threads there are for all."""
        if isinstance(total, tirx.IntImm):
            return self.draft.number(-(-int(total) // threads))
        return tirx.FloorDiv(tirx.Add(total, self.draft.number(threads - 1)), self.draft.number(threads))

    def where(self, index: Expr, total: Expr, threads: int, body: Stmt) -> Stmt:
        """The body for threads that have something to do."""
        whole = isinstance(total, tirx.IntImm) and int(total) % threads == 0
        if whole and not self.source.flip(self.draft.knobs.kernels.needless_guard):
            return body
        self.draft.features.add("thread_guard")
        return tirx.IfThenElse(tirx.LT(index, total), body, None)

    def shared(self, count: int, dtype: str) -> DraftTensor:
        """Memory that the threads of a block share."""
        values, fraction = held_range(dtype)
        dims = (self.draft.extent(count),)
        tensor = self.draft.add_tensor("S", dims, dtype, values, fraction=fraction, role="alloc", scope="shared")
        self.draft.tensors.pop()
        self.draft.features.add("shared_memory")
        return tensor


def unravelled(index: Expr, extents: Sequence[Expr]) -> list[Expr]:
    """The indices that a position in row-major order means."""
    indices: list[Expr] = []
    for extent in reversed(extents[1:]):
        indices.append(tirx.FloorMod(index, extent))
        index = tirx.FloorDiv(index, extent)
    return [*([index] if extents else []), *reversed(indices)]


def position(draft: FunctionDraft, block: Expr, threads: int, thread: Expr) -> Expr:
    """The number of a thread among those of all blocks."""
    return tirx.Add(tirx.Mul(block, draft.number(threads)), thread)


def made_of(operands: Operands, dtype: str, depth: int, *leaves: Term) -> Term:
    """A value made of as many of these as possible, and of others, so that it depends on each."""
    operands = replace(operands.with_leaves(*leaves), lets=False)
    best, most = None, -1
    for _ in range(operands.draft.knobs.kernels.value_tries):
        value = draw_value(operands, dtype, max(depth, len(leaves) - 1))
        held = sum(is_in(leaf.expr, value.expr) for leaf in leaves)
        if held > most:
            best, most = value, held
        if most == len(leaves):
            break
    assert best is not None, "it was tried"
    return best


def is_in(part: Expr, whole: Expr) -> bool:
    """Whether an expression is a part of another, by identity."""
    same: list[bool] = []

    def seen(node: Node) -> Node:
        same.append(node.same_as(part))
        return node

    tvm_ffi.structural_map(whole, (type(part), seen))
    return any(same)
