"""Decoding of vectors: what VectorizeLoop and the passes behind it write.

A statement of lanes becomes a loop over its lanes in which all loads come before all stores; a vector expression is
decoded for one lane at a time (`lane`, an int32 expression), so that no vector is left for the generated code. A
buffer with vector elements is a buffer of their scalars with one more dimension.

A scalable vector has VSCALE times as many lanes as its type says (`decode_exprs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.decode_exprs import fold, is_index, lanes_of, scalar_of
from oracles.reference.tir.decode_packed import PackedCallDecoder
from oracles.reference.tir.decode_pointers import DL_CPU, EMPTY, Argument
from oracles.reference.tir.dependence import walk
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import (
    DTYPES,
    INT64,
    Alloc,
    Buffer,
    Call,
    Cast,
    Cmp,
    Const,
    DType,
    Expr,
    For,
    If,
    Let,
    Load,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
)
from oracles.reference.tir.rewrite import substitute

INT32 = DTYPES["int32"]


class LaneDecoder(PackedCallDecoder):
    """Adds vectors to expressions, and the statements that store them."""

    def __init__(
        self, name: str, symbols: dict[int, int], arguments: Sequence[Argument] = (), device_type: int = DL_CPU
    ) -> None:
        super().__init__(name, symbols, arguments, device_type)
        self.vectors: dict[int, Callable[[Expr], Expr]] = {}
        """The lanes of variables that hold vectors."""
        self.wide: dict[int, int] = {}
        """How many lanes an element has, of the buffers with vector elements."""
        self.blanks: dict[str, Buffer] = {}
        """Buffers that are never written, by type."""

    # --- statements -------------------------------------------------------------------------------------------------

    def store_lanes(self, node: Any, lanes: int) -> Stmt:
        """A BufferStore of a vector."""
        var = self._lane_variable()
        with self._at(var):
            target, indices = self.access(node.buffer, node.indices)
            return self._each_lane(var, lanes, Store(target, self.expr(node.value), indices), None)

    def masked_store(self, call: Any) -> Stmt:
        """`masked_store(buffer, value, indices..., mask)`: stores the lanes that the mask selects."""
        buffer, value, *indices, mask = call.args
        var = self._lane_variable()
        with self._at(var):
            target, positions = self.access(buffer, indices)
            store = Store(target, self.expr(value), positions)
            return self._each_lane(var, lanes_of(value.ty), store, self.expr(mask))

    def bind_lanes(self, node: Any, lanes: int) -> Stmt:
        """A Bind of a vector: index arithmetic is put where it is used, anything else is kept in a buffer."""
        var = self._lane_variable()
        with self._at(var):
            value = self.expr(node.value)
        before: Stmt = EMPTY
        if not is_index(value):
            before, value = self._kept(str(node.var.name), var, lanes, value, None)
        self.vectors[node.var.__chandle__()] = lambda lane: substitute(value, {var: lane})
        return before

    def _each_lane(self, var: Var, lanes: int, store: Store, mask: Expr | None) -> Stmt:
        """`store` for all lanes, where what it loads from the memory that it stores to is read ahead."""
        before: list[Stmt] = []

        def ahead(expr: Expr, guard: Expr | None) -> Expr:
            if not _reads(expr, store, var, lanes):
                return expr
            kept, loaded = self._kept(store.buffer.name, var, lanes, expr, guard)
            before.append(kept)
            return loaded

        mask = None if mask is None else ahead(mask, None)
        indices = tuple(ahead(index, mask) for index in store.indices)
        last = _loop(var, lanes, Store(store.buffer, ahead(store.value, mask), indices), mask)
        return Seq((*before, last)) if before else last

    def _kept(self, name: str, var: Var, lanes: int, value: Expr, mask: Expr | None) -> tuple[Stmt, Expr]:
        """Computes all lanes of `value` into a new buffer; the load of one lane from there."""
        kept = self.owner(f"{name}.lanes", value.dtype, (lanes,), "local")
        return Seq((Alloc(kept), _loop(var, lanes, Store(kept, value, (var,)), mask))), Load(kept, (var,), value.dtype)

    def _lane_variable(self) -> Var:
        return self.new_var("lane", INT32)

    def elements(self, tvm_buffer: Any) -> tuple[int, ...]:
        """The dimension that the lanes of a buffer's elements add to its shape, if they are vectors."""
        lanes = lanes_of(tvm_buffer.ty)
        if lanes == 1:
            return ()
        self.wide[tvm_buffer.__chandle__()] = lanes
        return (lanes,)

    def blank_buffers(self) -> tuple[Stmt, ...]:
        """What stands before the body of the function."""
        return tuple(Alloc(buffer) for buffer in self.blanks.values())

    # --- expressions ------------------------------------------------------------------------------------------------

    @contextmanager
    def _at(self, lane: Expr | None) -> Iterator[None]:
        """Inside, vectors are decoded for this lane; for None there are only scalars."""
        outer, self.lane = self.lane, lane
        yield
        self.lane = outer

    def _of(self, node: Any, lane: Expr | None) -> Expr:
        with self._at(lane):
            return self.expr(node)

    def _wanted(self, what: str) -> Expr:
        if self.lane is None:
            raise Unsupported(f"{what} outside a statement of lanes")
        return self.lane

    def vector(self, node: Any) -> Expr | None:
        """The lane of a variable that holds a vector; None if it is not one."""
        found = self.vectors.get(node.__chandle__())
        return None if found is None else found(self._wanted("vector variable"))

    def vector_let(self, node: Any) -> Expr:
        """A Let of a vector."""
        outer, handle = self.lane, node.var.__chandle__()
        if outer is None:
            self.vectors[handle] = lambda lane: self._of(node.value, lane)
            return self.expr(node.body)
        value = self.expr(node.value)
        var = self.new_var(str(node.var.name), value.dtype)
        self.vectors[handle] = lambda lane: var if lane == outer else self._of(node.value, lane)
        body = self.expr(node.body)
        return Let(var, value, body, body.dtype)

    def access(self, tvm_buffer: Any, tvm_indices: Any) -> tuple[Buffer, tuple[Expr, ...]]:
        """Also of buffers with vector elements, whose last dimension counts their lanes."""
        width = self.wide.get(tvm_buffer.__chandle__()) if self.wide else None
        if width is None:
            return super().access(tvm_buffer, tvm_indices)
        lane, size = self._wanted("vector element"), Const(width, INT32)
        buffer, offsets = self.buffer(tvm_buffer)
        if offsets is not None:
            raise Unsupported("s_tir.MatchBufferRegion[vector elements]")
        with self._at(fold("floordiv", lane, size, INT32)):
            indices = tuple(self.expr(index) for index in tvm_indices)
        if len(indices) + 1 != len(buffer.shape):
            raise Trap("type", f"{self.name}: {buffer.name} has rank {len(buffer.shape) - 1}, not {len(indices)}")
        return buffer, (*indices, fold("floormod", lane, size, INT32))

    def lane_expr(self, node: Any) -> Expr:
        """Ramp, Broadcast or Shuffle."""
        return _NODES[type(node).__name__](self, node)

    def _ramp(self, node: Any) -> Expr:
        lane = self._wanted("prim.Ramp")
        base, stride = self._of(node.base, None), self._of(node.stride, None)
        return fold("add", base, fold("mul", _as(lane, base.dtype), stride, base.dtype), base.dtype)

    def _broadcast(self, node: Any) -> Expr:
        self._wanted("prim.Broadcast")
        return self._of(node.value, None)

    def _shuffle(self, node: Any) -> Expr:
        """The lanes at `indices` of all vectors one behind the other; a single index gives a scalar."""
        vectors = list(node.vectors)
        positions = [self._of(index, None) for index in node.indices]
        known = [position.value for position in positions if isinstance(position, Const)]
        if len(known) != len(positions):
            raise Unsupported("prim.Shuffle[computed index]")
        lane = Const(0, INT32) if len(known) == 1 else self._wanted("prim.Shuffle")
        return self._chosen_lane(lane, [self._element(vectors, int(position)) for position in known])

    def _element(self, vectors: Sequence[Any], position: int) -> Expr:
        for vector in vectors:
            lanes = lanes_of(vector.ty)
            if 0 <= position < lanes:
                return self._of(vector, None if lanes == 1 else Const(position, INT32))
            position -= lanes
        raise Trap("out-of-bounds", f"{self.name}: a shuffle takes a lane that its vectors do not have")

    def _chosen_lane(self, lane: Expr, elements: list[Expr]) -> Expr:
        if isinstance(lane, Const):
            return elements[int(lane.value)]
        result = elements[-1]
        for number, element in reversed(list(enumerate(elements[:-1]))):
            result = Select(Cmp("==", lane, Const(number, INT32)), element, result, element.dtype)
        return result

    # --- calls ------------------------------------------------------------------------------------------------------

    def host_call(self, name: str, node: Any) -> Expr | None:
        """Also the calls that do not work lane by lane."""
        rule = LANE_CALLS.get(name)
        return super().host_call(name, node) if rule is None else rule(self, node)

    def _low(self, node: Any) -> Expr:
        return self._of(node.args[0], self._wanted("tirx.vectorlow"))

    def _high(self, node: Any) -> Expr:
        half = Const(lanes_of(node.args[0].ty) // 2, INT32)
        return self._of(node.args[0], fold("add", self._wanted("tirx.vectorhigh"), half, INT32))

    def _combine(self, node: Any) -> Expr:
        lane, half = self._wanted("tirx.vectorcombine"), Const(lanes_of(node.args[0].ty), INT32)
        first, second = node.args
        if isinstance(lane, Const):
            return self._of(first, lane) if lane.value < half.value else self._of(second, _minus(lane, half))
        low = self._of(first, lane)
        return Select(Cmp("<", lane, half), low, self._of(second, _minus(lane, half)), low.dtype)

    def _active(self, node: Any) -> Expr:
        """`get_active_lane_mask(base, limit)`: base + lane < limit, as unsigned numbers (LLVM Language Reference)."""
        lane = self._wanted("tirx.get_active_lane_mask")
        base, limit = (_unsigned(self._of(arg, None)) for arg in node.args)
        return Cmp("<", fold("add", base, _as(lane, base.dtype), base.dtype), limit)

    def _masked_load(self, node: Any) -> Expr:
        """Lanes that the mask leaves out hold nothing: to use one is a read of uninitialised memory."""
        buffer, *indices, mask = node.args
        target, positions = self.access(buffer, indices)
        chosen = self.expr(mask)
        loaded = Load(target, positions, target.dtype)
        if isinstance(chosen, Const) and chosen.value:
            return loaded
        return Select(chosen, loaded, self._nothing(target), target.dtype)

    def _nothing(self, target: Buffer) -> Expr:
        found = self.blanks.get(target.dtype.name)
        if found is None:
            found = self.owner(f"masked lanes of {target.name}", target.dtype, (1,))
            self.blanks[target.dtype.name] = found
        return Load(found, (Const(0, INT32),), target.dtype)

    def _reinterpret(self, node: Any) -> Expr:
        """The same bits as another number of lanes; the first lane has the lowest bits."""
        value, result = node.args[0], scalar_of(node.ty)
        source, had, gets = scalar_of(value.ty), lanes_of(value.ty), lanes_of(node.ty)
        if had == gets:
            return Call("reinterpret", (self.expr(value),), result)
        lane = Const(0, INT32) if gets == 1 else self._wanted("tirx.reinterpret")
        if had * source.bits != gets * result.bits:
            raise Unsupported("tirx.reinterpret[bits]")
        if had > gets:
            whole = self._joined(value, source, lane, had // gets)
        else:
            whole = self._piece(value, None if had == 1 else lane, source, gets // had, lane)
        return whole if whole.dtype is result else Call("reinterpret", (whole,), result)

    def _piece(self, value: Any, lane: Expr | None, source: DType, count: int, wanted: Expr) -> Expr:
        """One of `count` parts of a lane, as an unsigned number."""
        parts, wide = Const(count, INT32), DTYPES[f"uint{source.bits}"]
        bits = _bits(self._of(value, None if lane is None else fold("floordiv", lane, parts, INT32)))
        number = _as(fold("floormod", wanted, parts, INT32), wide)
        amount = fold("mul", number, Const(source.bits // count, wide), wide)
        return Cast(fold("shr", bits, amount, wide), DTYPES[f"uint{source.bits // count}"])

    def _joined(self, value: Any, source: DType, lane: Expr, count: int) -> Expr:
        """`count` lanes put together, as an unsigned number."""
        wide = DTYPES[f"uint{source.bits * count}"]
        first = fold("mul", lane, Const(count, INT32), INT32)
        total: Expr = Const(0, wide)
        for part in range(count):
            bits = Cast(_bits(self._of(value, fold("add", first, Const(part, INT32), INT32))), wide)
            total = fold("bor", total, fold("shl", bits, Const(part * source.bits, wide), wide), wide)
        return total


def _loop(var: Var, lanes: int, body: Stmt, mask: Expr | None) -> For:
    return For(var, Const(lanes, INT32), "vectorized", "", body if mask is None else If(mask, body, None))


def _reads(expr: Expr, store: Store, var: Var, lanes: int) -> bool:
    """Whether `expr` loads from the memory of `store` anything but the very element that its lane stores."""
    memory = store.buffer.memory
    loads = [node for node in walk(expr) if isinstance(node, Load) and node.buffer.memory == memory]
    if all(load.buffer is store.buffer and load.indices == store.indices for load in loads):
        return bool(loads) and not _distinct(store.indices, var, lanes)
    return True


def _distinct(indices: tuple[Expr, ...], var: Var, lanes: int) -> bool:
    """Whether every lane has an element of its own."""
    bounds = Bounds()
    bounds.ranges[var.key] = (0, lanes - 1)
    for index in indices:
        terms = bounds.linear(index).terms
        if terms.get(var) and not any(var in walk(term) for term in terms if term != var):
            return True
    return False


def _as(lane: Expr, dtype: DType) -> Expr:
    """A number of lanes in another integer type."""
    if lane.dtype is dtype:
        return lane
    return Const(lane.value, dtype) if isinstance(lane, Const) else Cast(lane, dtype)


def _minus(lane: Expr, half: Const) -> Expr:
    return fold("sub", lane, half, INT32)


def _unsigned(value: Expr) -> Expr:
    """An integer as the unsigned number with its bits, with room for the number of a lane."""
    if isinstance(value, Const) and value.value >= 0:
        return Const(value.value, INT64)
    wrapped = Cast(value, DTYPES[f"uint{value.dtype.bits}"])
    return wrapped if value.dtype.bits == 64 else Cast(wrapped, INT64)


def _bits(value: Expr) -> Expr:
    """The bits of a number as an unsigned one."""
    dtype = DTYPES[f"uint{value.dtype.bits}"]
    return value if value.dtype is dtype else Call("reinterpret", (value,), dtype)


_NODES: dict[str, Callable[[LaneDecoder, Any], Expr]] = {
    "Ramp": LaneDecoder._ramp,
    "Broadcast": LaneDecoder._broadcast,
    "Shuffle": LaneDecoder._shuffle,
}
LANE_CALLS: dict[str, Callable[[LaneDecoder, Any], Expr]] = {
    "vectorlow": LaneDecoder._low,
    "vectorhigh": LaneDecoder._high,
    "vectorcombine": LaneDecoder._combine,
    "get_active_lane_mask": LaneDecoder._active,
    "masked_load": LaneDecoder._masked_load,
    "reinterpret": LaneDecoder._reinterpret,
}
