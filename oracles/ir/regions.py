"""Properties that a PrimFunc must have for a wrong result to mean anything. Reduction must not break them.

Sblocks declare the buffers that they read and write, and their iterations: schedule primitives and lowerings rely on
T.reads, T.writes and the extents of block axes. Divisions must stand where their guard protects them, regions lie in
their buffers, virtual threads, which nothing orders, work on elements of their own, and inputs of call_tir stay as
they are.
"""

from __future__ import annotations

import tvm
from tvm import s_tir, tirx

from generators import tvm_api as T
from generators.tvm_api import Expr, IRModule, Node, PrimFunc, Stmt, Var
from oracles.ir.operators import operator_calls
from oracles.ir.walk import TUPLE, nodes_of, prim_funcs, prim_vars

_COPY = "auto_copy"
"""The mark of a block that copies its region, for passes to do in their own way."""


def declares_what_it_does(module: IRModule) -> bool:
    """Whether every sblock of the module's PrimFuncs writes the buffers that it declares and no others, reads those
    that it declares, touches no fixed element in place of one that it declares by an axis, and is run for every
    value of its axes that are bound to a loop or to a number."""
    return all(_honest(prim_func) for _, prim_func in prim_funcs(module))


def divides_in_the_open(module: IRModule) -> bool:
    """Whether an operand of And, Or or Select divides by anything but a literal. Code generators evaluate all operands
    of these; only T.if_then_else evaluates no more than it chooses (src/target/llvm/codegen_llvm.cc, VisitExpr_ of
    AndNode)."""
    eager = (tirx.And, tirx.Or, tirx.Select)
    return any(
        not isinstance(division.b, tirx.IntImm)
        for _, function in prim_funcs(module)
        for operator in nodes_of(function.body, eager)
        for division in nodes_of(operator, (tirx.FloorDiv, tirx.FloorMod, tirx.Div, tirx.Mod))
    )


def unguarded_divisions(module: IRModule) -> int:
    """How many integer divisions stand under no condition, by what may be 0 as it is written: neither a literal nor
    the larger of something and a positive literal."""
    found = 0
    for _, function in prim_funcs(module):
        guards = [*nodes_of(function.body, tirx.IfThenElse), *choices(function.body)]
        guarded = {division for guard in guards for division in _doubtful(guard)}
        found += sum(division not in guarded for division in _doubtful(function.body))
    return found


def regions_outside(module: IRModule) -> int:
    """How many dimensions of the regions that sblocks declare, or match a buffer with, are not known to lie in those of
    their buffer, whatever values the axes and the loops around have."""
    return sum(_outside(function) for _, function in prim_funcs(module))


def _outside(function: PrimFunc) -> int:
    blocks = nodes_of(function.body, s_tir.SBlock)
    known = tvm.sym.Analyzer()
    ranges = {axis.var: axis.dom for block in blocks for axis in block.iter_vars}
    for loop in nodes_of(function.body, tirx.For):
        ranges[loop.loop_var] = tvm.ir.Range.from_min_extent(loop.min, loop.extent)
    for var, values in ranges.items():
        known.bind(var, values)
    regions = [region for block in blocks for region in (*block.reads, *block.writes)]
    regions += [match.source for block in blocks for match in block.match_buffers]
    return sum(
        not (known.can_prove(reach.min >= 0) and known.can_prove(reach.min + reach.extent <= size))
        for region in regions
        for reach, size in zip(region.region, region.source.shape, strict=True)
    )


def shared_by_virtual_threads(module: IRModule) -> int:
    """How many accesses of virtual threads to a buffer from around them, into which they store, do not depend on which
    of them it is: two of them may then touch one element. A matched buffer, a view of another one, is passed over."""
    return sum(_shared(function) for _, function in prim_funcs(module))


def inputs_stored(module: IRModule) -> int:
    """How many inputs of call_tir its PrimFunc stores into, each call on its own. It is a function of its inputs
    (relax.op.call_tir), so that passes may share and move them."""
    stored = {name: _stored_parameters(function) for name, function in prim_funcs(module)}
    found = 0
    for call, _ in operator_calls(module):
        if call.op.name == "relax.call_tir" and call.args[0] in stored and isinstance(call.args[1], TUPLE):
            found += sum(number < len(call.args[1].fields) for number in stored[call.args[0]])
    return found


def _stored_parameters(function: PrimFunc) -> tuple[int, ...]:
    """The places of the parameters into which a PrimFunc stores, itself or through a buffer matched with them."""
    matched = {
        match.buffer: match.source.source
        for block in nodes_of(function.body, s_tir.SBlock)
        for match in block.match_buffers
    }
    into = {store.buffer for store in nodes_of(function.body, tirx.BufferStore)}
    while through := {matched[buffer] for buffer in into if buffer in matched} - into:
        into |= through
    return tuple(number for number, param in enumerate(T.parameters_of(function)) if param in into)


def _shared(function: PrimFunc) -> int:
    found = 0
    values: dict[Var, Expr] = {bind.var: bind.value for bind in nodes_of(function.body, tirx.Bind)}
    for realize in nodes_of(function.body, s_tir.SBlockRealize):
        for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
            values[axis.var] = value
    for thread, body in _virtual_threads(function):
        blocks = nodes_of(body, s_tir.SBlock)
        own = {buffer for block in blocks for buffer in block.alloc_buffers}
        own |= {match.buffer for block in blocks for match in block.match_buffers}
        own |= {each.buffer for each in nodes_of(body, (tirx.AllocBuffer, tirx.DeclBuffer))}
        stores = [(store.buffer, store.indices) for store in nodes_of(body, tirx.BufferStore)]
        loads = [(load.source, load.indices) for load in nodes_of(body, T.TensorLoad)]
        stored = {buffer for buffer, _ in stores} - own
        found += sum(buffer in stored and not _depends(at, thread, values) for buffer, at in (*stores, *loads))
    return found


def _virtual_threads(function: PrimFunc) -> list[tuple[Var, Stmt]]:
    """The variables of more than one virtual thread, and what these do."""
    loops = [
        (loop.loop_var, loop.extent, loop.body)
        for loop in nodes_of(function.body, tirx.For)
        if loop.thread_binding is not None and str(loop.thread_binding.thread_tag).startswith("vthread")
    ]
    attributes = [
        (attribute.node.var, attribute.value, attribute.body)
        for attribute in nodes_of(function.body, tirx.AttrStmt)
        if str(attribute.attr_key) == "virtual_thread"
    ]
    return [(var, body) for var, extent, body in (*loops, *attributes) if not _is(extent, 1)]


def _depends(indices: list[Expr], var: Var, values: dict[Var, Expr]) -> bool:
    """Whether an index is made of the variable. values: what other variables stand for."""
    seen: set[Var] = set()
    left = [each for index in indices for each in prim_vars(index)]
    while left:
        each = left.pop()
        if each.same_as(var):
            return True
        if each not in seen:
            seen.add(each)
            left += prim_vars(values[each]) if each in values else ()
    return False


def _is(expr: Expr, number: int) -> bool:
    return isinstance(expr, tirx.IntImm) and int(expr.value) == number


def choices(body: Stmt) -> list[Node]:
    """The calls of if_then_else, which compute one of their branches."""
    calls = nodes_of(body, T.Call)
    return [call for call in calls if getattr(call.op, "name", "").endswith(".if_then_else")]


def _doubtful(part: Node) -> list[Node]:
    divisions = nodes_of(part, (tirx.FloorDiv, tirx.FloorMod, tirx.Div, tirx.Mod))
    return [each for each in divisions if "int" in str(each.ty) and not _is_not_zero(each.b)]


def _is_not_zero(divisor: Node) -> bool:
    if isinstance(divisor, tirx.IntImm):
        return int(divisor.value) != 0
    if isinstance(divisor, tirx.Cast):
        return _is_not_zero(divisor.value)
    if isinstance(divisor, tirx.Max):
        return any(isinstance(side, tirx.IntImm) and int(side.value) > 0 for side in (divisor.a, divisor.b))
    return False


def _honest(prim_func: PrimFunc) -> bool:
    loops = {loop.loop_var: loop for loop in nodes_of(prim_func.body, tirx.For)}
    return all(
        _declared(realize.block) and _covered(realize, loops)
        for realize in nodes_of(prim_func.body, s_tir.SBlockRealize)
        if str(realize.block.name_hint) != "root"
    )


def _declared(block: Node) -> bool:
    blocks = [block, *(inner for part in _parts(block) for inner in nodes_of(part, s_tir.SBlock))]
    matched = {match.buffer: match.source.source for each in blocks for match in each.match_buffers}
    own = {buffer for each in blocks for buffer in each.alloc_buffers}
    stores = [store.buffer for part in _parts(block) for store in nodes_of(part, tirx.BufferStore)]
    loads = [load.source for part in _parts(block) for load in nodes_of(part, T.TensorLoad)]
    stored = {matched.get(buffer, buffer) for buffer in stores} - own
    seen = stored | {matched.get(buffer, buffer) for buffer in loads}
    reads = {region.source for region in block.reads}
    writes = {region.source for region in block.writes}
    return bool(stored) and stored == writes and reads <= seen and _in_place(block)


def _in_place(block: Node) -> bool:
    """Whether no access of a block has a number as index of a dimension, where each region of that buffer is a point
    that one of the block's axes names, and the axis has more values than one; in a block that is marked as a copy, also
    where its region is more than a point, all of which such a block copies (LowerAutoCopy)."""
    copies = _COPY in block.annotations
    extents = {axis.var: axis.dom.extent for axis in block.iter_vars}
    several = {var for var, extent in extents.items() if not (isinstance(extent, tirx.IntImm) and extent.value == 1)}
    named: dict[tuple[Node, int], bool] = {}
    for region in (*block.reads, *block.writes):
        for dim, reach in enumerate(region.region):
            at = (region.source, dim)
            point = isinstance(reach.extent, tirx.IntImm) and reach.extent.value == 1
            through = point and isinstance(reach.min, Var) and reach.min in several
            named[at] = named.get(at, True) and (through or (copies and not point))
    stores = [(each.buffer, each.indices) for part in _parts(block) for each in nodes_of(part, tirx.BufferStore)]
    loads = [(each.source, each.indices) for part in _parts(block) for each in nodes_of(part, T.TensorLoad)]
    return not any(
        named.get((buffer, dim), False)
        for buffer, indices in (*stores, *loads)
        for dim, index in enumerate(indices)
        if isinstance(index, tirx.IntImm)
    )


def _parts(block: Node) -> list[Stmt]:
    return [block.body] if block.init is None else [block.body, block.init]


def _covered(realize: Node, loops: dict[Var, Stmt]) -> bool:
    """Whether axes that are bound to a loop variable or a number have the extent of the loop, or of one."""
    for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        extent = axis.dom.extent
        if isinstance(value, tirx.IntImm):
            if not isinstance(extent, tirx.IntImm) or int(extent.value) != 1:
                return False
        elif value in loops and not T.structural_equal(extent, loops[value].extent):
            return False
    return True
