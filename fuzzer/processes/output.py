"""What a process writes on its standard output, until that process has ended.

The pipe alone does not tell: a process that it started, and that outlived it, may hold the pipe open for ever.
"""

from __future__ import annotations

import os
import select
import selectors
import subprocess


class Output:
    """The output of a process that was started with a pipe for it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._pipe = process.stdout.fileno()
        self._end = os.pidfd_open(process.pid)

    def register(self, selector: selectors.BaseSelector, data: object = None) -> None:
        """Has a selector wait for more, and for the end; it gives `data`, perhaps twice at once."""
        selector.register(self._pipe, selectors.EVENT_READ, data)
        selector.register(self._end, selectors.EVENT_READ, data)

    def take(self) -> bytes | None:
        """Some of what was written, b"" for nothing yet; None once the process has closed its output, or has ended and
        all was taken."""
        ended = bool(select.select([self._end], [], [], 0.0)[0])  # First: what it wrote before is in the pipe by now.
        if select.select([self._pipe], [], [], 0.0)[0]:
            return os.read(self._pipe, 1 << 16) or None
        return None if ended else b""

    def unregister(self, selector: selectors.BaseSelector) -> None:
        selector.unregister(self._pipe)
        selector.unregister(self._end)

    def close(self) -> None:
        """To be called once; the pipe is the process's own."""
        os.close(self._end)
