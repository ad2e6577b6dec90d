"""Vectorized loops over what few loops hold: vectors, conditions on lanes with another side, tails, and comparisons,
quotients and remainders of lanes.

VectorizeLoop refuses a while loop inside by its own words (src/tirx/transform/vectorize_loop.cc, WhileNode). Extents
that are multiples of vscale need a target with SVE or RVV, and no row of `generators.targets` is one.
"""

from __future__ import annotations

from tvm import tirx

from generators.source import Source, favour
from generators.tir.conditions import draw_test
from generators.tir.expressions import draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, load
from generators.tir.prim_program import PrimProgram
from generators.tir.reads import Point
from generators.tir.recipes.plain_knobs import KNOBS
from generators.tir.recipes.recipe import PrimRecipe
from generators.tir.recipes.surroundings import NUMBERS, among, counted, loop, new_filled
from generators.tir.site import Site, sequence, store
from generators.tir.terms import BY_NAME, COMPARISONS, Term, apply, chosen, constant, held
from generators.tvm_api import Expr, Stmt, Var

_INTEGERS = ("int32", "int64", "int8", "int16")


def draw_nested_vectors(source: Source) -> PrimProgram:
    """A loop of vectors of vectors."""
    return among(source, _nested_vectors)


def draw_lane_conditions(source: Source) -> PrimProgram:
    """A branch on a condition that differs between lanes."""
    return among(source, _lane_conditions)


def draw_vector_tail(source: Source) -> PrimProgram:
    """Vectors of a length that they need not divide, in one dim."""
    return among(source, _vector_tail)


def draw_lane_arithmetic(source: Source) -> PrimProgram:
    """Divisions, and choices by comparisons, of lanes."""
    return among(source, _lane_arithmetic)


def draw_lane_quotients(source: Source) -> PrimProgram:
    """Elements at a quotient or a remainder of a lane."""
    return among(source, _lane_quotients)


def _lanes(site: Site) -> Extent:
    return site.draft.extent(site.draft.source.pick(KNOBS.vectors.lanes))


def _rows(site: Site) -> Extent:
    return site.draft.extent(site.draft.source.integer(*KNOBS.vectors.rows))


def _vectorized(site: Site, outer: tuple[Var, Point], inner: tuple[Var, Point], body: Stmt) -> Stmt:
    """A vectorized loop in a serial one."""
    draft = site.draft
    draft.features.add("vectorized")
    lanes = loop(draft, inner[0], inner[1].extent, body, kind=tirx.ForKind.VECTORIZED)
    return loop(draft, outer[0], outer[1].extent, lanes)


def _rows_of_lanes(site: Site, dtype: str = "") -> tuple[DraftTensor, tuple[Var, Point], tuple[Var, Point], Site]:
    """A tensor, the loops over its rows and lanes, and the site inside, where the tensor itself is read by leaves that
    the recipe makes: lanes may not read what others store."""
    draft = site.draft
    outer, inner = counted(draft, _rows(site)), counted(draft, _lanes(site))
    tensor = new_filled(site, (outer[1].extent, inner[1].extent), dtype)
    at = site.inside(outer[1], inner[1], turns=tensor.elements)
    at.tensors = [t for t in at.tensors if t is not tensor]
    at.recent = [e for e in at.recent if e[0] is not tensor]
    return tensor, outer, inner, at


def _made_of(site: Site, tensor: DraftTensor, *leaves: Term) -> Term:
    """A value of the tensor's dtype from these terms and others."""
    operands = site.operands([t for t in site.tensors if not t.special], 1).with_leaves(*leaves)
    return draw_value(operands, tensor.dtype)


def _nested_vectors(site: Site) -> Stmt:
    draft = site.draft
    wide, count = draft.source.pick(KNOBS.vectors.lanes), _lanes(site).value
    dtype = draft.source.pick(NUMBERS)
    dim = draft.extent(wide * count)
    tensor, other = new_filled(site, (dim,), dtype), new_filled(site, (dim,), dtype)
    row, lane = counted(draft, _rows(site)), counted(draft, draft.extent(count))
    start = tirx.Mul(lane[0], draft.number(wide))
    at: list[Expr] = [tirx.Ramp(start, draft.number(1), wide)]
    loaded = tirx.BufferLoad(other.buffer, at)
    inner = site.inside(row[1])
    inner.tensors = [t for t in inner.tensors if t is not tensor]
    scalar = held(inner.value(dtype, lets=False), tensor.range, tensor.fraction)
    spread = tirx.Broadcast(scalar.expr, wide)
    kind = draft.source.pick((tirx.Min, tirx.Max, None))
    asked = draft.source.pick(COMPARISONS)(loaded, spread)
    value = tirx.Select(asked, loaded, spread) if kind is None else kind(loaded, spread)
    draft.features |= {"ramp", "broadcast", "nested_vectors"}
    return _vectorized(site, row, lane, tirx.BufferStore(tensor.buffer, value, at))


def _lane_conditions(site: Site) -> Stmt:
    tensor, outer, inner, at = _rows_of_lanes(site)
    indices: list[Expr] = [outer[0], inner[0]]
    body: Stmt = tirx.IfThenElse(_test(at, inner), changed_here(at, tensor, indices), _other_side(at, tensor, indices))
    if site.draft.source.flip(KNOBS.vectors.second):
        body = sequence(body, changed_here(at, tensor, indices))
    site.draft.features.add("lane_condition")
    return _vectorized(site, outer, inner, body)


def _test(site: Site, lane: tuple[Var, Point]) -> Expr:
    """A condition, in half of the cases of the lane itself."""
    source = site.draft.source
    if source.flip():
        return draw_test(site)
    bound = site.draft.number(source.integer(0, lane[1].extent.value - 1))
    return source.pick(COMPARISONS)(lane[0], bound)


def changed_here(site: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt:
    """The lane's own element made of itself and of others."""
    return store(tensor, _made_of(site, tensor, load(tensor, indices)), indices)


def _other_side(site: Site, tensor: DraftTensor, indices: list[Expr]) -> Stmt | None:
    return changed_here(site, tensor, indices) if site.draft.source.flip(KNOBS.vectors.two_sides) else None


def _vector_tail(site: Site) -> Stmt:
    draft = site.draft
    outer, inner = counted(draft, _rows(site)), counted(draft, _lanes(site))
    lanes = inner[1].extent.value
    length = draft.source.integer((outer[1].extent.value - 1) * lanes + 1, outer[1].extent.value * lanes)
    dim = draft.extent(length)
    dtype = draft.source.pick(NUMBERS)
    tensor, other = new_filled(site, (dim,), dtype), new_filled(site, (dim,), dtype)
    position = tirx.Add(tirx.Mul(outer[0], draft.number(lanes)), inner[0])
    at = site.inside(outer[1], inner[1], turns=length + lanes)
    at.tensors = []
    at.recent = []
    condition: Expr = tirx.LT(position, draft.number(length))
    if draft.source.flip(KNOBS.vectors.likely):
        condition = tirx.likely(condition)
    value = _made_of(at, tensor, load(other, [position]), load(tensor, [position]))
    draft.features.add("vector_tail")
    body = tirx.IfThenElse(condition, store(tensor, value, [position]), None)
    return _vectorized(site, outer, inner, body)


def _lane_arithmetic(site: Site) -> Stmt:
    draft = site.draft
    tensor, outer, inner, at = _rows_of_lanes(site, draft.source.pick(_INTEGERS))
    indices: list[Expr] = [outer[0], inner[0]]
    first = load(tensor, indices)
    second = at.value(tensor.dtype, lets=False)
    divisor = constant(draft.source.pick((2, 3, 5, -3, 7, -2)), tensor.dtype)
    name = draft.source.pick(("truncmod", "truncdiv", "floormod", "floordiv"))
    quotient = apply(BY_NAME[name], first, divisor) or first
    condition = draft.source.pick(COMPARISONS)(first.expr, second.expr)
    other = draft.source.pick(COMPARISONS)(second.expr, quotient.expr)
    joined = draft.source.pick((tirx.And, tirx.Or))(condition, other)
    asked = draft.source.pick((condition, joined, tirx.Not(joined)))
    value = chosen(asked, quotient, second, lazily=draft.source.flip())
    draft.features |= {name, "lane_arithmetic"}
    return _vectorized(site, outer, inner, store(tensor, value, indices))


def _lane_quotients(site: Site) -> Stmt:
    """Each lane, a number after it, is divided: lanes of one vector then fall to one side of a multiple, or to both."""
    draft, source = site.draft, site.draft.source
    dtype = source.pick(NUMBERS)
    outer, inner = counted(draft, _rows(site)), counted(draft, _lanes(site))
    rows, lanes = outer[1].extent.value, inner[1].extent.value
    target = new_filled(site, (outer[1].extent, inner[1].extent), dtype)
    divisor, shift = source.pick((lanes, *KNOBS.vectors.divisors)), source.integer(0, KNOBS.vectors.furthest)
    step = favour(source, 0, 1, lanes)
    position: Expr = inner[0] if step == 0 else tirx.Add(_times(draft, outer[0], step), inner[0])
    position = tirx.Add(position, draft.number(shift)) if shift else position
    quotient, remainder = (node(position, draft.number(divisor)) for node in (tirx.FloorDiv, tirx.FloorMod))
    quotients = draft.extent((step * (rows - 1) + lanes - 1 + shift) // divisor + 1)
    dims, indices = source.pick(
        (
            ((quotients,), [quotient]),
            ((draft.extent(divisor),), [remainder]),
            ((quotients, draft.extent(divisor)), [quotient, remainder]),
        )
    )
    element = load(new_filled(site, dims, dtype), list(indices))
    draft.features.add("lane_quotients")
    return _vectorized(site, outer, inner, store(target, element, [outer[0], inner[0]]))


def _times(draft: FunctionDraft, index: Expr, factor: int) -> Expr:
    return index if factor == 1 else tirx.Mul(index, draft.number(factor))


RECIPES = (
    PrimRecipe("lane_arithmetic", draw_lane_arithmetic, host=True),
    PrimRecipe("lane_conditions", draw_lane_conditions, host=True),
    PrimRecipe("lane_quotients", draw_lane_quotients, host=True),
    PrimRecipe("vectors_in_vector_loops", draw_nested_vectors, host=True),
    PrimRecipe("vector_tails", draw_vector_tail, host=True),
)
