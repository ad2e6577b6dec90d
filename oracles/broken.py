"""What of a module a pass has broken, as the kind of binding: what a variable was that is missing, what call gets
another type, which effect stands where none may.

The oracles of definedness, purity and types say which rule is broken first. Rules do not count here: one lost variable
is an undefined variable in one program, an undefined DataflowVar or a type with an unknown dimension in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tvm import relax, tirx

from generators import tvm_api as T
from generators.tvm_api import Expr, IRModule, RelaxFunction, Type, Var
from oracles.checks import definedness, purity, type_soundness
from oracles.ir.contents import operator_kind
from oracles.ir.operators import END_LIVES
from oracles.ir.rewrite import value_kind
from oracles.ir.type_facts import facts_in
from oracles.ir.types import contradiction
from oracles.ir.verifier import COMPLAINTS
from oracles.ir.walk import (
    FUNCTION,
    VAR,
    bindings,
    functions_of,
    nodes_of,
    operands,
    prim_funcs,
    prim_vars,
    relax_functions,
)
from oracles.verdict import DEFINED_TWICE, LOWERING, wrong_call

IN_TIR = "TIR"
"""Stands for the rules about PrimFuncs among the oracles' names. Where it comes first, no others are asked:
calls of an ill-formed PrimFunc do not say what is wrong with it."""
_IN_EXTENTS = "extents"
"""Stands for the rule about extents among them."""
MUTATOR = "relax::ExprMutator"
"""Makes the variable of an If anew where its branches get more precise types, and leaves the uses of it alone
(src/relax/ir/expr_functor.cc): whichever pass is written with it shows that."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What is broken: the kind of what it was, and how. by: what does it, where that is known not to be the pass."""

    kind: str
    by: str = ""


def broken(before: IRModule, after: IRModule, named: bool = False, first: str = "") -> Broken | None:
    """What is broken in `after` that was not in `before`; None where nothing is.

    named: as in `oracles.ir.rewrite`. first: the oracle whose rules come first; a module can break several.
    """
    rules: dict[str, Callable[[], Broken | None]] = {
        definedness.ORACLE.name: lambda: _lost(before, after, named),
        purity.ORACLE.name: lambda: _impure(before, after),
        type_soundness.ORACLE.name: lambda: _ill_typed(before, after),
        IN_TIR: lambda: _defined_twice(before, after),
        _IN_EXTENTS: lambda: _numbered(before, after),
    }
    names = [IN_TIR] if first == IN_TIR else sorted(rules, key=lambda name: name != first)
    found = (rules[name]() for name in names)
    return next((what for what in found if what is not None), None)


# --- variables ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Definition:
    """How a variable is defined: the kind of what it stands for, and its value; None for parameters, dimensions and
    match_cast."""

    kind: str
    var: Var
    value: Expr | None = None
    dimension: bool = False

    @property
    def told(self) -> str:
        return _told(self.kind, self.value)


def _lost(before: IRModule, after: IRModule, named: bool) -> Broken | None:
    if definedness.MISUSES.of(before) or not (found := definedness.MISUSES.of(after)):
        return None
    var = found[0].what
    if not isinstance(var, VAR):
        known = var in functions_of(before)
        return Broken("a function that is gone is still named" if known else "a function is named that never was")
    was, now = _definition(var, before, named), _definition(var, after, named)
    if was is not None and now is not None and (why := contradiction(T.type_of(was.var), T.type_of(now.var))):
        return Broken(other_type(was.told, why), LOWERING if named else "")
    if now is not None and now.var.same_as(var):
        return Broken(f"{_what_is_out_of_scope(was, now)} is out of its scope")
    if was is None:
        return Broken("a variable of the pass's own is out of its scope")
    if _remade_if(was, before, after, named):
        return Broken("the result of an If is made anew, and its uses keep the old variable", MUTATOR)
    if was.value is not None and now is not None and type(now.var) is relax.DataflowVar:
        return Broken("a value is out of its scope")  # It was made anew for its block alone, and is used after it.
    if was.dimension:  # What defines it was moved in one program, and is not needed otherwise in the next.
        return Broken(f"{was.kind} is out of its scope")
    return Broken(f"a value is gone and still {_use(var, after)}")


def _remade_if(was: _Definition, before: IRModule, after: IRModule, named: bool) -> bool:
    """Whether it is the result of an If, by whatever name, and that is still there as another variable."""
    while isinstance(was.value, VAR):
        source = _definition(was.value, before, named)
        if source is None:
            return False
        was = source
    now = _definition(was.var, after, named)
    return type(was.value) is relax.If and now is not None and type(now.value) is relax.If


def _what_is_out_of_scope(was: _Definition | None, now: _Definition) -> str:
    """What a variable stands for that the pass has moved: what it is bound to matters for new ones only."""
    if was is None:
        return f"new: {now.told}"
    return "a value" if was.value is not None else was.told


def _told(kind: str, value: Expr | None) -> str:
    return f"the result of {kind}" if T.op_name(value) is not None else kind


def _use(var: Var, module: IRModule) -> str:
    """How a value is used in the first function that does: passes that count uses forget kinds of them."""
    for _, function in relax_functions(module):
        if type(function.body) is relax.SeqExpr and _names(function.body.body, var):
            return "returned"
        for bound in bindings(function):
            if bound.function is not function or type(bound.value) is FUNCTION:
                inner = bound.value.body if type(bound.value) is FUNCTION else bound.value
                result = inner.body if type(inner) is relax.SeqExpr else inner
                if _names(result, var):
                    return "used in a local function"
    return "used"


def _names(expr: Expr, var: Var) -> bool:
    return bool(expr.same_as(var)) or any(_names(part, var) for part in operands(expr))


def _definition(var: Var, module: IRModule, named: bool) -> _Definition | None:
    """The definition of the variable, or else of one with its name."""
    found = [one for _, function in relax_functions(module) for one in _definitions(function, named)]
    exact = next((one for one in found if one.var.same_as(var)), None)
    return exact or next((one for one in found if str(one.var.name) == str(var.name)), None)


def _definitions(function: RelaxFunction, named: bool) -> Iterator[_Definition]:
    yield from _of_params(function)
    for bound in bindings(function):
        if type(bound.binding) is relax.MatchCast:
            for facts in facts_in(bound.binding.ty):
                for dim in facts.bare:
                    yield _Definition("a dimension of a match_cast", dim, dimension=True)
            yield _Definition("a match_cast", bound.binding.var)
            continue
        yield _Definition(str(value_kind(bound.value, named)), bound.binding.var, bound.value)
        if type(bound.value) is FUNCTION:
            yield from _of_params(bound.value)


def _of_params(function: RelaxFunction) -> Iterator[_Definition]:
    for param in function.params:
        yield _Definition("a parameter", param)
        for facts in facts_in(T.type_of(param)):
            for dim in facts.bare:
                yield _Definition("a dimension of a parameter", dim, dimension=True)


# --- effects and types ----------------------------------------------------------------------------------


def _impure(before: IRModule, after: IRModule) -> Broken | None:
    if purity.VIOLATIONS.of(before) or not purity.VIOLATIONS.of(after):
        return None
    for _, function in relax_functions(after):
        for bound in bindings(function):
            callee = purity.impure_callee(bound.value)
            if callee is not None and (bound.dataflow or bound.function.is_pure):
                effect = "the end of a life" if callee in END_LIVES else callee
                return Broken(f"an effect where none may be: {effect}")
            if bound.dataflow and type(bound.value) is relax.If:
                return Broken("an If in a dataflow block")
    return Broken("a function that is not pure is still force_pure")


def _ill_typed(before: IRModule, after: IRModule) -> Broken | None:
    if type_soundness.contradictions(before) or not (wrong := type_soundness.contradictions(after)):
        return None
    called = wrong[0].call
    return Broken(wrong_call(str(operator_kind(called))) if called else f"two types: {wrong[0].kind}")


def _numbered(before: IRModule, after: IRModule) -> Broken | None:
    """A number in the type of a call where a symbol stood, though an argument of the call keeps symbols: told by what
    defines the symbol. Only where TVM's verifier refuses the module, since the number may be right."""
    if COMPLAINTS.of(before) or not COMPLAINTS.of(after):
        return None
    for dim in _dims_that_are_numbers(types_of(before), types_of(after)):
        defined = _definition(next(prim_vars(dim)), before, named=False)
        if defined is not None:
            return Broken(f"a number stands for {defined.kind}, which an argument keeps")
    return None


def _dims_that_are_numbers(before: Types, after: Types) -> Iterator[Expr]:
    """The dimensions of calls that were expressions and are numbers now, of calls with an argument that has symbols."""
    for place, (_, was) in before.items():
        value, now = after.get(place, (None, was))
        if value is None or not any(facts.symbols for part in _tensors(value) for facts in facts_in(T.type_of(part))):
            continue
        for old, new in zip(facts_in(was), facts_in(now), strict=False):
            dims = zip(old.dims or (), new.dims or (), strict=False)
            yield from (dim for dim, extent in dims if not isinstance(dim, int) and isinstance(extent, int))


def _tensors(value: Expr) -> Iterator[Expr]:
    """The operands of a call, those in tuples apart."""
    for operand in operands(value):
        if isinstance(operand, T.TupleExpr):
            yield from _tensors(operand)
        else:
            yield operand


# --- PrimFuncs ------------------------------------------------------------------------------------------


def _defined_twice(before: IRModule, after: IRModule) -> Broken | None:
    return Broken(DEFINED_TWICE) if _copies(after) and not _copies(before) else None


def _copies(module: IRModule) -> bool:
    """Whether a PrimFunc defines a variable in two places."""
    for _, function in prim_funcs(module):
        seen: dict[str, list[Var]] = {}
        for node in nodes_of(function.body, (tirx.For, tirx.Bind, tirx.Let)):
            var = node.loop_var if isinstance(node, tirx.For) else node.var
            others = seen.setdefault(str(var.name), [])
            if any(one.same_as(var) for one in others):
                return True
            others.append(var)
    return False


# --- types ----------------------------------------------------------------------------------------------


Types: TypeAlias = dict[tuple[str, str], tuple[Expr, Type]]
"""The value and the type of each bound variable, by the names of its function and its own."""


def types_of(module: IRModule) -> Types:
    """The types of the bindings of a module as they are now: passes change variables in place."""
    return {
        (name.name_hint, str(bound.binding.var.name)): (bound.value, T.type_of(bound.binding.var))
        for name, function in relax_functions(module)
        for bound in bindings(function)
    }


def retyped(before: Types, after: Types, named: bool = False) -> str:
    """The first binding that has a contradicting type after the pass, and the contradiction; "" where none has."""
    for place, (value, ty) in before.items():
        if place in after and (why := contradiction(ty, after[place][1])):
            return other_type(_told(str(value_kind(value, named)), value), why)
    return ""


def other_type(told: str, why: str) -> str:
    """How it is told that such a binding has got a type that contradicts the one before."""
    return f"another type is given to {told}: {why}"
