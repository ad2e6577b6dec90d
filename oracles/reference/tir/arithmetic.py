"""Checked integer arithmetic, conversions and TVM's minimum and maximum, as called by generated code.

`one_*` work on Python ints and NumPy scalars, `grid_*` on arrays; a mask (None: everywhere) says where a grid
may trap. Every function raises `Trap` and names `site`. Memory is in `memory.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from generators.dtypes import Array, Scalar, float_facts
from oracles.evidence import TrapKind
from oracles.reference.errors import Trap

Mask: TypeAlias = Array | None
"""Where a grid takes part; None: everywhere."""


def trap_where(bad: Array | Scalar, mask: Mask, kind: TrapKind, site: str) -> None:
    """Raises if `bad` holds anywhere that the mask allows."""
    if mask is not None:
        bad = bad & mask
    if np.any(bad):
        raise Trap(kind, site)


def in_range(value: int, low: int, high: int, site: str) -> int:
    """`value`, which must lie in [low, high]."""
    if low <= value <= high:
        return value
    raise Trap("integer-overflow", site)


def grid_in_range(value: Array, low: int, high: int, mask: Mask, site: str) -> Array:
    """`value` (int64 or unsigned), which must lie in [low, high]."""
    if value.size and (value.max() > high or value.min() < low):
        trap_where((value > high) | (value < low), mask, "integer-overflow", site)
    return value


def add_int64(a: Array | Scalar, b: Array | Scalar, mask: Mask, site: str) -> Array:
    """Exact sum or a trap."""
    total = np.add(a, b, dtype=np.int64)
    trap_where(((a ^ total) & (b ^ total)) < 0, mask, "integer-overflow", site)
    return total


def sub_int64(a: Array | Scalar, b: Array | Scalar, mask: Mask, site: str) -> Array:
    """Exact difference or a trap."""
    difference = np.subtract(a, b, dtype=np.int64)
    trap_where(((a ^ b) & (a ^ difference)) < 0, mask, "integer-overflow", site)
    return difference


def mul_int64(a: Array | Scalar, b: Array | Scalar, mask: Mask, site: str) -> Array:
    """Exact product or a trap."""
    product = np.multiply(a, b, dtype=np.int64)
    if largest(a) * largest(b) >= 1 << 63:
        exact = np.multiply(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
        trap_where(np.asarray(exact != product.astype(object), dtype=bool), mask, "integer-overflow", site)
    return product


def largest(a: Array | int) -> int:
    """The greatest magnitude in `a`, exactly; 0 for no elements."""
    if isinstance(a, int):
        return abs(a)
    return max(abs(int(a.max())), abs(int(a.min()))) if a.size else 0


def _unsigned(dtype: type[np.unsignedinteger[Any]]) -> dict[str, Callable[..., Array]]:
    top = int(np.iinfo(dtype).max)

    def add(a: Array, b: Array, mask: Mask, site: str) -> Array:
        total = np.add(a, b, dtype=dtype)
        trap_where(total < a, mask, "integer-overflow", site)
        return total

    def sub(a: Array, b: Array, mask: Mask, site: str) -> Array:
        difference = np.subtract(a, b, dtype=dtype)
        trap_where(np.less(a, b), mask, "integer-overflow", site)
        return difference

    def mul(a: Array, b: Array, mask: Mask, site: str) -> Array:
        product = np.multiply(a, b, dtype=dtype)
        if largest(a) * largest(b) > top:
            exact = np.multiply(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
            trap_where(np.asarray(exact > top, dtype=bool), mask, "integer-overflow", site)
        return product

    return {f"{f.__name__}_{np.dtype(dtype).name}": f for f in (add, sub, mul)}


def one_shl(a: int, b: int, bits: int, low: int, high: int, site: str) -> int:
    """Left shift; the amount must be in range, and the result where it is signed: LLVM's shl drops bits."""
    if not 0 <= b < bits:
        raise Trap("integer-overflow", site)
    return (a << b) & high if low == 0 else in_range(a << b, low, high, site)


def one_shr(a: int, b: int, bits: int, _low: int, _high: int, site: str) -> int:
    """Arithmetic right shift for signed, logical for unsigned types."""
    if not 0 <= b < bits:
        raise Trap("integer-overflow", site)
    return a >> b


def _legal_amount(b: Array, bits: int, mask: Mask, site: str) -> Array:
    wrong = (b < 0) | (b >= bits)
    trap_where(wrong, mask, "integer-overflow", site)
    return np.where(wrong, 0, b).astype(b.dtype)


def grid_shl(a: Array, b: Array, bits: int, low: int, high: int, mask: Mask, site: str) -> Array:
    """Left shift; the amount must be in range, and the result where it is signed."""
    amount = _legal_amount(b, bits, mask, site)
    shifted = a << amount
    if low == 0:
        return shifted
    trap_where(((shifted >> amount) != a) | (shifted < low) | (shifted > high), mask, "integer-overflow", site)
    return shifted


def grid_shr(a: Array, b: Array, bits: int, _low: int, _high: int, mask: Mask, site: str) -> Array:
    """Arithmetic right shift for signed, logical for unsigned types."""
    return a >> _legal_amount(b, bits, mask, site)


def one_floordiv(a: int, b: int, high: int, site: str) -> int:
    """Quotient rounded down."""
    if b == 0:
        raise Trap("division-by-zero", site)
    return in_range(a // b, -high - 1, high, site)


def one_floormod(a: int, b: int, _high: int, site: str) -> int:
    """Remainder with the sign of the divisor."""
    if b == 0:
        raise Trap("division-by-zero", site)
    return a % b


def one_div(a: int, b: int, high: int, site: str) -> int:
    """Quotient rounded towards zero."""
    if b == 0:
        raise Trap("division-by-zero", site)
    quotient = abs(a) // abs(b)
    return in_range(quotient if (a < 0) == (b < 0) else -quotient, -high - 1, high, site)


def one_mod(a: int, b: int, _high: int, site: str) -> int:
    """Remainder with the sign of the dividend."""
    if b == 0:
        raise Trap("division-by-zero", site)
    return abs(a) % abs(b) if a >= 0 else -(abs(a) % abs(b))


def _divisor(a: Array, b: Array | Scalar, low: int, mask: Mask, site: str) -> Array:
    """`b` with harmless values where the division is not to be done; traps on 0 and on low / -1."""
    zero = b == 0
    trap_where(zero, mask, "division-by-zero", site)
    if low < 0:
        over = (b == -1) & (a == low)
        trap_where(over, mask, "integer-overflow", site)
        zero = zero | over
    return np.where(zero, 1, b).astype(b.dtype)


def grid_floordiv(a: Array, b: Array | Scalar, low: int, _high: int, mask: Mask, site: str) -> Array:
    """Quotient rounded down."""
    return a // _divisor(a, b, low, mask, site)


def grid_floormod(a: Array, b: Array | Scalar, low: int, _high: int, mask: Mask, site: str) -> Array:
    """Remainder with the sign of the divisor."""
    return a % _divisor(a, b, low, mask, site)


def grid_div(a: Array, b: Array | Scalar, low: int, _high: int, mask: Mask, site: str) -> Array:
    """Quotient rounded towards zero."""
    divisor = _divisor(a, b, low, mask, site)
    return (a - np.fmod(a, divisor)) // divisor


def grid_mod(a: Array, b: Array | Scalar, low: int, _high: int, mask: Mask, site: str) -> Array:
    """Remainder with the sign of the dividend."""
    return np.fmod(a, _divisor(a, b, low, mask, site))


def one_from_float(value: Scalar, low: int, high: int, site: str) -> int:
    """Truncation of a float; NaN and values outside [low, high] trap."""
    exact = float(value)
    if not math.isfinite(exact) or not low <= int(exact) <= high:
        raise Trap("integer-overflow", site)
    return int(exact)


def grid_from_float(value: Array, low: int, high: int, mask: Mask, site: str) -> Array:
    """Truncation of floats to int64 (uint64 for a range beyond int64); NaN and values outside [low, high]
    trap.
    """
    whole = np.trunc(value.astype(np.float64))
    # high + 1 is a power of two, so the comparison is exact where `high` itself would not be a float64.
    wrong = ~((whole >= float(low)) & (whole < float(high + 1)))
    if wrong.any():
        trap_where(wrong, mask, "integer-overflow", site)
        whole = np.where(wrong, 0.0, whole)
    return whole.astype(np.uint64 if high > 1 << 63 else np.int64)


class Roundings:
    """How often an operation on floats of 8 bits has rounded, or may have, since the process began."""

    count = 0


def float8_of(wide: Array | Scalar, target: np.dtype[np.generic], mask: Mask, site: str) -> Array | Scalar:
    """A result in float32, which holds sums and products of two floats of 8 bits, as such a float; see `float8`."""
    value = wide.astype(target)
    if not np.array_equal(value.astype(wide.dtype), wide):
        Roundings.count += 1
    return float8(value, mask, site)


def float8(value: Array | Scalar, mask: Mask, site: str) -> Array | Scalar:
    """A float of 8 bits, which must be finite, and zero or normal.

    What is too large saturates or becomes NaN as the implementation likes (OCP 8-bit Floating Point Specification);
    TVM's own conversions know neither, and no subnormal numbers (src/tirx/transform/dtype_conversion.cc).
    """
    small = (np.abs(value) < float_facts(value.dtype.name).tiny) & (value != 0)
    trap_where(~np.isfinite(value) | small, mask, "float8-range", site)
    return value


def one_min(a: Scalar, b: Scalar) -> Scalar:
    """TVM's Min on floats."""
    return a if a < b else b


def one_max(a: Scalar, b: Scalar) -> Scalar:
    """TVM's Max on floats."""
    return a if a > b else b


def grid_min(a: Array | Scalar, b: Array | Scalar) -> Array:
    """TVM's Min on floats."""
    return np.where(a < b, a, b)


def grid_max(a: Array | Scalar, b: Array | Scalar) -> Array:
    """TVM's Max on floats."""
    return np.where(a > b, a, b)


def float_floordiv(a: Array | Scalar, b: Array | Scalar) -> Array | Scalar:
    """floor(a / b), rounded once per operation (TVM's LowerIntrin)."""
    return np.floor(a / b)


def float_floormod(a: Array | Scalar, b: Array | Scalar) -> Array | Scalar:
    """a - floor(a / b) * b (TVM's LowerIntrin)."""
    return a - np.floor(a / b) * b


NAMES: dict[str, Callable[..., Array | Scalar]] = (
    {
        f.__name__: f
        for f in (
            in_range,
            grid_in_range,
            add_int64,
            sub_int64,
            mul_int64,
            one_shl,
            one_shr,
            grid_shl,
            grid_shr,
            one_floordiv,
            one_floormod,
            one_div,
            one_mod,
            grid_floordiv,
            grid_floormod,
            grid_div,
            grid_mod,
            one_from_float,
            grid_from_float,
            float8,
            float8_of,
            one_min,
            one_max,
            grid_min,
            grid_max,
            float_floordiv,
            float_floormod,
        )
    }
    | _unsigned(np.uint32)
    | _unsigned(np.uint64)
)
