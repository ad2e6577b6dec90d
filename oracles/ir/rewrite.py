"""What a pass did to a module, as kinds: of what it took away, and of what it put there.

Two reductions of one bug should give the same kinds, two bugs others. So names, values, extents and counts do not
count; signs of integer constants do (`x % -4` and `x % 4` go different ways in TVM's arithmetic). Functions are
matched by name. What is in nearly every program counts only where nothing else has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx

from generators import tvm_api as T
from generators.dtypes import is_float
from generators.operators.table import OPERATORS
from generators.tvm_api import BaseFunc, Expr, IRModule, Node, PrimFunc, RelaxFunction, Stmt
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
    operands,
    prim_funcs,
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """Kinds of what a pass took away and of what it put there, each once, sorted."""

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def rewritten(before: IRModule, after: IRModule, named: bool = False) -> Kinds:
    """What a pass did: in Relax functions the bindings, in PrimFuncs the nodes.

    named: operators count by name also where many are alike, for a pass that has code for each of them.
    """
    old, new = functions_of(before), functions_of(after)
    removed, added = Counter[str](), Counter[str]()
    for name in {**old, **new}:
        for kinds, into in zip(_change(old.get(name), new.get(name), named), (removed, added), strict=True):
            into.update(kinds)
    if not removed and not added and not T.structural_equal(before, after):
        added["the same kinds"] = 1
    return Kinds(tuple(sorted(removed)), tuple(sorted(added)))


def _change(old: BaseFunc | None, new: BaseFunc | None, named: bool) -> tuple[set[str], set[str]]:
    if isinstance(old, PRIM_FUNC) and isinstance(new, PRIM_FUNC):
        return _of_prim_func(old, new)
    if isinstance(old, FUNCTION) and isinstance(new, FUNCTION):
        return _of_relax(old, new, named)
    if isinstance(old, PRIM_FUNC) or isinstance(new, PRIM_FUNC):
        return set(), set()  # Passes put PrimFuncs beside what calls them, and drop those that nothing calls.
    what = {"a Relax function"}
    return (what, set()) if new is None else (set(), what)


# --- Relax ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bound:
    """A binding, or the result of a function, for comparison: variables by their names, parts by their hashes."""

    kind: str
    operands: tuple[str, ...]
    attributes: int
    types: int


def _of_relax(old: RelaxFunction, new: RelaxFunction, named: bool) -> tuple[set[str], set[str]]:
    mine, other = _bound(old, named), _bound(new, named)
    removed, added = (
        list((Counter(mine) - Counter(other)).elements()),
        list((Counter(other) - Counter(mine)).elements()),
    )
    if not removed and not added:
        same = mine == other
        return set(), set() if same else {"another order of bindings"}
    gone, come = {one.kind for one in removed}, {one.kind for one in added}
    changed = set[str]()
    for kind in gone & come:
        pair = [[one for one in each if one.kind == kind] for each in (removed, added)]
        changed.add(f"{kind} with other {_what_differs(*pair)}")
    return gone - come, (come - gone) | changed


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
    return [*found, _Bound("the result", (_name(result),), 0, 0)]


def _held(function: RelaxFunction) -> dict[str, str]:
    """What else may be written when a value is overwritten: parameters, constants and fields of tuples, by name."""
    held = {str(param.name): "a parameter" for param in function.params}
    for bound in bindings(function):
        name, value = str(bound.binding.var.name), bound.value
        if type(value) is TUPLE:
            held.update((_name(part), "a field of a tuple") for part in value.fields)
        elif type(value) is TUPLE_GET_ITEM:
            held[name] = "a field of a tuple"
        elif isinstance(value, T.Constant):
            held[name] = "a constant"
        elif isinstance(value, VAR) and str(value.name) in held:
            held[name] = held[str(value.name)]
    return held


_IN_PLACE = "relax.call_tir_inplace"


def _overwrites(call: Expr, held: dict[str, str]) -> str:
    """The kind of an in-place call with what it overwrites: the least usual, where it overwrites several."""
    targets = [call.args[1].fields[int(i)] for i in call.attrs.inplace_indices if int(i) >= 0]
    kinds = {"a constant" if isinstance(t, T.Constant) else held.get(_name(t), "a value") for t in targets}
    order = ("a constant", "a parameter", "a field of a tuple", "a value")
    return f"call_tir_inplace into {next((kind for kind in order if kind in kinds), 'nothing')}"


def _one(value: Expr, named: bool, held: dict[str, str]) -> _Bound:
    attributes = types = 0
    kind = _overwrites(value, held) if T.op_name(value) == _IN_PLACE else value_kind(value, named)
    if type(value) is CALL:
        attributes = 0 if value.attrs is None else _hash(value.attrs)
        types = _hash(value.ty_args) if len(value.ty_args) else 0
    parts = operands(value)
    names = (_name(value),) if not parts else tuple(map(_name, parts))
    return _Bound(kind, names, attributes, types)


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
    """The kind of a bound value. Elementwise operators are alike by the number of their operands, unless `named`."""
    if type(value) is not CALL:
        return "a variable" if isinstance(value, VAR) else _KINDS.get(type(value), type(value).__name__)
    if type(value.op) is not OP:
        return "a call of a function" if type(value.op) is GLOBAL_VAR else f"a call of {_callee(value.op)}"
    name = str(value.op.name)
    row = OPERATORS.get(name)
    if row is not None and row.elementwise and not named:
        return f"an elementwise operator of {len(value.args)}"
    return name.removeprefix("relax.")


def _callee(callee: Expr) -> str:
    return "a packed function" if isinstance(callee, relax.ExternFunc) else "a closure"


# --- PrimFuncs ------------------------------------------------------------------------------------------

_INNER = (tirx.For, tirx.SeqStmt, tirx.IfThenElse, tirx.While, tirx.AttrStmt, s_tir.SBlock, s_tir.SBlockRealize)
"""Statements that hold others."""
_COMMON = frozenset(
    {
        *("Var", "IntImm", "FloatImm", "TensorLoad", "Add", "Sub", "Mul", "Cast to int", "For", "SeqStmt"),
        *("DeclBuffer", "SBlock", "SBlockRealize", "AllocBuffer", "Tuple", "Op"),
    }
)
"""Kinds of nodes that nearly every PrimFunc holds, and nearly every pass over PrimFuncs moves."""
_BINARY = (tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Mod, tirx.Min, tirx.Max)
_COMPARE = (tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE)
_BY_CONSTANT = (tirx.FloorDiv, tirx.FloorMod, tirx.Div, tirx.Mod, tirx.Mul)


def _of_prim_func(old: PrimFunc, new: PrimFunc) -> tuple[set[str], set[str]]:
    if T.structural_equal(old, new):
        return set(), set()
    mine, other = _statements(old.body), _statements(new.body)
    inner = (
        Counter(kind for s in mine if isinstance(s, _INNER) for kind in _node_kinds(s)),
        Counter(kind for s in other if isinstance(s, _INNER) for kind in _node_kinds(s)),
    )
    removed, added = inner[0] - inner[1], inner[1] - inner[0]
    details = list[str]()
    for one, counterpart in _pairs(*_unlike(_leaves(mine), _leaves(other))):
        if one is None or counterpart is None:
            into = added if one is None else removed
            into.update(_node_kinds(counterpart if one is None else one))
            continue
        kinds, others = Counter(_kinds_in(one)), Counter(_kinds_in(counterpart))
        removed.update(kinds - others)
        added.update(others - kinds)
        if kinds == others:
            details.append(_detail(one, counterpart))
    gone, come = _telling(set(removed), set(added))
    if gone or come:
        return gone, come
    return set(), set(details) or {_loops(mine, other)}


_RARER = (
    ("that begins at an expression", ("that begins at a number", "with a step")),
    ("that begins at a number", ("with a step",)),
)
"""Ends of kinds of loops, and those that do not count beside them: what rewrites one loop rewrites those around it."""


def _telling(removed: set[str], added: set[str]) -> tuple[set[str], set[str]]:
    """The kinds without the common ones, where there are others."""
    gone, come = removed - _COMMON, added - _COMMON
    for rare, others in _RARER:
        if any(kind.endswith(rare) for kind in gone | come):
            gone, come = ({kind for kind in kinds if not kind.endswith(others)} for kinds in (gone, come))
    return (gone, come) if gone or come else (removed, added)


def _statements(body: Stmt) -> list[Stmt]:
    """All statements of a body, outer ones first."""
    return _found(body, tirx.Stmt)


def _found(node: Node, kinds: type[Node] | tuple[type[Node], ...]) -> list[Node]:
    found: list[Node] = []

    def seen(one: Node) -> Node:
        found.append(one)
        return one

    tvm_ffi.structural_map(node, [(kinds, seen)], order="pre")
    return found


def _leaves(statements: Iterable[Stmt]) -> list[Stmt]:
    return [one for one in statements if not isinstance(one, _INNER)]


def _unlike(old: Sequence[Stmt], new: Sequence[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """The statements of each list that the other has not."""
    left, right = [_hash(one) for one in old], [_hash(one) for one in new]
    return _without(old, left, right), _without(new, right, left)


def _without(statements: Sequence[Stmt], codes: Sequence[int], others: Sequence[int]) -> list[Stmt]:
    rest, kept = Counter(others), list[Stmt]()
    for statement, code in zip(statements, codes, strict=True):
        if rest[code]:
            rest[code] -= 1
        else:
            kept.append(statement)
    return kept


def _pairs(old: Sequence[Stmt], new: Sequence[Stmt]) -> list[tuple[Stmt | None, Stmt | None]]:
    """Statements of one class with each other, those that store to buffers of one name first; None for those left."""
    pairs: list[tuple[Stmt | None, Stmt | None]] = []
    rest = list(new)
    alone: list[Stmt] = []
    for one in old:
        match = next((n for n in rest if type(n) is type(one) and _target(n) == _target(one)), None)
        if match is None:
            alone.append(one)
        else:
            rest = [n for n in rest if n is not match]
            pairs.append((one, match))
    for kind in dict.fromkeys(type(one) for one in (*alone, *rest)):
        pairs += zip_longest([o for o in alone if type(o) is kind], [n for n in rest if type(n) is kind])
    return pairs


def _target(statement: Stmt) -> str:
    return str(statement.buffer.name) if isinstance(statement, tirx.BufferStore) else ""


def _kinds_in(statement: Stmt) -> list[str]:
    return [kind for node in _found(statement, (tirx.Stmt, tvm.ir.Expr)) for kind in _node_kinds(node)]


def _node_kinds(node: Node) -> list[str]:
    """The kind of a node with what is special of it; [] for what is no computation."""
    name = type(node).__name__
    if isinstance(node, tirx.For):
        return [_loop(node)]
    if isinstance(node, tirx.AttrStmt):
        return [f"AttrStmt {node.attr_key}"]
    if isinstance(node, s_tir.SBlockRealize):
        return [name if _is_true(node.predicate) else f"{name} with a predicate"]
    if isinstance(node, CALL):
        return [T.op_name(node) or "a call"]
    if isinstance(node, tirx.Cast):
        return [f"Cast to {_class(node)}"]
    if isinstance(node, _BY_CONSTANT) and isinstance(node.b, tirx.IntImm) and int(node.b.value) < 0:
        return [f"{name} by a negative constant"]
    if isinstance(node, _COMPARE):
        return [f"{name} on {_class(node.a)}"]
    if isinstance(node, _BINARY) and _class(node) == "float":
        return [f"{name} on float"]
    return [name]


def _class(expr: Expr) -> str:
    """The class of an element type: "bool", "uint", "int", "float", "bfloat", "handle"."""
    text = str(T.type_of(expr)).removeprefix("T.").strip('"')
    if is_float(text):
        return "bfloat" if text.startswith("bfloat") else "float"
    return next((word for word in ("bool", "uint", "int", "float", "bfloat") if text.startswith(word)), "another type")


def _is_true(predicate: Expr) -> bool:
    return isinstance(predicate, tirx.IntImm) and int(predicate.value) != 0


def _loop(loop: Stmt) -> str:
    kind = "For" if loop.kind == tirx.ForKind.SERIAL else f"{tirx.ForKind(loop.kind).name.lower()} For"
    if not isinstance(loop.min, tirx.IntImm):
        return f"{kind} that begins at an expression"
    if int(loop.min.value):
        return f"{kind} that begins at a number"
    stepped = loop.step is not None and not (isinstance(loop.step, tirx.IntImm) and int(loop.step.value) == 1)
    return f"{kind} with a step" if stepped else kind


def _detail(one: Stmt, other: Stmt) -> str:
    """What differs in two statements of the same kinds of nodes."""
    mine, theirs = _found(one, (tirx.Stmt, tvm.ir.Expr)), _found(other, (tirx.Stmt, tvm.ir.Expr))
    word = type(one).__name__
    if [type(node) for node in mine] != [type(node) for node in theirs]:
        moved = [type(a) is not type(b) for a, b in zip(mine, theirs, strict=False)]
        start, end = moved.index(True), len(moved) - moved[::-1].index(True)
        kinds = {kind for node in (*mine[start:end], *theirs[start:end]) for kind in _node_kinds(node)}
        telling = ", ".join(sorted(kinds - _COMMON))
        return f"{telling or word} in another order"
    left, right = _atoms(mine), _atoms(theirs)
    if Counter(left) == Counter(right):
        return f"{word} with operands in another order"
    constant = any(a != b and not a.startswith(_NAME) for a, b in zip(left, right, strict=True))
    return f"{word} with another {'constant' if constant else 'variable'}"


_NAME = "variable "


def _atoms(nodes: Iterable[Node]) -> list[str]:
    """Variables and constants in order, for comparison."""
    return [
        f"{_NAME}{node.name}" if isinstance(node, VAR) else str(node.value)
        for node in nodes
        if isinstance(node, (VAR, tirx.IntImm, tirx.FloatImm))
    ]


def _loops(old: Iterable[Stmt], new: Iterable[Stmt]) -> str:
    """What differs where all statements that compute are the same."""
    loops = [[_hash(loop.extent) for loop in each if isinstance(loop, tirx.For)] for each in (old, new)]
    if loops[0] != loops[1]:
        return "For with another extent"
    return "another order of statements"


def stored_kinds(module: IRModule, dtype: str | None = None) -> tuple[str, ...]:
    """The kinds of nodes of the values that the PrimFuncs of a module store, with classes of dtypes; sorted.

    dtype: of the stored elements to look at, None for all.
    """
    kinds = {
        kind
        for _, function in prim_funcs(module)
        for store in _found(function.body, tirx.BufferStore)
        if dtype is None or str(T.type_of(store.value)).removeprefix("T.") == dtype
        for node in _found(store.value, tvm.ir.Expr)
        for kind in _node_kinds(node)
    }
    return tuple(sorted(kinds - _COMMON or kinds - {"Var", "IntImm", "FloatImm"}))
