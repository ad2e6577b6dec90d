"""Where in the official pipelines a module stands, read off the module itself. Worker processes only.

Asked for a module that a user brings. A campaign knows, because it has applied the passes. Where
a module could stand in several phases it is the earliest of them, from which the rest of a pipeline is safe to apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvm import relax, s_tir

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.tvm_api import Expr, IRModule, RelaxFunction
from oracles.checks.legalised import unknown_part
from oracles.ir.operators import ALLOC_TENSOR, KILL, TENSOR_IN_STORAGE
from oracles.ir.walk import bindings, nodes_of, prim_funcs, relax_functions
from oracles.reference.tir.signature import is_packed

CALL_TIR = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad", "relax.call_dps_packed")
_CHECKS = ("vm.builtin.match_shape", "vm.builtin.check_tensor_info", "vm.builtin.check_shape_info")
"""What VMShapeLower alone puts into a module; `vm.builtin.reshape` and the like are written by earlier passes too."""


def phase_of(module: IRModule) -> Phase:
    """HIGH for a module in which LegalizeOps has something to do, or of which nothing can be said.

    A module without Relax functions counts as LEGAL: LegalizeOps gives such PrimFuncs.
    """
    functions = [function for _, function in relax_functions(module)]
    if not functions:
        return Phase.LEGAL
    values = [bound.value for function in functions for bound in bindings(function)]
    names = {name for value in values if (name := T.op_name(value)) is not None}
    lowered = _lowered_phase(module, names, set(_packed(values)))
    if lowered is not None:
        return lowered
    if any(_legalises(value) for value in values):
        return Phase.HIGH
    forced = all(T.is_force_pure(function) for function in functions)
    if forced and not any(_has_dataflow(function) for function in functions):
        return Phase.IMPURE
    if any(function.attrs and "Primitive" in function.attrs for function in functions):
        return Phase.GROUPED
    if any(function.attrs and "op_pattern" in function.attrs for _, function in prim_funcs(module)):
        return Phase.ANNOTATED
    return Phase.LEGAL if names & set(CALL_TIR) else Phase.HIGH


def _lowered_phase(module: IRModule, names: set[str], packed: set[str]) -> Phase | None:
    """From LOWERED on a phase shows in its operators; None before."""
    if packed & set(_CHECKS):
        named = all(T.is_public(function) for _, function in prim_funcs(module))
        return _tir_phase(module) if named else Phase.SHAPELESS
    if any(name.startswith("relax.vm.") for name in names) or "relax.call_builtin_with_ctx" in names:
        return Phase.BUILTIN
    if names & KILL:
        return Phase.KILLED
    if ALLOC_TENSOR in names:
        return Phase.LOWERED
    return Phase.ALLOCATED if TENSOR_IN_STORAGE in names else None


def _tir_phase(module: IRModule) -> Phase:
    """From BindTarget on a phase shows in the PrimFuncs."""
    functions = [function for _, function in prim_funcs(module)]
    if not functions or not all("target" in function.attrs for function in functions):
        return Phase.SYMBOLED
    if any(is_packed(function) for function in functions):
        return Phase.PACKED
    blocks = [block for function in functions for block in nodes_of(function.body, s_tir.SBlock)]
    if not blocks:
        return Phase.LOOPS
    return Phase.BOUND if any(block.iter_vars for block in blocks) else Phase.OPAQUE


def _packed(values: Sequence[Expr]) -> Iterator[str]:
    for value in values:
        if isinstance(value, T.Call) and isinstance(value.op, relax.ExternFunc):
            yield str(value.op.global_symbol)


def _legalises(value: Expr) -> bool:
    """Whether LegalizeOps has something to do with a bound value."""
    if T.op_name(value) is None or value.op.get_attr("FLegalize") is None:
        return False
    return unknown_part(value) is None


def _has_dataflow(function: RelaxFunction) -> bool:
    return any(bound.dataflow for bound in bindings(function))
