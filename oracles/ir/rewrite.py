"""What a pass did to a module, as kinds: of what it took away, and of what it put there.

Two reductions of one bug should give the same kinds, two bugs others. So names, values, extents and counts do not
count; signs of integer constants do (`x % -4` and `x % 4` go different ways in TVM's arithmetic). Functions are
matched by name. What is in nearly every program counts only where nothing else has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from tvm import relax

from generators import tvm_api as T
from generators.operators.table import OPERATORS
from generators.tvm_api import BaseFunc, Expr, IRModule, Node, RelaxFunction
from oracles.ir.kinds import CALL_TIR, CONSTANT, Altered, IRKind, Piece, sorted_kinds
from oracles.ir.tir_rewrite import all_kinds, kinds_changed
from oracles.ir.walk import (
    CALL,
    FUNCTION,
    GLOBAL_VAR,
    OP,
    PRIM_FUNC,
    TUPLE,
    TUPLE_GET_ITEM,
    VAR,
    bindings,
    functions_of,
    nodes_of,
    operands,
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """Kinds of what a pass took away and of what it put there, each once, in the order of causes.

    everywhere: all of them stand in most modules, so that the same rewrite of any operator looks like this.
    """

    removed: tuple[IRKind, ...] = ()
    added: tuple[IRKind, ...] = ()
    everywhere: bool = field(default=False, compare=False)


VALUES_IN_MOST_MODULES = frozenset(
    (IRKind(Piece.VARIABLE), CONSTANT, CALL_TIR, IRKind(Piece.TUPLE), IRKind(Piece.ITEM)),
)
"""Kinds of values that say little of a module: see `value_kind`."""
_RESULT = IRKind(Piece.RESULT)
_RELAX_FUNCTION = IRKind(Piece.RELAX_FUNCTION)
_PLAIN = frozenset((IRKind(Piece.VARIABLE), CONSTANT))
"""Bindings that only name something. They say little where something else came, or went, as well."""
_IN_MOST_MODULES = VALUES_IN_MOST_MODULES | {
    *(_RESULT, _RELAX_FUNCTION, IRKind(Piece.BINDING_ORDER), IRKind(Piece.SAME)),
    *(IRKind(Piece.CALL_OF_FUNCTION), IRKind(Piece.CALL_OF_CLOSURE), IRKind(Piece.LOCAL_FUNCTION)),
}


def rewritten(before: IRModule, after: IRModule, named: bool = False) -> Kinds:
    """What a pass did: in Relax functions the bindings, in PrimFuncs the nodes.

    named: operators count by name also where many are alike, for a pass that has code for each of them.
    """
    old, new = functions_of(before), functions_of(after)
    removed, added = set[IRKind](), set[IRKind]()
    for name in {**old, **new}:
        gone, come = _change(old.get(name), new.get(name), named)
        removed |= gone
        added |= come - _in_callees(old.get(name), old)
    if not removed and not added and not T.structural_equal(before, after):
        added.add(IRKind(Piece.SAME))
    if overwriting := {kind for kind in added if _whole(kind) in _OVERWRITES_OTHERS}:
        removed, added = set(), overwriting
    elif moved := {kind for kind in removed if kind.piece is Piece.INTO}:  # What went along with it does not count.
        removed = moved
    removed, added = _without_plain(removed), _without_plain(added)
    everywhere = {_whole(kind) for kind in removed | added} <= _IN_MOST_MODULES
    return Kinds(sorted_kinds(removed), sorted_kinds(added), everywhere)


def _whole(kind: IRKind) -> IRKind:
    """The kind, in whatever it differs."""
    return replace(kind, altered=None)


def _without_plain(kinds: set[IRKind]) -> set[IRKind]:
    return {kind for kind in kinds if _whole(kind) not in _PLAIN} or kinds


def _change(old: BaseFunc | None, new: BaseFunc | None, named: bool) -> tuple[set[IRKind], set[IRKind]]:
    if isinstance(old, PRIM_FUNC) and isinstance(new, PRIM_FUNC):
        return kinds_changed(old, new)
    if isinstance(old, FUNCTION) and isinstance(new, FUNCTION):
        return _of_relax(old, new, named)
    if isinstance(old, PRIM_FUNC) or isinstance(new, PRIM_FUNC):
        return set(), set()  # Passes put PrimFuncs beside what calls them, and drop those that nothing calls.
    what = {_RELAX_FUNCTION}
    return (what, set()) if new is None else (set(), what)


def _in_callees(function: BaseFunc | None, functions: Mapping[str, BaseFunc]) -> set[IRKind]:
    """The kinds of what stands in the PrimFuncs that a PrimFunc calls: a pass that inlines them copies it."""
    if not isinstance(function, PRIM_FUNC):
        return set()
    callees = [functions.get(str(one.name_hint)) for one in nodes_of(function.body, GLOBAL_VAR)]
    return {kind for one in callees if isinstance(one, PRIM_FUNC) for kind in all_kinds(one)}


# --- Relax ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bound:
    """A binding, or the result of a function, for comparison: variables by their names, parts by their hashes.

    operator: the name of the operator that is called, "" for everything else.
    """

    kind: IRKind
    operator: str
    operands: tuple[str, ...]
    attributes: int
    types: int


def _of_relax(old: RelaxFunction, new: RelaxFunction, named: bool) -> tuple[set[IRKind], set[IRKind]]:
    mine, other = _bound(old, named), _bound(new, named)
    removed, added = (
        list((Counter(mine) - Counter(other)).elements()),
        list((Counter(other) - Counter(mine)).elements()),
    )
    if not removed and not added:
        same = mine == other
        return set(), set() if same else {IRKind(Piece.BINDING_ORDER)}
    gone, come = {one.kind for one in removed}, {one.kind for one in added}
    changed = set[IRKind]()
    for kind in gone & come:
        pair = [[one for one in each if one.kind == kind] for each in (removed, added)]
        changed.add(_in_place_of(*pair) or replace(kind, altered=_what_differs(*pair)))
    return gone - come, (come - gone) | changed


def _in_place_of(old: Sequence[_Bound], new: Sequence[_Bound]) -> IRKind | None:
    """The first operator that another one of its kind stands in for, with that; None where there is none."""
    pairs = zip(old, new, strict=False)
    other = (IRKind(Piece.IN_PLACE_OF, b.operator, a.operator) for a, b in pairs if a.operator != b.operator)
    return next(other, None)


def _what_differs(old: Sequence[_Bound], new: Sequence[_Bound]) -> Altered:
    """What sets bindings of one kind apart from their counterparts: attributes before types before operands."""
    pairs = list(zip(old, new, strict=False))
    if any(one.attributes != other.attributes for one, other in pairs):
        return Altered.ATTRIBUTES
    if any(one.types != other.types for one, other in pairs):
        return Altered.TYPES
    return Altered.OPERANDS


def _bound(function: RelaxFunction, named: bool) -> list[_Bound]:
    held = _held(function)
    found = [_one(bound.value, named, held) for bound in bindings(function)]
    result = function.body.body if isinstance(function.body, relax.SeqExpr) else function.body
    return [*found, _Bound(_RESULT, "", (_name(result),), 0, 0)]


class Overwritten(Enum):
    """What a call in place writes to, the least usual first, and how a cause names it. Others may read it, but for a
    value of the function's own."""

    CONSTANT = "a constant"
    PARAMETER = "a parameter"
    FIELD = "a field of a tuple"
    VALUE = "a value"
    NOTHING = "nothing"


def _held(function: RelaxFunction) -> dict[str, Overwritten]:
    """What else may be written when a value is overwritten: parameters, constants and fields of tuples, by name."""
    held = {str(param.name): Overwritten.PARAMETER for param in function.params}
    for bound in bindings(function):
        name, value = str(bound.binding.var.name), bound.value
        if type(value) is TUPLE:
            held.update((_name(part), Overwritten.FIELD) for part in _leaves(value))
        elif type(value) is TUPLE_GET_ITEM:
            held[name] = Overwritten.FIELD
        elif isinstance(value, T.Constant):
            held[name] = Overwritten.CONSTANT
        elif isinstance(value, VAR) and str(value.name) in held:
            held[name] = held[str(value.name)]
    return held


def _leaves(value: Expr) -> Iterator[Expr]:
    """The fields of a tuple, and those of tuples in it."""
    for part in value.fields:
        if type(part) is TUPLE:
            yield from _leaves(part)
        else:
            yield part


_IN_PLACE = "relax.call_tir_inplace"


_OVERWRITES_OTHERS = frozenset(
    IRKind(Piece.INTO, one.value) for one in (Overwritten.CONSTANT, Overwritten.PARAMETER, Overwritten.FIELD)
)
"""What others may read when it is overwritten. Which values have become one, so that it is, does not count."""


def _overwrites(call: Expr, held: dict[str, Overwritten]) -> IRKind:
    """The kind of an in-place call with what it overwrites: the least usual, where it overwrites several."""
    targets = [call.args[1].fields[int(i)] for i in call.attrs.inplace_indices if int(i) >= 0]
    found = {_overwritten(target, held) for target in targets}
    return IRKind(Piece.INTO, next((one for one in Overwritten if one in found), Overwritten.NOTHING).value)


def _overwritten(target: Expr, held: dict[str, Overwritten]) -> Overwritten:
    return Overwritten.CONSTANT if isinstance(target, T.Constant) else held.get(_name(target), Overwritten.VALUE)


def _one(value: Expr, named: bool, held: dict[str, Overwritten]) -> _Bound:
    attributes = types = 0
    kind = _overwrites(value, held) if T.op_name(value) == _IN_PLACE else value_kind(value, named)
    if type(value) is CALL:
        attributes = 0 if value.attrs is None else _hash(value.attrs)
        types = _hash(value.ty_args) if len(value.ty_args) else 0
    parts = operands(value)
    names = (_name(value),) if not parts else tuple(map(_name, parts))
    operator = (T.op_name(value) or "").removeprefix("relax.")
    return _Bound(kind, operator, names, attributes, types)


def _name(expr: Expr) -> str:
    """What an operand is, by the name that the program gives it."""
    if isinstance(expr, VAR):
        return str(expr.name)
    if type(expr) is GLOBAL_VAR:
        return str(expr.name_hint)
    if type(expr) is TUPLE:
        return f"({', '.join(map(_name, expr.fields))})"
    return type(expr).__name__ if isinstance(expr, (FUNCTION, relax.SeqExpr, relax.If)) else str(_hash(expr))


def _hash(node: Node) -> int:
    return int(T.structural_hash(node, map_free_vars=True))


_PIECES: dict[type, Piece] = {
    TUPLE: Piece.TUPLE,
    TUPLE_GET_ITEM: Piece.ITEM,
    relax.If: Piece.IF,
    FUNCTION: Piece.LOCAL_FUNCTION,
    relax.ShapeExpr: Piece.SHAPE,
    T.Constant: Piece.CONSTANT,
}


def value_kind(value: Expr, named: bool = False) -> IRKind:
    """The kind of a bound value. Elementwise operators are alike by the number of their operands and those of a family
    by that, unless `named`."""
    if type(value) is not CALL:
        piece = Piece.VARIABLE if isinstance(value, VAR) else _PIECES.get(type(value))
        return IRKind(Piece.NODE, type(value).__name__) if piece is None else IRKind(piece)
    if type(value.op) is not OP:
        return IRKind(_called(value.op))
    row = OPERATORS.get(str(value.op.name))
    if row is not None and not named:
        if row.elementwise:
            return IRKind(Piece.ELEMENTWISE, str(len(value.args)))
        if row.family:
            return IRKind(Piece.FAMILY, row.family)
    return IRKind(Piece.OPERATOR, str(value.op.name).removeprefix("relax."))


def is_elementwise(value: Expr) -> bool:
    """Whether a value is the call of an elementwise operator."""
    row = OPERATORS.get(str(value.op.name)) if isinstance(value, CALL) and isinstance(value.op, OP) else None
    return row is not None and row.elementwise


def _called(callee: Expr) -> Piece:
    if type(callee) is GLOBAL_VAR:
        return Piece.CALL_OF_FUNCTION
    return Piece.CALL_OF_PACKED if isinstance(callee, relax.ExternFunc) else Piece.CALL_OF_CLOSURE
