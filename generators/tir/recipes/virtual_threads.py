"""Virtual threads around buffers of their own, branches, bindings and loops: on a CPU, and in the threads of a kernel.

Each works on elements of its own, since nothing orders them (src/s_tir/transform/inject_virtual_thread.cc gives each
its own copy of a buffer, and runs each statement for all of them before the next, or some statements for one after the
other). A `while` in them is a limit that the pass states.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import tirx

from generators.source import Source, favour, weighted
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, load
from generators.tir.functions import finished
from generators.tir.opaque import draw_one, held_range
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.block_drafts import Loop, add_input, drafted, loop_of, within
from generators.tir.recipes.memory_knobs import AROUND, SHARED, VIRTUAL
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.site import Site, sequence, store
from generators.tir.swarm import Unusual, draw_unusual
from generators.tvm_api import Stmt

_ALLOWED = frozenset(
    (Unusual.LET, Unusual.BIND, Unusual.LAZY, Unusual.LIKELY, Unusual.TRIANGLE, Unusual.INDEX, Unusual.UNROLLED)
)


def _on_host(source: Source) -> PrimProgram:
    """Virtual threads in a serial loop."""
    draft = drafted(source, AROUND)
    outer = loop_of(draft, draft.extent(weighted(source, VIRTUAL.outer)))
    draft.statements.append(within(draft, [outer], _virtual(draft, [outer])))
    return finished(draft, schedulable=False)


def _in_kernel(source: Source) -> PrimProgram:
    """Virtual threads of the threads of a kernel."""
    draft = drafted(source, AROUND)
    blocks = loop_of(draft, draft.extent(weighted(source, SHARED.rows)), tag="blockIdx.x")
    threads = loop_of(draft, draft.extent(source.pick((2, 4, 5))), tag="threadIdx.x")
    draft.statements.append(within(draft, [blocks, threads], _virtual(draft, [blocks, threads])))
    draft.features.add("kernels")
    return finished(draft, schedulable=False, attributes={"tirx.is_scheduled": True})


def _virtual(draft: FunctionDraft, outer: Sequence[Loop]) -> Stmt:
    """Virtual threads, each of which fills buffers, changes them, and shows them in outputs."""
    source = draft.source
    draft.unusual = draw_unusual(source, draft.knobs) & _ALLOWED
    loops = [loop_of(draft, draft.extent(weighted(source, VIRTUAL.counts)), tag="vthread.x")]
    if source.flip(VIRTUAL.second):
        loops.append(loop_of(draft, draft.extent(source.integer(2, 3)), tag="vthread.y"))
        draft.features.add("virtual_threads_of_two_dims")
    every, width = [*outer, *loops], draft.extent(source.pick((4, 1, 3, 5)))
    inputs = [add_input(draft, [*(loop.point.extent for loop in every), width])]
    inputs.append(add_input(draft, [width]))
    site = Site(draft, list(inputs)).inside(*(loop.point for loop in every))
    statements: list[Stmt] = []
    for _ in range(source.integer(*VIRTUAL.buffers)):
        buffer = _own(draft, favour(source, (width,), (draft.extent(2), width), (draft.extent(1),)))
        around = [inputs[1]] if source.flip(VIRTUAL.untouched) else list(site.tensors)
        statements += [tirx.AllocBuffer(buffer.buffer), _filled(site, buffer, around)]
        site.tensors.append(buffer)
    for _ in range(source.integer(*VIRTUAL.statements)):
        statements.append(draw_one(site))
    shown = [_shown(draft, tensor, every) for tensor in site.tensors if tensor.role == "alloc"]
    draft.features.add("virtual_threads")
    return within(draft, loops, sequence(*statements, *shown))


def _own(draft: FunctionDraft, dims: tuple[Extent, ...]) -> DraftTensor:
    """A buffer of each virtual thread."""
    dtype = draft.draw_dtype()
    values, fraction = held_range(dtype)
    layout: Layout = {"scope": "local"} if draft.source.flip(VIRTUAL.local) else {}
    return draft.add_tensor("B", dims, dtype, values, fraction=fraction, role="alloc", **layout)


def _filled(site: Site, buffer: DraftTensor, tensors: list[DraftTensor]) -> Stmt:
    """Every element stored, made of these tensors."""
    loops = [loop_of(site.draft, dim) for dim in buffer.dims]
    untouched = len(tensors) == 1
    inner = site.inside(*(loop.point for loop in loops))
    inner.tensors = tensors
    if untouched:
        inner.points = [loop.point for loop in loops]
        inner.values = []
    value = inner.value(buffer.dtype, lets=not untouched)
    return within(site.draft, loops, store(buffer, value, [loop.var for loop in loops]))


def _shown(draft: FunctionDraft, buffer: DraftTensor, around: Sequence[Loop]) -> Stmt:
    """The buffer of this virtual thread, at its place in an output."""
    loops = [loop_of(draft, dim) for dim in buffer.dims]
    dims = tuple(loop.point.extent for loop in (*around, *loops))
    output = draft.add_tensor("T", dims, buffer.dtype, buffer.range, fraction=buffer.fraction, role="output")
    stored = store(output, load(buffer, [loop.var for loop in loops]), [loop.var for loop in (*around, *loops)])
    return within(draft, loops, stored)


RECIPES: tuple[PrimRecipe, ...] = (
    PrimRecipe("virtual_threads", _on_host, host=True),
    PrimRecipe("virtual_threads_in_kernel", _in_kernel, threads=True),
)
