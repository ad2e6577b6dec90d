"""The end of what a process has written into a file, as text. The start of a long output says least of how it ended."""

from __future__ import annotations

import os


def tail(descriptor: int, most: int) -> str:
    """The last `most` bytes of an open file; what is no UTF-8 is replaced. The position in the file stays."""
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, most, max(0, size - most)).decode(errors="replace")
