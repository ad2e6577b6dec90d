"""The function being drawn: its extents, symbols, tensors, statements and names so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tvm import tirx
from typing_extensions import TypedDict, Unpack

from generators.dtypes import integer_limits
from generators.ranges import TRUTH, Range
from generators.source import Source, weighted
from generators.tir.knobs import SYMBOL_LIMIT, TirKnobs
from generators.tir.swarm import EVERY, Unusual
from generators.tir.terms import Term, capacity
from generators.tvm_api import Buffer, Expr, Stmt, Var
from generators.unavailable import Unavailable

Annotations: TypeAlias = Mapping[str, object]
"""Of a loop or a block: numbers, texts and lists of them."""


class Layout(TypedDict, total=False):
    """Where and how a buffer lies in memory: further arguments of `tirx.decl_buffer`."""

    data: Expr
    scope: str
    strides: Sequence[Expr | int]
    elem_offset: Var
    offset_factor: int


class Unfit(Unavailable):
    """The draw does not fit the function so far; the caller draws something else."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The length of a dim or of a loop: equal texts are equal lengths. `value` is the length in the arguments,
    `low` and `high` bound it."""

    text: str
    value: int
    low: int
    high: int
    expr: Expr

    @property
    def static(self) -> bool:
        """Whether it is a number."""
        return self.text.isdigit()


@dataclass(frozen=True, slots=True, eq=False)
class DraftTensor:
    """A buffer with the facts about its elements: role "input", "output", "local" (allocated by the root block) or
    "alloc" (by a statement).

    special: a float that holds NaN and infinities too, on which only few operations mean the same everywhere.
    """

    buffer: Buffer
    name: str
    dims: tuple[Extent, ...]
    dtype: str
    range: Range
    fraction: int = 0
    role: str = "local"
    special: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents in the arguments."""
        return tuple(d.value for d in self.dims)

    @property
    def elements(self) -> int:
        """How many there may be at most."""
        count = 1
        for dim in self.dims:
            count *= dim.high
        return count


@dataclass(slots=True)
class Symbol:
    """A symbolic extent: a dim of an input where it is not a parameter of its own."""

    var: Var
    value: int
    parameter: bool = False

    @property
    def low(self) -> int:
        """The smallest value for which the function is meant."""
        return min(self.value, 1)


@dataclass(frozen=True, slots=True)
class DraftState:
    """What a draft held at some point, and holds again where what was drawn after it does not fit."""

    tensors: tuple[DraftTensor, ...]
    statements: tuple[Stmt, ...]
    features: frozenset[str]
    read: frozenset[str]


@dataclass(slots=True)
class FunctionDraft:
    """One function while it is drawn. Everything random comes from `source`."""

    source: Source
    knobs: TirKnobs
    index_dtype: str = "int64"
    dtype: str = "float32"
    symbols: dict[str, Symbol] = field(default_factory=dict)
    tensors: list[DraftTensor] = field(default_factory=list)
    statements: list[Stmt] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    exact: bool = True
    final: bool = False
    """Whether no later statement can read the tensor that the present one writes."""
    unusual: frozenset[Unusual] = EVERY
    """The unusual kinds that it may hold."""
    touched: list[DraftTensor] = field(default_factory=list)
    """The tensors that were last stored or loaded in a function without blocks, and may be written."""
    read: set[str] = field(default_factory=set)
    """The names of the buffers that a block reads which it does not write."""
    drawn: int = 0
    """Statements drawn in a function without blocks."""
    _names: int = 0

    def state(self) -> DraftState:
        """What it holds now."""
        return DraftState(tuple(self.tensors), tuple(self.statements), frozenset(self.features), frozenset(self.read))

    def go_back(self, state: DraftState) -> None:
        """Drops what was drawn since then, but for names, which stay taken."""
        self.tensors, self.statements = list(state.tensors), list(state.statements)
        self.features, self.read = set(state.features), set(state.read)

    def new_name(self, prefix: str) -> str:
        """A name that nothing in the function has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def number(self, value: int) -> Expr:
        """An index literal."""
        return tirx.IntImm(self.index_dtype, value)

    def length(self, turns: int, step: int) -> Expr:
        """The extent of a loop of so many iterations with a step, the last of which may go beyond it."""
        return self.number(turns * step - (self.source.integer(0, step - 1) if turns else 0))

    def extent(self, value: int) -> Extent:
        """A length that is a number."""
        return Extent(str(value), value, value, value, self.number(value))

    def symbolic(self, name: str, plus: int = 0) -> Extent:
        """The length `name + plus`."""
        symbol = self.symbols[name]
        text = name if plus == 0 else f"{name} + {plus}"
        expr = symbol.var if plus == 0 else tirx.Add(symbol.var, self.number(plus))
        return Extent(text, symbol.value + plus, symbol.low + plus, SYMBOL_LIMIT + plus, expr)

    def draw_extent(self, *, empty: bool = True) -> Extent:
        """A length as the knobs weigh them; not 0 where `empty` is False."""
        options = [(n, w) for n, w in self.knobs.extents if n or empty]
        return self.extent(weighted(self.source, options))

    def draw_dtype(self) -> str:
        """The dtype of a new tensor."""
        return weighted(self.source, self.knobs.dtypes) if self.source.flip(self.knobs.mixed_share) else self.dtype

    def add_tensor(
        self,
        prefix: str,
        dims: tuple[Extent, ...],
        dtype: str,
        values: Range,
        *,
        fraction: int = 0,
        role: str = "local",
        special: bool = False,
        **layout: Unpack[Layout],
    ) -> DraftTensor:
        """A new tensor."""
        name = self.new_name(prefix)
        buffer = tirx.decl_buffer([d.expr for d in dims], dtype, name, layout=None, **layout)
        tensor = DraftTensor(buffer, name, dims, dtype, values, fraction, role, special)
        self.tensors.append(tensor)
        return tensor

    def index_range(self, extent: Extent) -> Range:
        """The range of a variable that counts up to the extent."""
        return Range(0, max(extent.high - 1, 0), True)


_BYTES = ("int8", "uint8")
"""Of these large numbers go up to the ends, less one that has no negative: no product fits there."""


def input_range(draft: FunctionDraft, dtype: str) -> Range:
    """The range of an input: small whole numbers, on which sums and products stay exact; rarely larger ones, whose
    products no longer fit the narrow types."""
    if dtype == "bool":
        return TRUTH
    source = draft.source
    low, high = source.pick(((-4, 4), (0, 3), (-8, 8), (1, 5), (-1, 1), (-7, -1)))
    if dtype.startswith("u"):
        low, high = sorted((abs(low), abs(high)))
    if dtype in _BYTES and source.flip(draft.knobs.inputs.large):
        low, high = integer_limits(dtype)
        low = -high if low else 0
    elif dtype.startswith(("int", "float64")) and source.flip(draft.knobs.inputs.large):
        top = min(int(capacity(dtype)), 1000)
        low, high = -top, top
    return Range(low, high, True)


def load(tensor: DraftTensor, indices: list[Expr]) -> Term:
    """One element."""
    return Term(tirx.BufferLoad(tensor.buffer, indices), tensor.dtype, tensor.range, tensor.fraction)


def room(dtype: str, count: int) -> int:
    """The largest whole magnitude of which `count` may be added up."""
    return int(capacity(dtype)) // max(count, 1)
