"""What adapters of calling conventions work with: how a module is run, how an entry call is made, the pass applied.

No convention lives here; they are in the other files of this folder, and their rows in `oracles.calls.table`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from generators.passes.constructors import literal
from generators.tvm_api import BaseFunc, IRModule
from oracles.ir.walk import functions_of
from oracles.reference.values import Callback, Runtime

Packed: TypeAlias = Mapping[str, Callback]
"""What the caller's own external functions do (`generators.externs.HOOKS`)."""


class Run(Protocol):
    """Runs a function of a module by name on runtime values: the interpreter, or a built module."""

    def __call__(self, function: str, arguments: list[Runtime], packed: Packed = ..., /) -> Runtime:
        """The result; may raise Trap or Unsupported."""
        ...


Calling: TypeAlias = Callable[[Run, str, list[Runtime]], Runtime]
"""Makes the entry call (function, arguments as in the starting module) through `Run`. May raise LeftOut."""


class LeftOut(Exception):
    """An entry call that has no counterpart after a pass; `reason` is counted, and other calls go on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def direct(run: Run, function: str, arguments: list[Runtime]) -> Runtime:
    """The function takes and returns what it did."""
    return run(function, arguments)


@dataclass(frozen=True)
class AppliedPass:
    """A pass that has been applied: the expression that constructs it, before and after."""

    source: str
    before: IRModule
    after: IRModule

    @cached_property
    def old(self) -> dict[str, BaseFunc]:
        """The functions before, by name."""
        return functions_of(self.before)

    @cached_property
    def new(self) -> dict[str, BaseFunc]:
        """The functions after, by name."""
        return functions_of(self.after)

    def num_input(self, function: str) -> int | None:
        """How many parameters of the function were inputs before, where its attribute says so."""
        attrs = self.old[function].attrs
        return int(attrs["num_input"]) if attrs and "num_input" in attrs else None

    def arguments(self) -> tuple[list[Any], dict[str, Any]] | None:
        """The positional and the named arguments that the pass was constructed with; None where `source` is no
        call of literals and NumPy arrays."""
        try:
            call = ast.parse(self.source, mode="eval").body
            if not isinstance(call, ast.Call):
                return None
            return [literal(a) for a in call.args], {k.arg or "": literal(k.value) for k in call.keywords}
        except (SyntaxError, TypeError, ValueError, AttributeError):
            return None
