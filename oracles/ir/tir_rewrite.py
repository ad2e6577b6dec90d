"""What a pass did to a PrimFunc, as kinds of statements and of nodes of expressions, and what a PrimFunc stores.

Statements that compute are matched with each other, so that a statement that is gone counts as one kind whatever is in
it. `oracles.ir.rewrite` says what a kind is for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import tvm
import tvm_ffi
from tvm import s_tir, tirx

from generators import tvm_api as T
from generators.dtypes import is_float
from generators.tvm_api import Call, Expr, IRModule, Node, PrimFunc, Stmt
from oracles.ir.kinds import DIVIDES_BY_NEGATIVE, Altered, IRKind, Piece, nodes, sorted_kinds, words_of
from oracles.ir.walk import CALL, GLOBAL_VAR, VAR, prim_funcs

_INNER = (tirx.For, tirx.SeqStmt, tirx.IfThenElse, tirx.While, tirx.AttrStmt, s_tir.SBlock, s_tir.SBlockRealize)
"""Statements that hold others."""
_ATOMS = nodes("Var", "IntImm", "FloatImm")
_ARITHMETIC = _ATOMS | nodes("Add", "Sub", "Mul")
_OF_STATEMENTS = nodes("For", "SeqStmt", "DeclBuffer", "SBlock", "SBlockRealize", "AllocBuffer")
_COMMON = _ARITHMETIC | _OF_STATEMENTS | nodes("TensorLoad", "Tuple", "Op") | {IRKind(Piece.CAST, "int")}
"""Kinds of nodes that nearly every PrimFunc holds, and nearly every pass over PrimFuncs moves."""
_BINARY = (tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.Mod, tirx.Min, tirx.Max)
_COMPARE = (tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE)
_ADDRESS_OF = "tirx.address_of"
_BY_CONSTANT = (tirx.FloorDiv, tirx.FloorMod, tirx.Div, tirx.Mod, tirx.Mul)


def kinds_changed(old: PrimFunc, new: PrimFunc) -> tuple[set[IRKind], set[IRKind]]:
    """The kinds that are gone from a PrimFunc, and those that have come. What was moved or copied is neither."""
    if T.structural_equal(old, new):
        return set(), set()
    mine, other = _statements(old.body), _statements(new.body)
    inner = (
        Counter(kind for s in mine if isinstance(s, _INNER) for kind in _node_kinds(s)),
        Counter(kind for s in other if isinstance(s, _INNER) for kind in _node_kinds(s)),
    )
    removed, added = set(inner[0] - inner[1]), set(inner[1] - inner[0])
    details, copied, negative = list[IRKind](), set[IRKind](), False
    for one, counterpart in _pairs(_leaves(mine), _leaves(other)):
        if counterpart is None:
            removed.update(_node_kinds(one))
        elif isinstance(one, _Copy):
            copied.update(_node_kinds(counterpart))
        elif one is None:
            added.update(_node_kinds(counterpart))
        else:
            kinds, others = Counter(_kinds_in(one)), Counter(_kinds_in(counterpart))
            negative |= DIVIDES_BY_NEGATIVE in kinds + others
            removed.update(kinds - others)
            added.update(others - kinds)
            if kinds == others:
                details.append(_detail(one, counterpart))
    before, after = Counter(_kinds_in(old.body)), Counter(_kinds_in(new.body))
    gone, come = _telling({k for k in removed if after[k] < before[k]}, {k for k in added if after[k] > before[k]})
    if negative and gone | come <= _ARITHMETIC | _OF_INDICES | {DIVIDES_BY_NEGATIVE}:
        return set(), {DIVIDES_BY_NEGATIVE}
    if (gone or come) and not (copied and gone | come <= _COMMON):
        return gone, come
    return set(), copied or set(details) or {_loops(mine, other)}


_LOOP = IRKind(Piece.NODE, "For")
_FROM_EXPRESSION = IRKind(Piece.FROM_EXPRESSION)
_FROM_NUMBER = IRKind(Piece.FROM_NUMBER)
_STEPPED = IRKind(Piece.STEPPED)
_OF_LOOPS = (_FROM_EXPRESSION, _FROM_NUMBER, _STEPPED)
"""What is special of loops, the most telling first. It counts where nothing else has changed, since loops are moved
with what is in them; what rewrites one loop rewrites those around it."""
_OF_INDICES = nodes("FloorDiv", "FloorMod", "Div", "Mod", "Min", "Max") | {IRKind(Piece.MUL_BY_NEGATIVE)}


def _telling(removed: set[IRKind], added: set[IRKind]) -> tuple[set[IRKind], set[IRKind]]:
    """The kinds without the common ones, where there are others. A pass that sets marks on statements or follows them
    is for these: where they come or go, what it does to the statements under them depends on the program, and does not
    count."""
    gone, come = removed - _COMMON, added - _COMMON
    if marks := {kind for kind in gone | come if kind.piece is Piece.MARK}:
        return gone & marks, come & marks
    if DIVIDES_BY_NEGATIVE in removed ^ added:
        gone, come = gone - _OF_INDICES, come - _OF_INDICES
    if not (gone | come) - set(_OF_LOOPS):
        kept = next(({kind} for kind in _OF_LOOPS if kind in gone | come), set())
        gone, come = gone & kept, come & kept
    else:
        gone, come = gone - set(_OF_LOOPS), come - set(_OF_LOOPS)
    if gone or come:
        return gone, come
    if (removed | added) & (_ARITHMETIC - _ATOMS):  # Flattening moves statements whatever else a pass does.
        return removed - _OF_STATEMENTS, added - _OF_STATEMENTS
    return removed, added


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


def _code(node: Node) -> int:
    return int(T.structural_hash(node, map_free_vars=True))


def _unlike(old: Sequence[Stmt], new: Sequence[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """The statements of each list that the other has not."""
    left, right = [_code(one) for one in old], [_code(one) for one in new]
    return _without(old, left, right), _without(new, right, left)


def _without(statements: Sequence[Stmt], codes: Sequence[int], others: Sequence[int]) -> list[Stmt]:
    rest, kept = Counter(others), list[Stmt]()
    for statement, code in zip(statements, codes, strict=True):
        if rest[code]:
            rest[code] -= 1
        else:
            kept.append(statement)
    return kept


class _Copy:
    """Stands for the statement of which another one is a copy."""


_Pair: TypeAlias = tuple["Stmt | _Copy | None", "Stmt | None"]


def _pairs(before: Sequence[Stmt], after: Sequence[Stmt]) -> list[_Pair]:
    """The statements that differ, of one class with each other: those that are most alike first; None for those left.
    Where one has become several, all but one of these are copies."""
    pairs = list[_Pair]()
    left, right = _unlike(before, after)
    for likeness in (_kinds_and_target, _telling_and_target, _class_and_target, _kinds_within, type):
        alike = defaultdict[object, list[Stmt]](list)
        for one in right:
            alike[likeness(one)].append(one)
        unmatched = list[Stmt]()
        for one in left:
            matches = alike[likeness(one)]
            if matches:
                pairs.append((one, matches.pop(0)))
            else:
                unmatched.append(one)
        left, right = unmatched, [one for matches in alike.values() for one in matches]
        if likeness is _telling_and_target:
            known = set(map(likeness, before))
            pairs += [(_Copy(), one) for one in right if likeness(one) in known]
            right = [one for one in right if likeness(one) not in known]
    return [*pairs, *((one, None) for one in left), *((None, one) for one in right)]


def _telling_and_target(statement: Stmt) -> object:
    """What stays of a statement where its indices are rewritten."""
    kinds = Counter(kind for kind in _kinds_in(statement) if kind not in _COMMON | _OF_INDICES)
    return type(statement), _target(statement), frozenset(kinds.items())


def _class_and_target(statement: Stmt) -> object:
    return type(statement), _target(statement)


def _kinds_within(statement: Stmt) -> object:
    return type(statement), frozenset(Counter(_kinds_in(statement)).items())


def _kinds_and_target(statement: Stmt) -> object:
    return _target(statement), _kinds_within(statement)


def _target(statement: Stmt) -> str:
    return str(statement.buffer.name) if isinstance(statement, tirx.BufferStore) else ""


def all_kinds(function: PrimFunc) -> set[IRKind]:
    """The kinds of the nodes of a PrimFunc."""
    return set(_kinds_in(function.body))


def kinds_of(function: PrimFunc) -> set[IRKind]:
    """The kinds of nodes of a PrimFunc without those that nearly every one holds."""
    return all_kinds(function) - _COMMON


def _kinds_in(statement: Stmt) -> list[IRKind]:
    return [kind for node in _found(statement, (tirx.Stmt, tvm.ir.Expr)) for kind in _node_kinds(node)]


def _node_kinds(node: Node) -> list[IRKind]:
    """The kind of a node with what is special of it; [] for what is no computation."""
    name = T.kind_of(node)
    if isinstance(node, tirx.For):
        return _loop_kinds(node)
    if isinstance(node, tirx.AttrStmt):
        return [IRKind(Piece.MARK, str(node.attr_key))]
    if isinstance(node, tirx.Evaluate) and isinstance(node.value, CALL) and isinstance(node.value.op, GLOBAL_VAR):
        return [_call_of_function(node.value)]
    if isinstance(node, s_tir.SBlockRealize):
        return [IRKind(Piece.NODE if _is_true(node.predicate) else Piece.PREDICATED, name)]
    if isinstance(node, CALL):
        operator = T.op_name(node)
        return [IRKind(Piece.OPERATOR, operator) if operator else IRKind(Piece.CALL)]
    if isinstance(node, tirx.Cast):
        return [IRKind(Piece.CAST, _class(node))]
    if isinstance(node, _BY_CONSTANT) and isinstance(node.b, tirx.IntImm) and int(node.b.value) < 0:
        return [IRKind(Piece.MUL_BY_NEGATIVE) if isinstance(node, tirx.Mul) else DIVIDES_BY_NEGATIVE]
    if isinstance(node, _COMPARE):
        return [IRKind(Piece.TYPED, name, _class(node.a))]
    if isinstance(node, _BINARY) and _class(node) == "float":
        return [IRKind(Piece.TYPED, name, "float")]
    return [IRKind(Piece.NODE, name)]


def _call_of_function(call: Call) -> IRKind:
    """A call of another PrimFunc, by what is special of its arguments: that is all of it that a pass which puts the
    called function in its place can get wrong."""
    numbers = [argument for argument in call.args if T.op_name(argument) != _ADDRESS_OF]
    addressed = [argument.args[0] for argument in call.args if T.op_name(argument) == _ADDRESS_OF]
    with_ = ["a loaded number"] if any(_found(number, T.TensorLoad) for number in numbers) else []
    if any(not T.is_zero(load.indices[-1]) for load in addressed):
        with_.append("the address of a later element")
    return IRKind(Piece.CALL_OF_FUNCTION, " and ".join(with_))


def _class(expr: Expr) -> str:
    """The class of an element type: "bool", "uint", "int", "float", "bfloat", "handle"."""
    text = str(T.type_of(expr)).removeprefix("T.").strip('"')
    if is_float(text):
        return "bfloat" if text.startswith("bfloat") else "float"
    return next((word for word in ("bool", "uint", "int", "float", "bfloat") if text.startswith(word)), "another type")


def _is_true(predicate: Expr) -> bool:
    return isinstance(predicate, tirx.IntImm) and int(predicate.value) != 0


def _loop_kinds(loop: Stmt) -> list[IRKind]:
    """The kind of a loop, and what is special of it."""
    serial = loop.kind == tirx.ForKind.SERIAL
    kinds = [_LOOP if serial else IRKind(Piece.PARALLEL_LOOP, tirx.ForKind(loop.kind).name.lower())]
    if not isinstance(loop.min, tirx.IntImm):
        kinds.append(_FROM_EXPRESSION)
    elif int(loop.min.value):
        kinds.append(_FROM_NUMBER)
    if loop.step is not None and not (isinstance(loop.step, tirx.IntImm) and int(loop.step.value) == 1):
        kinds.append(_STEPPED)
    return kinds


def _detail(one: Stmt, other: Stmt) -> IRKind:
    """What differs in two statements of the same kinds of nodes."""
    mine, theirs = _found(one, (tirx.Stmt, tvm.ir.Expr)), _found(other, (tirx.Stmt, tvm.ir.Expr))
    word = IRKind(Piece.NODE, T.kind_of(one))
    if [type(node) for node in mine] != [type(node) for node in theirs]:
        moved = [type(a) is not type(b) for a, b in zip(mine, theirs, strict=False)]
        start, end = moved.index(True), len(moved) - moved[::-1].index(True)
        kinds = {kind for node in (*mine[start:end], *theirs[start:end]) for kind in _node_kinds(node)}
        return IRKind(Piece.REORDERED, ", ".join(words_of(kinds - _COMMON)) or str(word))
    left, right = _atoms(mine), _atoms(theirs)
    if left == right and _types(mine) != _types(theirs):
        return replace(word, altered=Altered.TYPE)
    if Counter(left) == Counter(right):
        return replace(word, altered=Altered.OPERAND_ORDER)
    constant = any(a != b and not a[0] for a, b in zip(left, right, strict=True))
    return replace(word, altered=Altered.CONSTANT if constant else Altered.VARIABLE)


def _atoms(nodes: Iterable[Node]) -> list[tuple[bool, str]]:
    """Variables and constants in order, for comparison: whether it is a variable, and its name or value."""
    return [
        (True, str(node.name)) if isinstance(node, VAR) else (False, str(node.value))
        for node in nodes
        if isinstance(node, (VAR, tirx.IntImm, tirx.FloatImm))
    ]


def _types(nodes: Iterable[Node]) -> list[str]:
    return [str(T.type_of(node)) for node in nodes if isinstance(node, tvm.ir.Expr)]


def _loops(old: Iterable[Stmt], new: Iterable[Stmt]) -> IRKind:
    """What differs where all statements that compute are the same."""
    loops = [[_code(loop.extent) for loop in each if isinstance(loop, tirx.For)] for each in (old, new)]
    if loops[0] != loops[1]:
        return replace(_LOOP, altered=Altered.EXTENT)
    return IRKind(Piece.STATEMENT_ORDER)


def stored_kinds(module: IRModule, dtype: str | None = None) -> tuple[IRKind, ...]:
    """The kinds of nodes of the values that the PrimFuncs of a module store, with classes of dtypes; as causes order
    them.

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
    return sorted_kinds(kinds - _COMMON or kinds - _ATOMS)
