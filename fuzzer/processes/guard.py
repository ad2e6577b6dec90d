"""Runs a command that ends, with all that it has started, when the process that asked for it ends in any way.

`python -I guard.py PARENT COMMAND...` as a new session: the exit status is the command's. The kernel informs only a
direct child of its parent's death, and repros fork; hence a process between them (`oracles.family`), which starts in a
few milliseconds. At SIGTERM it ends the command, all that the command has started, and then itself.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if __name__ == "__main__":  # -I leaves our packages out.
    sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))

from oracles.family import children, die_with_parent, go_on_guarded

if TYPE_CHECKING:
    import subprocess

PARENT_IS_GONE = 3
"""Exit status where the parent had ended before the kernel was asked."""
NOT_STARTED = 127
"""Exit status where there is no such command, as a shell has it."""
_END_S = 15.0
"""Seconds that a guard has to end what it guards."""


def main(parent: int, command: list[str]) -> NoReturn:
    """Ends with the exit status of the command; 128 and the signal's number where one ended it."""
    if os.getppid() != parent:
        os._exit(PARENT_IS_GONE)
    go_on_guarded(parent, _end)
    die_with_parent(os.getppid())
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)


def _end(status: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def guarded(command: list[str]) -> list[str]:
    """The command, guarded, for this process to start with `start_new_session=True`."""
    return [sys.executable, "-I", __file__, str(os.getpid()), *command]


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> int:
    """Ends a guard that leads a session, its command and all that this has started; says how the guard ended."""
    from subprocess import TimeoutExpired

    if process.poll() is None:
        process.terminate()
        try:
            return process.wait(_END_S)
        except TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def end_stopped(process: subprocess.Popen[bytes]) -> int:
    """The same for one that a signal has stopped: it goes on, so that it does what it is asked next: to end."""
    for pid in (process.pid, *children(process.pid)) if process.poll() is None else ():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return end(process)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
