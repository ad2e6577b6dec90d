"""What TVM's own verifiers say of a module. Whether that is a finding is said by `oracles.checks.well_formed`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from oracles.ir.memo import SIZE, ByParts, Memo, named_functions
from oracles.ir.walk import FUNCTION, prim_funcs


def _verify_relax(module: Any) -> str:
    try:
        relax.analysis.well_formed(module)
    except (ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def complaint(module: Any, of_relax: Callable[[Any], str] = _verify_relax) -> str:
    """What TVM's verifiers say of a module: the empty string when they accept it.

    `relax.analysis.well_formed` on the module, by `of_relax`; on each PrimFunc the verifier of its dialect.
    """
    if text := of_relax(module):
        return text
    for name, function in prim_funcs(module):
        if text := _PRIM_FUNCS.of(function):
            return f"PrimFunc {name.name_hint}: {text}"
    return ""


def _read_of(module: Any) -> list[Any]:
    """What TVM's verifier reads of a module (src/relax/analysis/well_formed.cc): Relax functions, which GlobalVars
    there are, and their types. Passes of TIR hand on all of that."""
    read: list[Any] = []
    for gvar, function in named_functions(module):
        read += [gvar, gvar.ty, function] if type(function) is FUNCTION else [gvar, gvar.ty]
    return read


def _verify_prim_func(function: Any) -> str:
    """What the verifier says, but for one thing: LowerOpaqueBlock puts the pragmas of a loop around it, as AttrStmts
    whose node is the loop's variable (src/s_tir/transform/lower_opaque_block.cc), and passes look for them there. The
    verifier takes that name for a use of an undefined variable; it names what the attribute is about.
    """
    said = _verified(function)
    return _verified(_without_pragmas(function)) if said.rstrip(".").endswith(".node") else said


def _verified(function: Any) -> str:
    has_sblocks = function.attrs is not None and bool(function.attrs.get("s_tir", False))
    verify = tvm.s_tir.analysis.verify_well_formed if has_sblocks else tvm.tirx.analysis.verify_well_formed
    try:
        verify(function)
    except (ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _without_pragmas(function: Any) -> Any:
    def bare(statement: Any) -> Any:
        return statement.body if str(statement.attr_key).startswith("pragma_") else statement

    return function.with_body(tvm_ffi.structural_map(function.body, (tirx.AttrStmt, bare)))


_PRIM_FUNCS = ByParts(_verify_prim_func, size=256)
COMPLAINTS = Memo(complaint)
TRUSTED = Memo(partial(complaint, of_relax=ByParts(_verify_relax, SIZE, _read_of).of))
"""The same where nothing is changed in place: what a pass of TIR has handed on is verified once."""
