"""Drafts: Relax functions taken apart into plain Python trees, so that edits are cheap, pure and compose.

Edits name bindings by their original variables, which stay the same however often a draft is edited. Turning a
draft back into TVM's IR is `corpus.reduce.realise`'s work. Worker processes only (imports tvm).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import tvm
from tvm import relax, tirx

from generators import tvm_api as T


class NotApplicable(Exception):
    """An edit that makes no sense (any more) for this draft; the message says why."""


@dataclass(frozen=True, slots=True)
class DraftBinding:
    """`var = value`; with `cast` a match_cast. An expression is a leaf, a Call or a tuple."""

    var: T.Var
    value: BoundValue
    cast: T.Type | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """An If with its two branches."""

    condition: T.Expr
    then: Body
    otherwise: Body


@dataclass(frozen=True, slots=True)
class DraftBlock:
    """A run of bindings, in a dataflow block or not."""

    dataflow: bool
    binds: tuple[DraftBinding, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """Blocks and the expression that they end in (a leaf or a tuple of leaves)."""

    blocks: tuple[DraftBlock, ...]
    result: T.Expr


@dataclass(frozen=True, slots=True)
class Draft:
    """A Relax function. `params` are original variables, `types` those parameters' types where they were changed.

    returns: the type of its result as it stood: what a call of it has before its body is there, in recursion.
    """

    params: tuple[T.Var, ...]
    body: Body
    pure: bool
    attrs: Mapping[str, Any]
    returns: T.Type
    types: Mapping[T.Var, T.Type] = field(default_factory=dict)


BoundValue: TypeAlias = "T.Expr | Branch | Draft"


@dataclass(frozen=True, slots=True)
class ModuleDraft:
    """An IRModule: functions by name (Drafts, or PrimFuncs as they are), and what the edits substitute.

    swaps: variable -> expression that takes its place wherever it is used (in terms of original variables).
    symbols: symbolic variable -> number. names: variable -> new name.
    demoted: unused outputs of dataflow blocks become local to them.
    nodes: statement, expression or variable of a PrimFunc -> what takes its place.
    """

    functions: Mapping[str, Draft | T.BaseFunc]
    attrs: Mapping[str, Any]
    infos: Mapping[str, list[T.Node]]
    swaps: Mapping[T.Var, T.Expr] = field(default_factory=dict)
    symbols: Mapping[T.Var, int] = field(default_factory=dict)
    demoted: bool = False
    names: Mapping[T.Var, str] = field(default_factory=dict)
    nodes: Mapping[T.Node, T.Node] = field(default_factory=dict)

    def drafts(self) -> Iterator[tuple[str, Draft]]:
        """The Relax functions with their names, in order."""
        for name, function in self.functions.items():
            if isinstance(function, Draft):
                yield name, function

    def with_function(self, name: str, function: Draft | T.BaseFunc) -> ModuleDraft:
        """The same with one function replaced."""
        return replace(self, functions={**self.functions, name: function})

    def swap(self, var: T.Var, expr: T.Expr) -> ModuleDraft:
        """Uses of `var` become `expr`. NotApplicable when `expr` is made of `var`."""
        if var in set(self.uses(expr)):
            raise NotApplicable("a variable cannot stand for itself")
        return replace(self, swaps={**self.swaps, var: expr})

    def resolve(self, expr: BoundValue) -> BoundValue:
        """A leaf with the swaps applied, as often as needed; other expressions as they are."""
        while isinstance(expr, VAR) and expr in self.swaps:
            expr = self.swaps[expr]
        return expr

    def uses(self, expr: BoundValue) -> Iterator[T.Var]:
        """The variables that an un-nested expression uses once the swaps are applied; with repetitions."""
        for leaf in leaves(expr):
            if leaf in self.swaps:
                yield from self.uses(self.swaps[leaf])
            else:
                yield leaf

    def used_in(self, function: Draft) -> set[T.Var]:
        """The variables that the expressions of a function use, those of functions inside of it too."""
        used = {var for body in sequences(function.body) for var in self.uses(body.result)}
        used.update(var for bind in all_binds(function.body) for var in self.uses(bind.value))
        return used


VAR = tvm.ir.Var
TUPLE, TUPLE_GET_ITEM, CALL = tvm.ir.Tuple, tvm.ir.TupleGetItem, tvm.ir.Call
GLOBAL_VAR = tvm.ir.GlobalVar
CONSTANT = T.Constant
ARITHMETIC = (tirx.Add, tirx.Sub, tirx.Mul, tirx.FloorDiv, tirx.FloorMod, tirx.Div, tirx.Mod, tirx.Min, tirx.Max)
LOGIC = (tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE, tirx.And, tirx.Or, tirx.Not)
COMPOUND_TIR = (*ARITHMETIC, *LOGIC, tirx.Select, tirx.Cast, tirx.Let, T.TensorLoad, T.Call)
"""Expressions of PrimFuncs that are made of others."""


def lift(module: T.IRModule) -> ModuleDraft:
    """Takes a module apart. Functions that are neither Relax nor TIR are kept as they are."""
    functions = {}
    for name, function in sorted(module.functions.items(), key=lambda pair: pair[0].name_hint):
        functions[name.name_hint] = lift_function(function) if isinstance(function, relax.Function) else function
    attrs = {str(key): value for key, value in module.attrs.items()} if module.attrs else {}
    infos = {str(key): list(value) for key, value in module.global_infos.items()} if module.global_infos else {}
    return ModuleDraft(functions, attrs, infos)


def lift_function(function: T.RelaxFunction) -> Draft:
    """Takes one Relax function apart."""
    attrs = {str(key): value for key, value in function.attrs.items()} if function.attrs else {}
    body = _lift_sequence(function.body)
    return Draft(tuple(function.params), body, bool(function.is_pure), attrs, T.return_type(function))


def _lift_sequence(expr: T.Expr) -> Body:
    if not isinstance(expr, relax.SeqExpr):
        return Body((), expr)
    blocks = tuple(
        DraftBlock(isinstance(block, relax.DataflowBlock), tuple(_lift_binding(binding) for binding in block.bindings))
        for block in expr.blocks
    )
    return Body(blocks, expr.body)


def _lift_binding(binding: T.Binding) -> DraftBinding:
    value = binding.value
    if isinstance(binding, relax.MatchCast):
        return DraftBinding(binding.var, value, binding.ty)
    if isinstance(value, relax.If):
        return DraftBinding(
            binding.var, Branch(value.cond, _lift_sequence(value.true_branch), _lift_sequence(value.false_branch))
        )
    if isinstance(value, relax.Function):
        return DraftBinding(binding.var, lift_function(value))
    return DraftBinding(binding.var, value)


# --- walking --------------------------------------------------------------------------------------------


def sequences(body: Body) -> Iterator[Body]:
    """The sequence itself and every sequence nested in its bindings, outer first."""
    yield body
    for bind in own_binds(body):
        for inner in inner_sequences(bind.value):
            yield from sequences(inner)


def inner_sequences(value: BoundValue) -> tuple[Body, ...]:
    """The sequences that stand directly in a bound value."""
    match value:
        case Branch():
            return (value.then, value.otherwise)
        case Draft():
            return (value.body,)
        case _:
            return ()


def own_binds(body: Body) -> Iterator[DraftBinding]:
    """The bindings of the sequence itself."""
    for block in body.blocks:
        yield from block.binds


def all_binds(body: Body) -> Iterator[DraftBinding]:
    """The bindings of the sequence and of all nested ones, in order of execution."""
    for bind in own_binds(body):
        yield bind
        for inner in inner_sequences(bind.value):
            yield from all_binds(inner)


def module_binds(module: ModuleDraft) -> Iterator[tuple[str, DraftBinding]]:
    """Every binding of every Relax function with the function's name."""
    for name, draft in module.drafts():
        for bind in all_binds(draft.body):
            yield name, bind


def leaves(expr: BoundValue) -> Iterator[T.Var]:
    """Variables (of Relax and of shapes) that an un-nested expression, or a type, uses; with repetitions."""
    match expr:
        case Branch():
            yield from leaves(expr.condition)
        case relax.ShapeExpr():
            for extent in expr.values:
                yield from _prim_leaves(extent)
        case _ if isinstance(expr, VAR):
            yield expr
        case _ if isinstance(expr, CALL):
            if isinstance(expr.op, (VAR, CALL)):
                yield from leaves(expr.op)
            for argument in expr.args:
                yield from leaves(argument)
        case _ if isinstance(expr, TUPLE):
            for value in expr.fields:
                yield from leaves(value)
        case _ if isinstance(expr, TUPLE_GET_ITEM):
            yield from leaves(expr.tuple_value)
        case _ if isinstance(expr, ARITHMETIC):
            yield from _prim_leaves(expr)


def _prim_leaves(extent: T.Expr | int) -> Iterator[T.Var]:
    if isinstance(extent, VAR):
        yield extent
    elif not isinstance(extent, (int, tirx.IntImm)):
        yield from tirx.analysis.undefined_vars(extent)


# --- rewriting ------------------------------------------------------------------------------------------

RewriteBinding: TypeAlias = Callable[[DraftBinding], "tuple[DraftBinding | DraftBlock, ...] | None"]
"""What takes the place of a binding: bindings, whole blocks, nothing; None keeps it and looks inside."""


def rewrite_module(module: ModuleDraft, rewrite: RewriteBinding) -> ModuleDraft:
    """Applies `rewrite` to every binding of every Relax function."""
    functions = {
        name: replace(function, body=rewrite_sequence(function.body, rewrite))
        if isinstance(function, Draft)
        else function
        for name, function in module.functions.items()
    }
    return replace(module, functions=functions)


def rewrite_sequence(body: Body, rewrite: RewriteBinding) -> Body:
    """Applies `rewrite` to every binding; a dataflow block that gets whole blocks is split around them."""
    blocks: list[DraftBlock] = []
    for block in body.blocks:
        pending: list[DraftBinding] = []
        for bind in block.binds:
            for piece in _rewritten(bind, rewrite):
                if isinstance(piece, DraftBinding):
                    pending.append(piece)
                    continue
                blocks.extend(_block(block.dataflow, pending))
                pending = []
                blocks.append(piece)
        blocks.extend(_block(block.dataflow, pending))
    return Body(tuple(blocks), body.result)


def _block(dataflow: bool, binds: list[DraftBinding]) -> tuple[DraftBlock, ...]:
    return (DraftBlock(dataflow, tuple(binds)),) if binds else ()


def _rewritten(bind: DraftBinding, rewrite: RewriteBinding) -> tuple[DraftBinding | DraftBlock, ...]:
    pieces = rewrite(bind)
    if pieces is not None:
        return pieces
    match bind.value:
        case Branch():
            value: BoundValue = replace(
                bind.value,
                then=rewrite_sequence(bind.value.then, rewrite),
                otherwise=rewrite_sequence(bind.value.otherwise, rewrite),
            )
        case Draft():
            value = replace(bind.value, body=rewrite_sequence(bind.value.body, rewrite))
        case _:
            return (bind,)
    return (replace(bind, value=value),)


def without_binding(module: ModuleDraft, var: T.Var) -> ModuleDraft:
    """Drops the binding of a variable. NotApplicable when there is none."""
    return without_bindings(module, [var])


def without_bindings(module: ModuleDraft, gone: Collection[T.Var]) -> ModuleDraft:
    """Drops the bindings of variables, as far as there are any. NotApplicable when there is none."""
    wanted, found = set(gone), False

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding | DraftBlock, ...] | None:
        nonlocal found
        if bind.var not in wanted:
            return None
        found = True
        return ()

    rewritten = rewrite_module(module, rewrite)
    if not found:
        raise NotApplicable("the bindings are gone")
    return rewritten


def at_binding(
    module: ModuleDraft, var: T.Var, pieces: Callable[[DraftBinding], tuple[DraftBinding | DraftBlock, ...]]
) -> ModuleDraft:
    """Replaces the binding of a variable by what `pieces` gives. NotApplicable when there is none."""
    found = False

    def rewrite(bind: DraftBinding) -> tuple[DraftBinding | DraftBlock, ...] | None:
        nonlocal found
        if not bind.var.same_as(var):
            return None
        found = True
        return pieces(bind)

    rewritten = rewrite_module(module, rewrite)
    if not found:
        raise NotApplicable("the binding is gone")
    return rewritten


def map_leaves(expr: T.Expr, change: Callable[[T.Expr], T.Expr]) -> T.Expr:
    """An un-nested expression with `change` applied to everything in it that is not a Call, a tuple or a field."""
    if isinstance(expr, CALL):
        return CALL(change(expr.op), [map_leaves(a, change) for a in expr.args], expr.attrs, expr.ty_args)
    if isinstance(expr, TUPLE):
        return TUPLE([map_leaves(value, change) for value in expr.fields])
    if isinstance(expr, TUPLE_GET_ITEM):
        return TUPLE_GET_ITEM(map_leaves(expr.tuple_value, change), expr.index)
    return change(expr)
