"""Whether a folder for temporary files has room: a build that fails on a full disk says nothing of TVM.

LLVM ends the process where it cannot write an object file, and a compiler gives up as on a wrong source.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

NO_ROOM = "build: no room for temporary files"
ROOM_BYTES = 1 << 20
"""More than a build writes."""


def no_room(folder: Path) -> bool:
    """Whether the folder takes no further file: a full disk, or a limit on the sizes of files."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
    except OSError:
        return True
    return False
