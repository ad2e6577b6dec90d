"""Whole programs: a module around `main`, dead functions, attributes, devices, and the inputs of the entry calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tvm
from tvm.relax.global_info import VDevice

from generators.arrays import draw_array
from generators.case import Argument, EntryCall, Shape
from generators.operators.row import Unavailable
from generators.passes.row import Parameter, ProgramFacts
from generators.program import Program
from generators.relax.control import CONTROL
from generators.relax.frames import FunctionFrame, ModuleFrame, ParameterSpec
from generators.relax.functions import draw_function
from generators.relax.knobs import DEFAULT, Knobs
from generators.relax.scope import Scope
from generators.relax.statements import SIMPLE
from generators.relax.tir_calls import TIR_CALLS
from generators.source import Source

STATEMENTS = (*SIMPLE, *CONTROL, *TIR_CALLS)
_TRIES = 8


def draw_program(
    source: Source,
    knobs: Knobs = DEFAULT,
    patterns: Sequence[Callable[[Scope], None]] = (),
    wants: frozenset[str] = frozenset(),
) -> Program:
    """A random well-formed module with a public `main` and inputs for it.

    One of `patterns` is planted where given. `wants` asks for features: "num_input" (the attribute that
    splits inputs from weights), "vdevice" (devices and hints), "symbolic", "private_functions".
    """
    for _ in range(_TRIES):
        module = ModuleFrame(knobs, features=wants)
        if "vdevice" in wants:
            module.vdevices = (VDevice("llvm", 0), VDevice("llvm", 1))
        try:
            return _draw_module(source, module, patterns)
        except Unavailable:
            continue
    raise Unavailable("no program could be drawn")


def _draw_module(source: Source, module: ModuleFrame, patterns: Sequence[Callable[[Scope], None]]) -> Program:
    frame = FunctionFrame(module, symbolic="symbolic" in module.features or source.flip(0.35))
    pattern = source.pick(patterns) if patterns else None
    count = source.integer(*module.knobs.operators)
    main, _ = draw_function(source, frame, STATEMENTS, count, pattern)
    main, num_input = _with_attributes(source, module, frame, main)
    dead = _draw_dead_functions(source, module)
    whole = _assemble(source, module, main)
    names = ("main", *dead)
    facts = _facts(frame, num_input, names)
    calls = (EntryCall("main", tuple(_draw_argument(source, spec) for _, spec in frame.parameters)),)
    features = set(module.features) | {k for k in module.drawn if k != "operator"}
    return Program(whole, calls, facts, module.operators, frozenset(features), module.rejected)


def _with_attributes(source: Source, module: ModuleFrame, frame: FunctionFrame, main: Any) -> tuple[Any, int | None]:
    """main with its symbol, sometimes `num_input`, sometimes an attribute that no pass knows."""
    main = main.with_attr("global_symbol", "main")
    num_input: int | None = None
    if "num_input" in module.features or source.flip(0.1):
        num_input = source.integer(0, len(frame.parameters))
        main = main.with_attr("num_input", num_input)
    if source.flip(0.1):
        main = main.with_attr("passfuzz_note", source.integer(0, 9))
    return main, num_input


def _draw_dead_functions(source: Source, module: ModuleFrame) -> list[str]:
    """Sometimes a function that nobody calls, public half of the time; the names of the public ones."""
    if not source.flip(0.12):
        return []
    frame = FunctionFrame(module, symbolic=False, level=2, prefix="d")
    try:
        function, _ = draw_function(source, frame, SIMPLE, source.integer(1, 3))
    except Unavailable:
        return []
    name = module.new_name("dead")
    public = source.flip()
    module.add(name, function.with_attr("global_symbol", name) if public else function)
    return [name] if public else []


def _assemble(source: Source, module: ModuleFrame, main: Any) -> Any:
    """The IRModule, sometimes with a module attribute, with its devices as global infos."""
    module.add("main", main)
    infos = {"vdevice": list(module.vdevices)} if module.vdevices else None
    order = list(module.functions.items())
    if source.flip():
        order.reverse()
    whole = tvm.IRModule(dict(order), global_infos=infos)
    if source.flip(0.15):
        whole = whole.with_attr("passfuzz_module_note", source.integer(0, 9))
    return whole


def _draw_argument(source: Source, spec: ParameterSpec) -> Argument:
    if spec.fields is not None:
        return tuple(_draw_argument(source, f) for f in spec.fields)
    if spec.is_shape:
        return Shape(spec.shape)
    return draw_array(source.array_seed(), spec.shape, spec.dtype, spec.range)


def _facts(frame: FunctionFrame, num_input: int | None, functions: tuple[str, ...]) -> ProgramFacts:
    parameters = tuple(
        Parameter(var.name, spec.shape, spec.dtype, spec.fields is None and not spec.is_shape)
        for var, spec in frame.parameters
    )
    symbols = tuple((v.name, n) for v, n in frame.symbols.items() if v.name not in frame.late)
    return ProgramFacts(parameters, symbols, num_input, functions)


def public_names(module: Any) -> tuple[str, ...]:
    """Names of the functions that carry a global symbol."""
    return tuple(g.name_hint for g, f in module.functions.items() if f.attrs and "global_symbol" in f.attrs)
