"""What a run of a module looked at, so that a module which differs in some PrimFuncs alone is judged by these.

A pass of TIR leaves the Relax functions as they are and rewrites some PrimFuncs. Where each of these gives the same for
every call that the run made, bit for bit, the whole gives the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from oracles.calls.protocol import Calling
from oracles.ir.fingerprint import same_function
from oracles.ir.walk import PRIM_FUNC, functions_of
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir import Context, gives_again, kernels_of
from oracles.reference.tir.recorded import RecordedCall


class Witness:
    """One run of one module under one calling convention.

    functions: those of the module, by name. asked: names of those that the run looked up. record: the calls of
    PrimFuncs that it made. carrying: what nobody has written may be copied, in the run and in what it speaks for.
    """

    def __init__(self, module: Any, calling: Calling, synchronised: bool, carrying: bool = False) -> None:
        self.carrying = carrying
        self.functions = functions_of(module)
        self.asked: set[str] = set()
        self.record: list[RecordedCall] = []
        self._calling, self._synchronised = calling, synchronised

    def speaks_for(self, module: Any, calling: Calling, synchronised: bool) -> bool:
        """Whether `module` must give what the run gave. If so, the witness stands for `module` from now on."""
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
            return False  # the whole run says where
        self.functions, self._synchronised = functions, synchronised
        return True

    def _has(self, name: str, function: Any) -> bool:
        known = self.functions.get(name)
        return known is not None and same_function(known, function)

    def _can_repeat(self, changed: set[str], functions: dict[str, Any]) -> bool:
        """Whether the run is the same but for calls of PrimFuncs that it recorded."""
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
