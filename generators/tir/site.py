"""The site of a statement in a function without blocks: the loops around it, values in scope, writable tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tvm import tirx

from generators import tvm_api
from generators.source import favour
from generators.tir.expressions import Operands, draw_value
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Unfit, load
from generators.tir.reads import Point, can_read, index_within, read
from generators.tir.swarm import Unusual
from generators.tir.terms import Term, held
from generators.tvm_api import Expr, Stmt

Inner = Callable[["Site"], Stmt]


TensorElement = tuple[DraftTensor, list[Expr]]
"""A tensor and the indices of an element."""


@dataclass(frozen=True, slots=True)
class Header:
    """The numbers that a loop counts over."""

    extent: Extent
    start: int = 0
    step: int = 1


@dataclass(slots=True)
class Site:
    """`points` are the variables of the loops around, `values` scalars by name, `turns` how often the place is reached.

    Every tensor in `tensors` is initialised whole, and holds values of its range: stores bring values into it.
    """

    draft: FunctionDraft
    tensors: list[DraftTensor]
    memory: dict[str, str] = field(default_factory=dict)
    """Which buffer a view lies in."""
    points: list[Point] = field(default_factory=list)
    values: list[Term] = field(default_factory=list)
    turns: int = 1
    depth: int = 0
    in_loop: bool = False
    recent: list[TensorElement] = field(default_factory=list)
    """Elements last stored or loaded here or around here, and writable. They never leave their loops: indices hold the
    variables of loops."""
    conditions: list[Expr] = field(default_factory=list)
    """The conditions that were drawn here or around here."""
    header: Header | None = None
    """That of the loop before, at the same place."""
    kind: Callable[[Site, Inner], Stmt] | None = None
    """How the statement before, at the same place, was drawn."""

    @property
    def writable(self) -> list[DraftTensor]:
        """The tensors that may be stored to."""
        return [t for t in self.tensors if t.role != "input" and t.elements]

    def inside(self, *points: Point, turns: int = 1, in_loop: bool = True) -> Site:
        """The place in a loop, or in a branch."""
        deeper = replace(self, points=[*self.points, *points], values=list(self.values), depth=self.depth + 1)
        deeper.recent, deeper.conditions = list(self.recent), list(self.conditions)
        deeper.header = deeper.kind = None
        deeper.turns = self.turns * max(turns, 1)
        deeper.in_loop = in_loop
        deeper.tensors = list(self.tensors)
        return deeper

    def remember(self, tensor: DraftTensor, indices: list[Expr]) -> None:
        """The element was stored or loaded."""
        if tensor.role != "input" and tensor.elements:
            self.recent = [*(e for e in self.recent if e[1] is not indices), (tensor, indices)][
                -self.draft.knobs.elements.remembered :
            ]
            self.draft.touched = [*(t for t in self.draft.touched if t is not tensor), tensor][
                -self.draft.knobs.elements.touched :
            ]

    def near(self, options: list[DraftTensor]) -> DraftTensor:
        """One of them, in most cases one that was just touched."""
        touched = [t for t in options if t in self.draft.touched]
        return self.draft.source.pick(
            touched if touched and self.draft.source.flip(self.draft.knobs.elements.touched_again) else options
        )

    def operands(self, tensors: list[DraftTensor], count: int) -> Operands:
        """The values of an expression: loop variables, names, some elements."""
        lengths = [point.extent for point in self.points]
        options = [t for t in tensors if can_read(t, lengths)]
        leaves = [self._leaf(self.near(options)) for _ in range(count) if options]
        return Operands(self.draft, [*leaves, *self.values], [point.term for point in self.points])

    def _leaf(self, tensor: DraftTensor) -> Term:
        """An element at the loop variables, or at any indices."""
        if Unusual.INDEX not in self.draft.unusual and self.draft.source.flip(self.draft.knobs.elements.straight):
            indices = self.index_of(tensor)
            self.remember(tensor, indices)
            return load(tensor, indices)
        term = read(self.draft, tensor, self.points, straight=self.draft.knobs.reads.straight_odd)
        if isinstance(term.expr, tvm_api.TensorLoad):
            self.remember(tensor, list(term.expr.indices))
        return term

    def value(self, dtype: str, *, lets: bool = True) -> Term:
        """An expression of the dtype over the values that can be read here."""
        readable = [t for t in self.tensors if not t.special]
        again = (
            [load(*self.draft.source.pick(self.recent))]
            if self.recent and self.draft.source.flip(self.draft.knobs.elements.touched_again)
            else []
        )
        operands = self.operands(readable, self.draft.source.integer(1, 3)).with_leaves(*again)
        return draw_value(replace(operands, lets=lets), dtype)

    def index_of(self, tensor: DraftTensor) -> list[Expr]:
        """Indices in bounds, often those used before. Raises Unfit for a symbolic dim that no loop counts up to."""
        before = [indices for touched, indices in self.recent if touched is tensor]
        if before and self.draft.source.flip(self.draft.knobs.elements.touched_again):
            return self.draft.source.pick(before)
        return [self.index(dim) for dim in tensor.dims]

    def index(self, dim: Extent) -> Expr:
        """An index in bounds of one dim."""
        same = [p for p in self.points if p.extent.text == dim.text]
        if same and (not dim.static or not dim.value or self.draft.source.flip(self.draft.knobs.elements.index_of_dim)):
            return self.draft.source.pick(same).term.expr
        if not dim.static or not dim.value:
            raise Unfit("a dim that may be empty")
        if Unusual.INDEX not in self.draft.unusual:
            return self._affine(dim)
        if not self.points:
            return self.draft.number(self.draft.source.integer(0, dim.value - 1))
        operands = Operands(self.draft, [], [point.term for point in self.points], lets=False)
        term = draw_value(operands, self.draft.index_dtype, 1)
        return index_within(
            self.draft, dim, term, clamp=self.draft.source.flip(self.draft.knobs.elements.index_clamped)
        )

    def _affine(self, dim: Extent) -> Expr:
        """A loop variable, or some times it, that stays in bounds, shifted as far as it does; what a division makes of
        one; or a number."""
        source, last = self.draft.source, dim.value - 1
        if self.points and last and source.flip(self.draft.knobs.elements.divided_index):
            return self._divided(last)
        inside = [p.term for p in self.points if p.term.range.high - p.term.range.low <= last]
        if not inside or source.flip(self.draft.knobs.elements.number_index):
            return self.draft.number(source.integer(0, last))
        term = source.pick(inside)
        low, high = int(term.range.low), int(term.range.high)
        scale = next((n for n in (favour(source, 1, 2, 3, 4), 1) if (high - low) * n <= last), 1)
        shift = source.integer(-low * scale, last - high * scale)
        index = tirx.Mul(term.expr, self.draft.number(scale)) if scale != 1 else term.expr
        return tirx.Add(index, self.draft.number(shift)) if shift else index

    def _divided(self, last: int) -> Expr:
        """A loop variable plus a number, by a number or modulo it, in [0, last]: where the number that is added is no
        multiple, iterations next to each other part at a boundary."""
        source, draft = self.draft.source, self.draft
        term = source.pick(self.points).term
        low, high = int(term.range.low), int(term.range.high)
        shift = source.integer(max(0, -low), max(0, -low) + 3)
        moved = tirx.Add(term.expr, draft.number(shift)) if shift else term.expr
        divisor = favour(source, 2, 3, 4)
        if (high + shift) // divisor <= last and source.flip():
            return tirx.FloorDiv(moved, draft.number(divisor))
        return tirx.FloorMod(moved, draft.number(min(divisor, last + 1)))


def sequence(*statements: Stmt) -> Stmt:
    """The statements in sequence, without those that do nothing, which TVM's constructor drops as well."""
    flat: list[Stmt] = []
    for statement in statements:
        flat += list(statement.seq) if isinstance(statement, tirx.SeqStmt) else [statement]
    kept = [s for s in flat if not (isinstance(s, tirx.Evaluate) and isinstance(s.value, tirx.IntImm))]
    if len(kept) > 1:
        return tirx.SeqStmt(kept)
    return kept[0] if kept else tirx.Evaluate(tirx.IntImm("int32", 0))


def store(tensor: DraftTensor, term: Term, indices: list[Expr]) -> Stmt:
    """A store of the value, brought into the tensor's range."""
    value = term if tensor.dtype == "bool" else held(term, tensor.range, tensor.fraction)
    return tirx.BufferStore(tensor.buffer, value.expr, indices)
