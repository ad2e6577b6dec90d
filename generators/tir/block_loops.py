"""Loops around a block: one for each axis, or split with a predicate, fused, shifted, with a step, of every kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tvm
from tvm import s_tir, tirx

from generators import tvm_api
from generators.ranges import Range
from generators.tir.function_draft import Annotations, DraftTensor, Extent, FunctionDraft, Unfit
from generators.tir.terms import Term
from generators.tvm_api import Expr, Node, Stmt, Var

SPATIAL, REDUCE, ORDERED, OPAQUE = 0, 2, 3, 4
"""IterVar types: DataPar, CommReduce, Ordered, Opaque."""
_NAMES = {SPATIAL: "v", REDUCE: "k", ORDERED: "t", OPAQUE: "o"}
_UNROLLED = 8
VECTOR = (2, 3, 4, 8, 16)
"""Extents of loops that are vectorised."""


Segment = tuple[int, int]
"""From where to where, the end not included."""


@dataclass(frozen=True, slots=True)
class BlockAxis:
    """An axis of a block."""

    kind: int
    extent: Extent
    part: Segment | None = None
    """The range of the loop where it is not the whole axis: then the axis is the loop variable, from there on."""
    narrow: bool = False
    """Whether the block says of such an axis that it is no more than the part."""

    def domain(self, draft: FunctionDraft) -> Node:
        """The domain that the block declares for the axis."""
        begin, end = self.part if self.part and self.narrow else (0, 0)
        return tvm.ir.Range.from_min_extent(draft.number(begin), draft.number(end - begin) if end else self.extent.expr)


@dataclass(frozen=True, slots=True)
class BlockBody:
    """The body of a block, and its init where it reduces."""

    statement: Stmt
    init: Stmt | None = None
    match_buffers: tuple[Node, ...] = ()
    simple: bool = True
    """One store for each point: its loops may be of any kind."""


@dataclass(slots=True)
class _NestLoop:
    """A loop of the nest: `value` counts from 0: the variable less its start, over its step."""

    var: Var
    minimum: Expr
    extent: Expr
    value: Expr
    length: int
    static: bool
    kinds: frozenset[int]
    step: Expr | None = None


@dataclass(slots=True)
class _LoopNest:
    """The loops of a nest, and how the block's axes are bound to them."""

    loops: list[_NestLoop]
    bindings: list[Expr]
    predicates: list[Expr]


def draw_nest(
    draft: FunctionDraft,
    name: str,
    axes: Sequence[BlockAxis],
    make_body: Callable[[list[Term]], BlockBody],
    *,
    tensors: Sequence[DraftTensor] = (),
    plain: bool = False,
) -> Stmt:
    """A block over the axes inside its loops. `make_body` gets the block's variables as terms, in order.

    tensors: those that the block may touch besides the draft's. plain: one serial loop for each axis in order.
    """
    variables = [tirx.Var(draft.new_name(_NAMES[axis.kind]), draft.index_dtype) for axis in axes]
    terms = [Term(v, draft.index_dtype, draft.index_range(a.extent)) for v, a in zip(variables, axes, strict=True)]
    body = make_body(terms)
    iters = [tirx.IterVar(axis.domain(draft), var, axis.kind) for axis, var in zip(axes, variables, strict=True)]
    block = block_of(draft, iters, name, body, tensors)
    shape = _plain(draft, axes) if plain else _shaped(draft, axes)
    realize = s_tir.SBlockRealize(shape.bindings, conjunction(shape.predicates), block)
    return _around(draft, shape.loops, realize, may_vary=body.simple and not plain)


def block_of(
    draft: FunctionDraft,
    iters: Sequence[Node],
    name: str,
    body: BlockBody,
    tensors: Sequence[DraftTensor] = (),
    annotations: Annotations | None = None,
    allocated: Sequence[DraftTensor] = (),
) -> Node:
    """The block with the regions that TVM's analysis finds. tensors: those that it may touch besides the draft's;
    allocated: its own, which are not among its regions. Raises Unfit where the analysis fails: conditions on unsigned
    literals do that to it in 0.27."""
    known = [t.buffer for t in (*draft.tensors, *tensors)]
    own = [t.buffer for t in allocated]
    matches = list(body.match_buffers)
    bare = s_tir.SBlock(list(iters), [], [], name, body.statement, body.init, own, matches)
    try:
        found = tvm_api.regions_of(bare, known)
    except ValueError as error:
        raise Unfit("TVM finds no regions") from error
    reads, writes = ([r for r in regions if not any(r.source.same_as(b) for b in own)] for regions in found)
    draft.read |= {str(r.source.name) for r in reads} - {str(w.source.name) for w in writes}
    return s_tir.SBlock(list(iters), reads, writes, name, body.statement, body.init, own, matches, annotations)


def conjunction(conditions: Sequence[Expr]) -> Expr:
    """All of them; true for none."""
    if not conditions:
        return tirx.IntImm("bool", 1)
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = tirx.And(joined, condition)
    return joined


def _loop(draft: FunctionDraft, extent: Extent, kind: int) -> _NestLoop:
    var = tirx.Var(draft.new_name("i"), draft.index_dtype)
    return _NestLoop(var, draft.number(0), extent.expr, var, extent.value, extent.static, frozenset({kind}))


def _plain(draft: FunctionDraft, axes: Sequence[BlockAxis]) -> _LoopNest:
    shape = _LoopNest([], [], [])
    for axis in axes:
        _one(draft, shape, axis)
    return shape


def _shaped(draft: FunctionDraft, axes: Sequence[BlockAxis]) -> _LoopNest:
    """Usually plain; else each axis is looped over in a way of its own, and loops change places."""
    source = draft.source
    if not source.flip(draft.knobs.block_loops.shaped):
        return _plain(draft, axes)
    shape = _LoopNest([], [], [])
    rest = list(axes)
    while rest:
        axis = rest.pop(0)
        if axis.part is not None:
            _one(draft, shape, axis)
        elif rest and _countable(axis) and _countable(rest[0]) and source.flip(draft.knobs.block_loops.fused):
            _fused(draft, shape, axis, rest.pop(0))
        else:
            source.pick((_one, _split, _shifted, _stepped, _constant))(draft, shape, axis)
    if source.flip(draft.knobs.block_loops.reversed) and not any(OPAQUE in loop.kinds for loop in shape.loops):
        shape.loops.reverse()
        draft.features.add("reordered_loops")
    return shape


def _countable(axis: BlockAxis) -> bool:
    """Whether it goes over all of a length that is a number, and not 0."""
    return axis.part is None and axis.extent.static and axis.extent.value > 0


def _one(draft: FunctionDraft, shape: _LoopNest, axis: BlockAxis) -> None:
    """A loop whose variable is the axis."""
    begin, end = axis.part or (0, 0)
    loop = _loop(draft, draft.extent(end - begin) if axis.part else axis.extent, axis.kind)
    loop.minimum = draft.number(begin)
    shape.loops.append(loop)
    shape.bindings.append(loop.var)


def _constant(draft: FunctionDraft, shape: _LoopNest, axis: BlockAxis) -> None:
    """No loop for an axis of length one."""
    if axis.extent.text != "1":
        return _one(draft, shape, axis)
    shape.bindings.append(draft.number(0))
    draft.features.add("axis_without_loop")
    return None


def _split(draft: FunctionDraft, shape: _LoopNest, axis: BlockAxis) -> None:
    """Two loops, with a predicate where they overshoot."""
    if not axis.extent.value:
        return _one(draft, shape, axis)
    factor = draft.source.pick((2, 3, 4, 5))
    extent = axis.extent
    if extent.static:
        outer = draft.extent(-(-extent.value // factor))
    else:
        rounded = tirx.FloorDiv(tirx.Add(extent.expr, draft.number(factor - 1)), draft.number(factor))
        text = f"ceil({extent.text} / {factor})"
        outer = Extent(text, -(-extent.value // factor), min(extent.low, 1), extent.high, rounded)
    first, second = _loop(draft, outer, axis.kind), _loop(draft, draft.extent(factor), axis.kind)
    value = tirx.Add(tirx.Mul(first.var, draft.number(factor)), second.var)
    shape.loops += [first, second]
    shape.bindings.append(value)
    draft.features.add("split_loops")
    if not extent.static or extent.value % factor:
        shape.predicates.append(tirx.LT(value, extent.expr))
        draft.features.add("predicate")
    return None


def _shifted(draft: FunctionDraft, shape: _LoopNest, axis: BlockAxis) -> None:
    """A loop that does not begin at 0."""
    start = draft.source.pick((1, 2, -3))
    loop = _loop(draft, axis.extent, axis.kind)
    loop.minimum = draft.number(start)
    loop.value = tirx.Sub(loop.var, draft.number(start))
    shape.loops.append(loop)
    shape.bindings.append(loop.value)
    draft.features.add("shifted_loop")


def _stepped(draft: FunctionDraft, shape: _LoopNest, axis: BlockAxis) -> None:
    """A loop whose variable goes up by more than one."""
    if not axis.extent.static or not draft.source.flip(draft.knobs.block_loops.step):
        return _one(draft, shape, axis)
    step = draft.source.pick((2, 3))
    loop = _loop(draft, axis.extent, axis.kind)
    loop.extent = draft.length(axis.extent.value, step)
    loop.step = draft.number(step)
    shape.loops.append(loop)
    shape.bindings.append(tirx.FloorDiv(loop.var, draft.number(step)))
    draft.features.add("loop_step")
    return None


def _fused(draft: FunctionDraft, shape: _LoopNest, one: BlockAxis, other: BlockAxis) -> None:
    """One loop for two axes."""
    inner = draft.number(other.extent.value)
    both = draft.extent(one.extent.value * other.extent.value)
    loop = _loop(draft, both, one.kind)
    loop.kinds = frozenset({one.kind, other.kind})
    shape.loops.append(loop)
    shape.bindings += [tirx.FloorDiv(loop.var, inner), tirx.FloorMod(loop.var, inner)]
    draft.features.add("fused_loops")


def _around(draft: FunctionDraft, loops: list[_NestLoop], body: Stmt, *, may_vary: bool) -> Stmt:
    """The body in its loops. Parallel and vectorized only where iterations write different elements."""
    for depth, loop in reversed(list(enumerate(loops))):
        kind, notes = tirx.ForKind.SERIAL, None
        if may_vary and draft.source.flip(draft.knobs.block_loops.kind):
            kind = _kind(draft, loop, outermost=depth == 0, innermost=depth == len(loops) - 1)
        if draft.source.flip(draft.knobs.block_loops.annotated):
            notes = {"pragma_auto_unroll_max_step": draft.source.pick((0, 4, 16)), "pragma_unroll_explicit": 1}
            draft.features.add("annotated_loop")
        body = tirx.For(loop.var, loop.minimum, loop.extent, kind, body, None, notes, loop.step)
    return body


def _kind(draft: FunctionDraft, loop: _NestLoop, *, outermost: bool, innermost: bool) -> tirx.ForKind:
    options = []
    if loop.static and 0 < loop.length <= _UNROLLED and loop.step is None:
        options.append(("unrolled", tirx.ForKind.UNROLLED))
    if loop.kinds == {SPATIAL} and loop.step is None:
        if outermost:
            options.append(("parallel", tirx.ForKind.PARALLEL))
        if innermost and loop.static and loop.length in VECTOR:
            options.append(("vectorized", tirx.ForKind.VECTORIZED))
    if not options:
        return tirx.ForKind.SERIAL
    name, kind = draft.source.pick(options)
    draft.features.add(name)
    return kind


def product_range(*extents: Extent) -> Range:
    """The range of a row-major position in these extents."""
    count = 1
    for extent in extents:
        count *= extent.high
    return Range(0, max(count - 1, 0), True)
