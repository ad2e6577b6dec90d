"""Drawn PrimFuncs inside Relax modules: `main` calls the function by call_tir, so that every campaign can use them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import tvm
from tvm import relax, tirx

from generators import tvm_api
from generators.case import EntryCall
from generators.program import Program
from generators.program_facts import Feature, Parameter, ProgramFacts
from generators.source import Source, weighted
from generators.tir.function_draft import Unfit
from generators.tir.functions import draw_planted, draw_prim_func, draw_schedulable
from generators.tir.integers import draw_integer_func
from generators.tir.kernels import draw_kernel_func
from generators.tir.knobs import (
    DEFAULT,
    FUNCTIONS,
    ONE_OF_SOME,
    SCHEDULABLE,
    TirKnobs,
    for_barriers,
    for_rules,
    for_threads,
)
from generators.tir.prim_program import PrimParameter, PrimProgram
from generators.tir.primitives import PRIMITIVES
from generators.tir.schedules import Before, draw_schedule, has_place
from generators.tvm_api import BaseFunc, Expr, GlobalVar, RelaxFunction, Type, Var
from generators.unavailable import Unavailable

CALLED = "prim"
"""The name of the function in the module around it."""


class _DrawnCallee:
    """A drawn function with its names in the module around it, which `suffix` sets apart from the others'."""

    def __init__(self, program: PrimProgram, suffix: str) -> None:
        self.program = program
        self.suffix = suffix
        self.function = program.func.without_attr("global_symbol")
        self.gvar = relax.GlobalVar(f"{CALLED}{suffix}")
        tvm_api.set_type(self.gvar, tvm_api.type_of(self.function))
        self.symbols = {name: tvm_api.symbol(f"{name}{suffix}") for name in program.symbols}
        numbered = zip(program.parameters, program.arguments, strict=True)
        self.inputs = [(p, a) for p, a in numbered if p.dims is not None and p.role == "input"]
        self.params = {p.name: relax.Var(f"{p.name}{suffix}", _type(p, self.symbols)) for p, _ in self.inputs}

    def functions(self) -> dict[GlobalVar, BaseFunc]:
        """The function, private, and the other ones of its module, in their order."""
        own, named = self.program.function, self.program.module.functions.items()
        return {
            self.gvar if gvar.name_hint == own else self._named(gvar): self.function if gvar.name_hint == own else f
            for gvar, f in named
        }

    def _named(self, gvar: GlobalVar) -> GlobalVar:
        """The name of another function. Without a suffix it is the very object that calls hold."""
        return relax.GlobalVar(f"{gvar.name_hint}{self.suffix}") if self.suffix else gvar

    def call(self) -> Expr:
        """The call_tir; a number that the function is given is a symbol of the shapes."""
        given = [p for p in self.program.parameters if p.role == "input"]
        types = [_type(p, self.symbols) for p in self.program.parameters if p.role == "output"]
        arguments = [self.params[p.name] if p.dims is not None else self.symbols[p.name] for p in given]
        return relax.call_tir(
            self.gvar, relax.Tuple([tvm_api.argument(one) for one in arguments]), types[0] if len(types) == 1 else types
        )

    def facts(self) -> list[Parameter]:
        """The parameters of `main` for it."""
        return [Parameter(f"{p.name}{self.suffix}", a.shape, p.dtype, True, a) for p, a in self.inputs]


def wrapped(*programs: PrimProgram, schedule: tuple[str, ...] = ()) -> Program:
    """A Relax module whose public `main` takes the inputs of all functions and gives their outputs.

    The functions are private, the first is named CALLED, dead functions stay with them. Symbolic extents are symbolic
    in `main`; numbers among the parameters are given by the shapes. One entry call, with the programs' arguments.
    schedule: steps of a schedule of the first function, which the facts then name.
    """
    callees = [_DrawnCallee(program, str(number or "")) for number, program in enumerate(programs)]
    functions = {gvar: function for callee in callees for gvar, function in callee.functions().items()}
    functions[relax.GlobalVar("main")] = _main(callees).with_attr("global_symbol", "main")
    symbols = {f"{name}{c.suffix}": value for c in callees for name, value in c.program.symbols.items()}
    features = {
        Feature.SYMBOLIC: symbols,
        Feature.SCHEDULE: schedule,
        Feature.LOOPS_ALONE: not all(p.schedulable for p in programs),
    }
    facts = ProgramFacts(
        tuple(parameter for callee in callees for parameter in callee.facts()),
        tuple(symbols.items()),
        features=frozenset(name for name, there in features.items() if there),
        schedule=schedule,
        scheduled=CALLED,
    )
    call = EntryCall("main", tuple(np.asarray(a) for callee in callees for _, a in callee.inputs))
    drawn = frozenset[str]().union(*(program.features for program in programs))
    return Program(tvm.IRModule(functions), (call,), facts, features=drawn)


def draw_prim_program(
    source: Source, *, for_schedules: bool = False, parts: bool = False, threads: bool = False, barriers: bool = False
) -> Program:
    """A module of one drawn function, or of some smaller ones; of such as passes take that schedule any function, whose
    blocks may cover `parts`. threads: some are kernels already, and the rules for GPUs bind the loops of the others,
    which they do not with every loop. barriers: most are, of threads that work together."""
    count = source.integer(*FUNCTIONS)
    knobs = DEFAULT if count == 1 else ONE_OF_SOME
    if barriers:
        knobs = for_barriers(knobs)
    if for_schedules:
        return wrapped(*[_draw_for_rules(source, for_rules(knobs, parts=parts), threads) for _ in range(count)])
    return wrapped(*[_draw_prim_func(source, knobs) for _ in range(count)])


def _draw_for_rules(source: Source, knobs: TirKnobs, threads: bool) -> PrimProgram:
    if not threads:
        return draw_prim_func(source, knobs)
    draw = draw_kernel_func if source.flip(knobs.forms.kernel) else draw_schedulable
    return draw(source, for_threads(knobs))


def _draw_prim_func(source: Source, knobs: TirKnobs) -> PrimProgram:
    """A function of any kind."""
    return draw_integer_func(source) if source.flip(knobs.forms.integer) else draw_prim_func(source, knobs)


def draw_steps(
    source: Source, program: PrimProgram, first: Sequence[str], threads: bool, before: Before | None = None
) -> tuple[str, ...]:
    """The steps of a schedule that begins with these primitives, as texts. before: as for `draw_schedule`."""
    ratios = DEFAULT.schedules
    steps = source.integer(*(ratios.steps_after if first else ratios.steps))
    drawn = draw_schedule(source, program, steps, threads=threads, first=first, before=before)
    broken = () if drawn.broken is None else (drawn.broken.step,)
    return tuple(step.text for step in (*drawn.steps, *broken))


def scheduled(program: PrimProgram, steps: tuple[str, ...]) -> Program:
    """The module of a function with these steps of a schedule of it. Raises Unavailable where there is none."""
    if not steps:
        raise Unavailable("no schedule")
    return wrapped(program, schedule=steps)


def draw_to_schedule(source: Source, threads: bool) -> tuple[PrimProgram, tuple[str, ...]]:
    """A function, and the primitives that its schedule begins with."""
    knobs = for_threads(for_rules(SCHEDULABLE)) if threads else SCHEDULABLE
    if source.flip(DEFAULT.schedules.planted):
        rows = [row for row in PRIMITIVES if not row.threads and not (threads and row.host)]
        row = weighted(source, [(row, DEFAULT.schedules.planted_weight if row.plants else 1) for row in rows])
        for _ in range(DEFAULT.schedules.planted_tries):
            with suppress(Unfit):
                program = draw_planted(source, row.plants, knobs)
                if has_place(source, program, (*row.after, row.name)[0], threads=threads):
                    return program, (*row.after, row.name)
    return draw_schedulable(source, knobs), ()


def _main(callees: Sequence[_DrawnCallee]) -> RelaxFunction:
    """The Relax function."""
    builder = relax.BlockBuilder()
    with builder.function("main", [param for callee in callees for param in callee.params.values()]):
        with builder.dataflow():
            called = [builder.emit(callee.call()) for callee in callees]
            result = builder.emit_output(called[0] if len(called) == 1 else relax.Tuple(called))
        builder.emit_func_output(result)
    return builder.get()["main"]


def _type(parameter: PrimParameter, symbols: dict[str, Var]) -> Type:
    assert parameter.dims is not None
    return tvm_api.tensor_type([_dim(text, symbols) for text in parameter.dims], parameter.dtype)


def _dim(text: str, symbols: dict[str, Var]) -> Expr:
    """The extent that a text means: numbers and symbols added up."""
    parts = [tirx.IntImm("int64", int(part)) if part.isdigit() else symbols[part] for part in text.split(" + ")]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
