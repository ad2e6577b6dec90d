"""A decoded PrimFunc as generated Python code, what this code may name, and how long it may run.

The code itself is described in `emit.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir import arithmetic, folds, memory, races
from oracles.reference.tir.dependence import Dependence
from oracles.reference.tir.emit_state import Code
from oracles.reference.tir.emit_stmts import Emitter
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import DTYPES, Buffer, Function

CACHED_CODE = 1024
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


_NUMPY: dict[str, Any] = {
    name: getattr(np, name) for name in ("where", "minimum", "maximum", "copyto", "empty", "zeros", "fmod")
}
NAMESPACE: dict[str, Any] = {
    **arithmetic.NAMES,
    **memory.NAMES,
    **folds.NAMES,
    **races.NAMES,
    **{("bool_" if name == "bool" else name): dtype.numpy.type for name, dtype in DTYPES.items()},
    **_NUMPY,
    "fuel": fuel,
    "Trap": Trap,
    "true": np.True_,
    "false": np.False_,
}


class Program:
    """Generated code for one binding. `written` numbers the parameters that are stored to."""

    __slots__ = ("run", "source", "written", "noalias", "name", "launches", "calls")

    def __init__(self, run: Callable[..., Any], source: str, written: frozenset[int], function: Function) -> None:
        self.run = run
        self.source = source
        self.written = written
        self.noalias = function.noalias
        self.name = function.name
        self.launches = function.launches
        self.calls = function.calls

    def check_memory(self, args: Sequence[Any]) -> None:
        """Refuses to store to a read-only array, and arguments that share memory with one that is stored to."""
        for target in self.written:
            if not args[target].flags.writeable:
                raise Trap("type", f"{self.name}: argument {target} is stored to, and read-only")
            for number, other in enumerate(args):
                if number == target or not isinstance(other, np.ndarray):
                    continue
                if np.may_share_memory(args[target], other) and np.shares_memory(args[target], other):
                    if self.noalias:
                        raise Trap("aliasing", f"{self.name}: arguments {number} and {target} share memory")
                    raise Unsupported("aliased arguments")


def program_of(function: Function, vectorise: bool = True, full: frozenset[int] = frozenset()) -> Program:
    """Compiles a decoded function. full: numbers of the arguments of which all elements are initialised."""
    emitter, dependence = emitter_for(function, vectorise)
    emitter.full |= full - function.unsure
    emitter.viewed, emitter.units, emitter.unsure = function.viewed, function.units, function.unsure
    emitter.watched = function.watched
    arguments = _begin(emitter, function)
    if function.watched:
        emitter.line("races = Races()")
    emitter.stmt(function.body)
    emitter.line(f"return ({''.join(_left(emitter, function))}), {_result(emitter, function)}")
    source = "\n".join([f"def run({', '.join(arguments)}):", *emitter.lines])
    namespace = dict(NAMESPACE)
    namespace.update(emitter.constants)
    exec(_code(source, function.name), namespace)
    written = frozenset(dependence.summary(function.body).written & set(_slots(function)))
    return Program(namespace["run"], source, written, function)


@lru_cache(maxsize=CACHED_CODE)
def _code(source: str, name: str) -> CodeType:
    return compile(source, f"<tir {name}>", "exec")


def emitter_for(function: Function, vectorise: bool) -> tuple[Emitter, Dependence]:
    """A fresh code generator."""
    bounds = Bounds()
    dependence = Dependence(bounds, vectorise)
    dependence.summary(function.body)
    return Emitter(function.name, bounds, dependence), dependence


def _slots(function: Function) -> list[int]:
    return [param.slot for param in function.params if isinstance(param, Buffer)]


def _finer(emitter: Emitter, function: Function) -> list[Buffer]:
    """The parameters that are also seen as smaller elements."""
    return [param for param in function.params if isinstance(param, Buffer) and emitter.parts(param) > 1]


def _left(emitter: Emitter, function: Function) -> list[str]:
    """The masks at the end."""
    finer = {param.slot for param in _finer(emitter, function)}
    return [f"joined(m{s}, k{s}), " if s in finer else f"m{s}, " for s in _slots(function)]


def _result(emitter: Emitter, function: Function) -> str:
    return "None" if function.result is None else emitter.expr(function.result).text


def _begin(emitter: Emitter, function: Function) -> list[str]:
    """Registers the parameters; the parameter list of the generated function."""
    arguments: list[str] = []
    for slot, param in enumerate(function.params):
        if isinstance(param, Buffer):
            arguments += [f"b{slot}", f"m{slot}"]
            emitter.outside.add(slot)
        elif param is not None:
            arguments.append(f"p{slot}")
            emitter.names[param.key] = Code(f"p{slot}", False)
        else:
            arguments.append(f"p{slot}")
    for param in _finer(emitter, function):
        name = f"m{param.slot}"
        emitter.line(f"k{param.slot}, {name} = {name}, split({name}, {emitter.parts(param)})")
    return arguments
