"""The scalar types that nodes have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generators.dtypes import OF_ML_DTYPES, numpy_dtype


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """A scalar type. `kind` is "i", "u", "f" or "b"; `low` and `high` bound the integers it holds (0, 0 for
    floats).
    """

    name: str
    kind: str
    bits: int
    numpy: np.dtype[np.generic]
    low: int = 0
    high: int = 0

    def __repr__(self) -> str:
        return self.name


def _dtype_table() -> dict[str, DType]:
    table = {"bool": DType("bool", "b", 1, np.dtype(np.bool_), 0, 1)}
    for bits in (8, 16, 32, 64):
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        table[f"int{bits}"] = DType(f"int{bits}", "i", bits, np.dtype(f"int{bits}"), low, high)
        table[f"uint{bits}"] = DType(f"uint{bits}", "u", bits, np.dtype(f"uint{bits}"), 0, (1 << bits) - 1)
    for bits in (16, 32, 64):
        table[f"float{bits}"] = DType(f"float{bits}", "f", bits, np.dtype(f"float{bits}"))
    for name in OF_ML_DTYPES:
        table[name] = DType(name, "f", 8 * numpy_dtype(name).itemsize, numpy_dtype(name))
    return table


DTYPES = _dtype_table()
BOOL = DTYPES["bool"]
INT64 = DTYPES["int64"]
