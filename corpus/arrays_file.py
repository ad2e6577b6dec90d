"""`inputs.npz` of a case: arrays of numbers, whose size is known before memory is taken for them."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from corpus.regular_files import MEBIBYTE, read_regular
from generators.dtypes import Array

MOST_ARRAYS = 256 * MEBIBYTE
"""Bytes of all arrays of a case, and of the file that holds them."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_KINDS = "biuf"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MALFORMED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
    *(SyntaxError, AttributeError, EOFError, RuntimeError, MemoryError),
    *(ValueError, TypeError, LookupError, ArithmeticError),
)
"""What zipfile raises, and NumPy for the header of an array."""


class UnreadableArrays(ValueError):
    """No archive that `numpy.savez_compressed` writes, or too large a one."""


def written(arrays: Mapping[str, Array]) -> bytes:
    """The contents of the file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # NumPy's stub takes a name for an option
    return buffer.getvalue()


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays by name; none for a file that is not there.

    Raises UnreadableArrays, and OSError as usual.
    """
    try:
        data = read_regular(path, MOST_ARRAYS)
    except FileNotFoundError:
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > MOST_ARRAYS:
                raise UnreadableArrays(f"{path.name}: arrays of more than {MOST_ARRAYS:,} bytes")
            return {entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in entries}
    except UnreadableArrays:
        raise
    except _MALFORMED as error:
        raise UnreadableArrays(f"{path.name}: {type(error).__name__}: {error}") from error


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    if entry.compress_type not in _METHODS or entry.flag_bits & 1:
        raise UnreadableArrays(f"{entry.filename}: compressed or encrypted in an unknown way")
    content = archive.read(entry)
    stream = io.BytesIO(content)
    header = _HEADERS.get(npy.read_magic(stream))
    if header is None:
        raise UnreadableArrays(f"{entry.filename}: an unknown version of its format")
    shape, fortran_order, dtype = header(stream)
    if dtype.kind not in _KINDS:
        raise UnreadableArrays(f"{entry.filename}: elements of type {dtype}")
    rest = content[stream.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(rest):
        raise UnreadableArrays(f"{entry.filename}: {len(rest)} bytes for shape {shape} of {dtype}")
    return np.frombuffer(bytearray(rest), dtype).reshape(shape, order="F" if fortran_order else "C")
