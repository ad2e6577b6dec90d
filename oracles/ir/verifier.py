"""What TVM's own verifiers say of a module. Whether that is a finding is said by `oracles.well_formed`."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from oracles.ir.memo import Memo
from oracles.ir.walk import prim_funcs


def complaint(module: Any) -> str:
    """What TVM's verifiers say of a module: the empty string when they accept it.

    `relax.analysis.well_formed` on the module; on each PrimFunc the verifier of its dialect.
    """
    try:
        relax.analysis.well_formed(module)
    except (ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    for name, function in prim_funcs(module):
        if text := _PRIM_FUNCS.known(function):
            return f"PrimFunc {name.name_hint}: {text}"
    return ""


def _verify_prim_func(function: Any) -> str:
    has_sblocks = function.attrs is not None and bool(function.attrs.get("s_tir", False))
    verify = tvm.s_tir.analysis.verify_well_formed if has_sblocks else tvm.tirx.analysis.verify_well_formed
    try:
        verify(function)
    except (ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


_PRIM_FUNCS = Memo(_verify_prim_func, size=256)
COMPLAINTS = Memo(complaint)
