"""Which functions of a draft refer to which, by name. Worker processes only (imports tvm)."""

from __future__ import annotations

from collections.abc import Iterator

import tvm_ffi
from tvm import tirx

from corpus.reduce.draft import CALL, GLOBAL_VAR, TUPLE, BoundValue, Draft, ModuleDraft, all_binds, sequences
from generators import tvm_api as T


def called_names(value: BoundValue) -> Iterator[str]:
    """Names of the GlobalVars that an un-nested bound value refers to."""
    if isinstance(value, GLOBAL_VAR):
        yield value.name_hint
    elif isinstance(value, CALL):
        yield from called_names(value.op)
        for argument in value.args:
            yield from called_names(argument)
    elif isinstance(value, TUPLE):
        for field_ in value.fields:
            yield from called_names(field_)


def refers_to(function: Draft | T.BaseFunc) -> set[str]:
    """The names of the functions that a function refers to, its own too where it does."""
    if isinstance(function, Draft):
        named = {name for bind in all_binds(function.body) for name in called_names(bind.value)}
        return named | {name for body in sequences(function.body) for name in called_names(body.result)}
    if isinstance(function, tirx.PrimFunc):
        found: list[T.GlobalVar] = []
        tvm_ffi.structural_walk(function.body, [(GLOBAL_VAR, found.append)])
        return {gvar.name_hint for gvar in found}
    return set()


def callees_first(draft: ModuleDraft) -> list[str]:
    """Function names such that callees come before callers, as far as there is no recursion."""
    order: list[str] = []
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in visiting or name not in draft.functions:
            return
        visiting.add(name)
        for callee in sorted(refers_to(draft.functions[name])):
            visit(callee)
        order.append(name)

    for name in draft.functions:
        visit(name)
    return order
