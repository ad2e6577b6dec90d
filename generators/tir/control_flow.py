"""Control flow of functions without blocks: loops with any start and step, while, branches, names, scratch buffers.

Every loop ends: a while counts down, and its data-dependent test can only end it earlier. Conditions of branches are
in `conditions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import tvm
from tvm import tirx

from generators import tvm_api
from generators.ranges import Range
from generators.source import favour
from generators.tir.cell import Cell, as_index, new_cell
from generators.tir.conditions import draw_test
from generators.tir.expressions import draw_condition, draw_value
from generators.tir.function_draft import Extent, FunctionDraft, Unfit, load
from generators.tir.reads import Point, counter
from generators.tir.site import Header, Inner, Site, sequence, store
from generators.tir.swarm import Unusual
from generators.tir.terms import Term, constant
from generators.tvm_api import Expr, Stmt


def affordable(site: Site, turns: int) -> bool:
    """Whether a loop of so many iterations may stand here."""
    return site.turns * max(turns, 1) <= site.draft.knobs.max_iterations // 20


def budget(site: Site, turns: int) -> None:
    """Raises Unfit where a loop of so many iterations may not stand here."""
    if not affordable(site, turns):
        raise Unfit("too many iterations")


def draw_loop(site: Site, inner: Inner) -> Stmt:
    """A loop over a dim or some numbers, from any start, in any step."""
    return draw_loop_over(site, _draw_header(site), inner)


def draw_loop_over(site: Site, header: Header, inner: Inner) -> Stmt:
    """A serial or unrolled loop over these numbers."""
    draft = site.draft
    extent, start, step = header.extent, header.start, header.step
    budget(site, extent.high)
    site.header = header
    var = tirx.Var(draft.new_name("i"), draft.index_dtype)
    last = start + max(extent.high - 1, 0) * step
    raw = Term(var, draft.index_dtype, Range(min(start, last), max(start, last), True))
    points = [_counted(site, raw, extent, start, step)]
    if start or step != 1:
        points.append(Point(raw, Extent("any", extent.value, extent.low, extent.high, None)))
    # Passes remove loops of one iteration, those with a jump in them too.
    deeper = site.inside(*points, turns=extent.high, in_loop=extent.high > 1)
    skipping = (
        Unusual.JUMP in draft.unusual
        and extent.high > 1
        and draft.source.flip(site.draft.knobs.loops.iterations_skipped)
    )
    elsewhere = deeper.inside(in_loop=deeper.in_loop)
    body = sequence(_skipping(deeper), inner(deeper)) if skipping else inner(deeper)
    if extent.static and draft.source.flip(site.draft.knobs.loops.part_of_iterations):
        body = _for_some(draft, raw, body, lambda: inner(elsewhere))
    kind = tirx.ForKind.SERIAL
    # TVM takes loops that something jumps out of as plain serial ones alone (annotate_irregular_loop.cc).
    irregular = Unusual.JUMP in draft.unusual and tvm_api.jumps(body)
    regular = Unusual.UNROLLED in draft.unusual and not irregular
    if (
        extent.static
        and 0 < extent.value <= 6
        and step == 1
        and regular
        and draft.source.flip(site.draft.knobs.loops.unrolled)
    ):
        kind = tirx.ForKind.UNROLLED
        draft.features.add("unrolled")
    notes = (
        {"pragma_unroll_explicit": 1}
        if regular and draft.source.flip(site.draft.knobs.loops.unroll_annotated)
        else None
    )
    count = extent.expr if step == 1 else draft.length(extent.value, step)
    if start:
        draft.features.add("shifted_loop")
    if step != 1:
        draft.features.add("loop_step")
    return tirx.For(var, draft.number(start), count, kind, body, None, notes, draft.number(step) if step != 1 else None)


def _for_some(draft: FunctionDraft, var: Term, body: Stmt, another: Callable[[], Stmt]) -> Stmt:
    """The body for a part of the iterations alone, as stencils leave out their borders, or do `another` there."""
    first, last = sorted(draft.source.integer(int(var.range.low), int(var.range.high)) for _ in range(2))
    begin = draft.source.pick((tirx.GE(var.expr, draft.number(first)), tirx.GT(var.expr, draft.number(first - 1))))
    end = draft.source.pick((tirx.LE(var.expr, draft.number(last)), tirx.LT(var.expr, draft.number(last + 1))))
    draft.features.add("loop_for_some")
    other = another() if draft.source.flip(draft.knobs.loops.other_iterations) else None
    return tirx.IfThenElse(favour(draft.source, end, begin, tirx.And(begin, end)), body, other)


def _skipping(site: Site) -> Stmt:
    """Iterations of which nothing is done."""
    site.draft.features.add("jump")
    return tirx.IfThenElse(draw_test(site), tirx.Evaluate(tirx.continue_loop()), None)


def _draw_header(site: Site) -> Header:
    """That of the loop before, often; else a dim or some number, from any start, in any step."""
    source = site.draft.source
    if site.header is not None and source.flip(site.draft.knobs.loops.same_header):
        return site.header
    lengths = [d for t in site.tensors for d in t.dims]
    extent = (
        source.pick(lengths) if lengths and source.flip(site.draft.knobs.loops.counts_dim) else site.draft.draw_extent()
    )
    start = favour(source, 0, 1, -2, 3)
    stepped = extent.static and Unusual.STEP in site.draft.unusual
    return Header(extent, start, favour(source, 1, 2, 3) if stepped else 1)


def _counted(site: Site, raw: Term, extent: Extent, start: int, step: int) -> Point:
    """How many iterations were before this one."""
    draft = site.draft
    expr = raw.expr
    if start:
        expr = tirx.Sub(expr, draft.number(start))
    if step != 1:
        rest = draft.source.integer(0, step - 1)  # what rounding down takes off again
        expr = tirx.FloorDiv(tirx.Add(expr, draft.number(rest)) if rest else expr, draft.number(step))
    return Point(Term(expr, raw.dtype, draft.index_range(extent)), extent)


def draw_triangle(site: Site, inner: Inner) -> Stmt:
    """A loop as long as the variable of one around it."""
    draft = site.draft
    outer = [p for p in site.points if p.term.range.low >= 0 and p.extent.static and isinstance(p.term.expr, tirx.Var)]
    if not outer:
        raise Unfit("no loop around")
    point = draft.source.pick(outer)
    budget(site, point.extent.high)
    loop = counter(draft, point.extent)
    count = point.term.expr if draft.source.flip() else tirx.Add(point.term.expr, draft.number(1))
    body = inner(site.inside(loop, turns=point.extent.high))
    draft.features.add("triangular_loop")
    return tirx.For(loop.term.expr, draft.number(0), count, tirx.ForKind.SERIAL, body)


def draw_rest(site: Site, inner: Inner) -> Stmt:
    """A loop from the variable of one around it to the last number that this one is."""
    draft = site.draft
    outer = [p.term for p in site.points if isinstance(p.term.expr, tirx.Var)]
    if not outer:
        raise Unfit("no loop around")
    begin = draft.source.pick(outer)
    turns = int(begin.range.high - begin.range.low) + 1
    budget(site, turns)
    var = tirx.Var(draft.new_name("i"), draft.index_dtype)
    point = Point(Term(var, draft.index_dtype, begin.range), Extent("any", turns, 1, turns, None))
    body = inner(site.inside(point, turns=turns))
    draft.features.add("loop_from_another")
    count = tirx.Sub(draft.number(int(begin.range.high) + 1), begin.expr)
    return tirx.For(var, begin.expr, count, tirx.ForKind.SERIAL, body)


def draw_branch(site: Site, inner: Inner) -> Stmt:
    """One of two statements, or none; 20 % are two branches on one condition, which the first may change."""
    condition = draw_test(site)
    site.draft.features.add("if_then_else_statement")
    first = _branch(site, condition, inner)
    return (
        sequence(first, _branch(site, condition, inner))
        if site.draft.source.flip(site.draft.knobs.branches.twice)
        else first
    )


def _branch(site: Site, condition: Expr, inner: Inner) -> Stmt:
    then = inner(site.inside(in_loop=site.in_loop))
    other = (
        _other(site.inside(in_loop=site.in_loop), inner)
        if site.draft.source.flip(site.draft.knobs.branches.two_sides)
        else None
    )
    return tirx.IfThenElse(condition, then, other)


def _other(site: Site, inner: Inner) -> Stmt:
    """The other side of a branch."""
    source = site.draft.source
    if not source.flip(site.draft.knobs.branches.else_if):
        return inner(site)
    site.draft.features.add("else_if")
    return _branch(site, source.pick(site.conditions), inner)


def draw_while(site: Site, inner: Inner) -> Stmt:
    """A while with a counter of its own, which goes down in every iteration; what follows may read it."""
    draft = site.draft
    count = draft.source.integer(0, 5)
    budget(site, count)
    left = new_cell(draft, count)
    condition: Expr = tirx.GT(left.now.expr, tirx.IntImm("int32", 0))
    if draft.source.flip(site.draft.knobs.loops.while_on_data):
        other = draw_condition(site.operands([t for t in site.tensors if not t.special], 1), 1)
        condition = tirx.And(condition, other.expr)
    turn = Term(as_index(draft, left.now.expr), draft.index_dtype, Range(0, max(count - 1, 0), True))
    deeper = site.inside(*[Point(turn, draft.extent(count))] if count else [], turns=count, in_loop=False)
    body = sequence(left.plus(-1), inner(deeper))
    draft.features.add("while")
    _readable(site, left)
    return left.around(count, tirx.While(condition, body))


def _readable(site: Site, cell: Cell) -> None:
    """In some cases, statements that follow read where the number has come to."""
    if site.draft.source.flip(site.draft.knobs.loops.counter_readable):
        site.values.append(cell.now)


def draw_gate(site: Site, inner: Inner) -> Stmt:
    """A loop that asks a number which it changes itself whether an iteration does something."""
    draft = site.draft
    turns = draft.source.integer(2, 5)
    budget(site, turns)
    passed = new_cell(draft, turns)
    kind = draft.source.pick((tirx.LT, tirx.NE, tirx.GE, tirx.EQ))
    condition = kind(passed.now.expr, tirx.IntImm("int32", draft.source.integer(0, turns - 1)))
    point = counter(draft, draft.extent(turns))
    var = point.term.expr
    then = inner(site.inside(point, turns=turns))
    inside = kind in (tirx.LT, tirx.NE) and draft.source.flip()
    body = tirx.IfThenElse(condition, sequence(then, passed.plus(1)) if inside else then, None)
    if not inside:
        body = sequence(body, passed.plus(1))
    draft.features.add("gate")
    loop = tirx.For(var, draft.number(0), draft.number(turns), tirx.ForKind.SERIAL, body)
    _readable(site, passed)
    return passed.around(0, loop)


def draw_recurrence(site: Site, _inner: Inner) -> Stmt:
    """A loop along a tensor in which each element is made of one that was stored before it, or that will be."""
    draft = site.draft
    source = draft.source
    along = [t for t in site.writable if t.dims and t.dims[-1].static and t.dims[-1].value > 2 and t.dtype != "bool"]
    if not along:
        raise Unfit("nothing to go along")
    tensor = source.pick(along)
    lag = favour(source, 1, 2)
    turns = source.pick([n for n in (tensor.dims[-1].value - lag, 2, 4, 8) if n <= tensor.dims[-1].value - lag])
    budget(site, turns)
    point = counter(draft, draft.extent(turns))
    var = point.term.expr
    at = site.inside(point, turns=turns)
    lead = [site.index(dim) for dim in tensor.dims[:-1]]
    here, there = [*lead, var], [*lead, tirx.Add(var, draft.number(lag))]
    old, new = (here, there) if source.flip(site.draft.knobs.loops.recurrence_forward) else (there, here)
    operands = at.operands([t for t in site.tensors if not t.special], 1).with_leaves(
        load(tensor, old), load(tensor, old)
    )
    draft.features.add("recurrence")
    body = store(tensor, draw_value(replace(operands, lets=False), tensor.dtype, 1), new)
    return tirx.For(var, draft.number(0), draft.number(turns), tirx.ForKind.SERIAL, body)


def draw_bind(site: Site, _inner: Inner) -> Stmt:
    """A named number, or a named index, for the statements that follow."""
    draft = site.draft
    dims = [d for t in site.tensors for d in t.dims if d.static and d.value]
    if dims and draft.source.flip(site.draft.knobs.elements.named_index):
        dim = draft.source.pick(dims)
        index = site.index(dim)
        name = tirx.Var(draft.new_name("x"), draft.index_dtype)
        site.points.append(Point(Term(name, draft.index_dtype, draft.index_range(dim)), dim))
        draft.features.add("named_index")
        return tirx.Bind(name, index)
    value = site.value(draft.draw_dtype())
    var = tirx.Var(draft.new_name("x"), value.dtype)
    site.values.append(Term(var, value.dtype, value.range, value.fraction))
    draft.features.add("bind")
    return tirx.Bind(var, value.expr)


def draw_scratch(site: Site, inner: Inner) -> Stmt:
    """A buffer that lives in a loop or a branch only: filled, used, gone."""
    draft = site.draft
    dtype = draft.draw_dtype()
    if dtype == "bool":
        raise Unfit("a number is wanted")
    dims = (draft.extent(draft.source.pick((1, 2, 4))),)
    low = 0 if dtype.startswith("u") else -20
    scratch = draft.add_tensor("L", dims, dtype, Range(low, 20, True), role="alloc", scope="local")
    draft.tensors.pop()
    fill = [store(scratch, site.value(dtype), [draft.number(i)]) for i in range(dims[0].value)]
    deeper = site.inside(in_loop=site.in_loop)
    deeper.tensors.append(scratch)
    draft.features.add("scratch")
    return sequence(tirx.AllocBuffer(scratch.buffer), *fill, inner(deeper))


def draw_assertion(site: Site, _inner: Inner) -> Stmt:
    """An assertion that holds."""
    draft = site.draft
    if not site.points:
        raise Unfit("nothing to assert about")
    term = draft.source.pick(site.points).term
    least = constant(int(term.range.low), term.dtype)
    draft.features.add("assert")
    kind, *message = (tvm.ir.StringImm(text) for text in ("RuntimeError", "a loop variable ", "is in range"))
    # The order that TVM's constructor takes; its Python wrapper names the first two parameters the other way round.
    return tirx.AssertStmt(tirx.GE(term.expr, least.expr), kind, message)


def draw_jump(site: Site, inner: Inner) -> Stmt:
    """A conditional break or continue, and the statements that it skips."""
    draft = site.draft
    if not site.in_loop:
        raise Unfit("no loop to jump in")
    condition = draw_condition(site.operands([t for t in site.tensors if not t.special], 1), 1)
    jump = tirx.Evaluate(tirx.break_loop() if draft.source.flip() else tirx.continue_loop())
    draft.features.add("jump")
    return sequence(tirx.IfThenElse(condition.expr, jump, None), inner(site))
