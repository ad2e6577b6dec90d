"""What of a module a pass has broken, as the kind of binding: what a variable was that is missing, what call gets another
type, which effect stands where none may.

The oracles of definedness, purity and types say which rule is broken first. Rules do not count here: one lost variable
is an undefined variable in one program, an undefined DataflowVar or a type with an unknown dimension in another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import Expr, IRModule, RelaxFunction, Var
from oracles.checks import definedness, purity, type_soundness
from oracles.ir.operators import END_LIVES
from oracles.ir.rewrite import value_kind
from oracles.ir.scopes import Misuse
from oracles.ir.type_facts import facts_in
from oracles.ir.types import contradiction
from oracles.ir.walk import FUNCTION, VAR, bindings, functions_of, relax_functions

_USED = ("undefined", "DataflowVar used", "the type")


def broken(before: IRModule, after: IRModule, named: bool = False) -> str:
    """What is broken in `after` that was not in `before`, as the kind of what it was there; "" where nothing is.

    named: as in `oracles.ir.rewrite`.
    """
    if not definedness.MISUSES.of(before) and (found := definedness.MISUSES.of(after)):
        return _misused(found[0], before, after, named)
    if not purity.VIOLATIONS.of(before) and purity.VIOLATIONS.of(after):
        return _impure(after)
    if not type_soundness.contradictions(before) and (wrong := type_soundness.contradictions(after)):
        return f"the types of {wrong[0].kind}"
    return ""


# --- variables ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Definition:
    """How a variable is defined: the kind of what it stands for, and its value, None for parameters and dimensions."""

    kind: str
    var: Var
    value: Expr | None = None


def _misused(misuse: Misuse, before: IRModule, after: IRModule, named: bool) -> str:
    if not isinstance(misuse.what, VAR):
        known = misuse.what in functions_of(before)
        return "a function that is gone is still named" if known else "a function is named that never was"
    was = _definition(misuse.what, before, named)
    now = _definition(misuse.what, after, named)
    if now is not None and now.var.same_as(misuse.what):
        kind = was.kind if was is not None else f"new {now.kind}"
        return f"{_article(kind)} as a DataflowVar where none may be, or twice"
    if was is None:
        return "a variable of the pass's own is used out of its scope"
    if was.value is not None and now is not None and type(now.value) is type(was.value) is relax.If:
        return "the result of an If is made anew, and its uses keep the old variable"
    return f"a use of {_article(was.kind)} is left without it"


def _article(kind: str) -> str:
    return kind if kind.startswith(("a ", "an ", "the ")) else f"the result of {kind}"


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
                    yield _Definition("a dimension of a match_cast", dim)
            yield _Definition("a match_cast", bound.binding.var, bound.value)
            continue
        yield _Definition(value_kind(bound.value, named), bound.binding.var, bound.value)
        if type(bound.value) is FUNCTION:
            yield from _of_params(bound.value)


def _of_params(function: RelaxFunction) -> Iterator[_Definition]:
    for param in function.params:
        yield _Definition("a parameter", param)
        for facts in facts_in(T.type_of(param)):
            for dim in facts.bare:
                yield _Definition("a dimension of a parameter", dim)


# --- effects and types ----------------------------------------------------------------------------------


def _impure(after: IRModule) -> str:
    for _, function in relax_functions(after):
        for bound in bindings(function):
            callee = purity.impure_callee(bound.value)
            if callee is not None and (bound.dataflow or bound.function.is_pure):
                return f"an effect where none may be: {'the end of a life' if callee in END_LIVES else callee}"
            if bound.dataflow and type(bound.value) is relax.If:
                return "an If in a dataflow block"
    return "a function that is not pure is still force_pure"


def retyped(before: IRModule, after: IRModule, named: bool = False) -> str:
    """The kind of the first binding that has a contradicting type after the pass, and the contradiction; "" where none
    has. Bindings are matched by the names of their functions and variables."""
    new = functions_of(after)
    for name, function in functions_of(before).items():
        other = new.get(name)
        if not isinstance(function, FUNCTION) or not isinstance(other, FUNCTION):
            continue
        types = {str(bound.binding.var.name): T.type_of(bound.binding.var) for bound in bindings(other)}
        for bound in bindings(function):
            why = contradiction(T.type_of(bound.binding.var), types.get(str(bound.binding.var.name)))
            if why:
                return f"{value_kind(bound.value, named)}: {why}"
    return ""
