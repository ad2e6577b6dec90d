"""Kernels whose threads work together: each writes its part of a tile in shared memory, and reads others'."""

from __future__ import annotations

from collections.abc import Callable

from tvm import tirx

from generators.source import favour
from generators.tir.function_draft import DraftTensor, FunctionDraft, load
from generators.tir.launch import SERIAL, Launch, made_of
from generators.tir.reads import counter
from generators.tir.site import Site, sequence, store
from generators.tir.terms import Term
from generators.tvm_api import Expr, Stmt


def _passed_on(kernel: Launch, inner: Site, indices: list[Expr], length: int, threads: int) -> list[Stmt]:
    """Each thread makes an element of a tile, and reads those of others."""
    at, total = indices[-1], kernel.draft.number(length)
    tile = kernel.shared(length, _number(kernel.draft))
    made = store(tile, inner.value(tile.dtype), [at])
    got = [load(tile, [_of_another(kernel, at, length)]) for _ in range(kernel.source.integer(1, 2))]
    used = kernel.element(inner, indices, *got)
    return [
        tirx.AllocBuffer(tile.buffer),
        kernel.where(at, total, threads, made),
        kernel.where(at, total, threads, used),
    ]


def _broadcast(kernel: Launch, inner: Site, indices: list[Expr], length: int, threads: int) -> list[Stmt]:
    """One thread makes the element that all read."""
    draft, at = kernel.draft, indices[-1]
    cell = kernel.shared(1, _number(draft))
    zero = draft.number(0)
    made = store(cell, inner.value(cell.dtype), [zero])
    one = tirx.EQ(at, draft.number(favour(kernel.source, 0, length - 1)))
    used = kernel.element(inner, indices, load(cell, [zero]))
    return [
        tirx.AllocBuffer(cell.buffer),
        tirx.IfThenElse(one, made, None),
        kernel.where(at, draft.number(length), threads, used),
    ]


def _rounds(kernel: Launch, inner: Site, indices: list[Expr], length: int, threads: int) -> list[Stmt]:
    """In every round the threads make a tile anew and add up elements of it. Each step asks for itself which
    threads take part in it: no barrier may stand under a condition."""
    draft, at, total = kernel.draft, indices[-1], kernel.draft.number(length)
    tile = kernel.shared(length, _number(draft))
    begun = store(tile, inner.value(tile.dtype), [at])
    first = kernel.element(inner, indices, load(tile, [at]))
    loop = counter(draft, draft.extent(kernel.source.integer(*kernel.draft.knobs.kernels.turns)))
    deeper = inner.inside(loop, turns=loop.extent.high)
    again = store(tile, deeper.value(tile.dtype), [at])
    got = load(tile, [_of_another(kernel, at, length)])
    used = _combined(kernel, deeper, kernel.tensor, indices, got)
    steps = [again, used] if kernel.source.flip() else [used, again]
    guarded = [kernel.where(at, total, threads, step) for step in steps]
    draft.features.add("rounds")
    return [
        tirx.AllocBuffer(tile.buffer),
        *[kernel.where(at, total, threads, step) for step in (begun, first)],
        tirx.For(loop.term.expr, draft.number(0), loop.extent.expr, SERIAL, sequence(*guarded)),
    ]


def _gone_through(kernel: Launch, inner: Site, indices: list[Expr], length: int, threads: int) -> list[Stmt]:
    """Each thread makes an element of a tile, and goes through all of it."""
    draft, at, total = kernel.draft, indices[-1], kernel.draft.number(length)
    tile = kernel.shared(length, _number(draft))
    made = store(tile, inner.value(tile.dtype), [at])
    first = kernel.element(inner, indices)
    loop = counter(draft, draft.extent(length))
    turn = loop.term.expr
    around = tirx.FloorMod(tirx.Add(at, turn), total)
    got = load(tile, [favour(kernel.source, turn, tirx.Sub(draft.number(length - 1), turn), around)])
    deeper = inner.inside(loop, turns=loop.extent.high)
    used = _combined(kernel, deeper, kernel.tensor, indices, got)
    inside = kernel.source.flip()
    used = kernel.where(at, total, threads, used) if inside else used
    through = tirx.For(turn, draft.number(0), loop.extent.expr, SERIAL, used)
    draft.features.add("gone_through")
    return [
        tirx.AllocBuffer(tile.buffer),
        *[kernel.where(at, total, threads, step) for step in (made, first)],
        through if inside else kernel.where(at, total, threads, through),
    ]


def _halved(kernel: Launch, inner: Site, indices: list[Expr], length: int, threads: int) -> list[Stmt]:
    """A tree of as many steps as it takes to make one element of all: half of the threads that are left take one of the
    other half each. All threads read the result."""
    draft, at = kernel.draft, indices[-1]
    steps = max(length - 1, 1).bit_length()
    tile = kernel.shared(length, _number(draft))
    made = store(tile, inner.value(tile.dtype), [at])
    loop = counter(draft, draft.extent(steps))
    half = tirx.RShift(draft.number(1 << (steps - 1)), loop.term.expr)
    partner = tirx.Add(at, half)
    deeper = inner.inside(loop, turns=steps)
    joined = _combined(kernel, deeper, tile, [at], load(tile, [partner]))
    taking = tirx.And(tirx.LT(at, half), tirx.LT(partner, draft.number(length)))
    used = kernel.element(inner, indices, load(tile, [draft.number(0)]))
    draft.features.add("halved")
    return [
        tirx.AllocBuffer(tile.buffer),
        kernel.where(at, draft.number(length), threads, made),
        tirx.For(loop.term.expr, draft.number(0), loop.extent.expr, SERIAL, tirx.IfThenElse(taking, joined, None)),
        kernel.where(at, draft.number(length), threads, used),
    ]


def _combined(kernel: Launch, site: Site, tensor: DraftTensor, indices: list[Expr], got: Term) -> Stmt:
    """An element made of its old value and the value read."""
    return store(tensor, made_of(site.operands([], 0), tensor.dtype, 1, got, load(tensor, indices)), indices)


def _number(draft: FunctionDraft) -> str:
    """The dtype of a tile."""
    dtype = draft.draw_dtype()
    return "int32" if dtype == "bool" else dtype


def _of_another(kernel: Launch, at: Expr, length: int) -> Expr:
    """The index of an element that in most cases another thread has made."""
    draft = kernel.draft
    last = draft.number(length - 1)
    around = tirx.FloorMod(
        tirx.Add(at, draft.number(kernel.source.integer(1, max(length - 1, 1)))), draft.number(length)
    )
    half = tirx.FloorDiv(at, draft.number(2))
    return favour(kernel.source, around, tirx.Sub(last, at), half, draft.number(0), last)


Maker = Callable[[Launch, Site, list[Expr], int, int], list[Stmt]]

MAKERS: tuple[tuple[Maker, int], ...] = (
    (_passed_on, 3),
    (_broadcast, 2),
    (_rounds, 3),
    (_gone_through, 4),
    (_halved, 2),
)
"""The statements of a kernel whose threads work together, in place of a thread, for the element with these indices
in a row of this length and for so many threads; with weights."""
