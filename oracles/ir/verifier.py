"""What TVM's own verifiers say of a module. `oracles.checks.well_formed` decides whether that is a finding."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import relax, tirx

from generators.tvm_api import IRModule, PrimFunc, Stmt
from oracles.ir.cache import Cache
from oracles.ir.module_caches import by_module
from oracles.ir.walk import prim_func_parts, prim_funcs

PRIM_FUNCS = 256
"""PrimFuncs of which the complaint is remembered."""


def _verify_relax(module: IRModule) -> str:
    try:
        relax.analysis.well_formed(module)
    except (ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def complaint(module: IRModule) -> str:
    """What TVM's verifiers say of a module: the empty string when they accept it.

    `relax.analysis.well_formed` on the module; on each PrimFunc the verifier of its dialect.
    """
    if text := _verify_relax(module):
        return text
    refused = _refused_prim_func(module)
    return "" if refused is None else f"PrimFunc {refused.name}: {refused.said}"


def complains_of_prim_func(module: IRModule) -> bool:
    """Whether what TVM's verifiers say first of a module is about a PrimFunc in itself."""
    return not _verify_relax(module) and _refused_prim_func(module) is not None


def first_complaint(module: IRModule) -> tuple[str, str]:
    """The call of a verifier that rejects `after`, the module, as Python, and what it says; ("", "") for none."""
    if text := _verify_relax(module):
        return "relax.analysis.well_formed(after)", text
    refused = _refused_prim_func(module)
    if refused is None:
        return "", ""
    dialect = "s_tir" if _has_sblocks(refused.function) else "tirx"
    return f"{dialect}.analysis.verify_well_formed(after[{refused.name!r}])", refused.said


@dataclass(frozen=True, slots=True)
class _Refused:
    """A PrimFunc that the verifier of its dialect rejects, and what it says."""

    name: str
    function: PrimFunc
    said: str


def _refused_prim_func(module: IRModule) -> _Refused | None:
    """The first one; None where there is none."""
    for name, function in prim_funcs(module):
        if said := _PRIM_FUNCS.of(function):
            return _Refused(name.name_hint, function, said)
    return None


def _verify_prim_func(function: PrimFunc) -> str:
    """What the verifier says, but for one thing: LowerOpaqueBlock puts the pragmas of a loop around it, as AttrStmts
    whose node is the loop's variable (src/s_tir/transform/lower_opaque_block.cc), and passes look for them there. The
    verifier takes that name for a use of an undefined variable; it names what the attribute is about.
    """
    said = _verified(function)
    return _verified(_without_pragmas(function)) if said.rstrip(".").endswith(".node") else said


def _verified(function: PrimFunc) -> str:
    verify = (tvm.s_tir if _has_sblocks(function) else tvm.tirx).analysis.verify_well_formed
    try:
        verify(function)
    except (ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _has_sblocks(function: PrimFunc) -> bool:
    return function.attrs is not None and bool(function.attrs.get("s_tir", False))


def _without_pragmas(function: PrimFunc) -> PrimFunc:
    def bare(statement: Stmt) -> Stmt:
        return statement.body if str(statement.attr_key).startswith("pragma_") else statement

    return function.with_body(tvm_ffi.structural_map(function.body, (tirx.AttrStmt, bare)))


_PRIM_FUNCS = Cache(_verify_prim_func, prim_func_parts, PRIM_FUNCS)
COMPLAINTS = by_module(complaint)
