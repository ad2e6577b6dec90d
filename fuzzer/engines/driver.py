"""A campaign whose engine may end its process: Ray ends a driver with status 1, and no word, where its raylet is lost.

1 says that there is a new cause. So the command runs in a child, which says when it has come to its own end.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from fuzzer.errors import EnvironmentFault, ExitStatus
from fuzzer.processes.start import module_command
from oracles.family import die_with_parent

ENDING = "ray"
"""The engine that ends its driver."""
_SAYS = "PASSFUZZ_LAST_WORD"
"""The descriptor on which a child says that its campaign has come to its own end."""
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def is_ended_by(on: str) -> bool:
    """Whether `--on` names an engine that may end this process."""
    return on.partition("://")[0] == ENDING


def last_word_descriptor() -> int | None:
    """In such a child: where it says its last word; it ends with its parent from now on. None in any other process."""
    said = os.environ.pop(_SAYS, "")
    if not said.isdigit():
        return None
    os.set_inheritable(int(said), False)
    die_with_parent(os.getppid())
    return int(said)


def say_last_word(descriptor: int) -> None:
    """The campaign has ended and its files are written: its exit status is its own."""
    os.write(descriptor, b".")


def in_child(arguments: Sequence[str]) -> int:
    """Runs a command line of ours in a child, and forwards signals to it; its exit status.

    Raises EnvironmentFault where it ended without its last word, but for the statuses of errors that it has told."""
    heard, says = os.pipe()
    try:
        child = subprocess.Popen(
            module_command("fuzzer.__main__", *arguments), env={**os.environ, _SAYS: str(says)}, pass_fds=(says,)
        )
    finally:
        os.close(says)
    with _forwarding(child):
        status = child.wait()
    os.set_blocking(heard, False)  # what Ray has started may hold the other end
    try:
        ended_itself = bool(os.read(heard, 1))
    except BlockingIOError:
        ended_itself = False
    finally:
        os.close(heard)
    if ended_itself or status in (ExitStatus.WRONG_USAGE, ExitStatus.OWN_FAULT, ExitStatus.INTERRUPTED):
        return status
    raise EnvironmentFault(
        f"--on {ENDING}: the process of the campaign was ended before its time, as Ray does where a part of it is lost;"
        " what was found by then is under --out, and --resume goes on"
    )


@contextmanager
def _forwarding(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """What this process is told is told to the child; what is ignored (nohup) is ignored there as well."""

    def forward(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    before = {number: signal.getsignal(number) for number in _FORWARDED}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, forward)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
