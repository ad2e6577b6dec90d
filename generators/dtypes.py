"""Facts about element types: NumPy carrier, precision, range. The names are TVM's and NumPy's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
"""A NumPy array of any shape and dtype."""
Scalar: TypeAlias = Any
"""A NumPy scalar of any dtype, or a Python number; type checkers know no arithmetic that holds for all of them."""

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float32", "float16", "float64", "bfloat16")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
"""Floats of 8 bits that TVM converts as the formats say (src/tirx/transform/dtype_conversion.h); drawn for the passes
alone that legalise them."""
NARROW = ("float16", "bfloat16")
"""Floats of 16 bits."""
OF_ML_DTYPES = ("bfloat16", *FLOAT8)
"""The dtypes that NumPy has from ml_dtypes."""


@dataclass(frozen=True, slots=True)
class FloatFacts:
    """`unit` is the unit roundoff 2**-p, `largest` the largest finite value, `tiny` the smallest normal."""

    unit: float
    largest: float
    tiny: float


_FLOAT_FACTS = {
    "float16": FloatFacts(2.0**-11, 65504.0, 2.0**-14),
    "bfloat16": FloatFacts(2.0**-8, float.fromhex("0x1.fep127"), 2.0**-126),
    "float32": FloatFacts(2.0**-24, float.fromhex("0x1.fffffep127"), 2.0**-126),
    "float64": FloatFacts(2.0**-53, float.fromhex("0x1.fffffffffffffp1023"), 2.0**-1022),
    "float8_e4m3fn": FloatFacts(2.0**-4, 448.0, 2.0**-6),
    "float8_e5m2": FloatFacts(2.0**-3, 57344.0, 2.0**-14),
}


def is_float(dtype: str) -> bool:
    """Whether `dtype` is one of FLOATS or FLOAT8."""
    return dtype in _FLOAT_FACTS


def float_facts(dtype: str) -> FloatFacts:
    """Precision and range of a float dtype. KeyError for any other."""
    return _FLOAT_FACTS[dtype]


def coarsest(dtypes: Iterable[str | None]) -> str | None:
    """The float dtype of these that rounds most; None is no dtype, and what there is where there are none."""
    return max((one for one in dtypes if one is not None), key=lambda one: float_facts(one).unit, default=None)


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype with the same bits: bfloat16 and floats of 8 bits are ml_dtypes', bool is np.bool_."""
    return np.dtype(getattr(ml_dtypes, dtype)) if dtype in OF_ML_DTYPES else np.dtype(dtype)


@cache
def integer_limits(dtype: str) -> tuple[int, int]:
    """(smallest, largest) of an integer dtype; (0, 1) for bool."""
    if dtype == "bool":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
