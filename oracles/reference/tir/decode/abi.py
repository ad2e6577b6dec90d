"""The numbers of two C interfaces that lowered functions use: DLPack, and the argument records of TVM's FFI.

Sources: dlpack.h, tvm/ffi/c_api.h, tirx/builtin.h (TVMStructFieldKind).
"""

from __future__ import annotations

DL_TYPE_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
"""DLPack's type codes by kind."""
DL_CODES_BY_NAME = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
"""Types with a code of their own."""
DL_CPU, DL_CUDA = 1, 2
"""Device types."""

ANY_INT, ANY_BOOL, ANY_FLOAT, ANY_OPAQUE, ANY_DLTENSOR, ANY_RAW_STRING, ANY_TENSOR = 1, 2, 3, 4, 7, 8, 70
"""Type indices of TVMFFIAny; ANY_OPAQUE is a bare pointer."""

TENSOR_ADDRESS, DATA, SHAPE, STRIDES, NDIM, TYPE_CODE, TYPE_BITS, TYPE_LANES, BYTE_OFFSET, DEVICE_ID, DEVICE_TYPE = (
    range(11)
)
"""Fields of a DLTensor."""
ANY_TYPE_INDEX, ANY_PADDING, ANY_VALUE = 13, 14, 15
"""Fields of a TVMFFIAny."""
INT64_ELEMENT = 17
"""An element of an array of int64, as shapes are."""
