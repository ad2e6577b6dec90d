"""Stores of T.undef(), directly, through names and inside of expressions. Each element is stored anew before it is
read."""

from __future__ import annotations

from tvm import tirx

from generators.source import Source
from generators.tir.function_draft import DraftTensor, FunctionDraft
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import AROUND
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, among, counted, loop, new_unfilled
from generators.tir.site import Site, sequence, store
from generators.tvm_api import Expr, Stmt


def draw_undefined_stores(source: Source) -> PrimProgram:
    """Loops that store T.undef() to some or all elements of a buffer, then numbers to all of them."""
    return among(source, _undefined_stores, AROUND)


def _undef(dtype: str) -> Expr:
    return tirx.call_intrin(dtype, "tirx.undef")


def _undefined_stores(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    dims = tuple(draft.extent(source.integer(1, 6)) for _ in range(source.integer(1, 2)))
    tensor = new_unfilled(site, dims, source.pick(NUMBERS), role=source.pick(("alloc", "output")))
    parts = [_stored(site, tensor, undefined=True)]
    if source.flip():
        parts.append(_stored(site, tensor, undefined=True))
    parts.append(_stored(site, tensor, undefined=False))
    if source.flip():
        parts.insert(0, _stored(site, tensor, undefined=False))
    site.tensors.append(tensor)
    draft.features.add("undefined_store")
    return sequence(*parts)


def _stored(site: Site, tensor: DraftTensor, *, undefined: bool) -> Stmt:
    """A loop for each dim around a store of a number, or of an undefined one, to each element."""
    draft = site.draft
    loops = [(*counted(draft, dim), dim) for dim in tensor.dims]
    inner = site.inside(*(point for _, point, _ in loops), turns=tensor.elements)
    indices: list[Expr] = [var for var, _, _ in loops]
    if undefined:
        body = _undefined(draft, inner, tensor, indices)
    else:
        body = store(tensor, inner.value(tensor.dtype), indices)
    for var, _, dim in reversed(loops):
        body = loop(draft, var, dim, body)
    return body


def _undefined(draft: FunctionDraft, site: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """The store of an undefined number, in some cases beside one that has to stay."""
    source = draft.source
    value = _undef(tensor.dtype)
    before: list[Stmt] = []
    if source.flip():
        name = tirx.Var(draft.new_name("u"), tensor.dtype)
        before.append(tirx.Bind(name, value))
        value = name
        if source.flip():
            again = tirx.Var(draft.new_name("u"), tensor.dtype)
            before.append(tirx.Bind(again, tirx.Max(name, site.value(tensor.dtype, lets=False).expr)))
            value = again
    if source.flip():
        value = source.pick((tirx.Min, tirx.Max))(value, site.value(tensor.dtype, lets=False).expr)
    stored: Stmt = tirx.BufferStore(tensor.buffer, value, indices)
    others = [t for t in site.writable if t is not tensor and all(d.static and d.value for d in t.dims)]
    beside = []
    if others and source.flip():
        other = source.pick(others)
        beside = [store(other, site.value(other.dtype), site.index_of(other))]
    return sequence(*before, *([*beside, stored] if source.flip() else [stored, *beside]))


RECIPES = (PrimRecipe("undefined_stores", draw_undefined_stores, host=True),)
