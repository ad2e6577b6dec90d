"""Facts read from TVM's objects alone, without a state: lanes and scalar type of a type, names of operators."""

from __future__ import annotations

from generators import tvm_api
from generators.tvm_api import DataType
from oracles.ir.cache import CacheByAddress
from oracles.reference.errors import Unsupported
from oracles.reference.tir.nodes import BOOL, DTYPES, DType

POINTER_TYPE = "PointerType"
VSCALE = 2
"""The value of `vscale`: a scalable vector has this many times the lanes that its type gives, and only the processor
knows how many. SVE and RVV allow powers of two, and a pass must keep the meaning with each of them; 2 is the smallest
with which a missing factor shows."""
_MASK = "uint1"
"""The type of a mask of lanes (src/tirx/transform/vectorize_loop.cc)."""


def _parsed(ty: tvm_api.Type) -> tuple[int, DType | None]:
    """The number of lanes of a type, 0 for a type without lanes; the scalar type, None for an unknown one."""
    if getattr(ty, "dtype", None) is None:
        return 0, None
    lanes, name = _lanes_named(ty)
    return lanes, BOOL if name == _MASK else DTYPES.get(name)


def _lanes_named(ty: tvm_api.Type) -> tuple[int, str]:
    """The number of lanes and the name of the scalar type. TVM gives "int8xvscalex4" -4 lanes: 4 times vscale."""
    dtype = getattr(ty.dtype, "dtype", ty.dtype)  # a BufferType has a PrimType there, a PrimType the type itself
    lanes, name = int(dtype.lanes), str(dtype)
    if lanes < 0:
        return -lanes * VSCALE, name.removesuffix(f"xvscalex{-lanes}")
    return lanes, name if lanes == 1 else name.removesuffix(f"x{lanes}")


TYPES = 20_000
"""Types that are remembered."""
_TYPES = CacheByAddress(_parsed, TYPES)


def _unsupported(ty: tvm_api.Type) -> Unsupported:
    dtype: DataType | None = getattr(ty, "dtype", None)
    return Unsupported(f"value of {type(ty).__name__}" if dtype is None else f"dtype {str(dtype).removeprefix('T.')}")


def lanes_of(ty: tvm_api.Type) -> int:
    """The number of lanes of a PrimType or a BufferType. Unsupported for other types."""
    lanes = _TYPES.of(ty)[0]
    if lanes < 1:
        raise _unsupported(ty)
    return lanes


def scalar_of(ty: tvm_api.Type) -> DType:
    """The type of each lane of a PrimType or a BufferType. Unsupported for other types."""
    scalar = _TYPES.of(ty)[1]
    if scalar is None:
        raise _unsupported(ty)
    return scalar


def dtype_of(ty: tvm_api.Type, lane: object = None) -> DType:
    """The scalar type of a PrimType or BufferType. Unsupported for a vector, unless it is decoded for one `lane`."""
    lanes, scalar = _TYPES.of(ty)
    if scalar is None or lanes < 1 or (lanes > 1 and lane is None):
        raise _unsupported(ty)
    return scalar


def op_name(call: tvm_api.Expr) -> str:
    """The name of a call's operator without its dialect; "call" if the callee is no operator."""
    name = getattr(call.op, "name", None)
    return "call" if name is None else str(name).split(".", 1)[-1]


def is_function_call(node: tvm_api.Expr) -> bool:
    """Whether an expression calls a PrimFunc of the module."""
    return type(node).__name__ == "Call" and type(node.op).__name__ == "GlobalVar"
