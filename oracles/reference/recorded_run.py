"""The record of a run of a module, by which a module that differs in some PrimFuncs is judged without a run.

A TIR pass leaves the Relax functions as they are and rewrites some PrimFuncs. If each of these gives the same bits for
every call that the run made, the whole module gives the same.
"""

from __future__ import annotations

from functools import cached_property

from generators.tvm_api import BaseFunc, IRModule
from oracles.ir.fingerprint import same_function
from oracles.ir.walk import PRIM_FUNC, functions_of
from oracles.reference.calling import Calling
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir import Context, gives_again, kernels_of
from oracles.reference.tir.recorded import RecordedCall


class RecordedRun:
    """One run of one module under one calling convention.

    functions: those of the module, by name. asked: names of the functions that the run looked up. record: the calls of
    PrimFuncs that it made. carrying: uninitialised elements may be copied, in the run and in modules that it covers.
    """

    def __init__(
        self, module: IRModule, calling: Calling, synchronised: frozenset[str], carrying: bool = False
    ) -> None:
        self.carrying = carrying
        self.functions = functions_of(module)
        self.asked: set[str] = set()
        self.record: list[RecordedCall] = []
        self._calling, self._synchronised = calling, synchronised

    def speaks_for(self, module: IRModule, calling: Calling, synchronised: frozenset[str]) -> bool:
        """Whether `module` must give the results of the run. If so, the record is of `module` from now on."""
        if calling != self._calling:
            return False
        functions = functions_of(module)
        changed = {name for name, function in functions.items() if not self._has(name, function)}
        changed |= self.functions.keys() - functions.keys()
        anew = synchronised != self._synchronised
        if not changed and not anew:
            return True
        if not self._can_repeat(changed & self.asked, functions):
            return False
        prims = {name: function for name, function in functions.items() if type(function) is PRIM_FUNC}
        context = Context(kernels_of(prims.items()), synchronised, prims, carrying=self.carrying)
        try:
            for name, calls in self._calls.items():
                for call in calls:
                    concerned = anew or name in changed or call.program.launches or call.program.calls
                    if concerned and not gives_again(call, functions[name], context):
                        return False
        except (Trap, Unsupported):
            return False  # a run of the whole module finds where
        self.functions, self._synchronised = functions, synchronised
        return True

    def _has(self, name: str, function: BaseFunc) -> bool:
        known = self.functions.get(name)
        return known is not None and same_function(known, function)

    def _can_repeat(self, changed: set[str], functions: dict[str, BaseFunc]) -> bool:
        """Whether the run would be the same except for calls of PrimFuncs that it recorded."""
        if not self.asked <= functions.keys():
            return False
        return all(name in self._calls and isinstance(functions[name], PRIM_FUNC) for name in changed)

    @cached_property
    def _calls(self) -> dict[str, list[RecordedCall]]:
        """The calls of each function. Where two names have one function, a call counts for both."""
        calls: dict[str, list[RecordedCall]] = {}
        for name, function in self.functions.items():
            made = [call for call in self.record if call.function is function]
            if made:
                calls[name] = made
        return calls
