"""Drawn PrimFuncs inside Relax modules: `main` calls the function by call_tir, so that every campaign can use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx

from generators import tvm_api
from generators.case import EntryCall
from generators.operators.row import Unavailable
from generators.passes.row import Parameter, ProgramFacts
from generators.program import Program
from generators.source import Source
from generators.tir.functions import draw_schedulable
from generators.tir.program import PrimParameter, PrimProgram
from generators.tir.schedules import draw_schedule

STEPS = (1, 5)
"""How many primitives a schedule asks for."""
CALLED = "prim"
"""The name of the function in the module around it."""


def wrapped(program: PrimProgram, schedule: tuple[str, ...] = ()) -> Program:
    """A Relax module whose public `main` takes the function's inputs and gives its outputs.

    The function is private and named CALLED, dead functions stay beside it. Symbolic extents are symbolic in `main`;
    numbers among the parameters are given by the shapes. One entry call, with the program's arguments. schedule: steps
    of a schedule of the function, which the facts then name.
    """
    symbols = {name: tvm_api.symbol(name) for name in program.symbols}
    numbered = list(zip(program.parameters, program.arguments, strict=True))
    inputs = [(p, a) for p, a in numbered if p.dims is not None and p.role == "input"]
    outputs = [p for p in program.parameters if p.role == "output"]
    given = [p for p in program.parameters if p.role == "input"]
    function = program.func.without_attr("global_symbol")
    called = relax.GlobalVar(CALLED)
    tvm_api.set_type(called, tvm_api.type_of(function))
    functions = {called: function}
    for gvar, other in program.module.functions.items():
        if gvar.name_hint != program.function:
            functions[gvar] = other
    functions[relax.GlobalVar("main")] = _main(called, given, outputs, symbols).with_attr("global_symbol", "main")
    module = tvm.IRModule(functions)
    facts = ProgramFacts(
        tuple(Parameter(p.name, a.shape, p.dtype, True, a) for p, a in inputs),
        tuple(program.symbols.items()),
        features=frozenset(name for name, there in (("symbolic", program.symbols), ("schedule", schedule)) if there),
        schedule=schedule,
        scheduled=CALLED,
    )
    call = EntryCall("main", tuple(np.asarray(a) for _, a in inputs))
    return Program(module, (call,), facts, features=program.features)


def draw_scheduled_program(source: Source) -> Program:
    """A drawn function with a schedule of it; the last step is one that TVM broke on where one did.

    Raises Unavailable where no step applied, or one wants something registered first.
    """
    program = draw_schedulable(source)
    drawn = draw_schedule(source, program, source.integer(*STEPS))
    steps = [*drawn.steps, *([drawn.broken.step] if drawn.broken is not None else [])]
    if not steps or drawn.prelude:
        raise Unavailable("no schedule")
    return wrapped(program, tuple(step.text for step in steps))


def _main(gvar: Any, given: list[PrimParameter], outputs: list[PrimParameter], symbols: dict[str, Any]) -> Any:
    """The Relax function; a number that the function is given is a symbol of the shapes."""
    builder = relax.BlockBuilder()
    params = {p.name: relax.Var(p.name, _type(p, symbols)) for p in given if p.dims is not None}
    types = [_type(p, symbols) for p in outputs]
    arguments = relax.Tuple([params[p.name] if p.dims is not None else symbols[p.name] for p in given])
    with builder.function("main", list(params.values())):
        with builder.dataflow():
            called = builder.emit(relax.call_tir(gvar, arguments, types[0] if len(types) == 1 else types))
            result = builder.emit_output(called)
        builder.emit_func_output(result)
    return builder.get()["main"]


def _type(parameter: PrimParameter, symbols: dict[str, Any]) -> Any:
    assert parameter.dims is not None
    return tvm_api.tensor_type([_dim(text, symbols) for text in parameter.dims], parameter.dtype)


def _dim(text: str, symbols: dict[str, Any]) -> Any:
    """The extent that a text means: numbers and symbols added up."""
    total: Any = None
    for part in text.split(" + "):
        value = tirx.IntImm("int64", int(part)) if part.isdigit() else symbols[part]
        total = value if total is None else total + value
    return total
