"""Runtime functions of the VM that lowering calls: the shape heap, and checks of arguments.

Their meanings are those of TVM's `src/runtime/vm/builtin.cc`, the codes those of `include/tvm/runtime/vm/builtin.h`.
The heap is strict: reading an uninitialised slot traps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from generators.case import Shape
from oracles.reference.errors import Trap
from oracles.reference.values import UNIT, Callback, Closure, Runtime, ShapeHeap, Tensor

_EQUAL_TO_NUMBER, _STORE, _ANYTHING, _EQUAL_TO_SLOT = range(4)
"""MatchShapeCode."""
_USE_NUMBER, _LOAD = range(2)
"""MakeShapeCode."""


def _read(heap: Runtime, slot: int) -> int:
    values = _slots(heap, slot)
    if not values.written[slot]:
        raise Trap("uninitialised", f"slot {slot} of the shape heap is read before it is written")
    return int(values.value[slot])


def _slots(heap: Runtime, slot: int) -> ShapeHeap:
    if not isinstance(heap, ShapeHeap):
        raise Trap("type", f"a shape heap is {type(heap).__name__}")
    if not 0 <= slot < heap.value.size:
        raise Trap("out-of-bounds", f"slot {slot} of a shape heap of {heap.value.size}")
    return heap


def _write(heap: Runtime, slot: int, number: int) -> None:
    values = _slots(heap, slot)
    values.value[slot] = number
    values.written[slot] = True


def _match(number: int, heap: Runtime, code: int, operand: int, context: str) -> None:
    """One dimension against a number, or a slot; or stored into one."""
    if code == _STORE:
        _write(heap, operand, number)
    elif code in (_EQUAL_TO_NUMBER, _EQUAL_TO_SLOT):
        wanted = operand if code == _EQUAL_TO_NUMBER else _read(heap, operand)
        if number != wanted:
            raise Trap("match-cast", f"{context}: {number} where {wanted} was")
    elif code != _ANYTHING:
        raise Trap("operand", f"unknown code {code} of a shape match")


def _pairs(arguments: Sequence[Any], start: int, count: int) -> list[tuple[int, int]]:
    flat = [int(a) for a in arguments[start : start + 2 * count]]
    return list(zip(flat[::2], flat[1::2], strict=True))


def _match_shape(value: Runtime, heap: Runtime, size: int, *rest: Runtime) -> Runtime:
    if isinstance(value, Tensor):
        extents = value.shape
    elif isinstance(value, Shape):
        extents = value.extents
    else:
        raise Trap("type", f"the shape of {type(value).__name__}")
    context = str(rest[2 * size])
    if len(extents) != size:
        raise Trap("match-cast", f"{context}: rank {len(extents)}, not {size}")
    for extent, (code, operand) in zip(extents, _pairs(rest, 0, size), strict=True):
        _match(extent, heap, code, operand, context)
    return UNIT


def _match_prim_value(value: float, heap: Runtime, code: int, operand: int, context: Runtime) -> Runtime:
    _match(int(value), heap, int(code), int(operand), str(context))
    return UNIT


def _made(heap: Runtime, code: int, operand: int) -> int:
    if code not in (_USE_NUMBER, _LOAD):
        raise Trap("operand", f"unknown code {code} of a shape")
    return operand if code == _USE_NUMBER else _read(heap, operand)


def _make_shape(heap: Runtime, size: int, *rest: Runtime) -> Runtime:
    return Shape(tuple(_made(heap, code, operand) for code, operand in _pairs(rest, 0, size)))


def _make_prim_value(heap: Runtime, code: int, operand: int) -> Runtime:
    return _made(heap, int(code), int(operand))


# --- checks of arguments ---------------------------------------------------------------------------------------


def _require(holds: bool, context: Runtime, what: str) -> None:
    if not holds:
        raise Trap("type", f"{context}: not {what}")


def _check_tensor(value: Runtime, ndim: int, *rest: Runtime) -> Runtime:
    dtype, context = (None, rest[0]) if len(rest) == 1 else (rest[0], rest[1])
    _require(isinstance(value, Tensor), context, "a tensor")
    assert isinstance(value, Tensor)
    _require(ndim in (-1, len(value.shape)), context, f"of rank {ndim}")
    _require(not isinstance(dtype, str) or dtype == value.dtype, context, f"of dtype {dtype}")
    return UNIT


def _check_shape(value: Runtime, ndim: int, context: Runtime) -> Runtime:
    _require(isinstance(value, Shape) and ndim in (-1, len(value.extents)), context, f"a shape of rank {ndim}")
    return UNIT


def _check_tuple(value: Runtime, size: int, context: Runtime) -> Runtime:
    _require(isinstance(value, tuple) and len(value) == size, context, f"a tuple of {size}")
    return UNIT


def _check_prim_value(value: Runtime, dtype: Runtime, context: Runtime) -> Runtime:
    _require(isinstance(value, (bool, int, float)), context, f"a scalar of {dtype}")
    return UNIT


def _check_function(value: Runtime, context: Runtime) -> Runtime:
    _require(isinstance(value, (Closure, Callback)), context, "a function")
    return UNIT


# --- tuples and shapes as values ---------------------------------------------------------------------------------


def _field(whole: Runtime, index: int) -> Runtime:
    """The field. tuple_reset_item also removes it from the tuple; lowering uses it for the last use of a field."""
    if not isinstance(whole, tuple) or not 0 <= int(index) < len(whole):
        raise Trap("type", f"field {index} of {type(whole).__name__}")
    return whole[int(index)]


def _shape_to_tensor(shape: Runtime) -> Runtime:
    _require(isinstance(shape, Shape), "relax.run.shape_to_tensor", "a shape")
    assert isinstance(shape, Shape)
    return Tensor(np.array(shape.extents, np.int64), "int64")


BUILTINS: dict[str, Callable[..., Runtime]] = {
    "relax.run.shape_to_tensor": _shape_to_tensor,
    "vm.builtin.tuple_getitem": _field,
    "vm.builtin.tuple_reset_item": _field,
    "vm.builtin.match_shape": _match_shape,
    "vm.builtin.match_prim_value": _match_prim_value,
    "vm.builtin.make_shape": _make_shape,
    "vm.builtin.make_prim_value": _make_prim_value,
    "vm.builtin.check_tensor_info": _check_tensor,
    "vm.builtin.check_shape_info": _check_shape,
    "vm.builtin.check_tuple_info": _check_tuple,
    "vm.builtin.check_prim_value_info": _check_prim_value,
    "vm.builtin.check_func_info": _check_function,
}


def _shape_heap(size: int) -> Runtime:
    """A heap of `size` uninitialised slots."""
    return ShapeHeap(np.zeros(int(size), np.int64), "int64", written=np.zeros(int(size), np.bool_))


WITH_CONTEXT: dict[str, Callable[..., Runtime]] = {"vm.builtin.alloc_shape_heap": _shape_heap}
"""The functions that `call_builtin_with_ctx` calls."""
