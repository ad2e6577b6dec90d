"""Where a statement of a function without blocks stands: the loops around it, values in scope, what it may write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tvm import tirx

from generators.ranges import Range
from generators.tir.draft import Draft, Extent, Tensor, Unfit, load
from generators.tir.expressions import Site, draw_value
from generators.tir.reads import Point, can_read, index_within, read
from generators.tir.terms import Term, bounded

Inner = Callable[["Place"], Any]
_CLAMPED = 0.25
"""An index is brought into its bounds by Min and Max this often, where it often ends at a bound, else by a modulus."""
_AGAIN = 0.4
"""A value may read what was stored last this often, so that the order of stores matters."""


@dataclass(slots=True)
class Place:
    """`points` are the variables of the loops around, `values` scalars by name, `turns` how often the place is reached.

    Every tensor in `tensors` is initialised whole, and holds what its range says: what is stored is brought into it.
    """

    draft: Draft
    tensors: list[Tensor]
    memory: dict[str, str] = field(default_factory=dict)
    """Which buffer a view lies in."""
    points: list[Point] = field(default_factory=list)
    values: list[Term] = field(default_factory=list)
    turns: int = 1
    depth: int = 0
    in_loop: bool = False
    stored: tuple[Tensor, list[Any]] | None = None
    """What was stored last here, and where."""

    @property
    def writable(self) -> list[Tensor]:
        """What may be stored to."""
        return [t for t in self.tensors if t.role != "input" and t.elements]

    def inside(self, *points: Point, turns: int = 1, in_loop: bool = True) -> Place:
        """The place in a loop, or in a branch."""
        deeper = replace(self, points=[*self.points, *points], values=list(self.values), depth=self.depth + 1)
        deeper.turns = self.turns * max(turns, 1)
        deeper.in_loop = in_loop
        deeper.tensors = list(self.tensors)
        return deeper

    def site(self, tensors: list[Tensor], count: int) -> Site:
        """The values of an expression: loop variables, names, some elements."""
        lengths = [point.extent for point in self.points]
        options = [t for t in tensors if can_read(t, lengths)]
        leaves = [
            read(self.draft, self.draft.source.pick(options), self.points, straight=0.5)
            for _ in range(count)
            if options
        ]
        return Site(self.draft, [*leaves, *self.values], [point.term for point in self.points])

    def value(self, dtype: str, *, lets: bool = True) -> Term:
        """An expression of the dtype over what can be read here."""
        readable = [t for t in self.tensors if not t.special]
        site = self.site(readable, self.draft.source.integer(1, 3))
        if self.stored is not None and self.draft.source.flip(_AGAIN):
            site = site.with_leaves(load(*self.stored))
        return draw_value(replace(site, lets=lets), dtype)

    def index_of(self, tensor: Tensor) -> list[Any]:
        """Indices in bounds. Raises Unfit where a dim is symbolic and no loop counts up to it."""
        return [self.index(dim) for dim in tensor.dims]

    def index(self, dim: Extent) -> Any:
        """An index in bounds of one dim."""
        same = [p for p in self.points if p.extent.text == dim.text]
        if same and (not dim.static or self.draft.source.flip(0.7)):
            return self.draft.source.pick(same).term.expr
        if not dim.static or not dim.value:
            raise Unfit("a dim that may be empty")
        if not self.points:
            return self.draft.number(self.draft.source.integer(0, dim.value - 1))
        site = Site(self.draft, [], [point.term for point in self.points], lets=False)
        term = draw_value(site, self.draft.index_dtype, 1)
        return index_within(self.draft, dim, term, clamp=self.draft.source.flip(_CLAMPED))

    def element(self, tensor: Tensor) -> tuple[Term, list[Any]]:
        """An element and where it is."""
        indices = self.index_of(tensor)
        return load(tensor, indices), indices


def sequence(*statements: Any) -> Any:
    """The statements one behind the other; those that do nothing are left out, as TVM's constructor leaves them out."""
    flat: list[Any] = []
    for statement in statements:
        flat += list(statement.seq) if isinstance(statement, tirx.SeqStmt) else [statement]
    kept = [s for s in flat if not (isinstance(s, tirx.Evaluate) and isinstance(s.value, tirx.IntImm))]
    if len(kept) > 1:
        return tirx.SeqStmt(kept)
    return kept[0] if kept else tirx.Evaluate(tirx.IntImm("int32", 0))


def store(tensor: Tensor, term: Term, indices: list[Any]) -> Any:
    """The value brought into what the tensor holds, stored."""
    return tirx.BufferStore(tensor.buffer, held(tensor, term).expr, indices)


def held(tensor: Tensor, term: Term) -> Term:
    """The value brought into what the tensor holds."""
    if term.fraction > tensor.fraction:
        term = Term(tirx.floor(term.expr), term.dtype, Range(term.range.low - 1, term.range.high, True))
    return term if tensor.dtype == "bool" else bounded(term, tensor.range)
