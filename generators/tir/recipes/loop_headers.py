"""Loops that do not begin at 0 or do not step by 1, and loops that something in them ends or skips.

CanonicalizeLoop rewrites the former (src/s_tir/transform/canonicalize_loop.cc), AnnotateIrregularLoop marks the latter,
so that later passes do not take them for loops that run to their end (src/s_tir/transform/annotate_irregular_loop.cc).
"""

from __future__ import annotations

from generators.source import Source
from generators.tir.control_flow import draw_jump, draw_loop_over
from generators.tir.function_draft import DraftTensor
from generators.tir.prim_program import PrimProgram
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import among, changed, new_filled
from generators.tir.site import Header, Site, sequence
from generators.tir.swarm import Unusual
from generators.tvm_api import Stmt


def draw_moved_loops(source: Source) -> PrimProgram:
    """A loop over a tensor with any start and step, in some cases in another one."""
    return among(source, _moved)


def draw_jumping_loops(source: Source) -> PrimProgram:
    """A loop over a tensor with a condition on which it ends, or goes on with its next iteration."""
    return among(source, _jumping)


def _moved(site: Site) -> Stmt:
    tensor = _tensor(site)
    inner = _moved_once if site.draft.source.flip(KNOBS.headers.nested) else _changed
    return draw_loop_over(site, _header(site, tensor), lambda at: inner(at, tensor))


def _moved_once(site: Site, tensor: DraftTensor) -> Stmt:
    return draw_loop_over(site, _header(site, tensor), lambda at: _changed(at, tensor))


def _jumping(site: Site) -> Stmt:
    draft, source = site.draft, site.draft.source
    draft.unusual |= {Unusual.JUMP}
    tensor = _tensor(site)
    moved = source.flip(KNOBS.headers.moved)
    header = _header(site, tensor) if moved else Header(tensor.dims[0])

    def body(at: Site) -> Stmt:
        before = [_changed(at, tensor)] if source.flip(KNOBS.headers.before) else []
        return sequence(*before, draw_jump(at, lambda after: _changed(after, tensor)))

    return draw_loop_over(site, header, body)


def _tensor(site: Site) -> DraftTensor:
    """A tensor to go over. A loop of one iteration is none for many passes."""
    draft = site.draft
    return new_filled(site, (draft.extent(draft.source.integer(*KNOBS.headers.lengths)),))


def _header(site: Site, tensor: DraftTensor) -> Header:
    """Each element of the tensor, by a variable that begins or steps otherwise."""
    start, step = site.draft.source.pick(KNOBS.headers.starts_and_steps)
    return Header(tensor.dims[0], start, step)


def _changed(site: Site, tensor: DraftTensor) -> Stmt:
    return changed(site, tensor, site.index_of(tensor))


RECIPES = (
    PrimRecipe("moved_loops", draw_moved_loops, host=True),
    PrimRecipe("jumping_loops", draw_jumping_loops, host=True),
)
