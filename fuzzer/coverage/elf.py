"""What is read of a shared library: its build id, its sections, and where its functions begin and end.

Functions come from .eh_frame_hdr, which a stripped library keeps, since exceptions need it (Linux Standard Base, core
specification, 10.6). Sixty-four bits and little-endian alone.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

X86_64 = 62
_WRITES, _IN_MEMORY, _RUNS = 1, 2, 4
"""Flags of a section."""
_HEAD = 64
_PC_RELATIVE_4, _DATA_RELATIVE_4, _ABSOLUTE_4 = 0x1B, 0x3B, 0x03
"""How pointers are encoded in .eh_frame, and in the header's table."""


class NoMap(Exception):
    """There can be no map of a library; the message says why, in one line without its path."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """name, flags; address: where it is mapped, counted from the library's beginning; offset, size: in the file."""

    name: str
    flags: int
    address: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Elf:
    """A library that is open for reading."""

    data: mmap.mmap
    sections: tuple[ElfSection, ...]

    def section(self, name: str) -> ElfSection:
        """Raises NoMap where there is none."""
        found = next((one for one in self.sections if one.name == name), None)
        if found is None:
            raise NoMap(f"it has no section {name}")
        return found

    def bytes_of(self, section: ElfSection) -> NDArray[np.uint8]:
        """The content of a section, not copied."""
        return np.frombuffer(self.data, np.uint8, section.size, section.offset)

    @property
    def constants(self) -> Iterator[ElfSection]:
        """Sections that are in memory, and neither written nor run."""
        return (one for one in self.sections if one.flags & (_WRITES | _IN_MEMORY | _RUNS) == _IN_MEMORY)


def read_elf(path: Path) -> Elf:
    """Raises NoMap for what is no library of an x86-64 Linux, OSError where it cannot be read."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < _HEAD:
            raise NoMap("it is no library of x86-64")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18)[0] != X86_64:
        raise NoMap("it is no library of x86-64")
    try:
        return Elf(data, tuple(_sections(data)))
    except (struct.error, ValueError, IndexError) as error:
        raise NoMap(f"its sections cannot be read: {error}") from error


def _sections(data: mmap.mmap) -> Iterator[ElfSection]:
    (start,) = struct.unpack_from("<Q", data, 40)
    size, number, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, start + size * index) for index in range(number)]
    for name, _kind, flags, address, offset, length in heads:
        begin = heads[names][4] + name
        yield ElfSection(data[begin : data.find(b"\0", begin)].decode("ascii"), flags, address, offset, length)


def build_id(elf: Elf) -> str:
    """The build id in hexadecimal. Raises NoMap where the linker gave none."""
    note = elf.section(".note.gnu.build-id")
    name, length = struct.unpack_from("<II", elf.data, note.offset)
    start = note.offset + 12 + (name + 3) // 4 * 4
    return elf.data[start : start + length].hex()


@dataclass(frozen=True, slots=True)
class Functions:
    """start, end: addresses counted from the library's beginning, in ascending order, without overlaps."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]


def functions_in(elf: Elf, section: ElfSection) -> Functions:
    """The functions in a section. Raises NoMap where they are not told, or in a way that compilers do not use."""
    header, frames = elf.section(".eh_frame_hdr"), elf.section(".eh_frame")
    version, frame_kind, number_kind, table_kind = struct.unpack_from("<4B", elf.data, header.offset)
    if (version, frame_kind, number_kind, table_kind) != (1, _PC_RELATIVE_4, _ABSOLUTE_4, _DATA_RELATIVE_4):
        raise NoMap("its .eh_frame_hdr is of a kind that is not read")
    (number,) = struct.unpack_from("<I", elf.data, header.offset + 8)
    table = np.frombuffer(elf.data, "<i4", 2 * number, header.offset + 12).astype(np.int64) + header.address
    start, frame = table[0::2], table[1::2]
    at = frame - frames.address + frames.offset
    told = frame + 8 + _int32(elf.data, at + 8)
    if not np.array_equal(told, start):
        raise NoMap("its .eh_frame is of a kind that is not read")
    end = start + _int32(elf.data, at + 12)
    inside = (start >= section.address) & (end <= section.address + section.size) & (end > start)
    order = np.argsort(start[inside], kind="stable")
    start, end = start[inside][order], end[inside][order]
    apart = np.append(start[1:] >= end[:-1], True)
    return Functions(start[apart], end[apart])


def _int32(data: mmap.mmap, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers of four bytes at these offsets of the file."""
    whole = np.frombuffer(data, np.uint8)
    parts = [whole[at + byte].astype(np.int64) << (8 * byte) for byte in range(4)]
    value = parts[0] | parts[1] | parts[2] | parts[3]
    return np.where(value >= 1 << 31, value - (1 << 32), value)
