"""Remembering what was computed of the Relax functions of a module, which passes of TIR hand on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from oracles.ir.memo import Memo
from oracles.ir.walk import FUNCTION

R = TypeVar("R")


class OfRelax(Memo[R]):
    """The same for a function of the Relax functions of a module and of what its functions are called, which passes of
    TIR leave as they are: computed once for all modules that have these very functions in common.

    A pass that changes one of them in place is what `oracles.input_unchanged` sees. signature: what is read of a
    PrimFunc, if anything: objects.
    """

    def __init__(
        self, compute: Callable[[Any], R], signature: Callable[[Any], list[Any]] = lambda function: []
    ) -> None:
        super().__init__(compute)
        self._signature = signature
        self._same: OrderedDict[tuple[Any, ...], tuple[Any, R]] = OrderedDict()
        self._whole = compute
        self._compute = self._shared

    def _shared(self, module: Any) -> R:
        parts: list[Any] = []
        for gvar, function in module.functions.items():
            parts += [gvar, function] if isinstance(function, FUNCTION) else [gvar, *self._signature(function)]
        key = tuple([part.__chandle__() for part in parts])
        found = self._same.get(key)
        if found is None:
            found = self._same[key] = parts, self._whole(module)
            while len(self._same) > self._size:
                self._same.popitem(last=False)
        return found[1]
