"""Whole programs: a module around `main`, dead functions, attributes, devices, entry calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import tvm

from generators import tvm_api
from generators.case import Argument
from generators.program import Program
from generators.program_facts import Feature, Parameter, ProgramFacts
from generators.relax.body import Pattern
from generators.relax.calls_and_ifs import CONTROL
from generators.relax.entry_calls import draw_arguments, draw_calls
from generators.relax.frames import FunctionFrame, ModuleFrame
from generators.relax.functions import draw_function, draw_loss_function
from generators.relax.knobs import DEFAULT, Knobs
from generators.relax.special_values import allow_specials
from generators.relax.statements import SIMPLE
from generators.relax.tir_calls import TIR_CALLS
from generators.source import Source
from generators.tvm_api import IRModule, RelaxFunction
from generators.unavailable import Unavailable

STATEMENTS = (*SIMPLE, *CONTROL, *TIR_CALLS)
_TRIES = 8
_LOCAL_FUNCTIONS = ("local call", "local_functions", "local_functions_capturing")


def draw_program(
    source: Source,
    knobs: Knobs = DEFAULT,
    patterns: Sequence[Pattern] = (),
    wants: frozenset[Feature] = frozenset(),
) -> Program:
    """A random well-formed module with a public `main` and inputs for it; the first entry call is of `main`.

    All `patterns` are planted, in order, each into a block of its own. `wants` asks for features: those of Relax
    programs up to SCALAR_LOSS are drawn here, the others are left to the patterns.
    """
    for _ in range(_TRIES):
        module = ModuleFrame(_fitting(knobs, wants), features=wants)
        if Feature.VDEVICE in wants:
            module.vdevices = (tvm_api.relax.VDevice("llvm", 0), tvm_api.relax.VDevice("llvm", 1))
        try:
            return _draw_module(source, module, patterns)
        except Unavailable:
            continue
    raise Unavailable("no program could be drawn")


def _fitting(knobs: Knobs, wants: frozenset[Feature]) -> Knobs:
    """The knobs for programs with these features."""
    if Feature.SCALAR_LOSS in wants:
        knobs = replace(knobs, dtypes=knobs.functions.loss_dtypes, guard_share=0.0)
    if Feature.FLOAT32_ONLY in wants:
        knobs = replace(knobs, dtypes=(("float32", 1),))
    if Feature.CONSTANTS in wants:
        knobs = replace(knobs, parameter_share=min(knobs.parameter_share, knobs.constants_parameter_share))
    return knobs


def _draw_module(source: Source, module: ModuleFrame, patterns: Sequence[Pattern]) -> Program:
    differentiable = Feature.SCALAR_LOSS in module.features
    asked = Feature.SYMBOLIC in module.features
    symbolic = not differentiable and (asked or source.flip(module.knobs.functions.symbolic))
    frame = FunctionFrame(module, symbolic=symbolic)
    if differentiable:
        patterns = [p for p in patterns if getattr(p, "wants", None) is Feature.SCALAR_LOSS]
    count = source.integer(*module.knobs.operators)
    if differentiable:
        main = draw_loss_function(source, frame, count, patterns)
    else:
        main, _ = draw_function(source, frame, STATEMENTS, count, patterns)
    main, num_input = _with_attributes(source, module, frame, main)
    _draw_dead_function(source, module)
    whole = _assemble(source, module, main)
    if not differentiable:
        allow_specials(module, frame)
    arguments = draw_arguments(source, frame)
    facts = _facts(frame, num_input, arguments)
    features = {feature.value for feature in facts.features | module.features}
    features |= {kind for kind in module.drawn if kind != "operator"}
    calls = draw_calls(source, module, frame, arguments)
    return Program(whole, calls, facts, module.operators, frozenset(features), module.rejected)


def _with_attributes(
    source: Source, module: ModuleFrame, frame: FunctionFrame, main: RelaxFunction
) -> tuple[RelaxFunction, int | None]:
    """main with its symbol, and possibly `num_input` and an attribute that no pass knows."""
    main = main.with_attr("global_symbol", "main")
    num_input: int | None = None
    if Feature.NUM_INPUT in module.features or frame.weights or source.flip(module.knobs.functions.num_input):
        drawn = not frame.weights or source.flip(module.knobs.functions.num_input_anywhere)
        num_input = source.integer(0, len(frame.parameters)) if drawn else frame.num_input
        main = main.with_attr("num_input", num_input)
    if source.flip(module.knobs.functions.attribute):
        main = main.with_attr("passfuzz_note", source.integer(0, 9))
    return main, num_input


def _draw_dead_function(source: Source, module: ModuleFrame) -> None:
    """In some modules a function without callers, public in half of them."""
    if not source.flip(module.knobs.functions.dead):
        return
    frame = FunctionFrame(module, symbolic=False, level=2, prefix="d")
    try:
        function, _ = draw_function(source, frame, SIMPLE, source.integer(1, 3))
    except Unavailable:
        return
    name = module.new_name("dead")
    if source.flip():
        function = function.with_attr("global_symbol", name)
        module.public[name] = frame
    module.add(name, function)


def _assemble(source: Source, module: ModuleFrame, main: RelaxFunction) -> IRModule:
    """The IRModule with its devices as global infos, and possibly a module attribute."""
    module.add("main", main)
    infos = {"vdevice": list(module.vdevices)} if module.vdevices else None
    order = list(module.functions.items())
    if source.flip():
        order.reverse()
    whole = tvm.IRModule(dict(order), global_infos=infos)
    if source.flip(module.knobs.functions.module_attribute):
        whole = whole.with_attr("passfuzz_module_note", source.integer(0, 9))
    if Feature.LIBRARY_PREFIX in module.features:
        whole = whole.with_attr("system_lib_prefix", source.pick(("lib_", "passfuzz_")))
    return whole


def _facts(frame: FunctionFrame, num_input: int | None, arguments: tuple[Argument, ...]) -> ProgramFacts:
    parameters: list[Parameter] = []
    for (var, spec), argument in zip(frame.parameters, arguments, strict=True):
        value = argument if isinstance(argument, np.ndarray) else None
        parameters.append(Parameter(var.name, spec.shape, spec.dtype, value is not None, value))
    symbols = tuple((v.name, n) for v, n in frame.symbols.items() if v.name not in frame.late)
    module = frame.module
    present = {
        Feature.NUM_INPUT: num_input is not None,
        Feature.VDEVICE: bool(module.vdevices),
        Feature.SYMBOLIC: bool(symbols),
        Feature.SCALAR_LOSS: frame.loss is not None,
        Feature.PRIVATE_FUNCTIONS: bool(module.private),
        Feature.LOCAL_FUNCTIONS: any(module.drawn[name] for name in _LOCAL_FUNCTIONS),
        Feature.CONSTANTS: Feature.CONSTANTS in module.features,
        Feature.FLOAT32_ONLY: Feature.FLOAT32_ONLY in module.features,
    }
    features = frozenset(feature for feature, there in present.items() if there)
    alike = frozenset(name for name, _ in symbols) - _names_elsewhere(module)
    public = ("main", *module.public)
    return ProgramFacts(tuple(parameters), symbols, num_input, public, features, alike=alike, loss=frame.loss_place)


def _names_elsewhere(module: ModuleFrame) -> set[str]:
    """The names of symbols that other functions define for numbers of their own."""
    others = [
        function
        for gvar, function in module.functions.items()
        if gvar.name_hint not in ("main", *module.alike) and isinstance(function, tvm_api.relax.Function)
    ]
    return {symbol.name for function in others for symbol in tvm_api.relax.analysis.defined_symbolic_vars(function)}
