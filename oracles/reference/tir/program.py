"""A decoded PrimFunc as compiled Python code, the names that this code may use, and how long it may run.

What the code looks like is said in `emit/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir import arithmetic, flights, folds, memory, races
from oracles.reference.tir.emit.function import emit_function
from oracles.reference.tir.memory import InitMask
from oracles.reference.tir.nodes import DTYPES, Function

FUEL = 20_000_000
_fuel = [FUEL]


def refuel(steps: int) -> None:
    """A call begins, whose loops may run for so many iterations one by one."""
    _fuel[0] = steps


def fuel(steps: int) -> None:
    """Takes `steps` from what the current call may still use."""
    _fuel[0] -= max(steps, 0)
    if _fuel[0] < 0:
        raise Trap("fuel", "too many loop iterations")


_NUMPY: dict[str, object] = {
    name: getattr(np, name) for name in ("where", "minimum", "maximum", "copyto", "empty", "zeros", "fmod")
}
NAMESPACE: dict[str, object] = {
    **arithmetic.NAMES,
    **memory.NAMES,
    **folds.NAMES,
    **races.NAMES,
    **flights.NAMES,
    **{("bool_" if name == "bool" else name): dtype.numpy.type for name, dtype in DTYPES.items()},
    **_NUMPY,
    "fuel": fuel,
    "Trap": Trap,
    "true": np.True_,
    "false": np.False_,
}


class PythonProgram:
    """Generated code for one binding. `written` numbers the parameters that are stored to."""

    __slots__ = ("run", "source", "written", "noalias", "name", "launches", "calls")

    def __init__(
        self,
        run: Callable[..., tuple[tuple[InitMask, ...], float | None]],
        source: str,
        written: frozenset[int],
        function: Function,
    ) -> None:
        self.run = run
        self.source = source
        self.written = written
        self.noalias = function.noalias
        self.name = function.name
        self.launches = function.launches
        self.calls = function.calls

    def check_memory(self, args: Sequence[object]) -> None:
        """Refuses to store to a read-only array, and arguments that share memory with one that is stored to."""
        for target in self.written:
            stored = args[target]
            assert isinstance(stored, np.ndarray), "the signature fits"
            if not stored.flags.writeable:
                raise Trap("type", f"{self.name}: argument {target} is stored to, and read-only")
            for number, other in enumerate(args):
                if number == target or not isinstance(other, np.ndarray):
                    continue
                if np.may_share_memory(stored, other) and np.shares_memory(stored, other):
                    if self.noalias:
                        raise Trap("aliasing", f"{self.name}: arguments {number} and {target} share memory")
                    raise Unsupported("aliased arguments")


def program_of(function: Function, vectorise: bool = True, full: frozenset[int] = frozenset()) -> PythonProgram:
    """Compiles a decoded function; the parameters are those of `emit_function`."""
    emitted = emit_function(function, vectorise, full)
    namespace: dict[str, Any] = {**NAMESPACE, **emitted.constants}
    exec(compile(emitted.source, f"<tir {function.name}>", "exec"), namespace)
    return PythonProgram(namespace["run"], emitted.source, emitted.written, function)
