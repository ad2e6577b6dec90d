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
from oracles.reference.tir.nodes import DTYPES, VECTORIZED, For, Function
from oracles.reference.tir.threads import parts

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
    """Generated code for one binding. `written` numbers the parameters that are stored to; `ordered` says that each
    statement has its turn, as no vectors and no threads are in the function."""

    __slots__ = ("run", "source", "written", "ordered", "name", "launches", "calls")

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
        self.ordered = not function.watched and not any(
            isinstance(part, For) and (part.thread or part.kind == VECTORIZED) for part in parts(function.body)
        )
        self.name = function.name
        self.launches = function.launches
        self.calls = function.calls

    def shares(self, args: Sequence[object], known: Sequence[InitMask]) -> bool:
        """Whether an argument shares memory with another one that is stored to.

        Raises Trap("type") for a store to a read-only array, and Unsupported where elements of arguments that share
        memory are uninitialised: what the one learns of them is not seen through the other.
        """
        found = False
        for target in self.written:
            stored = args[target]
            assert isinstance(stored, np.ndarray), "the signature fits"
            if not stored.flags.writeable:
                raise Trap("type", f"{self.name}: argument {target} is stored to, and read-only")
            for number, other in enumerate(args):
                if number == target or not isinstance(other, np.ndarray):
                    continue
                if np.may_share_memory(stored, other) and np.shares_memory(stored, other):
                    if known[number] is not None or known[target] is not None:
                        raise Unsupported("aliased arguments that are not initialised")
                    found = True
        return found


def program_of(function: Function, vectorise: bool = True, full: frozenset[int] = frozenset()) -> PythonProgram:
    """Compiles a decoded function; the parameters are those of `emit_function`."""
    emitted = emit_function(function, vectorise, full)
    namespace: dict[str, Any] = {**NAMESPACE, **emitted.constants}
    exec(compile(emitted.source, f"<tir {function.name}>", "exec"), namespace)
    return PythonProgram(namespace["run"], emitted.source, emitted.written, function)
