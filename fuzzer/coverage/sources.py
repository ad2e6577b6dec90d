"""Which source file a function of a stripped TVM comes from, by the order in which objects were linked.

TVM's checks name their file: the code of `src/relax/x.cc` loads the address of a string that ends in that path, and no
other file does. The linker places the functions of one object file next to each other. So the functions between the
first such load of one file and the first load of the next belong to the first file. A file without checks is counted
with its neighbour, and so may be a few functions at a boundary.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fuzzer.coverage.elf import Elf, ElfSection, Functions, NoMap

FOLDERS = ("relax", "tirx", "s_tir", "sym")
"""Folders of TVM's sources that hold passes and what they use; each file of `src` counts in the whole."""
_ENDING = b".cc\0"
_PATH = re.compile(rb"(?:^|/)(src/(?:[\w.+-]+/)*[\w.+-]+\.cc)\Z")
_FOREIGN = (b"3rdparty/", b"/_deps/", b"/../")
"""In paths of libraries that were linked in: those of TVM, and of the compiler."""
_LONGEST = 1024
_CHUNK = 16 << 20


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """Neighbouring functions of one file. file: its path from `src/` on. start, end: their indices; end is excluded."""

    file: str
    start: int
    end: int


def runs_of_files(elf: Elf, text: ElfSection, functions: Functions) -> tuple[FunctionRun, ...]:
    """The files in the order of linking. Raises NoMap if fewer than two are found."""
    names = dict(_paths(elf))
    anchors = sorted(_loads(elf, text, names))
    order = _linked_once(anchors)
    if len(order) < 2:
        raise NoMap("it does not say which code comes from which source file")
    starts = functions.start.tolist()
    firsts = [max(0, bisect_right(starts, place) - 1) for place, _ in order]
    last = bisect_right(starts, anchors[-1][0])
    return tuple(
        FunctionRun(file, first, end)
        for (_, file), first, end in zip(order, firsts, [*firsts[1:], last], strict=True)
        if end > first
    )


def _paths(elf: Elf) -> Iterator[tuple[int, str]]:
    """The address and the path (from `src/` on) of each string that ends in the path of a source file of TVM."""
    for section in elf.constants:
        end = section.offset + section.size
        at = elf.data.find(_ENDING, section.offset, end)
        while at >= 0:
            lowest = max(section.offset, at - _LONGEST)
            start = max(lowest, elf.data.rfind(b"\0", lowest, at) + 1)
            text = elf.data[start : at + len(_ENDING) - 1]
            found = _PATH.search(text)
            if found is not None and not any(part in text for part in _FOREIGN):
                yield section.address + start - section.offset, found[1].decode("ascii")
            at = elf.data.find(_ENDING, at + 1, end)


def _loads(elf: Elf, text: ElfSection, names: dict[int, str]) -> Iterator[tuple[int, str]]:
    """Where code loads the address of one of these strings (`lea reg, [rip + distance]`), and the path."""
    wanted = np.array(sorted(names), np.int64)
    code = elf.bytes_of(text)
    for begin in range(0, len(code), _CHUNK):
        part = code[begin : begin + _CHUNK + 6]
        rex, op, operand = part[:-6], part[1:-5], part[2:-4]
        at = np.flatnonzero((op == 0x8D) & ((rex & 0xFB) == 0x48) & ((operand & 0xC7) == 0x05))
        target = at + begin + text.address + 7 + _distances(part, at + 3)
        for place in np.flatnonzero(np.isin(target, wanted)).tolist():
            yield int(at[place]) + begin + text.address, names[int(target[place])]


def _distances(part: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.int64]:
    value = sum(part[at + byte].astype(np.int64) << (8 * byte) for byte in range(4))
    return np.where(value >= 1 << 31, value - (1 << 32), value)


def _linked_once(anchors: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The first load of each file in the main part of the code, in order.

    Linkers put the rarely executed code (.text.unlikely) of all objects first, so each file may occur twice. The list
    is read backwards until a file occurs again.
    """
    order: list[tuple[int, str]] = []
    seen: set[str] = set()
    for place, file in reversed(anchors):
        if order and order[-1][1] == file:
            order[-1] = (place, file)
        elif file in seen:
            break
        else:
            order.append((place, file))
            seen.add(file)
    return order[::-1]
