"""Memory that is seen in several ways: buffers of vectors alone, buffers of different dtypes that live one after the
other, and places in a buffer that are reached by an address."""

from __future__ import annotations

from tvm import tirx

from generators import tvm_api
from generators.source import Source
from generators.tir.function_draft import DraftTensor, Extent, Layout, load
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, among, changed, counted, loop, new_filled, new_unfilled
from generators.tir.site import Site, sequence, store
from generators.tir.terms import constant, held
from generators.tvm_api import Expr, Stmt


def draw_vector_buffers(source: Source) -> PrimProgram:
    """A buffer whose accesses are vectors of one length, and loops that fill and read it. Parameters have accesses of
    single elements as well: of others, PointerValueTypeRewrite makes parameters that the caller does not know."""
    return among(source, _vector_buffers)


def draw_short_lives(source: Source) -> PrimProgram:
    """Buffers of different dtypes and sizes, each filled and read before the next one is."""
    return among(source, _short_lives)


def draw_addressed_places(source: Source) -> PrimProgram:
    """A view at the address of a place in a buffer."""
    return among(source, _addressed_places)


def _vector_buffers(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    lanes, count = source.pick(KNOBS.pointers.lanes), draft.extent(source.integer(*KNOBS.pointers.chunks))
    dtype, dims = source.pick(NUMBERS), (draft.extent(lanes * count.value),)
    given = new_filled(site, dims, dtype)
    kept = new_unfilled(site, dims, dtype, role="alloc")
    shown = new_filled(site, dims, dtype)
    first, last = (_vectors(site, lanes, count, *pair) for pair in ((kept, given), (shown, kept)))
    draft.features |= {"ramp", "vector_buffer"}
    return sequence(first, last, *(_alone(site, kept) if source.flip(KNOBS.pointers.scalar) else ()))


def _vectors(site: Site, lanes: int, count: Extent, to: DraftTensor, source: DraftTensor) -> Stmt:
    """A loop that stores vectors made of those of another buffer."""
    draft = site.draft
    var, _ = counted(draft, count)
    at: list[Expr] = [tirx.Ramp(tirx.Mul(var, draft.number(lanes)), draft.number(1), lanes)]
    loaded = tirx.BufferLoad(source.buffer, at)
    scalar = held(constant(draft.source.integer(0, 5), to.dtype), to.range, to.fraction)
    kind = draft.source.pick((tirx.Min, tirx.Max, None))
    value = loaded if kind is None else kind(loaded, tirx.Broadcast(scalar.expr, lanes))
    return loop(draft, var, count, tirx.BufferStore(to.buffer, value, at))


def _alone(site: Site, tensor: DraftTensor) -> list[Stmt]:
    """One element copied to an element of an output."""
    index = site.draft.number(site.draft.source.integer(0, tensor.elements - 1))
    target = new_unfilled(site, (site.draft.extent(1),), tensor.dtype)
    return [store(target, load(tensor, [index]), [site.draft.number(0)])]


def _short_lives(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    scope: Layout = {"scope": "local"} if source.flip() else {}
    parts: list[Stmt] = []
    for _ in range(source.integer(*KNOBS.pointers.buffers)):
        dim = draft.extent(source.pick((4, 8, 16, 3)))
        dtype = source.pick(NUMBERS)
        kept = new_unfilled(site, (dim,), dtype, role="alloc", **scope)
        draft.statements.pop()  # the allocation, which stands with the rest
        draft.tensors.pop()
        shown = new_unfilled(site, (dim,), dtype)
        parts += [tirx.AllocBuffer(kept.buffer), _copied(site, dim, kept, None), _copied(site, dim, shown, kept)]
        if source.flip():
            site.tensors.append(shown)
    draft.features.add("short_lives")
    return sequence(*parts)


def _copied(site: Site, dim: Extent, to: DraftTensor, source: DraftTensor | None) -> Stmt:
    """A loop that stores an element of the source, or else any value, to each element."""
    var, point = counted(site.draft, dim)
    inner = site.inside(point, turns=dim.value)
    term = inner.value(to.dtype) if source is None else load(source, [var])
    return loop(site.draft, var, dim, store(to, term, [var]))


def _addressed_places(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    length = source.integer(4, 12)
    tensor = new_filled(site, (draft.extent(length),), role=source.pick(("alloc", "output")))
    offset = source.integer(0, length - 2)
    inner = source.integer(0, length - 2 - offset) if source.flip(KNOBS.pointers.nested) else None
    place = tensor.buffer.access_ptr("rw", ptr_type=tensor.dtype, offset=draft.number(offset))
    start = offset
    if inner is not None:
        place = _within(place, draft.number(inner))
        start += inner
    dim = draft.extent(length - start)
    view, declared = view_of(site, tensor, place, dim)
    var, point = counted(draft, dim)
    at = site.inside(point, turns=dim.value)
    at.tensors.append(view)
    body = changed(at, view, [var])
    return sequence(declared, loop(draft, var, dim, body))


def view_of(site: Site, tensor: DraftTensor, place: Expr, dim: Extent) -> tuple[DraftTensor, Stmt]:
    """A second name for the memory of a tensor from a place on, and its declaration."""
    draft = site.draft
    view = draft.add_tensor("Y", (dim,), tensor.dtype, tensor.range, fraction=tensor.fraction, role="alloc")
    draft.tensors.pop()
    site.memory[view.name] = tensor.name
    draft.features |= {"access_ptr", "view"}
    return view, tvm_api.declared(view.buffer, place)


def _within(place: Expr, offset: Expr) -> Expr:
    """The address of a place in a place."""
    dtype, _, _, extent, mask = place.args
    return tvm_api.prim_call(place.op, [dtype, place, offset, tirx.Sub(extent, offset), mask], place.ty)


RECIPES = (
    PrimRecipe("addressed_places", draw_addressed_places, host=True),
    PrimRecipe("buffers_of_vectors", draw_vector_buffers, host=True),
    PrimRecipe("short_lives", draw_short_lives, host=True),
)
