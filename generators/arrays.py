"""Contents of input arrays and constants: one seed, one array."""

from __future__ import annotations

import numpy as np

from generators.dtypes import Array, is_float, numpy_dtype
from generators.ranges import Range


def draw_array(seed: int, shape: tuple[int, ...], dtype: str, values: Range) -> Array:
    """An array of `dtype` whose elements lie in `values`: whole numbers where the range is integral.

    Real contents are multiples of 2**-4 half of the time, so that sums of a few of them stay exact.
    """
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(int(values.low), int(values.high) + 1, shape).astype(np.bool_)
    if values.integral or not is_float(dtype):
        whole = random.integers(int(np.ceil(values.low)), int(np.floor(values.high)) + 1, shape)
        return np.asarray(whole).astype(numpy_dtype(dtype))
    real = random.uniform(values.low, values.high, shape)
    if seed & 1:
        real = np.clip(np.round(real * 16) / 16, values.low, values.high)
    # Rounding to a narrow dtype may step over the end of the range; truncation towards zero cannot leave it.
    narrow = np.asarray(real).astype(numpy_dtype(dtype))
    beyond = (narrow.astype(np.float64) > values.high) | (narrow.astype(np.float64) < values.low)
    if not beyond.any():
        return narrow
    inside = np.asarray(values.low + (values.high - values.low) / 2).astype(numpy_dtype(dtype))
    return np.where(beyond, inside, narrow)
