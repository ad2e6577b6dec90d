"""The flight recorder: which case a child is at, and in which stage, in shared memory backed by a file.

The file outlives every process, so that even `kill -9` of a whole campaign leaves what was in flight.
"""

from __future__ import annotations

import mmap
from pathlib import Path

_SIZE = 512


class Recorder:
    """One line, `index TAB stage`, overwritten in place; read by the parent of the process that writes."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    @staticmethod
    def create(path: Path) -> Recorder:
        """A recorder on a fresh file; children inherit it by fork."""
        path.write_bytes(b"\0" * _SIZE)
        with path.open("r+b") as file:
            return Recorder(mmap.mmap(file.fileno(), _SIZE))

    def write(self, index: int, stage: str) -> None:
        """Records that case `index` enters `stage`."""
        line = f"{index}\t{stage}\n".encode()[: _SIZE - 1]
        self._memory[: len(line) + 1] = line + b"\0"

    def read(self) -> tuple[int, str]:
        """(index, stage) as last written; (-1, "") before the first."""
        line = self._memory[:].split(b"\0", 1)[0].split(b"\n", 1)[0].decode(errors="replace")
        index, _, stage = line.partition("\t")
        return (int(index), stage) if index.lstrip("-").isdigit() else (-1, "")
