"""The rest of `tvm.tirx.build` for PrimFuncs that a case has taken part of the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import tvm
from tvm import relax
from tvm.tirx import compilation_pipeline

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.passes.table import FINISHES_DEVICE, FINISHES_HOST, default_call, rest_of_tir_pipeline
from generators.tvm_api import Executable, IRModule, Pass, PassContext, Target
from oracles.ir.walk import PRIM_FUNC
from oracles.reference.tir.signature import is_packed
from oracles.workbench import constructed

SYMBOL_PREFIX = "__tvm_ffi_"
"""How MakePackedAPI begins the symbols of packed functions (tvm/ffi/c_api.h); the virtual machine looks them up by what
comes after it."""


TirPipeline: TypeAlias = tuple[Pass, Callable[[], Pass], Callable[[], Pass]]
"""What a registered TIR pipeline gives: the passes of all functions, and makers of those of host and device."""


def compiled_from(
    module: IRModule, target: Target, phase: Phase, *, threads: bool = False, **options: str
) -> Executable:
    """The executable of a module whose Relax functions are lowered and whose PrimFuncs stand in this phase.

    threads: some of them are for a device, and stand before PACKED. options: of `relax.build`.
    """
    if phase >= Phase.PACKED:
        module = _with_symbols(module, lambda symbol: symbol.removeprefix(SYMBOL_PREFIX))
    return relax.build(module, target, relax_pipeline=None, tir_pipeline=_tir_pipeline_from(phase, threads), **options)


def _tir_pipeline_from(phase: Phase, threads: bool) -> str:
    """The name of a registered TIR pipeline, as `relax.build` takes it, that goes on from this phase."""
    if phase.of_relax:
        return "default"
    name = f"passfuzz-{phase.name.lower()}{'-threads' if threads else ''}"
    rest = in_order(n for n in rest_of_tir_pipeline(phase) if not (threads and n in FINISHES_HOST))
    if phase >= Phase.PACKED:
        rest.insert(0, tvm.transform.module_pass(_packed_symbols, opt_level=0))

    def parted() -> TirPipeline:
        host, device = (tvm.transform.Sequential(in_order(side)) for side in (FINISHES_HOST, FINISHES_DEVICE))
        return tvm.transform.Sequential(rest), lambda: host, lambda: device

    def factory() -> TirPipeline:
        return tvm.transform.Sequential(rest), _nothing, _nothing

    compilation_pipeline.register_tir_pipeline(name, parted if threads else factory)
    return name


def in_order(names: Iterable[str]) -> list[Pass]:
    """The passes of these names, as the official pipelines construct them."""
    return [constructed(default_call(name).source) for name in names]


def _packed_symbols(module: IRModule, context: PassContext) -> IRModule:
    """What the code generator for Relax had to be spared: it calls functions by their symbols."""
    return _with_symbols(module, lambda symbol: SYMBOL_PREFIX + symbol)


def _with_symbols(module: IRModule, renamed: Callable[[str], str]) -> IRModule:
    """The module with other symbols for its packed functions."""
    functions = dict(module.functions.items())
    for gvar, function in functions.items():
        if isinstance(function, PRIM_FUNC) and is_packed(function):
            symbol = str(function.attrs["global_symbol"])
            functions[gvar] = function.with_attr("global_symbol", renamed(symbol))
    return T.replace_functions(module, functions)


def _nothing() -> Pass:
    """What is left for host and device functions: all of it has been done, and LLVM has no device functions."""
    return tvm.transform.Sequential([])
