"""The map of a library: the places of its basic blocks and the source files that they are of. Made once, then cached.

In the cache a folder for each build id, and each version of the files here that find blocks, holds `blocks.bin`, which
probes.c reads (16 bytes of magic, the number of blocks, a place of 4 bytes for each and then the first byte of each),
and `files.json`.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fuzzer.coverage.compile import HERE, library_of
from fuzzer.coverage.elf import Elf, ElfSection, Functions, NoMap, build_id, functions_in, read_elf
from fuzzer.coverage.sources import FunctionRun, runs_of_files

MAGIC = b"passfuzz blocks1"
NO_DECODER = "capstone is not installed: pip install 'passfuzz[coverage]'"
_MAKERS = ("block_map.py", "blocks.c", "elf.py", "sources.py")
"""The files that decide what a map is."""
BLOCKS, FILES = "blocks.bin", "files.json"
_MOST_UNREADABLE = 0.01
"""A map that leaves out more than this share of the functions would tell little."""


@dataclass(frozen=True, slots=True)
class FileRun:
    """The blocks of one source file that lie together, by their number: from `start` to `end`."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BlockMap:
    """build_id: of the library. library: its file name. blocks: the file of their places. count: how many."""

    build_id: str
    library: str
    blocks: Path
    count: int
    runs: tuple[FileRun, ...]


def map_of(library: Path, folder: Path, tell: Callable[[str], None]) -> BlockMap:
    """The map of a library, from the cache in `folder`, or made and left there. tell: is given lines on what is done.

    Raises NoMap where there can be none, NoCompiler, and OSError.
    """
    elf = read_elf(library)
    identity = build_id(elf)
    made_by = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in _MAKERS)).hexdigest()[:8]
    kept = folder / f"{identity}-{made_by}"
    if not (kept / FILES).exists():
        tell(f"the map of {library.name} is made, once; it takes a few seconds of CPU time")
        _keep(_made(elf, folder), kept)
    raw = json.loads((kept / FILES).read_text(encoding="utf-8"))
    runs = tuple(FileRun(*run) for run in raw["runs"])
    return BlockMap(identity, library.name, kept / BLOCKS, raw["count"], runs)


@dataclass(frozen=True, slots=True)
class _Made:
    places: NDArray[np.uint32]
    first_bytes: NDArray[np.uint8]
    runs: tuple[FileRun, ...]


def _keep(made: _Made, folder: Path) -> None:
    """The folder appears whole, even if other processes make it too."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=folder.parent))
    head = struct.pack("<16sQ", MAGIC, len(made.places))
    (fresh / BLOCKS).write_bytes(head + made.places.astype("<u4").tobytes() + made.first_bytes.tobytes())
    runs = [(run.file, run.start, run.end) for run in made.runs]
    (fresh / FILES).write_text(json.dumps({"count": len(made.places), "runs": runs}), encoding="utf-8")
    try:
        fresh.rename(folder)
    except OSError:
        shutil.rmtree(fresh)
        if not (folder / FILES).exists():
            raise


def _made(elf: Elf, folder: Path) -> _Made:
    text = elf.section(".text")
    functions = functions_in(elf, text)
    files = runs_of_files(elf, text, functions)
    decoder = _Decoder(library_of("blocks.c", folder))
    parts: list[NDArray[np.uint32]] = []
    runs: list[FileRun] = []
    count = unreadable = 0
    for file, of_file in groupby(files, key=lambda run: run.file):
        before = count
        for places in _blocks_of(elf, text, functions, of_file, decoder):
            if places is None:
                unreadable += 1
            else:
                parts.append(places)
                count += len(places)
        if count > before:
            runs.append(FileRun(file, before, count))
    looked = sum(run.end - run.start for run in files)
    if unreadable > _MOST_UNREADABLE * looked:
        raise NoMap(f"{unreadable} of its {looked} functions cannot be decoded")
    places = np.concatenate(parts)
    first_bytes = elf.bytes_of(text)[places.astype(np.int64) - text.address]
    return _Made(places, first_bytes, tuple(runs))


def _blocks_of(
    elf: Elf, text: ElfSection, functions: Functions, runs: Iterator[FunctionRun], decoder: _Decoder
) -> Iterator[NDArray[np.uint32] | None]:
    code = elf.bytes_of(text)
    for run in runs:
        for number in range(run.start, run.end):
            start, end = int(functions.start[number]), int(functions.end[number])
            yield decoder.blocks(code[start - text.address : end - text.address], start)


class _Decoder:
    """blocks.c, with the decoder of capstone."""

    def __init__(self, library: Path) -> None:
        try:
            import capstone
        except ImportError as error:
            raise NoMap(NO_DECODER) from error
        self._handle = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        loaded = capstone._cs  # the library itself, which the package has loaded
        loaded.cs_malloc.restype = ctypes.c_void_p
        loaded.cs_malloc.argtypes = (ctypes.c_size_t,)
        self._instruction = loaded.cs_malloc(self._handle.csh)
        self._next = ctypes.cast(loaded.cs_disasm_iter, ctypes.c_void_p)
        self._blocks_of = ctypes.CDLL(os.fspath(library)).blocks_of
        self._blocks_of.restype = ctypes.c_int64
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self._blocks_of.argtypes = (pointer, size, pointer, pointer, size, ctypes.c_uint32, pointer)

    def blocks(self, code: NDArray[np.uint8], address: int) -> NDArray[np.uint32] | None:
        """The places of the blocks of a function; None where it is not understood."""
        room = np.empty(len(code), np.uint32)
        handle = self._handle.csh
        found = self._blocks_of(
            self._next, handle, self._instruction, code.ctypes.data, len(code), address, room.ctypes.data
        )
        return None if found < 0 else room[:found].copy()
