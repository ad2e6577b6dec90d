"""Whether a folder for temporary files has room: a build that fails on a full disk says nothing of TVM.

LLVM ends the process where it cannot write an object file, and a compiler gives up as on a wrong source.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

NO_ROOM = "build: no room for temporary files"
BUILT_BYTES = 1 << 20
"""More than LLVM writes for a build."""
COMPILED_BYTES = 1 << 26
"""More than a compiler writes: nvcc writes several MB of preprocessed headers."""


def no_room(folder: Path, wanted: int = BUILT_BYTES) -> bool:
    """Whether the folder takes no file of so many bytes: a disk that is full, or a limit on the sizes of files."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, wanted)
    except OSError:
        return True
    return False


def compiled(command: Sequence[str], folder: Path | None, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Runs a compiler in a folder, where one is given. One that fails there is run once more: the disk may have been
    full for a moment.

    Raises TimeoutError, with its reason, where it takes longer or finds no room.
    """
    for _ in range(1 if folder is None else 2):
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout_s, stdin=subprocess.DEVNULL, cwd=folder
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{command[0]} takes longer than {timeout_s:.0f} s") from error
        if done.returncode == 0:
            break
        if folder is not None and no_room(folder, COMPILED_BYTES):
            raise TimeoutError(f"{command[0]} has no room for what it writes")
    return done
