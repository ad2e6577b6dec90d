"""Runs a command that ends, with all that it has started, when the process that asked for it ends in any way.

`python -I guard.py PARENT COMMAND...` as a new session: the exit status is the command's. The kernel informs only a
direct child of its parent's death, and repros fork; hence a process between them, which then ends its process group.
It imports nothing of ours, so that it starts in a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from types import FrameType

_PR_SET_PDEATHSIG = 1
PARENT_IS_GONE = 3
"""Exit status where the parent had ended before the kernel was asked."""


def _end_group(number: int, frame: FrameType | None) -> None:
    os.killpg(0, signal.SIGKILL)


def main(parent: int, command: list[str]) -> int:
    """The exit status of the command; 128 and the signal's number where one ended it."""
    signal.signal(signal.SIGTERM, _end_group)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return PARENT_IS_GONE
    status = subprocess.call(command)
    return status if status >= 0 else 128 - status


def guarded(command: list[str]) -> list[str]:
    """The command, guarded, for this process to start with `start_new_session=True`."""
    return [sys.executable, "-I", __file__, str(os.getpid()), *command]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
