"""A whole decoded function as source text: its parameters, its body and what it returns."""

from __future__ import annotations

from dataclasses import dataclass

from oracles.reference.tir.dependence import Dependence
from oracles.reference.tir.emit.state import Buffers, Code, EmitState
from oracles.reference.tir.emit.table import TABLES
from oracles.reference.tir.flights import flying
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import Buffer, Function


@dataclass(frozen=True, slots=True)
class Emitted:
    """source: of a Python function `run`. constants: what it names besides the runtime functions. written: numbers of
    the parameters that are stored to.

    `run` takes for each parameter in order a number, or an array and its initialisation mask (None: all initialised).
    It returns the masks of the arrays and what the PrimFunc returns.
    """

    source: str
    constants: dict[str, object]
    written: frozenset[int]


def emit_function(function: Function, vectorise: bool, full: frozenset[int]) -> Emitted:
    """The code of a function.

    vectorise: independent loops become array operations; without it the code is plain loops, which are slow and give
    the same bits. full: numbers of the arguments of which all elements are initialised. Raises Unsupported.
    """
    bounds = Bounds()
    dependence = Dependence(bounds, vectorise)
    written = dependence.summary(function.body).written
    arrays = [param for param in function.params if isinstance(param, Buffer)]
    buffers = Buffers(
        viewed=function.viewed,
        unsure=function.unsure,
        watched=function.watched,
        flying=flying(function),
        units=function.units,
        full=set(full - function.unsure),
        outside={param.slot for param in arrays},
    )
    state = EmitState(function.name, TABLES, bounds, dependence, buffers)
    parameters = _parameters(state, function)
    # Parameters that are also seen as smaller elements have masks by units, which are joined at the end.
    finer = [param.slot for param in arrays if buffers.parts(param) > 1]
    for param in arrays:
        if param.slot in finer:
            name = f"m{param.slot}"
            state.line(f"k{param.slot}, {name} = {name}, split({name}, {buffers.parts(param)})")
    if function.watched:
        state.line("races = Races()")
    if buffers.flying:
        state.line("flights = Flights()")
    state.stmt(function.body)
    masks = [f"joined(m{p.slot}, k{p.slot}), " if p.slot in finer else f"m{p.slot}, " for p in arrays]
    result = "None" if function.result is None else state.expr(function.result).text
    state.line(f"return ({''.join(masks)}), {result}")
    source = "\n".join([f"def run({', '.join(parameters)}):", *state.lines])
    return Emitted(source, state.names.constants, frozenset(written & {param.slot for param in arrays}))


def _parameters(state: EmitState, function: Function) -> list[str]:
    """The parameter list of the generated function; registers the numbers among the parameters."""
    names: list[str] = []
    for slot, param in enumerate(function.params):
        if isinstance(param, Buffer):
            names += [f"b{slot}", f"m{slot}"]
        else:
            names.append(f"p{slot}")
            if param is not None:
                state.values[param.key] = Code(f"p{slot}", False)
    return names
