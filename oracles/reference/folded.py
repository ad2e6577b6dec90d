"""What a pass has computed in 16 bits: calls are gone, and there are constants that were not there."""

from __future__ import annotations

from dataclasses import dataclass

from tvm import relax

from generators import tvm_api
from generators.dtypes import NARROW
from generators.tvm_api import IRModule
from oracles.ir.walk import relax_functions


@dataclass(frozen=True, slots=True)
class NarrowContents:
    """constants: dtype, shape and contents of each constant of 16-bit floats in the Relax functions. calls: how many
    calls there are."""

    constants: frozenset[tuple[str, tuple[int, ...], bytes]]
    calls: int

    def folded_from(self, before: NarrowContents) -> bool:
        """Whether calls of `before` have become constants. A pass that puts another constant in place of one folds
        nothing."""
        return self.calls < before.calls and not self.constants <= before.constants


def narrow_contents(module: IRModule) -> NarrowContents:
    """The 16-bit constants and the calls of a module."""
    found, calls = set(), 0

    def look(expr: tvm_api.Expr) -> None:
        nonlocal calls
        calls += isinstance(expr, tvm_api.Call)
        if not isinstance(expr, tvm_api.Constant):
            return
        ty = tvm_api.type_of(expr)
        if isinstance(ty, tvm_api.TensorType) and tvm_api.dtype_name(ty) in NARROW:
            array = tvm_api.constant_array(expr)
            found.add((array.dtype.name, array.shape, array.tobytes()))

    for _, function in relax_functions(module):
        relax.analysis.post_order_visit(function, look)
    return NarrowContents(frozenset(found), calls)
