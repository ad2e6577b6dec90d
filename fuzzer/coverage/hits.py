"""The file of what has been reached: a byte for each block, shared by all processes that count, and whose blocks.

It begins with 16 bytes of magic, the number of blocks and where their bytes begin (8 bytes each); then comes JSON: the
build id and the file name of the library, and the source files of its blocks. So it can be read where that TVM is not.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.regular_files import read_regular
from fuzzer.coverage.block_map import BlockMap, FileRun
from fuzzer.errors import of_system

HITS_FILE = "coverage.hits"
"""Under OUT."""
MAGIC = b"passfuzz hits 1\n"
_HEAD = struct.Struct("<16sQQ")
_MOST = 1 << 28
"""Bytes of a file that is read."""


class UnreadableHits(Exception):
    """No file of hits; the text is one line that says which and why."""


@dataclass(frozen=True, slots=True)
class Hits:
    """hit: for each block, whether it was reached. build_id, library, runs: of the library's map."""

    build_id: str
    library: str
    runs: tuple[FileRun, ...]
    hit: NDArray[np.bool_]


def make_hits(path: Path, blocks: BlockMap) -> None:
    """Writes a file in which nothing has been reached, whole or not at all. Raises OSError."""
    said = {
        "build_id": blocks.build_id,
        "library": blocks.library,
        "runs": [(run.file, run.start, run.end) for run in blocks.runs],
    }
    text = json.dumps(said).encode("ascii")
    offset = -(-(_HEAD.size + len(text)) // mmap.PAGESIZE) * mmap.PAGESIZE
    head = (_HEAD.pack(MAGIC, blocks.count, offset) + text).ljust(offset, b"\0")
    handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "wb") as file:
        file.write(head + bytes(-(-blocks.count // 8) * 8))  # written out: a full disk shows here and not in a signal
    os.chmod(fresh, 0o644)
    os.replace(fresh, path)


def read_hits(path: Path) -> Hits:
    """What has been reached so far. path: the file, or a folder of a run. Raises UnreadableHits."""
    file = path / HITS_FILE if path.is_dir() else path
    try:
        data = read_regular(file, _MOST)
        magic, count, offset = _HEAD.unpack_from(data)
        if magic != MAGIC or len(data) < offset + count:
            raise UnreadableHits(f"{file}: not a file of hits")
        said = json.loads(data[_HEAD.size : offset].rstrip(b"\0"))
        runs = tuple(FileRun(str(name), int(start), int(end)) for name, start, end in said["runs"])
        hits = Hits(str(said["build_id"]), str(said["library"]), runs, _bytes(data, count, offset) != 0)
    except FileNotFoundError:
        wanted = "; was the run made with --coverage?" if path.is_dir() else ""
        raise UnreadableHits(f"{file}: no such file{wanted}") from None
    except OSError as error:
        raise UnreadableHits(of_system(error)) from error
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise UnreadableHits(f"{file}: not a file of hits ({type(error).__name__})") from error
    if any(not 0 <= run.start <= run.end <= count for run in hits.runs):
        raise UnreadableHits(f"{file}: not a file of hits: its source files are not within its blocks")
    return hits


def _bytes(data: bytes, count: int, offset: int) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8, count, offset)


def together(paths: Sequence[Path]) -> Hits:
    """What any of several has reached. Raises UnreadableHits, also where they are of different libraries."""
    first, *others = (read_hits(path) for path in paths)
    hit = first.hit
    for path, other in zip(paths[1:], others, strict=True):
        if (other.build_id, len(other.hit)) != (first.build_id, len(hit)):
            raise UnreadableHits(f"{path}: of build {other.build_id[:12]}, and {paths[0]} of {first.build_id[:12]}")
        hit = hit | other.hit
    return Hits(first.build_id, first.library, first.runs, hit)
