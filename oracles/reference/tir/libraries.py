"""The intrinsics of TIR that functions of LLVM, of the C library and of CUDA mean, as LowerIntrin writes them."""

from __future__ import annotations

from collections.abc import Sequence

from generators import tvm_api
from generators.tvm_api import Expr
from oracles.reference.errors import Unsupported

LIBRARY_CALLS = ("call_extern", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin")

_EVERYWHERE = (
    *("exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "pow", "fma", "copysign", "fabs"),
    *("floor", "ceil", "trunc", "nearbyint"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
)
_C_ONLY = ("log1p", "asinh", "acosh", "atanh", "erf", "hypot", "fmod")

LLVM: dict[str, str] = {
    **{name: name for name in _EVERYWHERE},
    "round": "round_half_away",
    "fmuladd": "fma",
    "rint": "nearbyint",
    "roundeven": "nearbyint",
    "ctpop": "popcount",
    "ctlz": "clz",
    **{name: name for name in ("lround", "llround", "lrint", "llrint")},
}
"""LLVM's intrinsics without their prefix and types."""
TO_WHOLE: dict[str, str] = {
    "lround": "round_half_away",
    "llround": "round_half_away",
    "lrint": "nearbyint",
    "llrint": "nearbyint",
}
"""Roundings that give a signed integer; where none is near enough, LLVM does not specify which (Language Reference)."""
C_LIBRARY: dict[str, str] = {
    **{spelled: name for name in (*_EVERYWHERE, *_C_ONLY) for spelled in (name, f"{name}f")},
    **{spelled: name for name in ("nextafter", "ldexp") for spelled in (name, f"{name}f")},
    **{spelled: "round_half_away" for spelled in ("round", "roundf")},
}
"""Functions of the C library in both precisions."""
_FAST = ("exp", "exp10", "log", "log2", "log10", "pow", "sin", "cos", "tan")
CUDA: dict[str, str] = {
    **{f"h{name}": name for name in (*_EVERYWHERE, *_C_ONLY, "rsqrt")},
    **{f"__{name}f": name for name in _FAST},
    "rsqrt": "rsqrt",
    "rsqrtf": "rsqrt",
    "hrint": "nearbyint",
    "rintf": "nearbyint",
    "rint": "nearbyint",
    "__popc": "popcount",
    "__popcll": "popcount",
}
"""Of CUDA's own (src/backend/cuda/codegen/intrin_rule_cuda.cc, and the code generator's prelude):
functions of halves, and fast ones of float32."""


def library_function(kind: str, args: Sequence[Expr]) -> tuple[str, list[Expr]]:
    """The intrinsic that a call means, and its arguments. Unsupported for other functions."""
    first = args[0]
    if kind.startswith("call_llvm"):
        full = tvm_api.llvm_intrinsic_name(int(first.value))
        name = LLVM.get(full.removeprefix("llvm.").split(".")[0])
    else:
        full = str(first.value)
        name = C_LIBRARY.get(full) or CUDA.get(full)
    if name is None:
        raise Unsupported(f"tirx.{kind}[{full}]")
    return name, list(args)[1 : 2 if name == "clz" else None]  # LLVM's says besides whether 0 is left open
