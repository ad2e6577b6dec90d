"""Which loops may run in any order: the proof obligations of vectorised execution.

A loop is independent if no two of its iterations touch the same element of a buffer that its body writes. The
proof looks at the indices alone, never at axis annotations (a wrong pass may have made them): every access to
a written buffer must have, in one dimension or in the flattened index, the same nonzero multiple of the loop
variable, and all that the inner loops add must stay below that multiple. Bounds are checked at run time, so
that the flattened index identifies the element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from oracles.reference.tir.intervals import Bounds, Linear
from oracles.reference.tir.nodes import (
    Alloc,
    Assert,
    Bin,
    Bind,
    Block,
    Buffer,
    Call,
    Cast,
    Cmp,
    Const,
    Copying,
    Expr,
    For,
    Forget,
    If,
    Initialised,
    Jump,
    Let,
    Load,
    Logic,
    Not,
    PackedCall,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    Wait,
    Watched,
    While,
)


@dataclass(slots=True)
class Summary:
    """What a statement does: accesses by memory, the variables it defines, the memory it allocates.

    Memory goes by the slot of the buffer that owns it, through any view. `rigid`: something
    inside cannot be done for many iterations at once. `whole`: memory passed on to a packed function. `reduced`: by the
    variable of a loop that a reduction axis goes over, the memory that its sblock writes.
    """

    accesses: dict[int, list[tuple[Buffer, tuple[Expr, ...]]]] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    defined: set[int] = field(default_factory=set)
    allocated: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)
    reduced: dict[int, set[int]] = field(default_factory=dict)
    rigid: bool = False
    jumps: bool = False

    def add(self, other: Summary) -> None:
        """Merges a part into this whole."""
        for slot, indices in other.accesses.items():
            self.accesses.setdefault(slot, []).extend(indices)
        self.written |= other.written
        self.defined |= other.defined
        self.allocated |= other.allocated
        self.whole |= other.whole
        for key, slots in other.reduced.items():
            self.reduced.setdefault(key, set()).update(slots)
        self.rigid |= other.rigid
        self.jumps |= other.jumps

    def access(self, buffer: Buffer, indices: tuple[Expr, ...]) -> None:
        """Records one access."""
        self.accesses.setdefault(buffer.memory, []).append((buffer, indices))


_CHILDREN: dict[type[Expr], Callable[[Any], tuple[Expr, ...]]] = {
    **dict.fromkeys((Const, Var), lambda _: ()),
    **dict.fromkeys((Bin, Cmp, Logic), attrgetter("a", "b")),
    **dict.fromkeys((Not, Cast), lambda node: (node.a,)),
    Select: attrgetter("cond", "then", "other"),
    **dict.fromkeys((Load, Initialised), attrgetter("indices")),
    Call: attrgetter("args"),
    Let: attrgetter("value", "body"),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions."""
    return _CHILDREN[type(expr)](expr)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


class Dependence:
    """Answers for the loops of one function; loop ranges are recorded in `bounds` as loops are met.

    With `vectorise` False no loop counts as independent, so that every loop runs one iteration at a time.
    """

    def __init__(self, bounds: Bounds, vectorise: bool = True) -> None:
        self.bounds = bounds
        self.vectorise = vectorise
        self._summaries: dict[int, tuple[Stmt, Summary]] = {}
        self._independent: dict[int, bool] = {}
        self._depths: dict[int, int] = {}

    def summary(self, stmt: Stmt) -> Summary:
        """What `stmt` does; memoised by identity."""
        found = self._summaries.get(id(stmt))
        if found is None:
            found = (stmt, self._summarize(stmt))
            self._summaries[id(stmt)] = found
        return found[1]

    def _summarize(self, stmt: Stmt) -> Summary:
        total = Summary()
        match stmt:
            case Store(buffer, value, indices):
                self._reads(total, value, *indices)
                total.access(buffer, indices)
                total.written.add(buffer.memory)
            case Bind(var, value):
                self._reads(total, value)
                total.defined.add(var.key)
            case Seq(body):
                for child in body:
                    total.add(self.summary(child))
            case For(var, extent, _, _, body):
                self._loop(total, var, extent, body)
            case If(cond, then, other):
                self._reads(total, cond)
                total.add(self.summary(then))
                if other is not None:
                    total.add(self.summary(other))
            case Block():
                self._block(total, stmt)
            case Watched(_, _, body) | Copying(body):
                total.add(self.summary(body))
            case Forget(buffer, indices):
                self._reads(total, *indices)
                total.access(buffer, indices)
                total.written.add(buffer.memory)
            case _:
                self._sequential(total, stmt)
        return total

    def _loop(self, total: Summary, var: Var, extent: Expr, body: Stmt) -> None:
        high = int(extent.value) - 1 if isinstance(extent, Const) else self.bounds.interval(extent).high - 1
        self.bounds.ranges[var.key] = (0, max(high, 0))
        total.add(self.summary(body))
        total.defined.add(var.key)
        if not isinstance(extent, Const):
            self._reads(total, extent)
            total.rigid = True

    def _block(self, total: Summary, block: Block) -> None:
        for binding, start in block.reduce:
            self._reads(total, binding, start)
        if block.predicate is not None:
            self._reads(total, block.predicate)
        if block.init is not None:
            total.add(self.summary(block.init))
        total.add(self.summary(block.body))
        for over in (node for binding, _ in block.reduce for node in subexpressions(binding) if isinstance(node, Var)):
            total.reduced.setdefault(over.key, set()).update(self.summary(block.body).written)
        total.rigid |= bool(block.allocs)
        total.allocated |= {buffer.slot for buffer in block.allocs}

    def _sequential(self, total: Summary, stmt: Stmt) -> None:
        total.rigid = True
        match stmt:
            case While(cond, body):
                self._reads(total, cond)
                total.add(self.summary(body))
            case Assert(cond, _) | Wait(_, cond):
                self._reads(total, cond)
            case Jump():
                total.jumps = True
            case PackedCall(_, args):
                total.whole |= {arg.memory for arg in args if isinstance(arg, Buffer)}
                total.written |= total.whole
            case Alloc(buffer):
                total.allocated.add(buffer.slot)
            case _:
                return

    def _reads(self, total: Summary, *exprs: Expr) -> None:
        for expr in exprs:
            for node in subexpressions(expr):
                match node:
                    case Load(buffer, indices) | Initialised(buffer, indices):
                        total.access(buffer, indices)
                    case Let(var):
                        total.defined.add(var.key)

    def parallel(self, loop: For) -> bool:
        """Whether to run the iterations of `loop` all at once: they are independent, or only scatter, and nothing
        inside forbids it.
        """
        if not self.vectorise or self.summary(loop).rigid:
            return False
        return self.independent(loop) or self.scatters(loop)

    def alone(self, loop: For, around: Sequence[Block]) -> set[int]:
        """The memory of the sblocks around a loop that each of its iterations has alone: all accesses lie inside.

        TVM then allocates it there (src/s_tir/transform/plan_update_buffer_allocation_location.cc), unless a reduction
        over the iterations needs it to last (sblock_buffer_access_lca_detector.cc).
        """
        inside, found = self.summary(loop), set[int]()
        for block in around:
            everywhere = self.summary(block)
            for slot in {buffer.slot for buffer in block.allocs} - everywhere.whole:
                if len(inside.accesses.get(slot, ())) == len(everywhere.accesses.get(slot, ())):
                    found.add(slot)
        return found - inside.reduced.get(loop.var.key, set())

    def collides(self, loop: For, around: Sequence[Block] = ()) -> Store | None:
        """A store by which every iteration updates one and the same element from its old value. Iterations that run at
        the same time lose the updates of others. around: the sblocks around the loop.
        """
        own, stores, left = {loop.var.key}, list[Store](), [loop.body]
        apart = self.summary(loop).allocated | self.alone(loop, around)
        while left:
            match left.pop():
                case Seq(body):
                    left += body
                case For(var, Const(), _, "", body):
                    own.add(var.key)
                    left.append(body)
                case Bind(var, _):
                    own.add(var.key)
                case Block(predicate=None, body=body):
                    left.append(body)
                case Store() as store if store.buffer.memory not in apart:
                    stores.append(store)
        for store in stores:
            at = [node for index in store.indices for node in subexpressions(index)]
            reads = [n for n in subexpressions(store.value) if isinstance(n, Load) and n.buffer is store.buffer]
            fixed = not any(isinstance(n, Load) or (isinstance(n, Var) and n.key in own) for n in at)
            if fixed and any(read.indices == store.indices for read in reads):
                return store
        return None

    def scatters(self, loop: For) -> bool:
        """Whether all that the iterations do is to store to a buffer that they do not read. Then everything may be
        computed first, and stored in the order of the iterations.
        """
        inner: Stmt = loop
        while not isinstance(inner, Store):
            match inner:
                case For(_, Const(), _, _, body) | Watched(_, _, body) | Copying(body) | If(_, body, None):
                    inner = body
                case _:
                    return False
        total, memory = self.summary(loop), inner.buffer.memory
        return len(total.accesses[memory]) == 1

    def independent(self, loop: For) -> bool:
        """Whether no two iterations touch the same element of a written buffer, for all of the enclosing loops'
        variables are.
        """
        found = self._independent.get(id(loop))
        if found is None:
            total = self.summary(loop)
            found = not total.jumps and all(self._owned(loop, total, slot) for slot in total.written - total.allocated)
            self._independent[id(loop)] = found
        return found

    def depth(self, stmt: Stmt) -> int:
        """The greatest number of independent loops around one statement inside `stmt`."""
        found = self._depths.get(id(stmt))
        if found is None:
            match stmt:
                case For():
                    found = self.depth(stmt.body) + self.parallel(stmt)
                case Seq(body):
                    found = max((self.depth(child) for child in body), default=0)
                case If(_, then, other):
                    found = max(self.depth(then), 0 if other is None else self.depth(other))
                case Watched() | Copying():
                    found = self.depth(stmt.body)
                case Block():
                    found = max(self.depth(stmt.body), 0 if stmt.init is None else self.depth(stmt.init))
                case _:
                    found = 0
            self._depths[id(stmt)] = found
        return found

    def _owned(self, loop: For, total: Summary, slot: int) -> bool:
        """Whether an element of the buffer is touched by one iteration of `loop` only."""
        if slot in total.whole:
            return False
        accesses = list(dict.fromkeys(total.accesses[slot]))
        first = accesses[0][0]
        flat = len(first.shape) > 1
        if any(buffer is not first for buffer, _ in accesses):  # views of several shapes agree on elements alone
            flat = True
        else:
            for dim in range(len(first.shape)):
                if self._distinct(loop, total, [self.bounds.linear(indices[dim]) for _, indices in accesses]):
                    return True
        widths = [buffer.dtype.numpy.itemsize for buffer, _ in accesses]
        forms = [self._flat(buffer, indices) for buffer, indices in accesses]
        return flat and self._distinct(loop, total, forms, widths)

    def _flat(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Linear:
        """The first byte of an access in its memory."""
        terms: dict[Expr, int] = {}
        const, stride = buffer.start, int(buffer.dtype.numpy.itemsize)
        for extent, index in zip(reversed(buffer.shape), reversed(indices), strict=True):
            form = self.bounds.linear(index)
            const += form.const * stride
            for term, scale in form.terms.items():
                terms[term] = terms.get(term, 0) + scale * stride
            stride *= extent
        return self.bounds.recombine(Linear(terms, const))

    def _distinct(self, loop: For, total: Summary, forms: list[Linear], widths: Sequence[int] = ()) -> bool:
        """Whether two of the forms that meet belong to the same iteration of `loop`; each takes `widths` (or 1)."""
        scale = forms[0].terms.get(loop.var, 0)
        if scale == 0:
            return False
        fixed: dict[Expr, int] | None = None
        lows, highs = [], []
        for form, width in zip(forms, widths or [1] * len(forms), strict=True):
            if form.terms.get(loop.var, 0) != scale:
                return False
            inner, outer = self._split(loop, total, form)
            if fixed is None:
                fixed = outer
            if inner is None or outer != fixed:
                return False
            low, high = self.bounds.span(inner)
            lows.append(low + form.const)
            highs.append(high + form.const + width - 1)
        return max(highs) - min(lows) < abs(scale)

    def _split(self, loop: For, total: Summary, form: Linear) -> tuple[dict[Expr, int] | None, dict[Expr, int]]:
        """The terms that vary inside one iteration of the loop, and those that are fixed during the whole
        loop.

        None for the first if a term other than the variable itself depends on the variable.
        """
        inner: dict[Expr, int] = {}
        outer: dict[Expr, int] = {}
        for term, scale in form.terms.items():
            if term == loop.var:
                continue
            varies = False
            for node in subexpressions(term):
                if isinstance(node, Var):
                    if node.key == loop.var.key:
                        return None, outer
                    varies |= node.key in total.defined
                elif isinstance(node, Load):
                    varies |= node.buffer.memory in total.written
            (inner if varies else outer)[term] = scale
        return inner, outer
