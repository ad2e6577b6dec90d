"""Contents of input arrays and constants: one seed, one array."""

from __future__ import annotations

import numpy as np

from generators.array_knobs import KNOBS
from generators.dtypes import Array, float_facts, is_float, numpy_dtype
from generators.operators.specials import NOTHING, Set, Special
from generators.ranges import NARROW, Range, ends_of


def draw_array(seed: int, shape: tuple[int, ...], dtype: str, values: Range) -> Array:
    """An array of `dtype` whose elements lie in `values`: whole numbers where the range is integral.

    Real contents are multiples of 2**-4 half of the time, so that sums of a few of them stay exact.
    """
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(int(values.low), int(values.high) + 1, shape).astype(np.bool_)
    if values.integral or not is_float(dtype):
        whole = np.asarray(random.integers(int(np.ceil(values.low)), int(np.floor(values.high)) + 1, shape))
        if dtype in NARROW and values == ends_of(dtype)[0]:
            whole = np.where(random.random(shape) < KNOBS.ends, _ends(random, shape, values), whole)
        return whole.astype(numpy_dtype(dtype))
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


def _ends(random: np.random.Generator, shape: tuple[int, ...], values: Range) -> Array:
    low, high = int(values.low), int(values.high)
    numbers = [number for number in (low, low + 1, -1, 0, 1, high - 1, high) if low <= number]
    return np.asarray(numbers)[random.integers(len(numbers), size=shape)]


def with_specials(array: Array, seed: int, may_hold: Set = NOTHING, meant: bool = False) -> Array:
    """The array, in a share of the cases with special elements that it may hold, or with minus signs at its zeros.

    seed: that of `draw_array`, so that special elements take no choice of a case's own. meant: drawn for them.
    """
    if not is_float(array.dtype.name) or not array.size:
        return array
    random = np.random.default_rng((seed, 1))
    signed = random.random() < KNOBS.minus_zeros
    share = KNOBS.special_meant if meant else KNOBS.special
    numbers = _specials(array.dtype.name, may_hold) if random.random() < share else []
    if signed:
        zeros = (array == 0) & (random.random(array.shape) < KNOBS.minus_zero_elements)
        array = np.where(zeros, -array, array)
    if numbers:
        chosen = np.asarray(random.random(array.shape) < KNOBS.special_elements)
        chosen.reshape(-1)[random.integers(array.size)] = True
        drawn = np.asarray(numbers)[random.integers(len(numbers), size=array.shape)]
        array = np.where(chosen, drawn.astype(array.dtype), array)
    return array


def _specials(dtype: str, may_hold: Set) -> list[float]:
    """Special numbers of a dtype."""
    numbers: list[float] = []
    if Special.NAN in may_hold:
        numbers += [np.nan, np.nan]
    if Special.INFINITY in may_hold:
        numbers += [np.inf, -np.inf]
    if Special.SUBNORMAL in may_hold:
        numbers += [float_facts(dtype).tiny / 2, -float_facts(dtype).tiny / 4]
    return numbers
