"""Functions of kernels: loops bound to blocks and threads as schedules for GPUs leave them, several kernels in a row.

A kernel stores every element of one tensor, each by one thread; what other threads have made is read from shared
memory, or by the next kernel, so that nothing races. Barriers there are none yet: ThreadSync puts them in. Blocks are
small, so that small tensors take several of them, the last of which has threads with nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

from tvm import tirx

from generators.source import Source, weighted
from generators.tir.draft import Draft, Extent, Tensor, Unfit, load
from generators.tir.expressions import draw_value
from generators.tir.functions import begun, finished
from generators.tir.knobs import DEFAULT, TirKnobs
from generators.tir.opaque import held_range, new_tensor
from generators.tir.place import Place, sequence, store
from generators.tir.program import PrimProgram
from generators.tir.reads import Point, counter
from generators.tir.stores import updated
from generators.tir.swarm import Unusual, draw_unusual
from generators.tir.terms import Term

_KERNELS = (1, 3)
"""How many a function has."""
_THREADS = ((4, 4), (8, 6), (16, 4), (32, 3), (2, 2), (5, 1), (64, 1))
"""(threads of a block, weight)."""
_FEW_THREADS = ((2, 4), (4, 4), (3, 2), (1, 1))
"""The same where a thread makes several elements."""
_TILE = ((2, 2), (4, 4), (8, 3))
"""Threads along one side of a block of two dims."""
_AGAIN = 0.25
"""A kernel changes a tensor that is there already this often."""
_NEEDLESS = 0.15
"""A thread that always has something to do asks all the same this often."""
_SUMMED = 0.4
"""A thread adds up in a loop this often."""
_LONGEST = 64
"""Threads of a block that holds a whole row."""
_STEPS = (2, 5)
"""Iterations of such a loop, and of one in which threads work together."""
_BETWEEN = 0.3
"""A tensor is no output but read by the next kernels this often."""
_TRIES = 4
"""How often another kind is drawn where one does not fit the tensor."""
_SERIAL = tirx.ForKind.SERIAL
_THREAD_INDEX = 1
"""The kind of an IterVar that is bound to threads."""
_USUAL = frozenset({Unusual.LET, Unusual.LAZY, Unusual.LIKELY, Unusual.INDEX})
"""What unusual things a thread may do."""


Axis = tuple[Any, Any, str]
"""A variable of blocks or threads, how many there are, and the tag of the axis."""


def draw_kernel_func(source: Source, knobs: TirKnobs = DEFAULT) -> PrimProgram:
    """A random PrimFunc of kernels with exact arguments: in bounds, without races, already scheduled."""
    draft = begun(source, knobs)
    draft.unusual = draw_unusual(source, knobs) & _USUAL
    place = Place(draft, [t for t in draft.tensors if t.role == "input" and not t.special])
    for _ in range(source.integer(*_KERNELS)):
        written = place.writable
        if written and source.flip(_AGAIN):
            draft.statements.append(_kernel(place, source.pick(written), again=True))
            continue
        tensor = _new(draft)
        if tensor.role == "alloc":
            draft.statements.append(tirx.AllocBuffer(tensor.buffer))
        draft.statements.append(_kernel(place, tensor))
        place.tensors.append(tensor)
    if not any(t.role == "output" for t in draft.tensors):
        values, fraction = held_range("float32")
        tensor = draft.add_tensor("T", (draft.extent(8),), "float32", values, fraction=fraction, role="output")
        draft.statements.append(_kernel(place, tensor))
    draft.features.add("kernels")
    return finished(draft, schedulable=False, attributes={"tirx.is_scheduled": True})


def _new(draft: Draft) -> Tensor:
    """A tensor with elements (a grid of no blocks cannot be launched): an output, or what the next kernels read."""
    tensor = new_tensor(draft, "output")
    if not all(dim.value for dim in tensor.dims):
        draft.tensors.remove(tensor)
        values, fraction = held_range(tensor.dtype)
        dims = (draft.draw_extent(empty=False),)
        tensor = draft.add_tensor("T", dims, tensor.dtype, values, fraction=fraction, role="output")
    if all(dim.static for dim in tensor.dims) and draft.source.flip(_BETWEEN):
        draft.tensors.remove(tensor)
        tensor = replace(tensor, role="alloc")
        draft.tensors.append(tensor)
    return tensor


def _kernel(place: Place, tensor: Tensor, *, again: bool = False) -> Any:
    """A kernel that stores to every element of the tensor."""
    draft = place.draft
    for _ in range(_TRIES):
        kind = weighted(draft.source, _KINDS)
        features, tensors = set(draft.features), list(draft.tensors)
        try:
            return kind(_Kernel(place, tensor, again))
        except Unfit:
            draft.features, draft.tensors = features, tensors
    return _elements(_Kernel(place, tensor, again))


class _Kernel:
    """A kernel while it is drawn. again: the tensor holds something already."""

    def __init__(self, place: Place, tensor: Tensor, again: bool) -> None:
        self.tensor = tensor
        self.again = again
        self.draft = place.draft
        self.source = place.draft.source
        self._place = place

    def axis(self, tag: str, count: Any) -> Axis:
        """A new axis of blocks or threads."""
        return tirx.Var(self.draft.new_name("i"), self.draft.index_dtype), count, tag

    def bound(self, axes: list[Axis], *body: Any) -> Any:
        """The body for every block and thread."""
        nest = sequence(*body)
        for var, count, tag in reversed(axes):
            thread = tirx.IterVar(None, tirx.Var(tag, self.draft.index_dtype), _THREAD_INDEX, tag)
            nest = tirx.For(var, self.draft.number(0), count, tirx.ForKind.THREAD_BINDING, nest, thread)
        return nest

    def inside(self, indices: list[Any], axes: list[Axis]) -> Place:
        """Where one thread computes the element: it reads what other kernels have made. Threads whose number is known
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

    def element(self, inner: Place, indices: list[Any], *leaves: Term) -> Any:
        """What a thread does with its element. leaves: values that it should use."""
        if leaves:
            site = inner.site([t for t in inner.tensors if not t.special], 1).with_leaves(*leaves)
            value = draw_value(replace(site, lets=False), self.tensor.dtype, self.source.integer(0, 1))
            first = store(self.tensor, value, indices)
        elif self.again:
            first = self._changed(inner, indices)
        else:
            first = store(self.tensor, inner.value(self.tensor.dtype), indices)
        if not self.source.flip(_SUMMED):
            return first
        loop = counter(self.draft, self.draft.extent(self.source.integer(*_STEPS)))
        deeper = inner.inside(loop, turns=loop.extent.high)
        more = self._changed(deeper, indices)
        self.draft.features.add("inner_loop")
        return sequence(first, tirx.For(loop.term.expr, self.draft.number(0), loop.extent.expr, _SERIAL, more))

    def _changed(self, place: Place, indices: list[Any]) -> Any:
        """The element changed by what it was, or anew where that might overflow."""
        try:
            return updated(place, self.tensor, indices)
        except Unfit:
            return store(self.tensor, place.value(self.tensor.dtype), indices)

    def times(self, dims: tuple[Extent, ...]) -> Any:
        """How many elements these dims have, as an expression."""
        if all(dim.static for dim in dims):
            return self.draft.number(prod(dim.value for dim in dims))
        total = dims[0].expr
        for dim in dims[1:]:
            total = tirx.Mul(total, dim.expr)
        return total

    def blocks(self, total: Any, threads: int) -> Any:
        """How many blocks of so many threads there are for all."""
        if isinstance(total, tirx.IntImm):
            return self.draft.number(-(-int(total) // threads))
        return tirx.FloorDiv(tirx.Add(total, self.draft.number(threads - 1)), self.draft.number(threads))

    def where(self, index: Any, total: Any, threads: int, body: Any) -> Any:
        """The body for threads that have something to do."""
        whole = isinstance(total, tirx.IntImm) and int(total) % threads == 0
        if whole and not self.source.flip(_NEEDLESS):
            return body
        self.draft.features.add("thread_guard")
        return tirx.IfThenElse(tirx.LT(index, total), body, None)

    def apart(self, index: Any, dims: tuple[Extent, ...]) -> list[Any]:
        """The indices that a position in row-major order means."""
        indices: list[Any] = []
        for dim in reversed(dims[1:]):
            indices.append(tirx.FloorMod(index, dim.expr))
            index = tirx.FloorDiv(index, dim.expr)
        return [*([index] if dims else []), *reversed(indices)]

    def shared(self, count: int, dtype: str) -> Tensor:
        """Memory that the threads of a block share."""
        values, fraction = held_range(dtype)
        dims = (self.draft.extent(count),)
        tensor = self.draft.add_tensor("S", dims, dtype, values, fraction=fraction, role="alloc", scope="shared")
        self.draft.tensors.pop()
        self.draft.features.add("shared_memory")
        return tensor


def _position(draft: Draft, block: Any, threads: int, thread: Any) -> Any:
    return tirx.Add(tirx.Mul(block, draft.number(threads)), thread)


def _elements(kernel: _Kernel) -> Any:
    """Threads numbered through all elements."""
    dims, draft = kernel.tensor.dims, kernel.draft
    threads = weighted(kernel.source, _THREADS)
    total = kernel.times(dims)
    block = kernel.axis("blockIdx.x", kernel.blocks(total, threads))
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    index = _position(draft, block[0], threads, thread[0])
    indices = kernel.apart(index, dims)
    body = kernel.element(kernel.inside(indices, [block, thread]), indices)
    return kernel.bound([block, thread], kernel.where(index, total, threads, body))


def _several(kernel: _Kernel) -> Any:
    """The same, some elements for each thread: beside each other, or so far apart that neighbours touch neighbours."""
    dims, draft = kernel.tensor.dims, kernel.draft
    if not dims:
        raise Unfit("one element")
    threads, count = weighted(kernel.source, _FEW_THREADS), kernel.source.pick((2, 2, 3, 4))
    total = kernel.times(dims)
    block = kernel.axis("blockIdx.x", kernel.blocks(total, threads * count))
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    step = tirx.Var(draft.new_name("i"), draft.index_dtype)
    apart = kernel.source.flip()
    within = _position(draft, step, threads, thread[0]) if apart else _position(draft, thread[0], count, step)
    index = _position(draft, block[0], threads * count, within)
    indices = kernel.apart(index, dims)
    body = kernel.element(kernel.inside(indices, [block, thread]), indices)
    draft.features.add("several_for_a_thread")
    kind = kernel.source.pick((_SERIAL, _SERIAL, tirx.ForKind.UNROLLED))
    body = kernel.where(index, total, threads * count, body)
    return kernel.bound([block, thread], tirx.For(step, draft.number(0), draft.number(count), kind, body))


def _tiles(kernel: _Kernel) -> Any:
    """Blocks and threads of two dims."""
    dims, draft = kernel.tensor.dims, kernel.draft
    if len(dims) < 2:
        raise Unfit("one dim")
    axes: list[Axis] = []
    lead = []
    if dims[:-2]:
        axes.append(kernel.axis("blockIdx.z", kernel.times(dims[:-2])))
        lead = kernel.apart(axes[0][0], dims[:-2])
    blocks, threads, near = list[Axis](), list[Axis](), list[tuple[Any, Extent, int]]()
    for tag, dim in zip("yx", dims[-2:], strict=True):
        side = weighted(kernel.source, _TILE)
        blocks.append(kernel.axis(f"blockIdx.{tag}", kernel.blocks(dim.expr, side)))
        threads.append(kernel.axis(f"threadIdx.{tag}", draft.number(side)))
        near.append((_position(draft, blocks[-1][0], side, threads[-1][0]), dim, side))
    indices = [*lead, *(index for index, _, _ in near)]
    body = kernel.element(kernel.inside(indices, [*blocks, *threads]), indices)
    for index, dim, side in near:
        body = kernel.where(index, dim.expr, side, body)
    draft.features.add("grid_of_two_dims")
    return kernel.bound([*axes, *blocks, *threads], body)


def _rows(kernel: _Kernel) -> Any:
    """A block for each row, whose threads go along it in strides."""
    dims, draft = kernel.tensor.dims, kernel.draft
    if not dims:
        raise Unfit("no row")
    block = kernel.axis("blockIdx.x", kernel.times(dims[:-1]))
    threads = weighted(kernel.source, _FEW_THREADS if kernel.source.flip() else _THREADS)
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    step = tirx.Var(draft.new_name("i"), draft.index_dtype)
    index = _position(draft, step, threads, thread[0])
    indices = [*kernel.apart(block[0], dims[:-1]), index]
    body = kernel.element(kernel.inside(indices, [block, thread]), indices)
    turns = kernel.blocks(dims[-1].expr, threads)
    draft.features.add("thread_stride")
    body = kernel.where(index, dims[-1].expr, threads, body)
    return kernel.bound([block, thread], tirx.For(step, draft.number(0), turns, _SERIAL, body))


def _together(kernel: _Kernel) -> Any:
    """A block for each row, a thread for each element of it; what one has made in shared memory another reads."""
    dims, draft, source = kernel.tensor.dims, kernel.draft, kernel.source
    if not dims or not dims[-1].static or dims[-1].value > _LONGEST:
        raise Unfit("no row of a block")
    length = dims[-1].value
    threads = source.pick((length, length, next(2**n for n in range(8) if 2**n >= length), length + 1))
    block = kernel.axis("blockIdx.x", kernel.times(dims[:-1]))
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    indices = [*kernel.apart(block[0], dims[:-1]), thread[0]]
    inner = kernel.inside(indices, [block])
    make = source.pick((_passed_on, _told, _rounds))
    statements = make(kernel, inner, indices, length, threads)
    return kernel.bound([block, thread], *statements)


def _passed_on(kernel: _Kernel, inner: Place, indices: list[Any], length: int, threads: int) -> list[Any]:
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


def _told(kernel: _Kernel, inner: Place, indices: list[Any], length: int, threads: int) -> list[Any]:
    """One thread makes what all read."""
    draft, at = kernel.draft, indices[-1]
    cell = kernel.shared(1, _number(draft))
    zero = draft.number(0)
    made = store(cell, inner.value(cell.dtype), [zero])
    one = tirx.EQ(at, draft.number(kernel.source.pick((0, 0, length - 1))))
    used = kernel.element(inner, indices, load(cell, [zero]))
    return [
        tirx.AllocBuffer(cell.buffer),
        tirx.IfThenElse(one, made, None),
        kernel.where(at, draft.number(length), threads, used),
    ]


def _rounds(kernel: _Kernel, inner: Place, indices: list[Any], length: int, threads: int) -> list[Any]:
    """In every round the threads make a tile anew, and take of it what they add up. Each step asks for itself which
    threads take part in it: no barrier may stand behind a condition."""
    draft, at, total = kernel.draft, indices[-1], kernel.draft.number(length)
    tile = kernel.shared(length, _number(draft))
    begun = store(tile, inner.value(tile.dtype), [at])
    first = kernel.element(inner, indices, load(tile, [at]))
    loop = counter(draft, draft.extent(kernel.source.integer(*_STEPS)))
    deeper = inner.inside(loop, turns=loop.extent.high)
    again = store(tile, deeper.value(tile.dtype), [at])
    got = load(tile, [_of_another(kernel, at, length)])
    site = deeper.site([], 0).with_leaves(got, load(kernel.tensor, indices))
    used = store(kernel.tensor, draw_value(replace(site, lets=False), kernel.tensor.dtype, 1), indices)
    steps = [again, used] if kernel.source.flip() else [used, again]
    guarded = [kernel.where(at, total, threads, step) for step in steps]
    draft.features.add("rounds")
    return [
        tirx.AllocBuffer(tile.buffer),
        *[kernel.where(at, total, threads, step) for step in (begun, first)],
        tirx.For(loop.term.expr, draft.number(0), loop.extent.expr, _SERIAL, sequence(*guarded)),
    ]


def _number(draft: Draft) -> str:
    """The dtype of what threads share."""
    dtype = draft.draw_dtype()
    return "int32" if dtype == "bool" else dtype


def _of_another(kernel: _Kernel, at: Any, length: int) -> Any:
    """The index of an element that another thread has made, mostly."""
    draft = kernel.draft
    last = draft.number(length - 1)
    around = tirx.FloorMod(
        tirx.Add(at, draft.number(kernel.source.integer(1, max(length - 1, 1)))), draft.number(length)
    )
    half = tirx.FloorDiv(at, draft.number(2))
    return kernel.source.pick((around, around, tirx.Sub(last, at), half, draft.number(0), last))


_KINDS: tuple[tuple[Callable[[_Kernel], Any], int], ...] = (
    (_elements, 5),
    (_several, 4),
    (_tiles, 4),
    (_rows, 4),
    (_together, 7),
)
"""How the elements are shared out among threads, with weights."""
