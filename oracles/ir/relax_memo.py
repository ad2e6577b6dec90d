"""Remembering what was computed of the Relax functions of a module, which passes of TIR hand on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from oracles.ir.memo import SIZE, ByParts, Memo, named_functions
from oracles.ir.walk import FUNCTION

R = TypeVar("R")


class OfRelax(Memo[R]):
    """The same for a function of the Relax functions of a module and of what its functions are called, which passes of
    TIR leave as they are: computed once for all modules that have these very functions in common.

    A pass that changes one of them in place is what `oracles.checks.input_unchanged` sees. signature: what is read of a
    PrimFunc, if anything: objects.
    """

    def __init__(self, compute: Callable[[Any], R], signature: Callable[[Any], list[Any]] = lambda _: []) -> None:
        def parts(module: Any) -> list[Any]:
            read: list[Any] = []
            for gvar, function in named_functions(module):
                read += [gvar, function] if type(function) is FUNCTION else [gvar, *signature(function)]
            return read

        super().__init__(ByParts(compute, SIZE, parts).of)
