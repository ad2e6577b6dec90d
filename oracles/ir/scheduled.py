"""What the primitive of a schedule has done to the blocks of a PrimFunc that no primitive may do.

A primitive moves, copies and renames statements; which ones depends on the program. Of a wrong one it therefore does
not count what was moved. It counts what must stay and did not: the order of writes and reads, a statement, an
iteration, an init. Blocks are matched by name, which primitives keep. Loops are run with plain numbers for that.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum

from tvm import s_tir, tirx

from generators import tvm_api as T
from generators.tvm_api import Expr, IRModule, Node, PrimFunc, Stmt
from oracles.ir.kinds import DIVIDES_BY_NEGATIVE
from oracles.ir.tir_rewrite import kinds_changed
from oracles.ir.walk import PRIM_FUNC, VAR, functions_of, nodes_of, prim_funcs


class Misdone(Enum):
    """What no primitive may do. The first that is true counts: a lost statement also makes other blocks."""

    READS_FIRST = "reads a buffer before it is written"
    LOSES_STATEMENT = "loses the statements that write a parameter"
    LOSES_REDUCTION = "leaves out iterations of a reduction"
    LOSES_ITERATION = "leaves out iterations of a block"
    ADDS_ITERATION = "adds iterations to a block"
    OTHER_INIT = "gives a reduction another init"
    OTHER_AXIS = "takes the axis of a reduction for another"
    DIVIDES_BY_NEGATIVE = "a division by a negative constant"
    OTHER_BLOCKS = "makes other blocks"
    OTHER_VALUES = "stores other values"
    OTHER_ORDER = "runs the same blocks in another order"


MOST_STEPS = 10_000
"""Loops and blocks that are entered at most to find out for which iterations the blocks of a function run."""
_GIVEN = (3, 0)
"""Stand for a number that the program is given, an extent."""


def misdone(before: IRModule, after: IRModule) -> Misdone | None:
    """What a wrong primitive did that no primitive may do; None if no PrimFunc is another."""
    old, found = functions_of(before), set[Misdone]()
    for name, function in prim_funcs(after):
        counterpart = old.get(name.name_hint)
        if type(counterpart) is PRIM_FUNC and not T.structural_equal(counterpart, function):
            found.add(_misdone(counterpart, function))
    return _first(found)


def told(what: Misdone | None) -> str:
    """As a cause says it."""
    return "" if what is None else str(what.value)


def _first(found: Set[Misdone]) -> Misdone | None:
    return next((what for what in Misdone if what in found), None)


def _misdone(before: PrimFunc, after: PrimFunc) -> Misdone:
    uses, now = _uses(before), _uses(after)
    if any(_reads_first(uses.get(name), use) for name, use in now.items()):
        return Misdone.READS_FIRST
    params = {str(param.name) for param in T.parameters_of(after)}
    if any(use.written and name not in now and name in params for name, use in uses.items()):
        return Misdone.LOSES_STATEMENT
    for given in _GIVEN:
        if what := _other_iterations(_runs(before, given), _runs(after, given)):
            return what
    if _inits(after) - _inits(before):
        return Misdone.OTHER_INIT
    if _inits_of_no_axis(after) > _inits_of_no_axis(before):
        return Misdone.OTHER_AXIS
    if DIVIDES_BY_NEGATIVE in set().union(*kinds_changed(before, after)):
        return Misdone.DIVIDES_BY_NEGATIVE
    if _axes(before) != _axes(after):
        return Misdone.OTHER_BLOCKS
    return Misdone.OTHER_ORDER if _stores(before) == _stores(after) else Misdone.OTHER_VALUES


# --- buffers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Use:
    """How a function uses a buffer. loaded_first: its first use in the order of the text is a load."""

    loaded_first: bool
    written: bool


def _reads_first(was: _Use | None, now: _Use) -> bool:
    """Whether a buffer is now read first, and should have been written before: it was, or it is new."""
    if not now.loaded_first:
        return False
    return now.written if was is None else was.written and not was.loaded_first


def _uses(function: PrimFunc) -> dict[str, _Use]:
    """The uses of buffers by name."""
    found: dict[str, _Use] = {}
    for statement in _leaves(function.body):
        for load in nodes_of(statement, T.TensorLoad):
            found.setdefault(str(load.source.name), _Use(loaded_first=True, written=False))
        if isinstance(statement, tirx.BufferStore):
            name = str(statement.buffer.name)
            found[name] = _Use(name in found and found[name].loaded_first, written=True)
    return found


def _leaves(statement: Stmt) -> Iterator[Stmt]:
    """The statements that hold no others, in the order of the text: the init of a block before its body."""
    inner = _inner(statement)
    if not inner:
        yield statement
    for one in inner:
        yield from _leaves(one)


def _inner(statement: Stmt) -> list[Stmt]:
    """The statements that a statement holds."""
    if isinstance(statement, tirx.SeqStmt):
        return T.items_of(statement.seq)
    if isinstance(statement, s_tir.SBlockRealize):
        statement = statement.block
    parts = [getattr(statement, name, None) for name in ("init", "then_case", "else_case", "body")]
    return [part for part in parts if isinstance(part, tirx.Stmt)]


def _stores(function: PrimFunc) -> Counter[int]:
    """The stores of a function, as hashes."""
    return Counter(int(T.structural_hash(one, map_free_vars=True)) for one in nodes_of(function.body, tirx.BufferStore))


def _inits_of_no_axis(function: PrimFunc) -> int:
    """The number of blocks that begin a reduction and have no axis to reduce."""
    blocks = [block for block in nodes_of(function.body, s_tir.SBlock) if block.init is not None]
    return sum(all(axis.iter_type != tirx.IterVar.CommReduce for axis in block.iter_vars) for block in blocks)


def _inits(function: PrimFunc) -> set[int]:
    """What blocks begin their reductions with, as hashes."""
    inits = [block.init for block in nodes_of(function.body, s_tir.SBlock) if block.init is not None]
    stores = [store for init in inits for store in nodes_of(init, tirx.BufferStore)]
    return {int(T.structural_hash(store.value, map_free_vars=True)) for store in stores}


# --- iterations -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Runs:
    """For which values of its axes a block runs. axes: their names; reduced: the places of those of a reduction."""

    axes: tuple[str, ...]
    reduced: tuple[int, ...]
    points: set[tuple[int, ...]] = field(default_factory=set)

    def reduction(self, point: tuple[int, ...]) -> tuple[int, ...]:
        """The values of the axes of a reduction."""
        return tuple(point[place] for place in self.reduced)


def _other_iterations(ran: dict[str, _Runs], runs: dict[str, _Runs]) -> Misdone | None:
    """What differs in the iterations of blocks that have kept their axes; None if nothing does."""
    found = set[Misdone]()
    for name in ran.keys() & runs.keys():
        old, new = ran[name], runs[name]
        if old.axes == new.axes and old.points != new.points:
            never = {old.reduction(point) for point in old.points} - {old.reduction(point) for point in new.points}
            lost = Misdone.LOSES_REDUCTION if never and new.points else Misdone.LOSES_ITERATION
            found.add(lost if old.points - new.points else Misdone.ADDS_ITERATION)
    return _first(found)


class _Unknown(Exception):
    """A number that only the run of a program gives, or too many iterations."""


def _runs(function: PrimFunc, given: int) -> dict[str, _Runs]:
    """The iterations of the blocks that have axes, by name, if the program is given such numbers; {} if they cannot be
    told."""
    blocks = [block for block in nodes_of(function.body, s_tir.SBlock) if len(block.iter_vars)]
    enumerated = _Enumerated({str(block.name_hint): _none_yet(block.iter_vars[:]) for block in blocks}, given)
    try:
        enumerated.run(function.body)
    except _Unknown:
        return {}
    return enumerated.found


def _none_yet(axes: Sequence[Node]) -> _Runs:
    kinds = [int(axis.iter_type) == tirx.IterVar.CommReduce for axis in axes]
    return _Runs(_names(axes), tuple(place for place, reduces in enumerate(kinds) if reduces))


def _names(axes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(str(axis.var.name) for axis in axes)


def _axes(function: PrimFunc) -> set[tuple[str, ...]]:
    """The names of the blocks and of their axes."""
    blocks = nodes_of(function.body, s_tir.SBlock)
    return {(str(block.name_hint), *_names(block.iter_vars[:])) for block in blocks}


_COMPUTED: dict[type, Callable[[int, int], int]] = {
    tirx.Add: operator.add,
    tirx.Sub: operator.sub,
    tirx.Mul: operator.mul,
    tirx.Min: min,
    tirx.Max: max,
    tirx.EQ: operator.eq,
    tirx.NE: operator.ne,
    tirx.LT: operator.lt,
    tirx.LE: operator.le,
    tirx.GT: operator.gt,
    tirx.GE: operator.ge,
    tirx.And: lambda a, b: bool(a) and bool(b),
    tirx.Or: lambda a, b: bool(a) or bool(b),
    tirx.FloorDiv: operator.floordiv,
    tirx.FloorMod: operator.mod,
}


class _Enumerated:
    """Runs the loops and blocks of a function, and nothing that they compute."""

    def __init__(self, found: dict[str, _Runs], given: int) -> None:
        self.found = found
        self._given, self._steps = given, 0
        self._numbers: dict[int, int] = {}  # Values of variables by their addresses.

    def run(self, statement: Stmt) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _Unknown
        if isinstance(statement, tirx.For):
            start = self._number(statement.min)
            for value in range(start, start + self._number(statement.extent)):
                self._numbers[_address(statement.loop_var)] = value
                self.run(statement.body)
        elif isinstance(statement, s_tir.SBlockRealize):
            self._enter(statement)
        else:
            for inner in _inner(statement):
                self.run(inner)

    def _enter(self, realized: Stmt) -> None:
        block, axes = realized.block, realized.block.iter_vars[:]
        values = tuple(self._number(value) for value in realized.iter_values)
        if not self._number(realized.predicate):
            return
        runs = self.found.get(str(block.name_hint))
        if runs is not None and runs.axes == _names(axes):
            runs.points.add(values)
        self._numbers.update({_address(axis.var): value for axis, value in zip(axes, values, strict=True)})
        self.run(block.body)

    def _number(self, expr: Expr) -> int:
        """The value of an integer expression. Raises _Unknown."""
        kind = type(expr)
        if kind is tirx.IntImm:
            return int(expr.value)
        if isinstance(expr, VAR):
            return self._numbers.get(_address(expr), self._given)
        if kind is tirx.Cast:
            return self._number(expr.value)
        if kind is tirx.Not:
            return not self._number(expr.a)
        if kind not in _COMPUTED:
            raise _Unknown
        try:
            return _COMPUTED[kind](self._number(expr.a), self._number(expr.b))
        except ZeroDivisionError as error:
            raise _Unknown from error


def _address(node: Node) -> int:
    return int(node.__chandle__())
