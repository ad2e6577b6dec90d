"""Random loop nests in the interpreter's own nodes, to compare vectorised execution with plain loops.

The nests are made to be hard on the dependence analysis: overlapping, strided, reversed, divided and
data-dependent indices on few small buffers, guards, accumulations, several statements in a loop. Most are
valid programs, some trap.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import strategies as st

from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import (
    DTYPES,
    INT64,
    Bin,
    Bind,
    Block,
    Buffer,
    Cast,
    Cmp,
    Const,
    Expr,
    For,
    Function,
    If,
    Load,
    Logic,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
)

FLOAT = DTYPES["float32"]
_keys = count(1_000_000)
Draw = Any


def integer(value: int) -> Const:
    """An int64 literal."""
    return Const(value, INT64)


class Nest:
    """Draws one function over buffers A (read), P (positions), B, C and D (allocated inside)."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        shape = self.shape()
        self.buffers = [
            Buffer(0, "A", FLOAT, self.shape()),
            Buffer(1, "P", INT64, (6,)),
            Buffer(2, "B", FLOAT, shape),
            Buffer(3, "C", DTYPES[self.pick(["float32", "int8", "int32"])], self.shape()),
        ]
        self.local = Buffer(4, "D", FLOAT, (self.pick([1, 3]),))
        self.vars: list[Var] = []
        self.seen: list[tuple[int, tuple[Expr, ...]]] = []
        self.bounds = Bounds()
        self.locals = False

    def pick(self, options: list[Any]) -> Any:
        """One of the options."""
        return self.draw(st.sampled_from(options))

    def shape(self) -> tuple[int, ...]:
        """A shape of one or two extents."""
        return tuple(self.draw(st.lists(st.sampled_from([1, 3, 4, 6, 12, 20]), min_size=1, max_size=2)))

    def index(self, extent: int, depth: int = 0) -> Expr:
        """An int64 expression, usually inside 0 .. extent - 1 for small loops."""
        kind = self.pick(["var", "var", "var", "sum", "scaled", "const", "mod", "div", "pair", "load"])
        if not self.vars or kind == "const" or depth > 2:
            return integer(self.draw(st.integers(0, extent - 1)))
        var = self.pick(self.vars)
        if kind == "var":
            return var
        if kind == "load":
            inner = Bin("floormod", self.index(6, depth + 1), integer(6), INT64)
            loaded = Bin("floormod", Load(self.buffers[1], (inner,), INT64), integer(3), INT64)
            return loaded if self.draw(st.booleans()) else Bin("add", var, loaded, INT64)
        inner = self.index(extent, depth + 1)
        if kind == "sum":
            return Bin(self.pick(["add", "sub"]), var, inner, INT64)
        if kind == "scaled":
            scaled = Bin("mul", var, integer(self.pick([-1, 2, 3])), INT64)
            return Bin("add", scaled, integer(self.pick([0, 0, 1, extent - 1])), INT64)
        if kind == "pair":
            other = self.pick(self.vars)
            return Bin("add", Bin("mul", var, integer(self.pick([2, 3, 4])), INT64), other, INT64)
        return Bin("floormod" if kind == "mod" else "floordiv", inner, integer(self.pick([2, 3, extent])), INT64)

    def access(self, buffer: Buffer) -> tuple[Expr, ...]:
        """Indices, usually wrapped into bounds where they may leave them; sometimes those of an earlier access."""
        earlier = [indices for slot, indices in self.seen if slot == buffer.slot]
        if earlier and self.draw(st.booleans()):
            return self.pick(earlier)
        indices: list[Expr] = []
        for extent in buffer.shape:
            index = self.index(extent)
            low, high, _ = self.bounds.interval(index)
            if (low < 0 or high >= extent) and self.draw(st.integers(0, 15)):
                index = Bin("floormod", index, integer(extent), INT64)
            indices.append(index)
        self.seen.append((buffer.slot, tuple(indices)))
        return tuple(indices)

    def condition(self) -> Expr:
        """A comparison of indices, or two of them."""
        one = Cmp(self.pick(["<", "<=", "==", "!="]), self.index(4), self.index(4))
        if self.draw(st.booleans()):
            return one
        return Logic(self.pick(["and", "or"]), one, Cmp("<", self.load_of("float32"), Const(0.5, FLOAT)))

    def load_of(self, name: str) -> Expr:
        """A value of the type, read from some buffer."""
        buffers = [b for b in self.buffers if b.dtype.name == name] + ([self.local] if self.locals else [])
        buffer = self.pick([b for b in buffers if b.dtype.name == name])
        return Load(buffer, self.access(buffer), buffer.dtype)

    def value(self, dtype: Any, depth: int = 0) -> Expr:
        """An expression of the type."""
        if dtype.kind == "i":
            return Cast(Bin("floormod", self.index(6), integer(50), INT64), dtype)
        kind = self.pick(["load", "load", "add", "mul", "max", "select", "const", "cast"])
        if kind == "const" or depth > 2:
            return Const(self.pick([0.5, 1.25, -0.0]), FLOAT)
        if kind == "load":
            return self.load_of("float32")
        if kind == "cast":
            return Cast(self.index(4), FLOAT)
        a, b = self.value(dtype, depth + 1), self.value(dtype, depth + 1)
        return Select(self.condition(), a, b, FLOAT) if kind == "select" else Bin(kind, a, b, FLOAT)

    def store(self) -> Stmt:
        """A store or an accumulation."""
        buffer = self.pick(self.buffers[1:] + ([self.local] if self.locals else []))
        indices = self.access(buffer)
        value = self.value(buffer.dtype)
        if self.draw(st.booleans()):
            current = Load(buffer, indices, buffer.dtype)
            pair = (current, value) if self.draw(st.booleans()) else (value, current)
            value = Bin(self.pick(["add", "max", "min", "mul"]), *pair, buffer.dtype)
        return Store(buffer, value, indices)

    def stmt(self, depth: int) -> Stmt:
        """Any statement."""
        kinds = ["store", "loop", "loop", "loop", "if", "block", "seq", "bind"] if depth < 4 else ["store"]
        kind = self.pick(kinds)
        match kind:
            case "loop":
                return self.loop(depth)
            case "if":
                other = self.stmt(depth + 1) if self.draw(st.booleans()) else None
                return If(self.condition(), self.stmt(depth + 1), other)
            case "block":
                return self.block(depth)
            case "seq":
                return Seq((self.stmt(depth + 1), self.stmt(depth + 1)))
            case "bind":
                return self.bind(depth)
            case _:
                return self.store()

    def loop(self, depth: int) -> Stmt:
        """A loop of two to four iterations."""
        var = Var(next(_keys), "i", INT64)
        extent = integer(self.pick([2, 3, 4]))
        self.vars.append(var)
        self.bounds.ranges[var.key] = (0, extent.value - 1)
        before = len(self.seen)
        body = self.stmt(depth + 1)
        del self.seen[before:]
        self.vars.pop()
        return For(var, extent, "serial", "", body)

    def bind(self, depth: int) -> Stmt:
        """A float variable used by the statement after it."""
        var = Var(next(_keys), "x", FLOAT)
        bound = Bind(var, self.value(FLOAT))
        buffer = self.buffers[2]
        use = Store(buffer, Bin("add", var, self.value(FLOAT), FLOAT), self.access(buffer))
        return Seq((bound, self.stmt(depth + 1), use))

    def block(self, depth: int) -> Stmt:
        """A block with a predicate or a reduction, or one that allocates."""
        if not self.locals and self.pick([True, False, False]):
            self.locals = True
            var = Var(next(_keys), "d", INT64)
            fill = Store(self.local, Cast(var, FLOAT), (var,))
            filled = For(var, integer(self.local.shape[0]), "serial", "", fill)
            body = Seq((filled, self.stmt(depth + 1)))
            self.locals = False
            return Block("local", None, (), None, (self.local,), body)
        predicate = self.condition() if self.draw(st.booleans()) else None
        reduce = ((self.pick(self.vars), integer(0)),) if self.vars else ()
        body = self.store()
        init = None
        if isinstance(body, Store) and self.draw(st.booleans()):
            start = Const(0.0, FLOAT) if body.buffer.dtype.kind == "f" else Const(0, body.buffer.dtype)
            init = Store(body.buffer, start, body.indices)
        return Block("block", predicate, reduce if init else (), init, (), body)


@st.composite
def functions(draw: Draw) -> Function:
    """A function of the buffers A, P, B, C whose body is a sequence of loop nests."""
    nest = Nest(draw)
    body = Seq(tuple(nest.loop(0) for _ in range(draw(st.integers(1, 3)))))
    return Function("random", tuple(nest.buffers), body)
