"""Arguments as JSON and back: arrays inline while small, else named arrays of one `inputs.npz`.

What NumPy has from ml_dtypes keeps its bits (bfloat16 is stored as uint16 in the npz); NaN and infinities are strings,
since JSON has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from generators.case import Argument, Shape
from generators.dtypes import FLOAT8, FLOATS, INTEGERS, OF_ML_DTYPES, Array, numpy_dtype
from generators.json_values import Json

INLINE_ELEMENTS = 64
"""Arrays up to this size stand in the JSON, where a reader sees them."""


_DTYPES = ("bool", *INTEGERS, *FLOATS, *FLOAT8)
_NOT_FINITE = ("nan", "inf", "-inf")
_MOST_AXES = 64
"""More than NumPy has."""


class UnreadableArgument(ValueError):
    """The JSON of an argument is not one that this file writes; the message says where."""


def dtype_of(array: Array) -> str:
    """TVM's name of an array's dtype ("bool", "bfloat16", "float32")."""
    return str(array.dtype)


def encode(argument: Argument, arrays: dict[str, Array]) -> Json:
    """The JSON form. Arrays too large to stand inline are added to `arrays` under a fresh name."""
    if isinstance(argument, np.ndarray):
        return _encode_array(argument, arrays)
    if isinstance(argument, Shape):
        return {"shape": list(argument.extents)}
    if isinstance(argument, tuple):
        return {"tuple": [encode(field, arrays) for field in argument]}
    return {"scalar": _encode_number(argument)}


def decode(value: object, arrays: Mapping[str, Array]) -> Argument:
    """The argument that `encode` wrote. UnreadableArgument when the JSON is of another form."""
    if not isinstance(value, dict):
        raise UnreadableArgument(f"expected an object, got {type(value).__name__}")
    try:
        if "dtype" in value:
            return _decode_array(value, arrays)
        if "shape" in value:
            return Shape(_extents(value["shape"], -(2**63)))
        if "tuple" in value:
            return tuple(decode(field, arrays) for field in _listed(value["tuple"]))
        return _decode_number(value["scalar"])
    except (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise UnreadableArgument(f"{type(error).__name__}: {error}") from error


def _encode_array(array: Array, arrays: dict[str, Array]) -> Json:
    entry: dict[str, Json] = {"dtype": dtype_of(array), "extents": list(array.shape)}
    if array.size <= INLINE_ELEMENTS:
        entry["values"] = [_encode_number(element) for element in array.reshape(-1).tolist()]
    else:
        name = f"a{len(arrays)}"
        entry["npz"] = name
        arrays[name] = array.view(f"uint{8 * array.itemsize}") if entry["dtype"] in OF_ML_DTYPES else array
    return entry


def _decode_array(entry: Mapping[str, object], arrays: Mapping[str, Array]) -> Array:
    name = entry["dtype"]
    if not isinstance(name, str) or name not in _DTYPES:
        raise UnreadableArgument(f"no dtype {name!r}")
    dtype, extents = numpy_dtype(name), _extents(entry["extents"], 0)
    if "npz" in entry:
        place = entry["npz"]
        if not isinstance(place, str):
            raise TypeError(f"not the name of an array: {place!r}")
        stored = arrays[place]
        array = stored.view(dtype) if name in OF_ML_DTYPES else stored
        if array.shape != extents or array.dtype != dtype:
            raise ValueError(f"array {place} is {array.dtype}{array.shape}, not {dtype}{extents}")
        return array
    values = [_decode_number(element) for element in _listed(entry["values"])]
    # uint64 and int64 do not survive a detour through float64, so the dtype is given at once.
    return np.array(values, dtype=dtype).reshape(extents)


def _listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"not a list: {type(value).__name__}")
    return value


def _extents(values: object, least: int) -> tuple[int, ...]:
    extents = _listed(values)
    known = tuple(value for value in extents if type(value) is int and least <= value < 2**63)
    if len(known) < len(extents):
        raise ValueError(f"no extent of a shape: {next(value for value in extents if value not in known)!r}")
    if len(known) > _MOST_AXES:
        raise ValueError(f"{len(known)} axes")
    return known


def _encode_number(number: float) -> Json:
    if isinstance(number, float) and not math.isfinite(number):
        return repr(number)
    return number


def _decode_number(value: object) -> int | float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return float(value)
    if not isinstance(value, (int, float)):
        raise TypeError(f"not a number: {value!r}")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError("an integer of more than 64 bits")
    return value
