"""Functions of kernels: loops bound to blocks and threads as schedules for GPUs leave them, several kernels in a row.

A kernel stores every element of one tensor, each by one thread; threads read each other's elements from shared
memory, or by the next kernel, so that nothing races. Barriers there are none yet: ThreadSync puts them in. Blocks are
small, so that small tensors take several of them, the last of which has threads with nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvm import tirx

from generators.source import Source, favour, weighted
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit
from generators.tir.functions import begun, finished
from generators.tir.knobs import DEFAULT, TirKnobs
from generators.tir.launch import SERIAL, Launch, ThreadAxis, position, unravelled
from generators.tir.opaque import held_range, new_tensor
from generators.tir.prim_program import PrimProgram
from generators.tir.site import Site
from generators.tir.swarm import Unusual, draw_unusual
from generators.tir.tiles import MAKERS
from generators.tvm_api import Expr, Stmt

_USUAL = frozenset({Unusual.LET, Unusual.LAZY, Unusual.LIKELY, Unusual.INDEX})
"""The unusual kinds that a thread may hold."""


def draw_kernel_func(source: Source, knobs: TirKnobs = DEFAULT) -> PrimProgram:
    """A random PrimFunc of kernels with exact arguments: in bounds, without races, already scheduled."""
    draft = begun(source, knobs)
    draft.unusual = draw_unusual(source, knobs) & _USUAL
    site = Site(draft, [t for t in draft.tensors if t.role == "input" and not t.special])
    for _ in range(source.integer(*draft.knobs.kernels.kernels)):
        written = site.writable
        if written and source.flip(draft.knobs.kernels.changed_again):
            draft.statements.append(_kernel(site, source.pick(written), again=True))
            continue
        tensor = _new(draft)
        if tensor.role == "alloc":
            draft.statements.append(tirx.AllocBuffer(tensor.buffer))
        draft.statements.append(_kernel(site, tensor))
        site.tensors.append(tensor)
    if not any(t.role == "output" for t in draft.tensors):
        values, fraction = held_range("float32")
        tensor = draft.add_tensor("T", (draft.extent(8),), "float32", values, fraction=fraction, role="output")
        draft.statements.append(_kernel(site, tensor))
    draft.features.add("kernels")
    return finished(draft, schedulable=False, attributes={"tirx.is_scheduled": True})


def _new(draft: FunctionDraft) -> DraftTensor:
    """A tensor with elements (a grid without blocks cannot be launched): an output, or one for the next kernels."""
    tensor = new_tensor(draft, "output")
    if not all(dim.value for dim in tensor.dims):
        draft.tensors.remove(tensor)
        values, fraction = held_range(tensor.dtype)
        dims = (draft.draw_extent(empty=False),)
        tensor = draft.add_tensor("T", dims, tensor.dtype, values, fraction=fraction, role="output")
    if all(dim.static for dim in tensor.dims) and draft.source.flip(draft.knobs.kernels.between):
        draft.tensors.remove(tensor)
        tensor = replace(tensor, role="alloc")
        draft.tensors.append(tensor)
    return tensor


def _kernel(site: Site, tensor: DraftTensor, *, again: bool = False) -> Stmt:
    """A kernel that stores to every element of the tensor."""
    draft = site.draft
    for _ in range(draft.knobs.kernels.tries):
        kind = _together if draft.source.flip(draft.knobs.kernels.together) else weighted(draft.source, _KINDS)
        features, tensors = set(draft.features), list(draft.tensors)
        try:
            return kind(Launch(site, tensor, again))
        except Unfit:
            draft.features, draft.tensors = features, tensors
    return _elements(Launch(site, tensor, again))


def _elements(kernel: Launch) -> Stmt:
    """Threads numbered through all elements."""
    dims, draft = kernel.tensor.dims, kernel.draft
    threads = weighted(kernel.source, draft.knobs.kernels.threads)
    total = kernel.times(dims)
    block = kernel.axis("blockIdx.x", kernel.blocks(total, threads))
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    index = position(draft, block[0], threads, thread[0])
    indices = unravelled(index, [dim.expr for dim in dims])
    body = kernel.element(kernel.inside(indices, [block, thread]), indices)
    return kernel.bound([block, thread], kernel.where(index, total, threads, body))


def _several(kernel: Launch) -> Stmt:
    """The same, some elements for each thread: next to each other, or so far apart that neighbours touch neighbours."""
    dims, draft = kernel.tensor.dims, kernel.draft
    if not dims:
        raise Unfit("one element")
    threads, count = weighted(kernel.source, draft.knobs.kernels.few_threads), favour(kernel.source, 2, 3, 4)
    total = kernel.times(dims)
    block = kernel.axis("blockIdx.x", kernel.blocks(total, threads * count))
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    step = tirx.Var(draft.new_name("i"), draft.index_dtype)
    strided = kernel.source.flip()
    within = position(draft, step, threads, thread[0]) if strided else position(draft, thread[0], count, step)
    index = position(draft, block[0], threads * count, within)
    indices = unravelled(index, [dim.expr for dim in dims])
    body = kernel.element(kernel.inside(indices, [block, thread]), indices)
    draft.features.add("several_for_a_thread")
    kind = favour(kernel.source, SERIAL, tirx.ForKind.UNROLLED)
    body = kernel.where(index, total, threads * count, body)
    return kernel.bound([block, thread], tirx.For(step, draft.number(0), draft.number(count), kind, body))


def _tiles(kernel: Launch) -> Stmt:
    """Blocks and threads of two dims."""
    dims, draft = kernel.tensor.dims, kernel.draft
    if len(dims) < 2:
        raise Unfit("one dim")
    axes: list[ThreadAxis] = []
    lead = []
    if dims[:-2]:
        axes.append(kernel.axis("blockIdx.z", kernel.times(dims[:-2])))
        lead = unravelled(axes[0][0], [dim.expr for dim in dims[:-2]])
    blocks, threads, near = list[ThreadAxis](), list[ThreadAxis](), list[tuple[Expr, Extent, int]]()
    for tag, dim in zip("yx", dims[-2:], strict=True):
        side = weighted(kernel.source, draft.knobs.kernels.tile_side)
        blocks.append(kernel.axis(f"blockIdx.{tag}", kernel.blocks(dim.expr, side)))
        threads.append(kernel.axis(f"threadIdx.{tag}", draft.number(side)))
        near.append((position(draft, blocks[-1][0], side, threads[-1][0]), dim, side))
    indices = [*lead, *(index for index, _, _ in near)]
    body = kernel.element(kernel.inside(indices, [*blocks, *threads]), indices)
    for index, dim, side in near:
        body = kernel.where(index, dim.expr, side, body)
    draft.features.add("grid_of_two_dims")
    return kernel.bound([*axes, *blocks, *threads], body)


def _rows(kernel: Launch) -> Stmt:
    """A block for each row, whose threads go along it in strides."""
    dims, draft = kernel.tensor.dims, kernel.draft
    if not dims:
        raise Unfit("no row")
    block = kernel.axis("blockIdx.x", kernel.times(dims[:-1]))
    threads = weighted(
        kernel.source, draft.knobs.kernels.few_threads if kernel.source.flip() else draft.knobs.kernels.threads
    )
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    step = tirx.Var(draft.new_name("i"), draft.index_dtype)
    index = position(draft, step, threads, thread[0])
    indices = [*unravelled(block[0], [dim.expr for dim in dims[:-1]]), index]
    body = kernel.element(kernel.inside(indices, [block, thread]), indices)
    turns = kernel.blocks(dims[-1].expr, threads)
    draft.features.add("thread_stride")
    body = kernel.where(index, dims[-1].expr, threads, body)
    return kernel.bound([block, thread], tirx.For(step, draft.number(0), turns, SERIAL, body))


def _together(kernel: Launch) -> Stmt:
    """A block for each row, a thread for each element of it; threads read each other's elements in shared memory."""
    dims, draft, source = kernel.tensor.dims, kernel.draft, kernel.source
    if not dims or not dims[-1].static or dims[-1].value > draft.knobs.kernels.longest_row:
        raise Unfit("no row of a block")
    length = dims[-1].value
    threads = favour(source, length, next(2**n for n in range(8) if 2**n >= length), length + 1)
    block = kernel.axis("blockIdx.x", kernel.times(dims[:-1]))
    thread = kernel.axis("threadIdx.x", draft.number(threads))
    indices = [*unravelled(block[0], [dim.expr for dim in dims[:-1]]), thread[0]]
    inner = kernel.inside(indices, [block])
    make = weighted(source, MAKERS)
    statements = make(kernel, inner, indices, length, threads)
    return kernel.bound([block, thread], *statements)


_KINDS: tuple[tuple[Callable[[Launch], Stmt], int], ...] = (
    (_elements, 5),
    (_several, 4),
    (_tiles, 4),
    (_rows, 4),
)
"""How the elements are shared out among threads that work alone, with weights."""
