"""PrimFuncs in exact arithmetic: floats of 16 bits are computed and held in float64.

What is left of rounding are the conversions that the function itself makes: a number of another type becomes one of 16
bits as ever. So two functions that differ in the order of their operations give nearly the same, and what is still
another number is another function.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from generators.dtypes import NARROW, Array, Scalar
from oracles.reference.errors import Unsupported
from oracles.reference.tir.nodes import DTYPES, Buffer, Call, Cast, DType, Expr, Function, PackedCall

FLOAT64 = DTYPES["float64"]
_OF_BITS = frozenset({"reinterpret", "nextafter"})
"""Intrinsics that look at the bits of a number."""


def widened(function: Function) -> Function:
    """The function with float64 for floats of 16 bits; the same one where it has none. Unsupported where the bits or
    the size of these matter."""
    found = _Widening()
    wide: Function = replace(function, params=found.of(function.params), body=found.of(function.body))
    wide = replace(wide, result=found.of(function.result))
    if not found.any:
        return function
    if function.viewed or function.units or function.watched or function.launches or function.calls:
        raise Unsupported("views, threads or calls in float64")
    return wide


class _Widening:
    """Makes new nodes of those of one function. any: whether one of them had 16 bits."""

    def __init__(self) -> None:
        self.any = False
        self._buffers: dict[int, Buffer] = {}

    def of(self, node: Any) -> Any:
        """The node in float64."""
        match node:
            case DType():
                return self._dtype(node)
            case Buffer():
                return self._buffer(node)
            case tuple():
                return tuple([self.of(part) for part in node])
            case Cast():
                return self._cast(node)
            case Call(name, args) if name in _OF_BITS and any(is_narrow(a.dtype) for a in (*args, node)):
                raise Unsupported(f"tirx.{name} in float64")
            case PackedCall(_, args) if any(isinstance(a, Buffer) and is_narrow(a.dtype) for a in args):
                raise Unsupported("packed call in float64")
            case _ if is_dataclass(node) and not isinstance(node, type):
                return replace(node, **{f.name: self.of(getattr(node, f.name)) for f in fields(node)})
            case _:
                return node

    def _dtype(self, dtype: DType) -> DType:
        narrow = is_narrow(dtype)
        self.any |= narrow
        return FLOAT64 if narrow else dtype

    def _buffer(self, buffer: Buffer) -> Buffer:
        if id(buffer) not in self._buffers:
            source = None if buffer.source is None else self._buffer(buffer.source)
            self._buffers[id(buffer)] = replace(buffer, dtype=self._dtype(buffer.dtype), source=source)
        return self._buffers[id(buffer)]

    def _cast(self, node: Cast) -> Expr:
        value = self.of(node.a)
        if not is_narrow(node.dtype):
            return Cast(value, node.dtype)
        self.any = True
        return value if node.a.dtype is node.dtype else Cast(Cast(value, node.dtype), FLOAT64)


def is_narrow(dtype: DType) -> bool:
    """Whether it is a float of 16 bits."""
    return dtype.name in NARROW


def in_float64(array: Array | Scalar) -> Array | Scalar:
    """An argument of a call, with an array of 16-bit floats in float64."""
    narrow = isinstance(array, np.ndarray) and array.dtype.name in NARROW
    return array.astype(np.float64) if narrow else array


def as_declared(argument: object, dtype: DType) -> object:
    """What stands for an argument in float64 where a call is matched with the declared types: shape and type alone."""
    if not is_narrow(dtype) or not isinstance(argument, np.ndarray):
        return argument
    if argument.dtype != np.float64:
        raise Unsupported(f"memory of {argument.dtype} in float64")
    return np.broadcast_to(np.zeros((), dtype.numpy), argument.shape)
