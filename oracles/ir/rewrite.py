"""What a pass did to a module, as kinds: of what it took away, and of what it put there.

Two reductions of one bug should give the same kinds, two bugs others. So names, values, extents and counts do not
count; signs of integer constants do (`x % -4` and `x % 4` go different ways in TVM's arithmetic). Functions are
matched by name. What is in nearly every program counts only where nothing else has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tvm import relax

from generators import tvm_api as T
from generators.operators.table import OPERATORS
from generators.tvm_api import BaseFunc, Expr, IRModule, Node, RelaxFunction
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
    """Kinds of what a pass took away and of what it put there, each once, sorted.

    everywhere: all of them stand in most modules, so that the same rewrite of any operator looks like this.
    """

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    everywhere: bool = field(default=False, compare=False)


VALUES_IN_MOST_MODULES = frozenset({"a variable", "a constant", "call_tir", "a tuple", "an item of a tuple"})
"""Kinds of values that say little of a module: see `value_kind`."""
_RESULT, _RELAX_FUNCTION, _OTHER_ORDER, _SAME = (
    "the result",
    "a Relax function",
    "another order of bindings",
    "the same kinds",
)
_PLAIN = frozenset({"a variable", "a constant"})
"""Bindings that only name something. They say little where something else came, or went, as well."""
_IN_MOST_MODULES = VALUES_IN_MOST_MODULES | {
    *(_RESULT, _RELAX_FUNCTION, _OTHER_ORDER, _SAME),
    *("a call of a function", "a call of a closure", "a local function"),
}


@dataclass(frozen=True, slots=True)
class _Change:
    """A kind that was removed or added. differs: in what, where the kind stands on both sides."""

    kind: str
    differs: str = ""

    def __str__(self) -> str:
        return f"{self.kind} with other {self.differs}" if self.differs else self.kind


def rewritten(before: IRModule, after: IRModule, named: bool = False) -> Kinds:
    """What a pass did: in Relax functions the bindings, in PrimFuncs the nodes.

    named: operators count by name also where many are alike, for a pass that has code for each of them.
    """
    old, new = functions_of(before), functions_of(after)
    removed, added = set[_Change](), set[_Change]()
    for name in {**old, **new}:
        gone, come = _change(old.get(name), new.get(name), named)
        removed |= gone
        added |= come - _in_callees(old.get(name), old)
    if not removed and not added and not T.structural_equal(before, after):
        added.add(_Change(_SAME))
    if overwriting := {change for change in added if change.kind in _OVERWRITES_OTHERS}:
        removed, added = set(), overwriting
    removed, added = _without_plain(removed), _without_plain(added)
    everywhere = {change.kind for change in removed | added} <= _IN_MOST_MODULES
    return Kinds(tuple(sorted(map(str, removed))), tuple(sorted(map(str, added))), everywhere)


def _without_plain(changes: set[_Change]) -> set[_Change]:
    return {change for change in changes if change.kind not in _PLAIN} or changes


def _change(old: BaseFunc | None, new: BaseFunc | None, named: bool) -> tuple[set[_Change], set[_Change]]:
    if isinstance(old, PRIM_FUNC) and isinstance(new, PRIM_FUNC):
        gone, come = kinds_changed(old, new)
        return set(map(_Change, gone)), set(map(_Change, come))
    if isinstance(old, FUNCTION) and isinstance(new, FUNCTION):
        return _of_relax(old, new, named)
    if isinstance(old, PRIM_FUNC) or isinstance(new, PRIM_FUNC):
        return set(), set()  # Passes put PrimFuncs beside what calls them, and drop those that nothing calls.
    what = {_Change(_RELAX_FUNCTION)}
    return (what, set()) if new is None else (set(), what)


def _in_callees(function: BaseFunc | None, functions: Mapping[str, BaseFunc]) -> set[_Change]:
    """The kinds of what stands in the PrimFuncs that a PrimFunc calls: a pass that inlines them copies it."""
    if not isinstance(function, PRIM_FUNC):
        return set()
    callees = [functions.get(str(one.name_hint)) for one in nodes_of(function.body, GLOBAL_VAR)]
    return {_Change(kind) for one in callees if isinstance(one, PRIM_FUNC) for kind in all_kinds(one)}


# --- Relax ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bound:
    """A binding, or the result of a function, for comparison: variables by their names, parts by their hashes.

    operator: the name of the operator that is called, "" for everything else.
    """

    kind: str
    operator: str
    operands: tuple[str, ...]
    attributes: int
    types: int


def _of_relax(old: RelaxFunction, new: RelaxFunction, named: bool) -> tuple[set[_Change], set[_Change]]:
    mine, other = _bound(old, named), _bound(new, named)
    removed, added = (
        list((Counter(mine) - Counter(other)).elements()),
        list((Counter(other) - Counter(mine)).elements()),
    )
    if not removed and not added:
        same = mine == other
        return set(), set() if same else {_Change(_OTHER_ORDER)}
    gone, come = {one.kind for one in removed}, {one.kind for one in added}
    changed = set[_Change]()
    for kind in gone & come:
        pair = [[one for one in each if one.kind == kind] for each in (removed, added)]
        other_operator = _in_place_of(*pair)
        changed.add(_Change(other_operator) if other_operator else _Change(kind, _what_differs(*pair)))
    return set(map(_Change, gone - come)), set(map(_Change, come - gone)) | changed


def _in_place_of(old: Sequence[_Bound], new: Sequence[_Bound]) -> str:
    """The first operator that another one of its kind stands in for, with that; "" where there is none."""
    pairs = zip(old, new, strict=False)
    return next((f"{b.operator} in place of {a.operator}" for a, b in pairs if a.operator != b.operator), "")


def _what_differs(old: Sequence[_Bound], new: Sequence[_Bound]) -> str:
    """What sets bindings of one kind apart from their counterparts: attributes before types before operands."""
    pairs = list(zip(old, new, strict=False))
    if any(one.attributes != other.attributes for one, other in pairs):
        return "attributes"
    if any(one.types != other.types for one, other in pairs):
        return "types"
    return "operands"


def _bound(function: RelaxFunction, named: bool) -> list[_Bound]:
    held = _held(function)
    found = [_one(bound.value, named, held) for bound in bindings(function)]
    result = function.body.body if isinstance(function.body, relax.SeqExpr) else function.body
    return [*found, _Bound(_RESULT, "", (_name(result),), 0, 0)]


def _held(function: RelaxFunction) -> dict[str, str]:
    """What else may be written when a value is overwritten: parameters, constants and fields of tuples, by name."""
    held = {str(param.name): "a parameter" for param in function.params}
    for bound in bindings(function):
        name, value = str(bound.binding.var.name), bound.value
        if type(value) is TUPLE:
            held.update((_name(part), "a field of a tuple") for part in _leaves(value))
        elif type(value) is TUPLE_GET_ITEM:
            held[name] = "a field of a tuple"
        elif isinstance(value, T.Constant):
            held[name] = "a constant"
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


_INTO = "call_tir_inplace into "
_OF_OTHERS = ("a constant", "a parameter", "a field of a tuple")
_OVERWRITES_OTHERS = frozenset(f"{_INTO}{kind}" for kind in _OF_OTHERS)
"""What others may read when it is overwritten. Which values have become one, so that it is, does not count."""


def _overwrites(call: Expr, held: dict[str, str]) -> str:
    """The kind of an in-place call with what it overwrites: the least usual, where it overwrites several."""
    targets = [call.args[1].fields[int(i)] for i in call.attrs.inplace_indices if int(i) >= 0]
    kinds = {"a constant" if isinstance(t, T.Constant) else held.get(_name(t), "a value") for t in targets}
    order = (*_OF_OTHERS, "a value")
    return f"{_INTO}{next((kind for kind in order if kind in kinds), 'nothing')}"


def _one(value: Expr, named: bool, held: dict[str, str]) -> _Bound:
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


_KINDS: dict[type, str] = {
    TUPLE: "a tuple",
    TUPLE_GET_ITEM: "an item of a tuple",
    relax.If: "an If",
    FUNCTION: "a local function",
    relax.ShapeExpr: "a shape",
    T.Constant: "a constant",
}


def value_kind(value: Expr, named: bool = False) -> str:
    """The kind of a bound value. Elementwise operators are alike by the number of their operands and those of a family
    by that, unless `named`."""
    if type(value) is not CALL:
        return "a variable" if isinstance(value, VAR) else _KINDS.get(type(value), type(value).__name__)
    if type(value.op) is not OP:
        return "a call of a function" if type(value.op) is GLOBAL_VAR else f"a call of {_callee(value.op)}"
    row = OPERATORS.get(str(value.op.name))
    if row is not None and not named:
        if row.elementwise:
            return f"{ELEMENTWISE} of {len(value.args)}"
        if row.family:
            return row.family
    return str(value.op.name).removeprefix("relax.")


ELEMENTWISE = "an elementwise operator"


def is_elementwise(value: Expr) -> bool:
    """Whether a value is the call of an elementwise operator."""
    row = OPERATORS.get(str(value.op.name)) if isinstance(value, CALL) and isinstance(value.op, OP) else None
    return row is not None and row.elementwise


def _callee(callee: Expr) -> str:
    return "a packed function" if isinstance(callee, relax.ExternFunc) else "a closure"
