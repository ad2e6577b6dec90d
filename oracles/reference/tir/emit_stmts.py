"""Code of statements: which loops become axes, which stay loops, and what is known after each.

Reductions that are evaluated over their whole domain at once are in `emit_folds.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from oracles.reference.errors import Unsupported
from oracles.reference.tir.emit_folds import FoldEmitter
from oracles.reference.tir.emit_state import Axis, Code
from oracles.reference.tir.nodes import (
    Alloc,
    Assert,
    Bind,
    Block,
    Buffer,
    Cmp,
    Const,
    Expr,
    For,
    Forget,
    If,
    Jump,
    Logic,
    PackedCall,
    Seq,
    Stmt,
    Store,
    Sync,
    View,
    Watched,
    While,
)
from oracles.reference.tir.packed import PACKED, BufferArgument

PARALLEL = "parallel"
"""The kind of loop whose iterations may run at the same time, and in any order."""


class Emitter(FoldEmitter):
    """Adds statements."""

    def stmt(self, node: Stmt) -> None:
        """The lines of a statement at the current indentation."""
        match node:
            case Store(buffer, value, indices):
                self.store(buffer, indices, self.expr(value))
            case Seq(body):
                for child in body:
                    self.stmt(child)
            case Block():
                self._block(node)
            case For():
                self._for(node)
            case Bind():
                self._bind(node)
            case Alloc(buffer):
                self.alloc(buffer)
            case View(buffer):
                self._view(buffer)
            case _:
                self._control(node)

    def _control(self, node: Stmt) -> None:
        match node:
            case Watched():
                self._watched(node)
            case Forget(buffer, indices):
                self.forget(buffer, indices)
            case Sync():
                self._sync(node)
            case If(cond, then, other):
                self._if(cond, then, other)
            case While(cond, body):
                self._while(cond, body)
            case Assert(cond, message):
                self._assert(cond, message)
            case Jump(kind):
                self.line(kind)
            case PackedCall(name, args):
                self._packed(name, args)
            case _:
                raise Unsupported(type(node).__name__)

    @contextmanager
    def _nested(self) -> Iterator[None]:
        """A deeper indentation; what is hoisted there is forgotten afterwards. Always leaves at least one
        line.
        """
        self.indent += 1
        self.hoisted.append({})
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.hoisted.pop()
        self.indent -= 1

    def alloc(self, buffer: Buffer) -> None:
        """A fresh buffer with nothing initialised."""
        shape, dtype = buffer.shape, buffer.dtype
        name = dtype.numpy.name.replace("bool", "bool_")
        parts = self.parts(buffer)
        known = f"zeros({shape}, bool_)" if parts == 1 else f"nothing_in({shape}, {parts})"
        self.line(f"b{buffer.slot} = empty({shape}, {name}); m{buffer.slot} = {known}")
        self.full.discard(buffer.slot)
        if self.indent == 1:
            self.outside.add(buffer.slot)

    def _view(self, buffer: Buffer) -> None:
        """A view shares the memory and the initialisation mask of its source."""
        source, slot = buffer.source, buffer.slot
        assert source is not None
        name = buffer.dtype.numpy.name.replace("bool", "bool_")
        unit = buffer.dtype.numpy.itemsize // self.parts(buffer)
        arguments = f"{buffer.shape}, {name}, {buffer.offset}, {unit}, {self.site(buffer.name)}"
        self.line(f"b{slot}, m{slot} = view_of(b{source.slot}, m{source.slot}, {arguments})")
        if source.slot in self.full:
            self.full.add(slot)
        else:
            self.full.discard(slot)
        if self.indent == 1:
            self.outside.add(slot)
            self.views.setdefault(buffer.memory, []).append(slot)

    def _bind(self, node: Bind) -> None:
        code = self.expr(node.value)
        name = self.variable(node.var.key)
        # A view would change with a later store to its buffer.
        self.line(f"{name} = {code.text}.copy()" if code.grid and code.view else f"{name} = {code.text}")
        self.names[node.var.key] = Code(name, code.grid)
        if node.var.dtype.kind == "i":
            low, high, _ = self.bounds.interval(node.value)
            self.bounds.ranges[node.var.key] = (low, high)

    def _block(self, node: Block) -> None:
        outer, self.block = self.block, node.name
        for buffer in node.allocs:
            self.alloc(buffer)
        if node.predicate is None:
            self._block_body(node)
        else:
            self._if(node.predicate, Block(node.name, None, node.reduce, node.init, (), node.body), None)
        self.block = outer

    def _block_body(self, node: Block) -> None:
        if node.init is not None:
            self.init(node, ())
        self.stmt(node.body)

    def init(self, node: Block, hoisted: tuple[int, ...]) -> None:
        """The init statement, where all reduction axes but those numbered in `hoisted` are at their start."""
        cond: Expr | None = None
        for number, (binding, start) in enumerate(node.reduce):
            if number in hoisted or (isinstance(binding, Const) and binding == start):
                continue
            test = Cmp("==", binding, start)
            cond = test if cond is None else Logic("and", cond, test)
        assert node.init is not None
        if cond is None:
            self.stmt(node.init)
        else:
            self._if(cond, node.init, None)

    def _if(self, cond: Expr, then: Stmt, other: Stmt | None) -> None:
        code = self.expr(cond)
        if code.grid:
            self._masked(code, then, other)
            return
        before = set(self.full)
        self.line(f"if {code.text}:")
        with self._nested():
            self.stmt(then)
        after, self.full = self.full, set(before)
        if other is not None:
            self.line("else:")
            with self._nested():
                self.stmt(other)
        self.full &= after

    def _masked(self, code: Code, then: Stmt, other: Stmt | None) -> None:
        outer, before = self.mask, set(self.full)
        name = self.temporary()
        self.line(f"{name} = {code.text}.copy()" if code.view else f"{name} = {code.text}")
        parts = [(name, then)] + ([(f"~{name}", other)] if other is not None else [])
        for condition, part in parts:
            self.mask = outer
            text = self.under(condition)
            if text != name:
                self.mask = self.temporary()
                self.line(f"{self.mask} = {text}")
            else:
                self.mask = name
            self.stmt(part)
        self.mask, self.full = outer, before

    def _for(self, node: For) -> None:
        if self._collides(node):
            return
        outermost = not self.axes
        if outermost:
            self.rank = max(self.dependence.depth(node), 0)
        if self.fold(node):
            return
        if self.dependence.parallel(node):
            self.axis_loop(node)
            return
        self._sequential(node)

    def _collides(self, node: For) -> bool:
        """Whether the loop is parallel and its iterations are sure to change one element at the same time."""
        several = isinstance(node.extent, Const) and node.extent.value > 1
        if node.kind != PARALLEL or not several or self.mask is not None:
            return False
        store = self.dependence.collides(node)
        if store is None:
            return False
        what = f"iterations of a parallel loop change one element of {store.buffer.name}"
        self.line(f"raise Trap('data-race', {self.site(what)})")
        return True

    def axis_loop(self, node: For) -> None:
        """An independent loop: an axis of the grids inside."""
        assert isinstance(node.extent, Const)
        self.axes[node.var.key] = Axis(int(node.extent.value), self.depth - self.rank)
        self.depth += 1
        self.hoisted.append({})
        scatters = not self.dependence.independent(node)
        self.scattering += scatters
        self.stmt(node.body)
        self.scattering -= scatters
        self.hoisted.pop()
        self.depth -= 1
        del self.axes[node.var.key]

    def _sequential(self, node: For) -> None:
        extent = self.expr(node.extent).text
        name = self.variable(node.var.key)
        before = set(self.full)
        self.names[node.var.key] = Code(name, False)
        outermost = self.loops == 0
        self.loops += 1
        self.line(f"fuel({extent})")
        # The iterations of a parallel loop come in no order: in this one, those that need another get something else.
        turns = f"reversed(range({extent}))" if node.kind == PARALLEL else f"range({extent})"
        self.line(f"for {name} in {turns}:")
        with self._nested():
            self.stmt(node.body)
        self.loops -= 1
        summary = self.dependence.summary(node)
        if not isinstance(node.extent, Const) or summary.jumps:
            self.full = before
        if outermost:
            self._settle(summary.written)

    def _settle(self, slots: set[int]) -> None:
        views = {view for slot in slots for view in self.views.get(slot, ())}
        for slot in sorted((slots | views) - self.full):
            if slot in self.outside:
                self.line(f"m{slot} = settled(m{slot})")

    def _watched(self, node: Watched) -> None:
        if self.watched & self.dependence.summary(node.body).accesses.keys():
            self.actor = node
        self.stmt(node.body)
        self.actor = None

    def _sync(self, node: Sync) -> None:
        if node.guard is not None:
            self.line(f"same_for_all(b{node.guard.slot}, {node.blocks}, {self.site(node.site)})")
        if self.watched:
            self.line("races.warp_barrier()" if node.scope == "warp" else "races.barrier()")

    def _while(self, cond: Expr, body: Stmt) -> None:
        before = set(self.full)
        code = self.expr(cond)
        self.line(f"while {code.text}:")
        with self._nested():
            self.line("fuel(1)")
            self.stmt(body)
        self.full = before

    def _assert(self, cond: Expr, message: str) -> None:
        self.line(f"if not {self.expr(cond).text}: raise Trap('assertion', {self.site(message)})")

    def _packed(self, name: str, args: tuple[Buffer | Expr | str, ...]) -> None:
        if name not in PACKED:
            raise Unsupported(f"call_packed {name}")
        self.constants |= {"packed": PACKED, "BufferArgument": BufferArgument}
        texts = []
        for arg in args:
            if isinstance(arg, Buffer):
                texts.append(f"BufferArgument(b{arg.slot}, m{arg.slot}, {self.site(arg.name)})")
            else:
                texts.append(repr(arg) if isinstance(arg, str) else self.expr(arg).text)
        self.line(f"packed[{name!r}]({', '.join(texts)})")
        self._settle({arg.memory for arg in args if isinstance(arg, Buffer)})
